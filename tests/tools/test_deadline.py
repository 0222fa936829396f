"""Deadlines: whatever a tool does when its time is up, nothing of it goes on, and the next call answers."""

from __future__ import annotations

import os
import re
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Mapping
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any, Literal

import numpy as np
import pytest
from PIL import Image

from kit.episode import Action, NamedImage, Observation
from kit.tools.base import Images, run_tool
from papers.vista_gym.remembered import Remembered
from turn_sandbox.deadline import KEPT, Unable
from visual_tools.geometry.tools import SolveText, TextCDL
from visual_tools.perception.segmentation import Segment
from visual_tools.perception.text import ReadText
from visual_tools.tool import PureTool

pytestmark = [
    pytest.mark.processes,
    pytest.mark.skipif(sys.platform != "linux", reason="other systems don't tell what processes there are"),
]

SCHEMA = {"type": "object", "properties": {"do": {"type": "string"}, "note": {"type": "string"}}, "required": ["do"]}


def compute() -> None:
    while True:
        pass


def keep_the_interpreter() -> None:
    """Run in C for minutes, so that no other thread of the process gets its turn."""
    re.match(r"(a|aa|b?)*$", "a" * 60 + "c")


def grow() -> None:
    kept = []
    while True:
        kept.append(bytearray(1 << 20))
        time.sleep(0.01)


def sleep() -> None:
    time.sleep(60)


def ignore_signals() -> None:
    for one in (signal.SIGTERM, signal.SIGINT, signal.SIGALRM, signal.SIGIO):
        signal.signal(one, signal.SIG_IGN)
    compute()


def stop() -> None:
    os.kill(os.getpid(), signal.SIGSTOP)


def start_another() -> None:
    subprocess.run(["sleep", "60"], check=False)


def start_threads() -> None:
    for _ in range(3):
        threading.Thread(target=compute).start()
    compute()


LATE: Mapping[str, Callable[[], None]] = {
    one.__name__: one
    for one in (compute, keep_the_interpreter, grow, sleep, ignore_signals, stop, start_another, start_threads)
}
"""What a tool may do when its time is up."""


class Doing:
    """Does what it is told to, and notes its process first."""

    name, description = "doing", "Does it."
    on_error: Literal["tell", "raise"] = "tell"
    parameters: Mapping[str, Any] = SCHEMA

    def call(self, arguments: Mapping[str, Any], images: Images) -> Any:
        if "note" in arguments:
            Path(arguments["note"]).write_text(str(os.getpid()))
        do = arguments["do"]
        if do in LATE:
            LATE[do]()
        if do == "refuse":
            raise LookupError("there is none")
        if do == "raise what can't be sent":
            error = ValueError("odd")
            error.lock = threading.Lock()  # type: ignore[attr-defined]
            raise error
        if do == "end":
            os._exit(3)
        if do == "leave":
            sys.exit("bye")
        if do == "start another and crash":
            subprocess.Popen(["sleep", "60"])
        if do.endswith("crash"):
            os.kill(os.getpid(), signal.SIGSEGV)
        if do == "fill":
            return Observation(str(len(bytearray(64 << 30))))
        if do == "say nothing":
            return None
        if do == "look":
            return Observation(" ".join(f"{one.name} {one.image.mode} {one.sha256}" for one in images.values()))
        return Observation(f"done: {do}")

    def close(self) -> None: ...


class Counting(Doing):
    """Holds something between two calls."""

    def __init__(self) -> None:
        self.calls = 0

    def call(self, arguments: Mapping[str, Any], images: Images) -> Observation:
        self.calls += 1
        return Observation(str(self.calls))


class Pixels(PureTool):
    """Says all pixels."""

    name, family = "pixels", "perception"
    algorithm = "None."

    def look(self, image: Any, arguments: Any) -> str:
        return f"{image.mode} {np.asarray(image).tolist()}"

    def answer(self, seen: str, arguments: Any) -> str:
        return seen


def asked(do: str, deadline: float | None = 20, images: Images | None = None, **more: str) -> Observation:
    return run_tool(Doing(), Action("doing", "", {"do": do, **more}), images or {}, deadline)


def has_ended(pid: int, within: float = 5) -> bool:
    end = time.monotonic() + within
    while time.monotonic() < end:
        try:
            if Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] == "Z":
                return True
        except (FileNotFoundError, ProcessLookupError):
            return True
        time.sleep(0.02)
    return False


def group(pid: int, within: float = 2) -> list[int]:
    """Processes of a process's session that still are there: the kernel ends what was killed in its own time."""
    end = time.monotonic() + within
    while (found := _session(pid)) and time.monotonic() < end:
        time.sleep(0.02)
    return found


def _session(pid: int) -> list[int]:
    found = []
    for one in Path("/proc").iterdir():
        if one.name.isdigit():
            try:
                fields = (one / "stat").read_text().rpartition(")")[2].split()
            except OSError:
                continue
            found += [int(one.name)] if int(fields[3]) == pid and fields[0] != "Z" else []
    return found


@pytest.mark.parametrize("do", LATE)
def test_what_is_late_is_ended_and_the_next_call_answers(do: str, tmp_path: Path) -> None:
    asked("begin")
    threads, note = threading.active_count(), tmp_path / "pid"
    assert asked(do, 0.7, note=str(note)) == Observation("Error: doing gave no answer within 0.7 s", status="timeout")
    pid = int(note.read_text())
    assert pid != os.getpid() and threading.active_count() == threads
    assert has_ended(pid, 0.5), "it was waited for"
    assert group(pid) == [], "nor does anything go on that it started"
    assert asked("begin").text == "done: begin"


def test_a_helper_has_a_clock_of_its_own(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """Where the training's process is too busy to look at its clock, and the tool keeps the interpreter."""
    asked("begin")
    with monkeypatch.context() as patched:
        patched.setattr(threading.Timer, "start", lambda timer: None)
        patched.setattr(threading.Timer, "join", lambda timer: None)
        seen = asked("keep_the_interpreter", 0.3, note=str(tmp_path / "pid"))
    assert seen == Observation("Error: doing gave no answer within 0.3 s", status="timeout")
    assert has_ended(int((tmp_path / "pid").read_text()), 0.5)


@pytest.mark.parametrize(
    ("question", "deadline"),
    [
        ("x^(1/7)+x^(1/5)+x^(1/3)=9", 1.5),
        ("sqrt(x+sqrt(x+sqrt(x+1)))=x, find x", 1.5),
    ],
)
def test_a_solver_that_is_late_leaves_nothing(question: str, deadline: float) -> None:
    """Repeated, as a policy does: neither threads nor time of this process are taken."""
    solver, threads, used = SolveText(), threading.active_count(), time.process_time()
    for _ in range(3):
        seen = run_tool(solver, Action(solver.name, "", {"question": question}), {}, deadline)
        assert seen == Observation(f"Error: multimath.solve gave no answer within {deadline} s", status="timeout")
    time.sleep(0.5)
    assert threading.active_count() == threads and time.process_time() - used < 1.0
    assert run_tool(solver, Action(solver.name, "", {"question": "2x + 3 = 11. What is x?"}), {}, 20).text == "4"


@pytest.mark.parametrize(
    ("do", "told"),
    [
        ("end", "Error: doing died during this call (code 3)"),
        ("leave", "Error: doing died during this call (code 1)"),
        ("crash", "Error: doing died during this call (signal 11)"),
        ("start another and crash", "Error: doing died during this call (signal 11)"),
    ],
)
def test_a_process_that_dies_ends_its_own_call(do: str, told: str, tmp_path: Path) -> None:
    assert asked(do, note=str(tmp_path / "pid")) == Observation(told, status="died")
    assert group(int((tmp_path / "pid").read_text())) == [], "nor does anything go on that it started"
    assert asked("begin").text == "done: begin"


@pytest.mark.parametrize("how", [signal.SIGKILL, signal.SIGTERM, signal.SIGSTOP])
def test_a_helper_that_somebody_else_ended_is_replaced(how: signal.Signals, tmp_path: Path) -> None:
    asked("begin", note=str(tmp_path / "pid"))
    pid = int((tmp_path / "pid").read_text())
    os.kill(pid, how)
    if how == signal.SIGSTOP:  # it looks alive until it is asked
        assert asked("begin", 0.5).status == "timeout"
    else:
        assert has_ended(pid)
    assert asked("begin", note=str(tmp_path / "pid")).text == "done: begin"
    assert int((tmp_path / "pid").read_text()) != pid and has_ended(pid)


@pytest.mark.parametrize("do", ["refuse", "raise what can't be sent", "say nothing", "begin", "look"])
def test_a_tool_says_the_same_with_and_without_a_deadline(do: str) -> None:
    images = {name: NamedImage(name, Image.new(mode, (5, 3), 77)) for name, mode in (("a", "RGB"), ("b", "L"))}
    assert asked(do, 20, images) == asked(do, None, images)


def test_an_exception_that_is_to_be_raised_is_the_tools_own() -> None:
    strict = Doing()
    strict.on_error = "raise"
    with pytest.raises(LookupError, match="there is none") as caught:
        run_tool(strict, Action("doing", "", {"do": "refuse"}), {}, 20)
    assert any('raise LookupError("there is none")' in note for note in caught.value.__notes__)


def test_memory_is_bounded_and_the_agent_told() -> None:
    assert asked("fill") == Observation("Error: MemoryError", status="error")
    assert asked("begin").text == "done: begin"


@pytest.mark.parametrize("tool", [SolveText(), TextCDL(), Segment(), ReadText()], ids=lambda tool: tool.name)
def test_tools_of_the_kit_say_their_golden_replies_there(tool: PureTool) -> None:
    for golden in tool.goldens:
        shown = {"image": NamedImage("image", golden.image())} if golden.image else {}
        for one in (tool, Remembered(tool)):
            seen = run_tool(one, Action(tool.name, "", golden.arguments), shown, 60)
            assert seen == run_tool(one, Action(tool.name, "", golden.arguments), shown)
            assert seen.text == golden.says


@pytest.mark.parametrize("mode", ["1", "L", "LA", "P", "PA", "RGB", "RGBA", "CMYK", "I", "F", "I;16", "palette"])
def test_an_image_of_any_mode_is_seen_as_it_is_without_a_deadline(mode: str) -> None:
    shown = np.random.default_rng(0).integers(0, 255, (6, 5, 4), np.uint8)
    rgba = Image.fromarray(shown, "RGBA")
    made = {
        "I;16": lambda: Image.fromarray(shown[..., 0].astype(np.uint16) * 257),
        "palette": lambda: rgba.quantize(8),
        "PA": lambda: rgba.convert("P").convert("PA"),
    }
    image = made[mode]() if mode in made else rgba.convert(mode)
    images = {"page": NamedImage("page", image)}
    for more in ({}, {"image": "page"}):
        seen = [run_tool(Pixels(), Action("pixels", "", more), images, deadline) for deadline in (None, 20)]
        assert seen[0] == seen[1] and seen[0].status == "ok"


def test_each_call_sees_its_own_images_however_many_there_were() -> None:
    rng = np.random.default_rng(0)
    made = [NamedImage(f"image_{k}", Image.fromarray(rng.integers(0, 255, (6, 5, 3), np.uint8))) for k in range(50)]

    def look(k: int) -> bool:
        some = made[k : k + 1 + k % 3]
        images = {one.name: one for one in some}
        return asked("look", 20, images).text == " ".join(f"{one.name} RGB {one.sha256}" for one in some)

    with ThreadPoolExecutor(8) as pool:
        assert all(pool.map(look, [*range(50), *range(0, 50, 7)]))
    assert asked("look", 20, {one.name: one for one in made}).text.count("RGB") == 50 > KEPT


def test_calls_at_once_get_their_own_replies_while_others_are_late() -> None:
    with ThreadPoolExecutor(12) as pool:
        seen = list(pool.map(lambda k: asked("compute", 0.3) if k % 6 == 0 else asked(f"call {k}"), range(30)))
    assert [one.status for one in seen[::6]] == ["timeout"] * 5
    assert [one.text for k, one in enumerate(seen) if k % 6] == [f"done: call {k}" for k in range(30) if k % 6]


def test_that_there_was_no_answer_is_not_remembered() -> None:
    tool = Remembered(SolveText())
    late = Action(tool.name, "", {"question": "x^(1/7)+x^(1/5)+x^(1/3)=9"})
    assert [run_tool(tool, late, {}, 0.5).status for _ in range(2)] == ["timeout"] * 2 and tool.worked == 2
    fine = Action(tool.name, "", {"question": "7 * 6"})
    assert [run_tool(tool, fine, {}, 20).text for _ in range(2)] == ["42"] * 2 and tool.worked == 3


def test_a_tool_that_ends_its_calls_itself_is_let_to() -> None:
    class Elsewhere(Doing):
        lock = threading.Lock()  # it couldn't be sent

        def call_within(self, deadline: float, arguments: Mapping[str, Any], images: Images) -> Observation:
            return Observation(f"within {deadline} s, in {os.getpid()}")

    seen = run_tool(Elsewhere(), Action("doing", "", {"do": "begin"}), {}, 7)
    assert seen.text == f"within 7 s, in {os.getpid()}"


def test_a_tool_of_a_function_or_a_notebook_is_sent_as_its_code() -> None:
    class Local(Doing):
        def call(self, arguments: Mapping[str, Any], images: Images) -> Observation:
            return Observation(f"{arguments['do']} in {os.getpid()}")

    seen = run_tool(Local(), Action("doing", "", {"do": "here"}), {}, 20)
    assert seen.text.startswith("here in ") and seen.text != f"here in {os.getpid()}"


def unsendable() -> Doing:
    tool = Doing()
    tool.lock = threading.Lock()  # type: ignore[attr-defined]
    return tool


def heavy() -> Doing:
    tool = Doing()
    tool.weights = np.zeros(3 << 20)  # type: ignore[attr-defined]
    return tool


@pytest.mark.parametrize(
    ("make", "why"),
    [
        (unsendable, "doing can't be sent to another process .*; let a service|doing can't be sent .*: let a service"),
        (heavy, "doing holds 24 MB, too much to send to another process: let a service"),
        (Counting, "doing holds something between two calls, which a copy in another process can't"),
    ],
)
def test_a_tool_that_cannot_be_called_under_a_deadline_ends_the_run(make: Callable[[], Any], why: str) -> None:
    """It is nothing that an agent did, so no agent is told."""
    with pytest.raises(Unable, match=why):
        run_tool(make(), Action("doing", "", {"do": "begin"}), {}, 20)
    assert run_tool(make(), Action("doing", "", {"do": "begin"}), {}).status == "ok"


def test_without_processes_the_run_ends(monkeypatch: pytest.MonkeyPatch) -> None:
    import turn_sandbox.deadline as deadline

    monkeypatch.setattr(deadline, "_helpers", deadline.Helpers())
    monkeypatch.setattr(sys, "executable", "/nowhere/python")
    with pytest.raises(Unable, match="no process can be started for calls under a deadline"):
        asked("begin")


def test_an_interrupt_ends_the_call_and_its_work(tmp_path: Path) -> None:
    # A shell lets what it starts in the background ignore interrupts.
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    asked("begin")
    note = tmp_path / "pid"
    threading.Timer(0.5, os.kill, (os.getpid(), signal.SIGINT)).start()
    try:
        with pytest.raises(KeyboardInterrupt):
            asked("compute", 30, note=str(note))
    finally:
        signal.signal(signal.SIGINT, before)
    assert has_ended(int(note.read_text()), 0.5)
    assert asked("begin").text == "done: begin"


def test_a_forked_process_has_helpers_of_its_own(tmp_path: Path) -> None:
    asked("begin", note=str(tmp_path / "mine"))
    if not (child := os.fork()):
        seen = asked("begin", note=str(tmp_path / "its"))
        os._exit(0 if seen.text == "done: begin" else 1)
    assert os.waitpid(child, 0)[1] == 0
    asked("begin", note=str(tmp_path / "again"))
    mine, its, again = ((tmp_path / name).read_text() for name in ("mine", "its", "again"))
    assert mine == again != its and has_ended(int(its))


PARENT = """
import signal
import sys
from test_deadline import asked
signal.signal(signal.SIGINT, signal.default_int_handler)
asked("begin")
asked(sys.argv[1], 50, note=sys.argv[2])
print("over", flush=True)
sys.stdin.read()
"""


@pytest.mark.parametrize(
    ("how", "do"),
    [
        (signal.SIGKILL, "begin"),
        (signal.SIGKILL, "compute"),
        (signal.SIGKILL, "keep_the_interpreter"),
        (signal.SIGTERM, "sleep"),
        (signal.SIGINT, "keep_the_interpreter"),
    ],
)
def test_helpers_end_with_the_process_that_started_them(how: signal.Signals, do: str, tmp_path: Path) -> None:
    note = tmp_path / "pid"
    path = os.pathsep.join((str(Path(__file__).parent), *sys.path))
    with subprocess.Popen(
        [sys.executable, "-c", PARENT, do, str(note)],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        env={**os.environ, "PYTHONPATH": path},
    ) as parent:
        end = time.monotonic() + 60
        while not (note.exists() and note.read_text()):
            assert time.monotonic() < end and parent.poll() is None
            time.sleep(0.02)
        time.sleep(0.2)
        assert not has_ended(pid := int(note.read_text()), 0.1)
        parent.send_signal(how)
        parent.wait(20)
    assert has_ended(pid)

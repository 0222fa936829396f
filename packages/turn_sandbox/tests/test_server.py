"""Many episodes: kept apart, run together, ended together; what the sandbox says about itself."""

from __future__ import annotations

import asyncio
import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import nullcontext
from pathlib import Path

import psutil
import pytest
import sandboxes
from hostile import FORKS
from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, precondition, rule, run_state_machine_as_test
from sandboxes import IDENTITIES, KINDS, QUICK, belongings, needs, start, until

from turn_sandbox import PLOTTING, Limits, Result, Sandbox, SandboxEpisode, SandboxError, clean
from turn_sandbox.confine import LAYERS
from turn_sandbox.guarantees import NAMES
from turn_sandbox.linux import LINUX, session_leaders
from turn_sandbox.probes import denied, rolls_back

on_linux = pytest.mark.skipif(not LINUX, reason="only Linux confines")


@pytest.fixture(scope="module")
def tight() -> Iterator[Sandbox]:
    with Sandbox(QUICK, allow_unsafe=True) as box:
        yield box


@pytest.mark.parametrize("victim", ["os.getppid()", "os.getsid(0)"], ids=["head", "keeper"])
def test_a_lost_episode_says_so_from_then_on(victim: str) -> None:
    """Unconfined code can kill the processes of its own sandbox; it then has nothing to gain."""
    with pytest.warns(UserWarning, match="code isn't confined here"):
        box = Sandbox(QUICK, allow_unsafe=True, without=LAYERS).start()
    with box, box.episode() as other, box.episode() as episode:
        for again in (f"import os, signal\nos.kill({victim}, signal.SIGKILL)\nwhile True: pass", "x = 1"):
            result = episode.run(again)
            assert (result.status, result.error[:14]) == ("episode_lost", "episode_lost: "), result
        assert other.run("x = 1").status == "ok"


def test_a_killed_zygote_is_started_again(tight: Sandbox) -> None:
    os.kill(tight.pids[1], signal.SIGKILL)
    _gone([tight.pids[1]])
    with tight.episode() as episode:
        assert episode.run("print(1)").stdout == "1\n"


@pytest.mark.parametrize("identity", IDENTITIES)
def test_what_a_turn_started_is_gone_when_its_result_is_here(identity: str) -> None:
    """Processes that are killed but not yet gone would count against the next turn's limit: its fork would fail."""
    needs(identity)
    with start(identity, "full", Limits(seconds=5.0, processes=6)) as box, box.episode() as episode:
        until(lambda: len(belongings(box.pids[1])[1]) == 4)  # zygote, a keeper in wait, this one's keeper and head
        for _ in range(4):
            assert episode.run(FORKS).status == "limit"
            assert len(belongings(box.pids[1])[1]) == 4


def test_failing_turns_in_a_row_use_nothing_up() -> None:
    """Each leaves a process to collect; as long as nobody does, it counts against the limit too."""
    with start("user", "full", Limits(seconds=5.0, processes=2)) as box, box.episode() as episode:
        assert {episode.run("x = 2\n1 / 0").status for _ in range(60)} == {"error"}
        (keeper,) = session_leaders(box.pids[1])
        ended = [one for one in psutil.Process(keeper).children(recursive=True) if one.status() == psutil.STATUS_ZOMBIE]
        assert len(ended) <= 2


@on_linux
def test_a_setup_that_leaves_too_much_is_told_so() -> None:
    setup = "for i in range(4): open(f'f{i}', 'wb').write(bytes(1 << 20))"
    with (
        start("user", "partial", Limits(seconds=5.0, disk_mb=2)) as box,
        pytest.raises(SandboxError, match=r"^setup: the working directory can't be kept: more than .* or 2 MB in all$"),
    ):
        box.episode(setup=setup)


def test_many_threads_start_one_new_server_for_one_that_died() -> None:
    path = clean.command("turn_sandbox.server")[-1]

    def servers() -> list[psutil.Process]:
        return [child for child in psutil.Process().children() if path in child.cmdline()]

    with Sandbox(Limits(seconds=5.0), require=["network"]) as box:
        before = len(servers())
        assert before >= 1
        lost = box.episode()
        os.kill(box.pids[0], signal.SIGKILL)
        assert lost.run("x = 1").status == "episode_lost"
        with ThreadPoolExecutor(8) as pool:
            episodes = list(pool.map(lambda n: box.episode(variables={"n": n}), range(8)))
        assert [episode.run("pass", want=("n",)).values["n"] for episode in episodes] == list(range(8))
        assert len(servers()) == before


@on_linux
def test_a_killed_keeper_in_wait_is_replaced() -> None:
    with Sandbox(Limits(seconds=5.0)) as box:
        until(lambda: len(belongings(box.pids[1])[1]) > 1)
        time.sleep(0.2)  # it moves into its room, which takes another process for a moment
        (spare,) = (process for process in belongings(box.pids[1])[1] if process.pid != box.pids[1])
        spare.kill()
        _gone([spare.pid])
        with box.episode() as episode:
            assert episode.run("print(1)").stdout == "1\n"
        assert psutil.pid_exists(box.pids[1])


def test_64_episodes_at_once_are_exact(tight: Sandbox) -> None:
    episodes = [tight.episode(variables={"n": i, "log": []}) for i in range(64)]
    for turn in range(2):
        codes = [f"log.append(n * {turn})\nif (n + {turn}) % 5 == 0: 1 / 0" for _ in episodes]
        results = tight.run_many([(e, code, "", "", ("log",)) for e, code in zip(episodes, codes, strict=True)])
        assert [r.status for r in results] == ["error" if (i + turn) % 5 == 0 else "ok" for i in range(64)]
    with ThreadPoolExecutor(16) as pool:
        results = list(pool.map(lambda e: e.run("pass", want=("log",)), episodes))
    assert [r.values["log"] for r in results] == [[i * t for t in range(2) if (i + t) % 5] for i in range(64)]

    async def gather() -> list[Result]:
        return await asyncio.gather(*(e.run_async("n += 1", want=("n",)) for e in episodes))

    assert [r.values["n"] for r in asyncio.run(gather())] == list(range(1, 65))
    for e in episodes:
        e.close()


def test_waiting_is_not_charged(tight: Sandbox) -> None:
    with Sandbox(Limits(seconds=0.6), workers=1) as box:
        episodes = [box.episode() for _ in range(4)]
        results = box.run_many([(e, "import time\ntime.sleep(0.25)", "", "", ()) for e in episodes])
    assert [r.status for r in results] == ["ok"] * 4
    assert results[-1].queue_s > 0.6


ENDS = {"": "ok", "1/0": "error", "os._exit(3)": "died", "import sys; sys.exit(2)": "error", "# 1": "ok"}
FAILING = st.sampled_from(list(ENDS))
EPISODE = st.integers(0, 3)


class Model(RuleBasedStateMachine):
    """Random turns, good and bad, in several episodes, each against dictionaries of its variables and files."""

    box: Sandbox

    def __init__(self) -> None:
        super().__init__()
        self.episodes = [self.box.episode(setup="import os\nvalues = {}") for _ in range(4)]
        self.values: list[dict[str, int]] = [{} for _ in self.episodes]
        self.files: list[dict[str, str]] = [{} for _ in self.episodes]

    @rule(one=EPISODE, name=st.sampled_from("abc"), value=st.integers(-5, 5), end=FAILING)
    def assign(self, one: int, name: str, value: int, end: str) -> None:
        self._turn(one, f"values[{name!r}] = {value}", end, lambda: self.values[one].update({name: value}))

    @rule(one=EPISODE, name=st.sampled_from("fg"), text=st.text("xyz", max_size=4), end=FAILING)
    def write(self, one: int, name: str, text: str, end: str) -> None:
        code = f"with open('{name}', 'w') as file: _ = file.write('{text}')"
        self._turn(one, code, end, lambda: self.files[one].update({name: text}))

    @rule(one=EPISODE, name=st.sampled_from("fg"), text=st.text("xyz", max_size=4), end=FAILING)
    def append(self, one: int, name: str, text: str, end: str) -> None:
        code = f"with open('{name}', 'a') as file: _ = file.write('{text}')"
        self._turn(one, code, end, lambda: self.files[one].update({name: self.files[one].get(name, "") + text}))

    @precondition(lambda self: any(self.files))
    @rule(end=FAILING)
    def remove(self, end: str) -> None:
        one = next(number for number, files in enumerate(self.files) if files)
        name = min(self.files[one])
        self._turn(one, f"os.unlink('{name}')", end, lambda: self.files[one].pop(name))

    @rule(one=EPISODE)
    def start_anew(self, one: int) -> None:
        self.episodes[one].close()
        self.episodes[one] = self.box.episode(setup="import os\nvalues = {}")
        self.values[one], self.files[one] = {}, {}

    def _turn(self, one: int, code: str, end: str, change: Callable[[], object]) -> None:
        result = self.episodes[one].run(f"{code}\n{end}")
        assert result.status == ENDS[end], result
        if result.status == "ok":
            change()
        look = "_now = [values, {f: open(f).read() for f in os.listdir('.')}]"
        found = self.box.run_many([(episode, look, "", "", ("_now",)) for episode in self.episodes])
        expected = [[values, files] for values, files in zip(self.values, self.files, strict=True)]
        assert [result.values.get("_now") for result in found] == expected

    def teardown(self) -> None:
        for episode in self.episodes:
            episode.close()


def test_random_turns_match_a_model(tight: Sandbox) -> None:
    Model.box = tight
    run_state_machine_as_test(Model, settings=settings(max_examples=12, stateful_step_count=15))


def test_guarantees_are_what_was_tried(tight: Sandbox) -> None:
    report = tight.guarantees
    assert {"variables", "files", "time", "verdict", "output", "environment"} <= report.enforced
    assert ({"memory", "processes"} <= report.enforced) == LINUX
    assert (set(NAMES) == report.enforced) == (tight.tier == "full")
    for item in report:
        assert item.by if item.enforced else item.missing
        assert f"{'yes' if item.enforced else 'NO '} {item.name} " in str(report)


def test_what_a_preloaded_package_adds_to_the_environment_does_not_reach_code() -> None:
    """cv2 writes its own folder to LD_LIBRARY_PATH, in this process as in the sandbox's."""
    import cv2  # noqa: F401

    with Sandbox(preload=PLOTTING, require=("environment",)) as box, box.episode() as episode:
        assert episode.run("import cv2, os\nprint('LD_LIBRARY_PATH' in os.environ)").stdout == "False\n"


@pytest.mark.parametrize(
    ("kept", "expected"),
    [
        (denied("raise PermissionError"), True),
        (denied("pass"), False),
        (denied("1 / 0"), False),
        (rolls_back("x = 2\n1 / 0", "error"), True),
        (rolls_back("x = 2\n1 / 0", "error", "MemoryError"), False),
        (rolls_back("x = 2", "ok"), False),
    ],
)
def test_a_promise_counts_only_if_it_is_seen_to_be_kept(
    tight: Sandbox, kept: Callable[[SandboxEpisode], bool], expected: bool
) -> None:
    with tight.episode() as episode:
        assert kept(episode) is expected


LOST = {
    "namespaces": {"disk", "metadata"},
    "landlock": set(),
    "seccomp": {"signals", "privileges", "kernel"},
    "rlimits": {"memory", "file_size"},
}
"""What no other layer gives, by layer; without Landlock, programs can't run and files can't be read all the same."""


@on_linux
@pytest.mark.parametrize("identity", IDENTITIES)
@pytest.mark.parametrize("layer", LAYERS)
def test_case_53_an_absent_layer_is_reported_and_required_in_vain(layer: str, identity: str) -> None:
    expected = pytest.warns(UserWarning) if layer == "seccomp" else nullcontext()
    with expected:
        box = start(identity, "full", QUICK, without=[layer])
    with box:
        report = box.guarantees
        assert (box.tier, set(box.missing)) == ("none" if layer == "seccomp" else "partial", {layer})
        assert report.missing == LOST[layer]
        assert f"layer '{layer}' is absent: switched off" in str(report)
    if report.missing:
        with pytest.raises(SandboxError, match=r"not enforced here|code isn't confined here"):
            Sandbox(require=report.missing, without=[layer]).start()


def test_requiring_what_is_missing_raises() -> None:
    with pytest.raises(SandboxError, match=r"not enforced here: metadata \(code that guesses.*allow_unsafe=True"):
        Sandbox(require={"metadata", "time"}, without=["namespaces"]).start()
    with pytest.raises(SandboxError, match=r"code isn't confined here.*\(no landlock: switched off"):
        Sandbox(without=LAYERS).start()
    with pytest.warns(UserWarning, match="not enforced here: metadata"):
        Sandbox(require="metadata", without=["namespaces"], allow_unsafe=True).start().close()
    with pytest.raises(ValueError, match="'netwrk' is no guarantee; known are variables, "):
        Sandbox(require={"netwrk"})
    with pytest.raises(ValueError, match="'landlok' is no layer; known are namespaces, "):
        Sandbox(without={"landlok"})


@pytest.mark.parametrize(
    ("make", "says"),
    [
        (lambda box: box.episode(setup="x = 1\ny = x / 0"), "setup: ZeroDivisionError: division by zero (line 2)"),
        (lambda box: box.episode(files={"../x": b""}), "'../x' is no path inside the working directory"),
        (lambda box: box.episode(variables={"a b": 1}), "'a b' can't be the name of a variable"),
        (
            lambda box: Sandbox(preload=("torch",)).start(),
            "preload: torch can't be imported: ImportError: torch is not available in the sandbox",
        ),
        (lambda box: Sandbox(preload=("no_such",)).start(), "preload: no_such can't be imported: ModuleNotFoundError"),
        (lambda box: Sandbox().episode(), "isn't started"),
        (lambda box: Sandbox(workers=0), "workers=0"),
        (lambda box: box.episode(files={"": b""}), "'' is no path inside"),
        (lambda box: box.episode(files={"/etc/x": b""}), "'/etc/x' is no path inside"),
        (lambda box: box.episode(files={"a\0b": b""}), "is no path inside"),
        (lambda box: box.episode(files={"n" * 256: b""}), "has 256 bytes; a name may have 255"),
        (lambda box: box.episode(files={"\ud800": b""}), "can't be encoded as UTF-8"),
        (lambda box: box.episode(files={"a": b"", "a/b": b""}), "'a' can't be a file and the folder of 'a/b'"),
        (lambda box: box.episode(files={"a": "text"}), "'a' needs bytes, not str"),
        (lambda box: box.episode(files={"a": bytes(65 << 20)}), "limits.file_mb=64 for one"),
        (lambda box: box.episode().run(b"x = 1"), "code: needs text (str), not bytes"),
        (lambda box: Limits(seconds=0), "Limits.seconds=0"),
        (lambda box: Limits(images=-1), "Limits.images=-1"),
    ],
)
def test_errors_name_the_thing(tight: Sandbox, make: Callable[[Sandbox], object], says: str) -> None:
    with pytest.raises((SandboxError, ValueError, TypeError)) as raised:
        make(tight)
    assert says in str(raised.value)


def test_code_that_is_too_long_or_empty_is_no_success(tight: Sandbox) -> None:
    with tight.episode() as episode:
        result = episode.run("x = 1  " + "#" * 10_000_000)
        assert (result.status, result.error) == ("limit", "limit: 10000007 characters of code; at most 200000 are run")
        for nothing in ("", " \n\t", "# x = 1", "\n# a\n  # b\n"):
            result = episode.run(nothing)
            assert (result.status, result.error) == ("error", "EmptyCode: there is no statement in it"), result
        assert episode.run("pass").status == "ok"


def test_a_closed_one_says_so() -> None:
    with Sandbox() as box:
        episode = box.episode()
        running = episode.submit("while True: pass")
        episode.close()
        assert running.result().status == "episode_lost"
        with pytest.raises(SandboxError, match="this episode is closed"):
            episode.run("x = 1")
        waiting = box.episode().submit("while True: pass")
    with pytest.raises(SandboxError, match="the sandbox is closed"):
        waiting.result()
    with pytest.raises(SandboxError, match="the sandbox is closed"):
        box.episode()


@on_linux
def test_closing_an_episode_loses_its_turns_and_nothing_else(tight: Sandbox) -> None:
    """The one that runs and those that wait behind it: all are answered, and the server keeps no socket."""
    server = psutil.Process(tight.pids[0])
    with tight.episode() as other:
        before = server.num_fds()
        episode = tight.episode()
        turns = [episode.submit("while True: pass"), *(episode.submit("x = 1") for _ in range(3))]
        episode.close()
        for turn in turns:
            result = turn.result(timeout=30)
            assert (result.status, result.error) == ("episode_lost", "episode_lost: it was closed"), result
        until(lambda: server.num_fds() <= before)
        assert other.run("x = 1").status == "ok"


CLIENT = r"""
import sys, time
sys.path.insert(0, sys.argv[1])
from sandboxes import QUICK, start
box = start(*sys.argv[2:4], QUICK)
quiet, busy = box.episode(), box.episode()
quiet.run("import os\nopen('f', 'w').write('x')")
busy.submit("import os, time\nif os.fork() == 0 and os.fork() == 0: time.sleep(99)\nwhile True: pass")
print(*box.pids, flush=True)
time.sleep(60)
"""


@on_linux
@pytest.mark.parametrize("kind", KINDS, ids="-".join)
@pytest.mark.parametrize("killed", ["client", "server"])
def test_case_49_nothing_is_left_when_client_or_server_is_killed(killed: str, kind: tuple[str, str]) -> None:
    """Cases 49 and 50."""
    needs(kind[0])
    command = [sys.executable, "-c", CLIENT, str(Path(sandboxes.__file__).parent), *kind]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as client:
        assert client.stdout is not None
        server, zygote = map(int, client.stdout.readline().split())
        folder, processes = belongings(zygote)
        until(lambda: len(belongings(zygote)[1]) >= 9)  # zygote, three keepers, two heads, a child, its forks
        processes = belongings(zygote)[1]
        os.kill(client.pid if killed == "client" else server, signal.SIGKILL)
        _gone([server, *(process.pid for process in processes)])
        client.kill()
    until(lambda: not Path(folder).exists())


def _gone(pids: list[int]) -> None:
    """Wait until none of these processes runs."""

    def over(pid: int) -> bool:
        try:
            os.kill(pid, 0)
        except ProcessLookupError:
            return True
        # A zombie has ended; its parent may be a test that collects it later.
        status = subprocess.run(["ps", "-o", "stat=", "-p", str(pid)], capture_output=True, text=True).stdout
        return status.strip().startswith("Z") or not status.strip()

    until(lambda: all(over(pid) for pid in pids))

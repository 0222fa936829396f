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
from pathlib import Path

import pytest
from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, precondition, rule, run_state_machine_as_test

from kit.sandbox import Limits, Result, Sandbox, SandboxEpisode, SandboxError
from kit.sandbox.linux import LINUX
from kit.sandbox.probes import denied, rolls_back

QUICK = Limits(seconds=20.0, memory_mb=128)


@pytest.fixture(scope="module")
def tight() -> Iterator[Sandbox]:
    with Sandbox(QUICK) as box:
        yield box


def test_a_lost_episode_says_so_from_then_on(tight: Sandbox) -> None:
    for code in (
        "import os, signal\nos.kill(os.getppid(), signal.SIGKILL)\nwhile True: pass",
        "import os, signal\nos.kill(os.getsid(0), signal.SIGKILL)\nwhile True: pass",
    ):  # the head, the keeper
        with tight.episode() as episode:
            for again in (code, "x = 1"):
                result = episode.run(again)
                assert (result.status, result.error[:14]) == ("episode_lost", "episode_lost: "), result


def test_a_killed_zygote_is_started_again(tight: Sandbox) -> None:
    os.kill(tight.pids[1], signal.SIGKILL)
    _gone([tight.pids[1]])
    with tight.episode() as episode:
        assert episode.run("print(1)").stdout == "1\n"


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


class Model(RuleBasedStateMachine):
    """Random turns, good and bad, against a dictionary."""

    box: Sandbox

    def __init__(self) -> None:
        super().__init__()
        self.episode = self.box.episode()
        self.names: dict[str, int] = {}
        self.files: dict[str, str] = {}

    @rule(name=st.sampled_from("abc"), value=st.integers(-5, 5), end=st.sampled_from(["", "1/0", "os._exit(3)"]))
    def assign(self, name: str, value: int, end: str) -> None:
        self._turn(f"{name} = {value}", end, lambda: self.names.update({name: value}))

    @rule(name=st.sampled_from("fg"), text=st.text("xyz", max_size=4), end=st.sampled_from(["", "1/0", "os._exit(3)"]))
    def write(self, name: str, text: str, end: str) -> None:
        code = f"with open('{name}', 'w') as file: _ = file.write('{text}')"
        self._turn(code, end, lambda: self.files.update({name: text}))

    @precondition(lambda self: self.files)
    @rule(end=st.sampled_from(["", "1/0"]))
    def remove(self, end: str) -> None:
        self._turn(f"os.unlink('{min(self.files)}')", end, lambda: self.files.pop(min(self.files)))

    def _turn(self, code: str, end: str, change: Callable[[], object]) -> None:
        result = self.episode.run(f"import os\n{code}\n{end}")
        assert result.status == {"": "ok", "1/0": "error"}.get(end, "died"), result
        if not end:
            change()
        code = "_now = [{n: globals()[n] for n in 'abc' if n in globals()}, {f: open(f).read() for f in os.listdir()}]"
        assert self.episode.run("import os\n" + code, want=("_now",)).values == {"_now": [self.names, self.files]}

    def teardown(self) -> None:
        self.episode.close()


def test_random_turns_match_a_model(tight: Sandbox) -> None:
    Model.box = tight
    run_state_machine_as_test(Model, settings=settings(max_examples=8, stateful_step_count=12, deadline=None))


def test_guarantees_are_what_was_tried(tight: Sandbox, tmp_path: Path) -> None:
    report = tight.guarantees
    assert {"variables", "files", "time", "verdict", "output", "environment"} <= report.enforced
    assert ({"memory", "processes"} <= report.enforced) == LINUX
    # This cut confines nothing. What code can do it must not claim to prevent.
    code = "import os, socket\nsocket.socket().bind(('127.0.0.1', 0))\nopen(_path, 'w').write('x')\nos.kill(_pid, 0)"
    assert {"network", "filesystem", "host_files", "programs", "signals"} <= report.missing
    with tight.episode(variables={"_path": str(tmp_path / "x"), "_pid": os.getpid()}) as episode:
        assert episode.run(code).status == "ok"
    assert (tmp_path / "x").read_text() == "x"
    for item in report:
        assert item.by if item.enforced else item.missing
        assert f"{'yes' if item.enforced else 'NO '} {item.name} " in str(report)


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


def test_requiring_what_is_missing_raises() -> None:
    with pytest.raises(SandboxError, match=r"not enforced here: network \(code can use the network\)"):
        Sandbox(require={"network", "time"}).start()
    with pytest.raises(ValueError, match="'netwrk' is no guarantee; known are variables, "):
        Sandbox(require={"netwrk"})


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
        (lambda box: Limits(seconds=0), "Limits.seconds=0"),
        (lambda box: Limits(pictures=-1), "Limits.pictures=-1"),
    ],
)
def test_errors_name_the_thing(tight: Sandbox, make: Callable[[Sandbox], object], says: str) -> None:
    with pytest.raises((SandboxError, ValueError)) as raised:
        make(tight)
    assert says in str(raised.value)


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


CLIENT = """
BUSY = "\\nimport os\\nopen(path, 'w').write(f'{os.getpid()} {os.getppid()} {os.getsid(0)}')\\nwhile True: pass"
import sys, time
from kit.sandbox import Sandbox
box = Sandbox().start()
quiet, busy = box.episode(), box.episode()
code = "import os\\np = [os.getpid(), os.getppid(), os.getsid(0), os.path.dirname(os.path.dirname(os.getcwd()))]"
pids = [*quiet.run(code, want=("p",)).values["p"], *box.pids]
busy.submit(f"path = {sys.argv[1]!r}" + BUSY)
print(*pids, flush=True)
time.sleep(60)
"""


@pytest.mark.parametrize("killed", ["client", "server"])
def test_nothing_is_left_when_one_is_killed(killed: str, tmp_path: Path) -> None:
    file = tmp_path / "busy"
    with subprocess.Popen([sys.executable, "-c", CLIENT, str(file)], stdout=subprocess.PIPE, text=True) as client:
        assert client.stdout is not None
        child, _, keeper, scratch, server, zygote = client.stdout.readline().split()
        _until(lambda: file.exists() and len(file.read_text().split()) == 3)
        os.kill(client.pid if killed == "client" else int(server), signal.SIGKILL)
        _gone([*map(int, (child, keeper, server, zygote)), *map(int, file.read_text().split())])
        client.kill()
    _until(lambda: not Path(scratch).exists())


def _until(done: Callable[[], bool]) -> None:
    """Wait for something that happens soon; hours of waiting would hide that it doesn't."""
    for _ in range(2000):
        if done():
            return
        time.sleep(0.01)
    raise AssertionError("it did not happen")


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

    _until(lambda: all(over(pid) for pid in pids))

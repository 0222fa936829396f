"""Long use, hostile use, and killed processes: nothing grows, nothing is left, no state is wrong."""

from __future__ import annotations

import os
import random
import signal
import subprocess
import sys
import threading
import time
from pathlib import Path

import psutil
import pytest
from hostile import FORKS
from sandboxes import KINDS, TIERS, belongings, needs, start, until

from turn_sandbox import Limits, Sandbox, SandboxEpisode
from turn_sandbox.linux import LINUX, session_leaders
from turn_sandbox.probes import FORGERY, LOOP

pytestmark = pytest.mark.skipif(not LINUX, reason="other systems don't tell what processes there are")

HASTY = Limits(seconds=5.0, memory_mb=128, processes=6, file_mb=8, disk_mb=24)
BRIEF = Limits(seconds=0.1, memory_mb=128, processes=6, file_mb=8, disk_mb=24)
"""Of the episodes in which hostile cells run: endless ones shall not take the test's time."""

HOSTILE = (
    *(LOOP, FORGERY, FORKS, "import os\nos._exit(0)", "import ctypes\nctypes.string_at(0)", "bytearray(50 << 30)"),
    *(
        "import os\nos.closerange(0, 256)",
        "while True: print('x' * 1000)",
        "def f(): f()\nf()",
        "import os\nos.abort()",
    ),
    "import threading as t, time\nfor _ in range(9): t.Thread(target=time.sleep, args=(30,)).start()\ntime.sleep(30)",
    "for i in range(3): open(f'fill{i}', 'wb').write(bytes(6 << 20))\n1 / 0",
    "import os\nif os.fork() == 0:\n    while True: pass\n1 / 0",
    "import os\nos.unlink('n') or 1 / 0",
)


class Counter:
    """An episode with a number, in a variable and in a file, and what both must be."""

    def __init__(self, box: Sandbox, limits: Limits = HASTY) -> None:
        self.episode: SandboxEpisode = box.episode(variables={"n": 0}, files={"n": b"0"}, limits=limits)
        self.n = 0

    def good(self) -> None:
        result = self.episode.run("n += 1\nopen('n', 'w').write(str(n))", want=("n",))
        self.n += 1
        # A busy machine may take a hasty turn's time; it must then have changed nothing.
        if result.status == "timeout":
            self.n -= 1
        else:
            assert (result.status, result.values) == ("ok", {"n": self.n}), result

    def hostile(self, code: str) -> None:
        result = self.episode.run("n += 1\nopen('n', 'w').write('evil')\n" + code)
        assert result.status in ("error", "died", "timeout", "limit"), result

    def check(self) -> None:
        result = self.episode.run("seen = [n, open('n').read()]", want=("seen",))
        assert result.status == "timeout" or result.values == {"seen": [self.n, str(self.n)]}, result


def footprint(box: Sandbox) -> dict[str, int]:
    """What could grow: descriptors, processes, memory (MB) of server and zygote, files of the sandbox."""
    server, zygote = (psutil.Process(pid) for pid in box.pids)
    folder = Path(zygote.cmdline()[-2])
    return {
        "descriptors": server.num_fds() + zygote.num_fds() + psutil.Process().num_fds(),
        "processes": len(belongings(box.pids[1])[1]),
        "memory": (server.memory_info().rss + zygote.memory_info().rss) >> 20,
        "files": sum(1 for _ in folder.rglob("*")),
    }


@pytest.mark.parametrize("tier", TIERS)
def test_case_51_nothing_grows_in_many_turns(tier: str) -> None:
    """5,000 turns in each tier, one in twenty hostile, in episodes of forty turns."""
    rng = random.Random(0)
    with start("user", tier, HASTY) as box:

        def play(turns: int) -> None:
            one = Counter(box, BRIEF)
            for turn in range(turns):
                one.hostile(rng.choice(HOSTILE)) if rng.random() < 0.05 else one.good()
                if turn % 40 == 39:
                    one.check()
                    one.episode.close()
                    one = Counter(box, BRIEF)
            one.check()
            one.episode.close()

        def together(turns: int) -> None:
            failed: list[BaseException] = []

            def guarded() -> None:
                try:
                    play(turns)
                except BaseException as error:
                    failed.append(error)

            threads = [threading.Thread(target=guarded) for _ in range(4)]
            for thread in threads:
                thread.start()
            for thread in threads:
                thread.join()
            assert not failed, failed[0]
            until(lambda: len(belongings(box.pids[1])[1]) == 2)  # the zygote, and a keeper in wait

        together(100)
        before = footprint(box)
        together(1150)
        # The last episodes' sockets may take a moment to close.
        until(
            lambda: all(more <= before[what] + (8 if what == "memory" else 0) for what, more in footprint(box).items())
        )


@pytest.mark.parametrize("kind", KINDS, ids="-".join)
def test_case_50_killed_processes_take_only_their_own_episodes_along(kind: tuple[str, str]) -> None:
    """Keepers one by one, then the zygote, then the server, at random moments while all episodes run turns."""
    needs(kind[0])
    rng = random.Random(1)
    with start(*kind, HASTY) as box:
        counters = [Counter(box) for _ in range(8)]
        lost: set[int] = set()
        over = threading.Event()

        def play(number: int) -> None:
            while not over.is_set():
                result = counters[number].episode.run("n += 1\nopen('n', 'w').write(str(n))", want=("n",))
                if result.status == "episode_lost":
                    lost.add(number)
                    return
                assert (result.status, result.values) == ("ok", {"n": counters[number].n + 1}), result
                counters[number].n += 1

        threads = [threading.Thread(target=play, args=(number,)) for number in range(len(counters))]
        for thread in threads:
            thread.start()
        for killed in (1, 2, 3):
            time.sleep(rng.uniform(0.05, 0.3))
            os.kill(rng.choice(session_leaders(box.pids[1])), signal.SIGKILL)
            until(lambda killed=killed: len(lost) == killed)  # type: ignore[misc]
        os.kill(box.pids[1], signal.SIGKILL)
        time.sleep(0.2)
        assert len(lost) == 3  # the others go on without a zygote, and a new episode gets a new one
        counters.append(Counter(box))
        counters[-1].good()
        (zygote,) = (child for child in psutil.Process(box.pids[0]).children() if child.status() != "zombie")
        time.sleep(rng.uniform(0.05, 0.3))
        os.kill(box.pids[0], signal.SIGKILL)
        for thread in threads:
            thread.join()
        assert lost == set(range(8))
        assert counters[-1].episode.run("n").status == "episode_lost"
        until(lambda: not zygote.is_running())
        late = Counter(box)  # the sandbox itself lives on
        late.good()
        late.check()


def test_case_52_every_state_is_exact_at_128_episodes() -> None:
    rng = random.Random(2)
    with start("user", "full", HASTY) as box:
        counters = [Counter(box) for _ in range(128)]
        for _ in range(4):
            fails = [rng.random() < 0.3 for _ in counters]
            end = {True: rng.choice(["1 / 0", "import os\nos._exit(1)", "import os\nos.abort()"]), False: ""}
            code = "n += 1\nopen('n', 'w').write(str(n))\n"
            turns = [(one.episode, code + end[bad], "", "", ("n",)) for one, bad in zip(counters, fails, strict=True)]
            for one, bad, result in zip(counters, fails, box.run_many(turns), strict=True):
                one.n += not bad
                assert (result.status == "ok") is not bad, result
        for one in counters:
            one.check()


TRAINING = """
import sys, threading, time
import torch
from turn_sandbox import Sandbox
torch.set_num_threads(2)
a = torch.randn(300, 300)
over = threading.Event()
def train():
    while not over.is_set(): (a @ a).sum()
threading.Thread(target=train).start()
forks = []
import os
os.register_at_fork(before=lambda: forks.append(1))
with Sandbox() as box, box.episode() as episode:
    statuses = {episode.run("x = 1").status for _ in range(50)}
    maps = [open(f"/proc/{pid}/maps").read() for pid in box.pids]
over.set()
print(statuses, len(forks), any("libtorch" in text for text in maps))
"""


def test_no_fork_from_a_process_that_holds_torch() -> None:
    """The client trains in threads meanwhile; neither server nor zygote has torch's library in its memory."""
    pytest.importorskip("torch", reason="torch, whose threads a fork would copy, isn't installed")
    done = subprocess.run([sys.executable, "-c", TRAINING], capture_output=True, text=True, timeout=120)
    assert done.stdout == "{'ok'} 0 False\n", done.stderr

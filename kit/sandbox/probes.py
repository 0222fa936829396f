"""The code that tries each promise of a sandbox. A promise counts only if the attempt shows that it is kept."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING

from kit.sandbox.limits import Limits
from kit.sandbox.linux import LINUX

if TYPE_CHECKING:
    from kit.sandbox.client import SandboxEpisode

TIGHT = Limits(seconds=5.0, memory_mb=128, processes=6, file_mb=1, disk_mb=4, stdout_chars=1000)
SHORT = Limits(seconds=0.25, memory_mb=128)
"""Limits of the throwaway episodes."""

FORGERY = """
import json, os, struct
head = {"status": "ok", "error": "", "warnings": [], "pictures": [], "cpu_s": 0.0, "started": False, "blobs": [2]}
head = json.dumps(head).encode()
for fd in range(3, 64):
    try:
        os.write(fd, struct.pack("!II", len(head), 2) + head + b"{}")
    except OSError:
        pass
x = 2
while True:
    pass
"""
"""A turn that reports its own success and runs on."""

LOOP = """
while True:
    try:
        while True:
            pass
    except BaseException:
        pass
"""
BOMB = """
import os, time
for _ in range(12):
    if os.fork() == 0:
        time.sleep(9)
        os._exit(0)
time.sleep(9)
"""


@dataclass(frozen=True)
class Probe:
    """One promise.

    Attributes:
        name, says: see :class:`kit.sandbox.Guarantee`.
        kept: tries to break it in a throwaway episode; whether it was kept.
        by: what keeps it.
        limit: what it doesn't cover even where it is kept.
        otherwise: what code can do where it isn't.
        limits: of the throwaway episode.
    """

    name: str
    says: str
    kept: Callable[[SandboxEpisode], bool]
    by: str
    limit: str
    otherwise: str
    limits: Limits = TIGHT


def rolls_back(code: str, status: str, error: str = "") -> Callable[[SandboxEpisode], bool]:
    """Kept if ``code`` ends as it should, and ``x`` and the file ``f`` are what they were."""

    def kept(episode: SandboxEpisode) -> bool:
        episode.run("x = 1\nopen('f', 'w').write('1')")
        result = episode.run(code)
        after = episode.run("now = [x, open('f').read()]", want=("now",))
        return result.status == status and error in result.error and after.values.get("now") == [1, "1"]

    return kept


def denied(deed: str) -> Callable[[SandboxEpisode], bool]:
    """Kept if ``deed`` raises OSError: any other failure would prove nothing."""
    lines = "".join(f"    {line}\n" for line in deed.strip().splitlines())
    return _shows(f"held = False\ntry:\n{lines}except OSError:\n    held = True\n")


def _shows(code: str) -> Callable[[SandboxEpisode], bool]:
    """Kept if ``code`` ends with ``held`` true."""

    def kept(episode: SandboxEpisode) -> bool:
        result = episode.run(code, want=("held",))
        return result.status == "ok" and result.values.get("held") is True

    return kept


def _capped(episode: SandboxEpisode) -> bool:
    result = episode.run("for _ in range(1000): print('x' * 1000)")
    return result.status == "ok" and 0 < len(result.stdout) <= TIGHT.stdout_chars


def probes(root: bool) -> tuple[Probe, ...]:
    """Every promise, the kept ones first in the first cut. ``root``: code runs as root.

    The episodes have ``_outside`` (a file of the user's that no episode was given), ``_client`` (the
    client's process id) and ``_names`` (of the client's environment variables).
    """
    lift = "code that runs as root can lift it" if root else ""
    confine = "confinement by the system"
    return (
        Probe(
            "variables",
            "a failed turn leaves the variables as they were",
            rolls_back("x = 2\n1 / 0", "error"),
            "each turn being a forked copy of the state, dropped if it fails",
            "",
            "a failed turn changes variables",
        ),
        Probe(
            "files",
            "a failed turn leaves the working directory as it was",
            rolls_back("import os\nopen('f', 'a').write('2')\nos._exit(0)", "died"),
            "the keeper's copies, compared by change time",
            "what code writes elsewhere stays",
            "what a failed turn wrote stays",
        ),
        Probe(
            "time",
            "a turn ends at its time limit, whatever it does",
            rolls_back(LOOP, "timeout"),
            "the keeper, which kills the turn and what it started",
            "" if LINUX else "a process that leaves the turn's process group goes on",
            "an endless loop goes on",
            SHORT,
        ),
        Probe(
            "verdict",
            "a turn that reports success and runs on is no success",
            rolls_back(FORGERY, "timeout"),
            "a fresh socket each turn, "
            + ("the sender named by the kernel, " if LINUX else "")
            + "a second answer before anything is kept",
            "unconfined code can imitate the whole harness, or reach into other processes",
            "a forged report counts",
            SHORT,
        ),
        Probe(
            "memory",
            "allocating over the limit raises MemoryError",
            rolls_back("data = bytearray(400 << 20)", "error", "MemoryError"),
            "RLIMIT_AS",
            "; ".join(filter(None, ("it bounds each process, not all of a turn together", lift))),
            "a turn can take all memory",
        ),
        Probe(
            "file_size",
            "a file can't be longer than the limit",
            denied("with open('long', 'wb') as file:\n    file.write(bytes(2 << 20))\n    file.flush()"),
            "RLIMIT_FSIZE",
            lift,
            "a file can grow until the disk is full",
        ),
        Probe(
            "processes",
            "a turn with too many processes and threads is ended",
            rolls_back(BOMB, "limit"),
            "the keeper, which counts them 20 times a second",
            "between two counts they are not bounded",
            "a turn can start any number of processes",
        ),
        Probe(
            "output",
            "stdout, stderr, pictures and values are capped",
            _capped,
            "the keeper, which keeps no more than the limits",
            "",
            "output can take all memory",
        ),
        Probe(
            "environment",
            "the host's environment variables are not handed on",
            _shows("import os\nheld = not set(_names) & set(os.environ)"),
            "starting the server with an environment of its own",
            "other processes' environments are a matter of 'signals'",
            "code sees the host's environment variables",
        ),
        Probe(
            "disk",
            "a turn can't write more than its share of the disk",
            denied("for i in range(6):\n    with open(f'part{i}', 'wb') as file:\n        file.write(bytes(1 << 20))"),
            confine,
            "",
            "a turn can fill the disk while it runs; what is over the limit is removed when it ends",
        ),
        Probe(
            "network",
            "code can't open a network connection",
            denied("import socket\nsocket.socket(socket.AF_INET, socket.SOCK_STREAM).bind(('127.0.0.1', 0))"),
            confine,
            "",
            "code can use the network",
        ),
        Probe(
            "filesystem",
            "code can't write outside its working directory",
            denied("open(_outside, 'a').close()"),
            confine,
            "",
            "code can write wherever this user can, the folders of other episodes included",
        ),
        Probe(
            "host_files",
            "code can't read the host's files",
            denied("open(_outside).read()"),
            confine,
            "",
            "code can read whatever this user can",
        ),
        Probe(
            "programs",
            "code can't start programs",
            denied("import subprocess, sys\nsubprocess.run([sys.executable, '-S', '-c', ''])"),
            confine,
            "",
            "code can start any program",
        ),
        Probe(
            "signals",
            "code can't touch other processes",
            denied("import os\nos.kill(_client, 0)"),
            confine,
            "",
            "code can end and inspect any process of this user's, the sandbox's own included",
        ),
    )

"""The code that tries each promise of a sandbox. A promise counts only if the attempt shows that it is kept."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING

from turn_sandbox.limits import Limits
from turn_sandbox.linux import LINUX

if TYPE_CHECKING:
    from turn_sandbox.episode import SandboxEpisode

TIGHT = Limits(seconds=5.0, memory_mb=128, processes=6, file_mb=1, disk_mb=4, stdout_chars=1000)
SHORT = Limits(seconds=0.25, memory_mb=128)
"""Limits of the throwaway episodes."""

FORGERY = """
import json, os, struct
head = {"status": "ok", "error": "", "warnings": [], "images": [], "cpu_s": 0.0, "started": False, "threads": 0}
head["blobs"] = [2]
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
        name, says: see :class:`turn_sandbox.Guarantee`.
        kept: tries to break it in a throwaway episode; whether it was kept.
        by: what keeps it, by the layer that must be there for it; ``""``: always.
        otherwise: what code can do where it isn't kept.
        limit: what it doesn't cover even where it is.
        limits: of the throwaway episode.
    """

    name: str
    says: str
    kept: Callable[[SandboxEpisode], bool]
    by: Mapping[str, str]
    otherwise: str
    limit: str = ""
    limits: Limits = TIGHT


def rolls_back(code: str, status: str, error: str = "") -> Callable[[SandboxEpisode], bool]:
    """Kept if ``code`` ends as it should, and ``x`` and the file ``f`` are what they were.

    Args:
        code: Python source of a turn.
        status: status with which the turn must end.
        error: text that its error must hold.
    """

    def kept(episode: SandboxEpisode) -> bool:
        episode.run("x = 1\nopen('f', 'w').write('1')")
        result = episode.run(code)
        after = episode.run("now = [x, open('f').read()]", want=("now",))
        return result.status == status and error in result.error and after.values.get("now") == [1, "1"]

    return kept


def denied(*deeds: str) -> Callable[[SandboxEpisode], bool]:
    """Kept if each of the deeds raises OSError: any other failure would prove nothing."""
    code = "held = True\n"
    for deed in deeds:
        lines = "".join(f"    {line}\n" for line in deed.strip().splitlines())
        code += f"try:\n{lines}    held = False\nexcept OSError:\n    pass\n"
    return _shows(code)


def _shows(code: str) -> Callable[[SandboxEpisode], bool]:
    """Kept if ``code`` ends with ``held`` true."""

    def kept(episode: SandboxEpisode) -> bool:
        result = episode.run(code, want=("held",))
        return result.status == "ok" and result.values.get("held") is True

    return kept


def _capped(episode: SandboxEpisode) -> bool:
    result = episode.run("for _ in range(1000): print('x' * 1000)")
    return result.status == "ok" and 0 < len(result.stdout) <= TIGHT.stdout_chars


OUTSIDE = "code can {} whatever this user can"

PROBES = (
    Probe(
        "variables",
        "a failed turn leaves the variables as they were",
        rolls_back("x = 2\n1 / 0", "error"),
        {"": "each turn being a forked copy of the state, dropped if it fails"},
        "a failed turn changes variables",
    ),
    Probe(
        "files",
        "a failed turn leaves the working directory as it was",
        rolls_back("import os\nopen('f', 'a').write('2')\nos._exit(0)", "died"),
        {"": "the keeper's copies, compared by change time"},
        "what a failed turn wrote stays",
        "what is in a pipe doesn't come back",
    ),
    Probe(
        "time",
        "a turn ends at its time limit, whatever it does",
        rolls_back(LOOP, "timeout"),
        {"": "the keeper, which kills the turn and what it started"},
        "an endless loop goes on",
        "" if LINUX else "a process that leaves the turn's process group goes on",
        SHORT,
    ),
    Probe(
        "verdict",
        "a turn that reports success and runs on is no success",
        rolls_back(FORGERY, "timeout"),
        {"": "a fresh socket each turn, a second answer" + (", the sender named by the kernel" if LINUX else "")},
        "a forged report counts",
        "code can imitate the whole harness; it then speaks for its own episode",
        SHORT,
    ),
    Probe(
        "memory",
        "allocating over the limit raises MemoryError",
        rolls_back("data = bytearray(400 << 20)", "error", "MemoryError"),
        {"rlimits": "RLIMIT_AS for a process", "": "the keeper's look at all of a turn, 20 times a second"},
        "a turn can take all memory",
        "what all processes of a turn take is looked at, not bounded in between",
    ),
    Probe(
        "file_size",
        "a file can't be longer than the limit",
        denied("with open('long', 'wb') as file:\n    file.write(bytes(2 << 20))\n    file.flush()"),
        {"rlimits": "RLIMIT_FSIZE"},
        "a file can grow until the disk is full",
    ),
    Probe(
        "processes",
        "a turn with too many processes and threads is ended",
        rolls_back(BOMB, "limit"),
        {"": "the keeper, which counts them 20 times a second", "namespaces": "RLIMIT_NPROC"},
        "a turn can start any number of processes",
    ),
    Probe(
        "output",
        "stdout, stderr, pictures and values are capped",
        _capped,
        {"": "the keeper, which keeps no more than the limits"},
        "output can take all memory",
    ),
    Probe(
        "environment",
        "the host's environment variables are not handed on",
        _shows("import os\nheld = not set(_names) & set(os.environ)"),
        {"": "starting the server with an environment of its own"},
        "code sees the host's environment variables",
    ),
    Probe(
        "disk",
        "a turn can't write more than its share, in bytes or in files",
        denied("for i in range(6):\n    with open(f'part{i}', 'wb') as file:\n        file.write(bytes(1 << 20))"),
        {"namespaces": "a file system of its own, of that size, in memory"},
        "a turn can fill the disk while it runs; what is over the limit is removed when it ends",
    ),
    Probe(
        "network",
        "code can't open a network connection",
        denied("import socket\nsocket.socket(socket.AF_INET, socket.SOCK_STREAM).bind(('127.0.0.1', 0))"),
        {"namespaces": "a network namespace without interfaces", "seccomp": "no call that makes a socket"},
        "code can use the network",
    ),
    Probe(
        "filesystem",
        "code can't change anything outside its working directory",
        denied("open(_outside, 'a').close()", "import os\nos.utime(_outside)"),
        {"namespaces": "a root that is read-only", "landlock": "Landlock"},
        OUTSIDE.format("write wherever"),
    ),
    Probe(
        "host_files",
        "code can't read the host's files",
        denied("open(_outside).read()"),
        {"namespaces": "a root without them", "landlock": "Landlock"},
        OUTSIDE.format("read"),
        "Python's library, its packages, system libraries and fonts can be read",
    ),
    Probe(
        "metadata",
        "code can't learn names, sizes and times of the host's files",
        denied("import os\nos.stat(_outside)"),
        {"namespaces": "a root without them"},
        "code that guesses a path learns whether it exists, its size and times",
    ),
    Probe(
        "programs",
        "code can't start programs",
        denied("import subprocess, sys\nsubprocess.run([sys.executable, '-S', '-c', ''])"),
        {"seccomp": "no call that executes a file", "landlock": "no right to"},
        "code can start any program",
    ),
    Probe(
        "signals",
        "code can't send a signal to any process",
        denied("import os\nos.kill(os.getppid(), 0)"),
        {"seccomp": "no call that sends one", "namespaces": "seeing none but the episode's"},
        "code can end any process of this user's, the sandbox's own included",
    ),
    Probe(
        "inspection",
        "code can't look into other processes",
        denied("import os\nopen(f'/proc/{os.getppid()}/maps').read()" if LINUX else "pass"),
        {"seccomp": "no call that traces", "namespaces": "no /proc", "landlock": "no right to read /proc"},
        "code can read and change the memory of any process of this user's",
    ),
    Probe(
        "privileges",
        "code can't become another user, mount, or make namespaces",
        _shows(
            "import ctypes\nlibc = ctypes.CDLL(None, use_errno=True)\n"
            "held = libc.unshare(0x10000000) == -1 and libc.chroot(b'.') == -1 and libc.prctl(39, 0, 0, 0, 0) == 1"
        ),
        {"seccomp": "no call for it", "": "no capabilities, no_new_privs"},
        "code can do what this user's capabilities and the kernel's setuid programs allow",
    ),
    Probe(
        "kernel",
        "system calls that Python doesn't need are denied",
        _shows("import ctypes\nheld = ctypes.CDLL(None, use_errno=True).inotify_init1(0) == -1"),
        {"seccomp": "a list of those allowed"},
        "code can use every call of the kernel, and its faults",
        "a fault in the calls that are left",
    ),
)
"""Every promise. The episodes have ``_outside`` (a file of the user's that no episode was given) and ``_names`` (of
the client's environment variables)."""

CONFINED = frozenset(
    (
        *("time", "memory", "processes", "environment", "network", "filesystem", "host_files"),
        *("programs", "signals", "inspection", "privileges", "kernel"),
    )
)
"""What has to hold before a model is let loose: training requires it."""

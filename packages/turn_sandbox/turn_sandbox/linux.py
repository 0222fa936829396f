"""Linux's own calls: adopting orphans, finding what a turn started, other processes' CPU clocks.

Every function also runs elsewhere and says by its value that it couldn't do it; the
guarantees of a sandbox are measured, so what is missing shows there.
"""

from __future__ import annotations

import os
import sys
import time
from collections.abc import Callable, Iterable

from turn_sandbox import kernel

LINUX = sys.platform.startswith("linux")


def become_subreaper() -> bool:
    """Make this process the parent of its orphaned descendants; whether that worked."""
    if not LINUX:
        return False
    return kernel.prctl(kernel.PR_SET_CHILD_SUBREAPER, 1) == 0


LISTS_CHILDREN = os.path.exists(f"/proc/self/task/{os.getpid()}/children")
"""Whether the kernel lists a process's children; without, :func:`descendants` reads all processes (20 µs each)."""


def descendants() -> set[int]:
    """Processes below this one, which adopts orphans, ended ones too; empty where the system doesn't tell."""
    if not LINUX:
        return set()
    if os.getpid() == 1:  # the first of an episode's namespace: all others in /proc are its own
        return set(_pids()) - {1}
    children = _children if LISTS_CHILDREN else _children_by_parent()
    found: set[int] = set()
    todo = [os.getpid()]
    while todo:
        new = set(children(todo.pop())) - found
        found |= new
        todo += new
    return found


def alive(pid: int) -> bool:
    """Check that a process runs: one that has ended but wasn't collected doesn't."""
    return _stat(pid)[:1] not in ([], ["Z"], ["X"])


def _pids() -> list[int]:
    return [int(name) for name in os.listdir("/proc") if name.isdigit()]


def _session(pid: int) -> int:
    try:
        return os.getsid(pid)
    except OSError:
        return 0


def _children(pid: int) -> list[int]:
    """Children of every thread of ``pid``."""
    children: list[int] = []
    try:
        for thread in os.listdir(f"/proc/{pid}/task"):
            with open(f"/proc/{pid}/task/{thread}/children", "rb") as file:
                children += map(int, file.read().split())
    except OSError:  # it ended meanwhile
        pass
    return children


def _children_by_parent() -> Callable[[int], list[int]]:
    """Collect children from every process's parent, as they are now."""
    children: dict[int, list[int]] = {}
    for pid in _pids():
        if fields := _stat(pid):
            children.setdefault(int(fields[1]), []).append(pid)
    return lambda parent: children.get(parent, [])


def _stat(pid: int) -> list[str]:
    """Fields 3 and on of a process's ``stat``; empty if it is gone."""
    try:
        with open(f"/proc/{pid}/stat", "rb") as file:
            # The command's name is in brackets and may hold anything; fields are counted after it.
            return file.read().rpartition(b")")[2].decode("ascii").split()
    except OSError:
        return []


def threads(pid: int) -> int:
    """Threads of a process; 1 where the system doesn't tell, 0 if it has ended."""
    if not LINUX:
        return 1
    try:
        return len(os.listdir(f"/proc/{pid}/task"))
    except OSError:
        return 0


def cpu_seconds(pid: int) -> float | None:
    """CPU seconds of another process, read from its clock; None where the system doesn't tell."""
    if not LINUX:
        return None
    try:
        # The id of a process's CPU clock, as clock_getcpuclockid(3) makes it.
        return time.clock_gettime((~pid << 3) | 2)
    except OSError:
        return None


def own_bytes(pid: int) -> int:
    """Bytes of memory a process uses that aren't a file's; a page it shares since a fork counts. 0 if it has ended."""
    try:
        with open(f"/proc/{pid}/statm", "rb") as file:
            _, resident, shared, *_ = map(int, file.read().split())
    except (OSError, ValueError):
        return 0
    return (resident - shared) * os.sysconf("SC_PAGE_SIZE")


def address_space() -> int | None:
    """Bytes of this process's address space."""
    if not LINUX:
        return None
    with open("/proc/self/statm", "rb") as file:
        return int(file.read().split()[0]) * os.sysconf("SC_PAGE_SIZE")


def members(session: int) -> list[int]:
    """Living processes of another session."""
    return [pid for pid in _pids() if _session(pid) == session and alive(pid)] if LINUX else []


def session_leaders(like: int) -> list[int]:
    """Living processes that lead a session and were forked from ``like``, whose command line they bear."""
    return [pid for pid in _pids() if pid != like and _session(pid) == pid and _command(pid) == _command(like)]


def _command(pid: int) -> bytes:
    try:
        with open(f"/proc/{pid}/cmdline", "rb") as file:
            return file.read()
    except OSError:
        return b""


def private_bytes(pids: Iterable[int]) -> int:
    """Memory that only these processes use, or would not be used without them: a page that two share counts once.

    Reads as much as this user may; 0 for what it may not.
    """
    total = 0.0
    for pid in pids:
        try:
            with open(f"/proc/{pid}/smaps_rollup") as file:
                sizes = dict(line.split(":") for line in file.readlines()[1:])
        except OSError:
            continue
        total += sum(int(sizes[name].split()[0]) for name in ("Private_Dirty", "Private_Clean")) * 1024
    return int(total)

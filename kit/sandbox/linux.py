"""What only Linux offers: adopting orphans, finding descendants, other processes' CPU clocks.

Every function also runs elsewhere and says by its value that it couldn't do it; the
guarantees of a sandbox are measured, so what is missing shows there.
"""

from __future__ import annotations

import ctypes
import os
import sys
import time

LINUX = sys.platform.startswith("linux")
PR_SET_CHILD_SUBREAPER = 36


def become_subreaper() -> bool:
    """Make this process the parent of its orphaned descendants; whether that worked."""
    if not LINUX:
        return False
    return bool(ctypes.CDLL(None, use_errno=True).prctl(PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0) == 0)


def descendants(pid: int) -> set[int]:
    """Every living process below ``pid``; empty where the system doesn't tell."""
    found: set[int] = set()
    todo = [pid] if LINUX else []
    while todo:
        for child in _children(todo.pop()):
            if child not in found:
                found.add(child)
                todo.append(child)
    return found


def _children(pid: int) -> list[int]:
    children: list[int] = []
    try:
        for thread in os.listdir(f"/proc/{pid}/task"):
            with open(f"/proc/{pid}/task/{thread}/children", "rb") as file:
                children += map(int, file.read().split())
    except OSError:  # it ended meanwhile
        pass
    return children


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


def address_space() -> int | None:
    """Bytes of this process's address space."""
    if not LINUX:
        return None
    with open("/proc/self/statm", "rb") as file:
        return int(file.read().split()[0]) * os.sysconf("SC_PAGE_SIZE")


def session_members(session: int) -> list[int]:
    """Living processes of a session."""
    found = []
    for name in os.listdir("/proc") if LINUX else []:
        if name.isdigit():
            try:
                with open(f"/proc/{name}/stat", "rb") as file:
                    # The command's name is in brackets and may hold anything; fields are counted after it.
                    if int(file.read().rpartition(b")")[2].split()[3]) == session:
                        found.append(int(name))
            except OSError:
                continue
    return found

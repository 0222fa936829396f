"""Tell code what a session can't do, and what to do instead.

The system's own words mislead: a program that may not start is "Operation not permitted", a pool of processes finds
"No such file or directory". A module that can't work here is refused by name (:class:`Refusals`). Whatever else is
denied raises the system's error as ever; what the code had asked for is known from Python's audit events, so that the
error of a turn that failed can say the rest (:class:`Advice`).
"""

from __future__ import annotations

import errno
import importlib.abc
import os
import socket
from collections.abc import Iterator

SHARING = "processes can't share locks or memory in a session: use a plain loop, or threads"
MODULES = {
    "torch": "torch is not available in the sandbox: its threads would hang every later turn",
    # What pools, queues, locks and executors of processes are made of, and nothing else.
    **dict.fromkeys(
        (f"multiprocessing.{name}" for name in ("synchronize", "heap", "shared_memory", "managers")), SHARING
    ),
}
"""Modules that are refused, and why."""

PROGRAMS = "a session starts no programs: do it in Python"
NETWORK = "a session has no network: work with what is given"
INPUT = "nobody answers: write the value into the code"
SIGNALS = "a session sends no signals: return, or raise an exception"
FOLDER = "a session has only its own folder: use a name like 'out.png'"
MEMORY = "a session maps no memory that could be shared: use an array"
LOCKS = "a turn's locks stay with it: commit or close before it ends"
OTHER = "a session may not do this: no network, programs, signals or shared memory"

EVENTS = {
    **dict.fromkeys(("subprocess.Popen", "os.system", "os.exec", "os.posix_spawn", "pty.spawn"), PROGRAMS),
    **dict.fromkeys((f"socket.{name}" for name in ("__new__", "connect", "bind", "getaddrinfo")), NETWORK),
    **dict.fromkeys((f"socket.{name}" for name in ("gethostbyname", "gethostbyaddr", "getnameinfo")), NETWORK),
    **dict.fromkeys(("os.kill", "os.killpg", "signal.pthread_kill"), SIGNALS),
    "builtins.input": INPUT,
    "mmap.__new__": MEMORY,
}
"""Events of ``sys.audit`` by which a turn asks for what it can't have."""

DENIED = frozenset((errno.EPERM, errno.EACCES, errno.ENETUNREACH))
MISSING = DENIED | {errno.ENOENT, errno.EROFS}
CHAIN = 20
"""Exceptions behind an exception that are looked at."""

_gaierror = socket.gaierror


class Refusals(importlib.abc.MetaPathFinder):
    """Refuses :data:`MODULES`, wherever they are imported."""

    def find_spec(self, fullname: str, path: object = None, target: object = None) -> None:
        """None for all other modules: the usual finders look for them."""
        why = MODULES.get(fullname) or MODULES.get(fullname.partition(".")[0])
        if why:
            raise ImportError(why, name=fullname)


class Advice:
    """Knows which of :data:`EVENTS` a turn asked for last, and what that means for its error.

    Attributes:
        unsaid: what no error says: ``os.system`` only returns a number.
    """

    def __init__(self) -> None:
        self.confined, self.folder = False, ""
        self.begin_turn()

    def begin(self, confined: bool) -> None:
        """From here on this is about the session of this process, in the current folder.

        Args:
            confined: whether the kernel denies programs, sockets and signals.
        """
        self.confined, self.folder = confined, os.getcwd()

    def begin_turn(self) -> None:
        """Forget what the last turn asked for."""
        self.asked, self.unsaid = "", list[str]()

    def note(self, event: str) -> None:
        """Remember an event of ``sys.audit``."""
        if event in EVENTS:
            self.asked = EVENTS[event]
            if event == "os.system" and self.confined:
                self.unsaid = [f"os.system: {PROGRAMS}"]

    def on(self, error: BaseException) -> str:
        """Say what to do instead of what raised ``error``; nothing if its own words say it, or if that isn't known."""
        try:
            found = next(filter(None, map(self._about, _chain(error))), "")
            return "" if found in str(error) else found
        except Exception:  # a class whose attributes fail
            return ""

    def _about(self, error: BaseException) -> str:
        if isinstance(error, ImportError) and error.msg in MODULES.values():
            return error.msg
        if self.asked == INPUT and (isinstance(error, EOFError) or type(error).__name__ == "BdbQuit"):
            return INPUT
        if type(error).__name__ == "OperationalError" and "is locked" in str(error):  # sqlite3's, in the turn after
            return LOCKS
        if not (self.confined and isinstance(error, OSError)):
            return ""
        if self.asked not in ("", INPUT) and (error.errno in DENIED or isinstance(error, _gaierror)):
            return self.asked
        if error.errno in MISSING and self._is_outside(str(error.filename)):
            return FOLDER
        return OTHER if error.errno == errno.EPERM else ""

    def _is_outside(self, path: str) -> bool:
        """Check that this is an absolute path, and none into the session's folder."""
        return path.startswith("/") and not f"{path}/".startswith(f"{self.folder}/")


def _chain(error: BaseException | None) -> Iterator[BaseException]:
    """An exception and those it came from, the last first."""
    for _ in range(CHAIN):
        if error is None:
            break
        yield error
        error = error.__cause__ or error.__context__

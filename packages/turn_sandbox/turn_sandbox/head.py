"""The head of an episode: holds the state after the last good turn and forks a child for the next.

A child that ran a good turn becomes the head: it falls through to the same loop on its own
socket, answers the keeper's ping there, and the old head is killed. A child that failed is
killed, and nothing of it was ever in the head.

Orders on the socket are 9 bytes: a letter and 8 bytes that are only used by ``p``.

=====  ==========================================================  =============================
order  what the head does                                          answer
=====  ==========================================================  =============================
``t``  fork a child on the three descriptors that come along       ``f``; the child: ``h`` + pid
``p``  nothing: it shows that the loop is reached                  the 8 bytes
``w``  wait a moment for the child to end; put file offsets back   its wait status, or −1
``r``  put file offsets back                                       its wait status, or −1
=====  ==========================================================  =============================
"""

from __future__ import annotations

import fcntl
import os
import random
import resource
import select
import signal
import socket
import sys
import time
from collections.abc import Mapping
from typing import Any, NoReturn

from PIL import Image

from turn_sandbox import wire
from turn_sandbox.clean import at_home
from turn_sandbox.confine import Confinement
from turn_sandbox.limits import Limits, cpu_limit
from turn_sandbox.turn import Session, describe
from turn_sandbox.wire import HELLO, STATUS

ORDER = 9
OPEN_FILES = 256
MT19937_WORDS = 624
"""Words in the state of numpy's global generator, the Mersenne Twister (Matsumoto and Nishimura 1998)."""

PATIENCE = 0.02
"""Seconds the head waits for a killed child to be gone: killing takes long if it held much memory."""

# Names the code of a turn may patch, as they were before any ran.
_fork, _exit, _dup2, _close, _waitpid, _lseek = os.fork, os._exit, os.dup2, os.close, os.waitpid, os.lseek
_getpid, _setpgid, _getcwd = os.getpid, os.setpgid, os.getcwd
_chdir, _isdir = os.chdir, os.path.isdir
_sleep, _perf_counter, _signal = time.sleep, time.perf_counter, signal.signal
_SIGCHLD, _WNOHANG, _CUR, _SET = signal.SIGCHLD, os.WNOHANG, os.SEEK_CUR, os.SEEK_SET
_recv_fds, _Socket = socket.recv_fds, socket.socket
_fcntl, _DUPFD = fcntl.fcntl, fcntl.F_DUPFD
_getstate, _setstate = random.getstate, random.setstate
_pack, _read_frame, _read_exactly = wire.pack, wire.read_frame, wire.read_exactly
_poll, _POLLNVAL = select.poll, select.POLLNVAL
_OWN_FDS = frozenset(range(3, OPEN_FILES))
_all_fds = _poll()
for _fd in _OWN_FDS:
    _all_fds.register(_fd, 0)


class Head:
    """The head of an episode: the process that holds its state."""

    def __init__(self, control: socket.socket, session: Session) -> None:
        self.control, self.session = control, session
        self.child = 0
        self.offsets: dict[int, int] = {}
        self.folder = self.work = _getcwd()

    def serve(self) -> NoReturn:
        """Obey the keeper until it is gone. Never returns and never raises: there is nobody above it."""
        try:
            while True:
                data, fds, _, _ = _recv_fds(self.control, ORDER, 3)
                if len(data) != ORDER:
                    break
                if data[:1] == b"t":
                    self._fork(fds)
                elif data[:1] == b"p":
                    self.control.sendall(data[1:])
                elif data[:1] in (b"w", b"r"):
                    self.control.sendall(STATUS.pack(self._ended(PATIENCE if data[:1] == b"w" else 0.0)))
        finally:
            _exit(70)

    def _fork(self, fds: list[int]) -> None:
        """Fork; the child comes back from here only after a good turn, as the new head."""
        self._reap()
        self._remember()
        # Once code forked or had threads, random is seeded anew in a child; a turn must go on where the last one was.
        rng = _getstate()
        self.session.own_fork = True
        self.child = _fork()
        self.session.own_fork = False
        if self.child:
            for fd in fds:
                _close(fd)
            self.control.sendall(b"f")
            return
        _setstate(rng)
        self._become_child(fds)
        request, _ = _read_frame(self.control) or _exit(70)
        header, blobs = self.session.play(request)
        self.control.sendall(_pack(header, blobs))
        if header["status"] != "ok":
            _exit(0)

    def _become_child(self, fds: list[int]) -> None:
        # They may have come as 0, 1 or 2 if the code closed those.
        out, err, control = (_fcntl(fd, _DUPFD, 3) for fd in fds)
        for fd in fds:
            _close(fd)
        _dup2(out, 1)
        _dup2(err, 2)
        _close(out)
        _close(err)
        self.control.close()
        self.control = _Socket(fileno=control)
        # A group of its own, so that one signal reaches it and what it starts, all at once.
        _setpgid(0, 0)
        self.control.sendall(HELLO.pack(b"h", _getpid()))

    def _remember(self) -> None:
        """Note where open files are: the child shares their offsets. Leave a folder that a failed turn removed."""
        try:
            self.folder = _getcwd()
        except OSError:  # it has been put back by now, as another folder of the same name
            _chdir(self.folder if _isdir(self.folder) else self.work)
        # There is no /proc to list them from, but a poll says which of all possible ones aren't open.
        closed = {fd for fd, event in _all_fds.poll(0) if event & _POLLNVAL}
        self.offsets = {}
        for fd in _OWN_FDS - closed:
            try:
                self.offsets[fd] = _lseek(fd, 0, _CUR)
            except OSError:  # a pipe or a socket
                continue

    def _reap(self) -> None:
        """Collect children of earlier turns: one that took long to end may be there since the turn before the last."""
        try:
            while _waitpid(-1, _WNOHANG)[0]:
                pass
        except ChildProcessError:
            pass

    def _ended(self, patience: float) -> int:
        """The failed child's wait status (−1: not gone yet); files are back where they were."""
        status, until = -1, _perf_counter() + patience
        while self.child:
            try:
                pid, found = _waitpid(self.child, _WNOHANG)
            except ChildProcessError:
                break
            if pid:
                status, self.child = found, 0
            elif _perf_counter() > until:
                break
            else:
                _sleep(0.0003)
        for fd, offset in self.offsets.items():
            try:
                _lseek(fd, offset, _SET)
            except OSError:
                continue
        return status


def main(
    control: socket.socket,
    request: Mapping[str, Any],
    images: list[bytes],
    limits: Limits,
    session: Session,
    confinement: Confinement,
    work: str,
) -> NoReturn:
    """Set an episode up in this freshly forked process, say how that went, and serve.

    Args:
        control: socket to the keeper.
        request: ``variables`` (JSON), ``images`` ([name, mode, width, height] each), ``setup``, ``cell``.
        images: their pixels; taken out of the list, or this process would hold them for good.
        limits: limits of its turns.
        session: as the zygote made it.
        confinement: what this process puts on before it runs anything.
        work: the episode's directory, as the keeper names it.
    """
    try:
        try:
            _enter(limits, confinement, work)
            # PIL keeps images of several channels in 4 bytes a pixel.
            given = sum(4 * width * height for _, _, width, height in request["images"])
            session.begin(limits, confinement.rlimits, given, bool(confinement.program), request["cell"])
            _fill(session, request, images)
        except BaseException as error:
            control.sendall(_pack({"error": describe(error, "<setup>")}))
            _exit(1)
        control.sendall(_pack({"error": ""}))
        Head(control, session).serve()
    finally:
        _exit(70)


def _enter(limits: Limits, confinement: Confinement, work: str) -> None:
    """Become an episode's process."""
    _seed()
    if confinement.rlimits:
        _bound(limits, confinement.namespaces)
    home = confinement.enter(work)
    if not confinement.namespaces:  # where each has a folder of another name
        os.environ.update(at_home(home))
    quiet = os.open(os.devnull, os.O_RDWR)
    for fd in (0, 1, 2):
        os.dup2(quiet, fd)
    os.close(quiet)


def _fill(session: Session, request: Mapping[str, Any], images: list[bytes]) -> None:
    session.namespace.update(request["variables"])
    for name, mode, width, height in request["images"]:
        session.namespace[name] = Image.frombytes(mode, (width, height), images.pop(0))
    session.trusted(request["setup"], "setup")
    session.flush()


def _seed() -> None:
    """No two episodes share their random numbers."""
    random.seed()
    if numpy := sys.modules.get("numpy"):
        # What numpy.random.seed() does with less entropy, in half the time.
        words = numpy.frombuffer(os.urandom(4 * MT19937_WORDS), numpy.uint32)
        numpy.random.set_state(("MT19937", words, MT19937_WORDS))


def _bound(limits: Limits, own_ids: bool) -> None:
    """Set the limits that hold for every process of the episode from here on; they can't be raised again.

    Args:
        own_ids: whether its processes are counted apart from others of this user's.
    """
    bounds = {
        resource.RLIMIT_CPU: cpu_limit(limits),
        resource.RLIMIT_FSIZE: limits.file_mb << 20,
        resource.RLIMIT_CORE: 0,
        resource.RLIMIT_NOFILE: OPEN_FILES,
    }
    if own_ids:
        # Above what is allowed, so that the keeper sees that a turn is over it; stops a bomb between two looks.
        bounds[resource.RLIMIT_NPROC] = 2 * limits.processes + 8
    for kind, value in bounds.items():
        hard = resource.getrlimit(kind)[1]
        value = value if hard == resource.RLIM_INFINITY else min(value, hard)
        # CPU: a second between the signal that can be told from others and the kill.
        resource.setrlimit(kind, (value, value + 1 if kind == resource.RLIMIT_CPU and hard != value else value))

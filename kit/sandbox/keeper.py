"""The keeper of an episode: deadline, caps, verdicts, clean-up. It runs no code of the turns.

A turn, from here:

1. fresh pipes for stdout and stderr and a fresh socket for the verdict go to the head, which forks;
2. the child says hello; its process id comes from the kernel where the kernel tells (Linux);
3. the child gets the code. Its verdict counts only if it comes from that process, on this turn's socket, in time;
4. verdict ``ok``: nothing else of the turn may be alive, the child must answer a ping from its loop, its files
   are copied; only then is the old head killed and the child the head. Anything else: the child and whatever it
   started are killed and the files put back; the head never changed.
"""

from __future__ import annotations

import contextlib
import gc
import os
import select
import shutil
import signal
import socket
import sys
from collections.abc import Mapping, Sequence
from typing import Any, NoReturn

from kit.sandbox import head as head_module
from kit.sandbox import linux, wire
from kit.sandbox.files import Shadow, TooMuch
from kit.sandbox.limits import Limits
from kit.sandbox.setup import make_session
from kit.sandbox.watch import Ended, Watch

SETUP_SECONDS = 60.0
SPAWN_SECONDS = 10.0
"""How long the head may take to fork: it takes milliseconds unless code hung a hook on fork."""

SWEEP_SECONDS = 2.0


class Lost(Exception):
    """The head no longer does what a head does."""


class Keeper:
    """One episode.

    Args:
        server: the socket its requests come from.
        folder: an empty folder of this episode.
    """

    def __init__(self, server: socket.socket, folder: str) -> None:
        self.server, self.folder = server, folder
        self.work = os.path.join(folder, "work")
        os.mkdir(self.work, 0o700)
        self.adopts = linux.become_subreaper()
        self.head_pid = 0
        self.head = server  # until start
        self.limits = Limits()

    def start(self, request: Mapping[str, Any], blobs: Sequence[bytes]) -> str:
        """Write the input files, start the first head; returns what was wrong with the setup, or nothing."""
        self.limits = Limits(**request["limits"])
        names = request["files"]
        for name, data in zip(names, blobs, strict=False):
            path = os.path.join(self.work, name)
            os.makedirs(os.path.dirname(path), exist_ok=True)
            with open(path, "wb") as file:
                file.write(data)
        mine, theirs = socket.socketpair()
        self.head_pid = os.fork()
        if self.head_pid == 0:
            mine.close()
            self.server.close()
            os.setpgid(0, 0)
            os.chdir(self.work)
            head_module.main(theirs, lambda: make_session(request, blobs[len(names) :], self.limits, self.work))
        theirs.close()
        self.head = mine
        mine.settimeout(SETUP_SECONDS)
        try:
            frame = wire.read_frame(mine)
        except TimeoutError:
            return f"it ran longer than {SETUP_SECONDS:g} s"
        if frame is None:
            return "its process died"
        if not frame[0]["error"]:
            self.shadow = Shadow(self.work, os.path.join(self.folder, "good"), self.limits.disk_mb << 20)
        return str(frame[0]["error"])

    def turn(self, request: Mapping[str, Any]) -> tuple[dict[str, Any], list[bytes]]:
        """Run one turn; the answer's blobs are stdout, stderr, the values' JSON and the pictures.

        Raises:
            Lost: the episode's state is gone.
        """
        with Watch(self.limits, self.server, self.head, self.adopts) as watch:
            self._spawn(watch)
            watch.send(request)
            ended = watch.verdict()
            if ended.status == "ok":
                ended = self._commit(watch, ended)
            if ended.status != "ok":
                ended = self._roll_back(watch, ended)
            watch.drain()
            return ended.header(watch, self._cpu()), [*watch.texts(), *ended.blobs]

    def _spawn(self, watch: Watch) -> None:
        """Have the head fork a child onto the turn's descriptors."""
        try:
            socket.send_fds(self.head, [b"t" + bytes(8)], watch.give())
            os.kill(self.head_pid, signal.SIGCONT)
        except OSError as error:
            raise Lost("the process that held the state is gone") from error
        if not watch.hello(SPAWN_SECONDS):
            raise Lost("the process that held the state could not start the turn")
        self._pause(self.head_pid)

    def _commit(self, watch: Watch, ended: Ended) -> Ended:
        """Second phase: the child becomes the head, or the turn failed after all."""
        others = linux.descendants(os.getpid()) - {self.head_pid, watch.pid}
        if others:
            ended.warnings.append(f"{len(others)} processes outlived the turn and were killed")
            self._sweep({self.head_pid, watch.pid})
        running = linux.threads(watch.pid)
        if running > 1:
            ended.warnings.append(f"{running - 1} threads outlived the turn; they end with it")
        if not watch.ping():
            return Ended("timeout", f"timeout: it reported success and ran on, over {self.limits.seconds:g} s")
        self._pause(watch.pid)
        try:
            self.shadow.commit()
        except (TooMuch, OSError) as error:
            return Ended("limit", f"limit: the working directory holds {error}")
        self._kill(self.head_pid)
        self.head.close()
        self.head_pid, self.head = watch.pid, watch.keep()
        self._reap()
        return ended

    def _roll_back(self, watch: Watch, ended: Ended) -> Ended:
        """Kill what the turn left, put its files back, and find out how its process ended."""
        os.kill(self.head_pid, signal.SIGCONT)
        asked = ended.status == "died"  # it ended by itself: the head can tell how
        if not asked:
            self._kill(watch.pid)
        self.head.settimeout(SPAWN_SECONDS)
        try:
            self.head.sendall(b"w" + bytes(8))
            answer = wire.read_exactly(self.head, head_module.STATUS.size)
        except OSError as error:
            raise Lost("the process that held the state does not answer") from error
        if not answer:
            raise Lost("the process that held the state is gone")
        self._kill(watch.pid)
        self._sweep({self.head_pid})
        try:
            self.shadow.restore()
        except (OSError, RecursionError, TooMuch) as error:
            raise Lost(f"files could not be put back: {error}") from error
        self._pause(self.head_pid)
        return ended.died(head_module.STATUS.unpack(answer)[0]) if asked else ended

    def _pause(self, pid: int) -> None:
        """Stop a head until it is needed: a thread of it would otherwise go on. Where its parent
        is not this keeper's session a stopped process may be sent away by the system, so only here."""
        if self.adopts:
            os.kill(pid, signal.SIGSTOP)

    @staticmethod
    def _kill(pid: int) -> None:
        """Kill a process and its group."""
        for send in (os.killpg, os.kill):
            with contextlib.suppress(ProcessLookupError, PermissionError):
                send(pid, signal.SIGKILL)

    def _sweep(self, spared: set[int]) -> None:
        """Kill every process of this episode but ``spared``, until none is left."""
        until = watch_clock() + SWEEP_SECONDS
        while left := linux.descendants(os.getpid()) - spared:
            for pid in left:
                self._kill_one(pid)
            self._reap()
            if all(linux.threads(pid) == 0 or _is_zombie(pid) for pid in left):
                return
            if watch_clock() > until:
                raise Lost("processes of the turn could not be killed as fast as they appeared")

    def _kill_one(self, pid: int) -> None:
        with contextlib.suppress(ProcessLookupError, PermissionError):
            os.kill(pid, signal.SIGKILL)

    @staticmethod
    def _reap() -> None:
        """Collect processes that have ended."""
        with contextlib.suppress(ChildProcessError):
            while os.waitpid(-1, os.WNOHANG)[0]:
                pass

    def _cpu(self) -> float:
        """CPU seconds of the whole episode so far."""
        used = os.times()
        total = used.user + used.system + used.children_user + used.children_system
        return total + (linux.cpu_seconds(self.head_pid) or 0.0)

    def end(self) -> None:
        """Kill and remove everything of the episode."""
        if self.head_pid:
            self._kill(self.head_pid)
        with contextlib.suppress(Lost):
            self._sweep(set())
        self._reap()
        shutil.rmtree(self.folder, ignore_errors=True)

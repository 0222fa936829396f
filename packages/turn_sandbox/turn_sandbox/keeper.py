"""The keeper of an episode: one process that runs no code of the turns and decides how they end.

A turn, from here:

1. fresh pipes for stdout and stderr and a fresh socket for the verdict go to the head, which forks;
2. the child says hello; its process id comes from the kernel where the kernel tells (Linux);
3. it gets the code. Its verdict counts only if it comes from that process, on this turn's socket, in time;
4. verdict ``ok``: nothing else of the turn may be alive, the child must answer a ping from its loop, its files
   are copied; only then is the old head killed and the child the head. Anything else: the child and whatever it
   started are killed and the files put back; the head never changed.
"""

from __future__ import annotations

import contextlib
import os
import resource
import signal
import socket
import time
import traceback
from collections.abc import Mapping
from typing import Any, NoReturn

from turn_sandbox import head as head_module
from turn_sandbox import linux, wire
from turn_sandbox.confine import Confinement
from turn_sandbox.files import MAX_ENTRIES, Shadow, TooMuch, remove_tree
from turn_sandbox.limits import Limits
from turn_sandbox.namespaces import furnish_room
from turn_sandbox.process_group import ProcessGroup
from turn_sandbox.turn import Session
from turn_sandbox.verdict import Ended, Lost
from turn_sandbox.watch import Closed, Watch

SETUP_SECONDS = 60.0
SPAWN_SECONDS = 10.0
"""How long the head may take to fork: it takes milliseconds unless code hung a hook on fork."""


class Keeper:
    """One episode; requests come from ``server``.

    Args:
        server: socket to the server, from which requests come.
        folder: for its files, where it has no namespace of its own; doesn't exist yet.
        session: for its head, as the zygote made it.
        confinement: what the kernel forbids it.
        spent: CPU seconds that went into this process's start.
    """

    def __init__(
        self, server: socket.socket, folder: str, session: Session, confinement: Confinement, spent: float
    ) -> None:
        self.server, self.folder, self.session = server, folder, session
        self.confinement, self.spent = confinement, spent
        self.group = ProcessGroup()
        self.head_pid = self.child_pid = 0

    def start(self, request: Mapping[str, Any], blobs: list[bytes]) -> str:
        """Write the input files, start the first head; returns what was wrong with the setup, or nothing."""
        self.limits = Limits(**request["limits"])
        work, store = self._furnish()
        names = request["files"]
        for name in names:
            path = os.path.join(work, name)
            os.makedirs(os.path.dirname(path), exist_ok=True)
            with open(path, "wb") as file:
                file.write(blobs.pop(0))  # or the head would hold it too, for good
        self.head, theirs = socket.socketpair()
        self.head_pid = os.fork()
        if self.head_pid == 0:
            self.head.close()
            self.server.close()
            os.setpgid(0, 0)
            head_module.main(theirs, request, blobs, self.limits, self.session, self.confinement, work)
        theirs.close()
        self.head.settimeout(SETUP_SECONDS)
        try:
            frame = wire.read_frame(self.head)
        except TimeoutError:
            return f"it ran longer than {SETUP_SECONDS:g} s"
        if frame is None:
            return "its process died"
        if frame[0]["error"]:
            return str(frame[0]["error"])
        try:
            self.shadow = Shadow(work, store, self.limits.disk_mb << 20)
        except TooMuch as error:
            return f"the working directory can't be kept: {error}"
        return ""

    def _furnish(self) -> tuple[str, str]:
        """Empty directories for the episode's files and for this keeper's copies of them."""
        if self.confinement.namespaces:
            # One more than may be kept: a turn that made too many is told so when it ends.
            return furnish_room(self.limits.disk_mb << 20, MAX_ENTRIES + 2)
        work, store = os.path.join(self.folder, "work"), os.path.join(self.folder, "good")
        for path in (self.folder, work, store):
            os.mkdir(path, 0o700)
        return work, store

    def turn(self, request: Mapping[str, Any]) -> tuple[dict[str, Any], list[bytes]]:
        """Run one turn; the answer's blobs are stdout, stderr, the values' JSON and the images.

        Raises:
            Lost: the episode's state is gone.
            Closed: the server hung up meanwhile.
        """
        with Watch(self.limits, self.server, self.head, self.head_pid) as watch:
            self._spawn(watch)
            watch.send(request, SPAWN_SECONDS)
            ended = watch.verdict()
            if ended.status == "ok":
                ended = self._commit(watch, ended)
            if ended.status != "ok":
                ended = self._roll_back(watch, ended)
            watch.drain()
            blobs = []
            for output in watch.outputs:
                text, warnings = output.text()
                blobs.append(text.encode("utf-8"))
                ended.warnings += warnings
            header = {
                "status": ended.status,
                "error": ended.error,
                "warnings": ended.warnings,
                "images": ended.images,
                "cpu_s": ended.cpu_s,
                "wall_s": watch.wall_s,
                "episode_cpu_s": self._cpu(),
            }
            return header, blobs + ended.blobs

    def _spawn(self, watch: Watch) -> None:
        """Have the head fork a child onto the turn's descriptors, then stop the head."""
        self.head.settimeout(SPAWN_SECONDS)
        try:
            socket.send_fds(self.head, [b"t" + bytes(8)], watch.give())
            watch.given()
            os.kill(self.head_pid, signal.SIGCONT)
            greeted = watch.hello(SPAWN_SECONDS)
            # The head must have let go of the child's descriptors before it is stopped, or their end would never show.
            forked = greeted and wire.read_exactly(self.head, 1) == b"f"
        except OSError as error:
            raise Lost("the process that held the state does not answer") from error
        self.child_pid = watch.pid
        if not forked:
            raise Lost("the process that held the state could not start the turn")
        self.group.pause(self.head_pid)

    def _commit(self, watch: Watch, ended: Ended) -> Ended:
        """Second phase: the child becomes the head, or the turn has failed after all."""
        if others := self.group.sweep({self.head_pid, watch.pid}, ended.started):
            ended.warnings.append(f"{others} processes outlived the turn and were killed")
        if silent := watch.ping():
            return silent
        if (more := linux.threads(watch.pid) - 1) > 0:
            if (own := min(more, ended.threads)) > 0:  # what a library keeps running is no doing of the turn's
                ended.warnings.append(f"{own} threads outlived the turn and were ended")
            if not self._shed(watch):
                return Ended("limit", "limit: it left threads that can't be ended", cpu_s=ended.cpu_s)
        self.group.pause(watch.pid)
        try:
            self.shadow.commit()
        except (TooMuch, OSError) as error:
            why = error.strerror if isinstance(error, OSError) else error
            return Ended("limit", f"limit: the working directory can't be kept: {why}", cpu_s=ended.cpu_s)
        self.group.kill(self.head_pid)
        self.head.close()
        self.head_pid, self.head, self.child_pid = watch.pid, watch.keep(), 0
        self.group.reap()
        return ended

    def _shed(self, watch: Watch) -> bool:
        """Rid the child of its threads: a fork of it has none, so that takes its place. Whether it did."""
        head, self.head = self.head, watch.verdicts
        head_pid, self.head_pid = self.head_pid, watch.pid
        try:
            with Watch(self.limits, self.server, self.head, self.head_pid) as again:
                self._spawn(again)
                # Something that does nothing, and is code in every kind of session.
                again.send({"code": "assert True", "before": "", "after": "", "want": []}, SPAWN_SECONDS)
                if again.verdict().status != "ok" or again.ping() or linux.threads(again.pid) > 1:
                    self.group.kill(again.pid)
                    return False
                self.group.kill(watch.pid)
                watch.replace(again)
        except Lost:
            return False
        finally:
            self.head, self.head_pid = head, head_pid
        self.group.sweep({self.head_pid, watch.pid})
        return True

    def _roll_back(self, watch: Watch, ended: Ended) -> Ended:
        """Kill what the turn left and put its files back; learn how its process ended if it did so by itself."""
        by_itself = ended.status == "died" and not ended.error
        if not by_itself:
            self.group.kill(watch.pid)
        try:
            os.kill(self.head_pid, signal.SIGCONT)
            # Only of a child that ended by itself is it worth waiting for how: a killed one can do nothing any more.
            self.head.sendall((b"w" if by_itself else b"r") + bytes(8))
            answer = wire.read_exactly(self.head, wire.STATUS.size)
        except OSError as error:
            raise Lost("the process that held the state does not answer") from error
        if not answer:
            raise Lost("the process that held the state is gone")
        self.group.pause(self.head_pid)
        (status,) = wire.STATUS.unpack(answer)
        if by_itself:
            # Collected by the head (status >= 0), it may have left others in its group; else it runs on, disconnected.
            self.group.kill(watch.pid, group_only=status >= 0)
        self.child_pid = 0
        self.group.sweep({self.head_pid}, ended.started)
        if self.confinement.namespaces:  # where the episode's processes are counted
            self.group.settle(self.head_pid, watch.pid)
        try:
            self.shadow.restore()
        except (OSError, TooMuch) as error:
            why = error.strerror if isinstance(error, OSError) else error
            raise Lost(f"its files can't be put back: {why}") from error
        return ended.died(status, self.limits) if by_itself else ended

    def _cpu(self) -> float:
        """CPU seconds of the episode so far: its namespaces, this process, past heads with their turns, the head."""
        past = resource.getrusage(resource.RUSAGE_CHILDREN)
        before = self.spent + past.ru_utime + past.ru_stime
        return before + time.process_time() + (linux.cpu_seconds(self.head_pid) or 0.0)

    def end(self) -> None:
        """Kill and remove everything of the episode."""
        for pid in {self.head_pid, self.child_pid} - {0}:
            self.group.kill(pid)
        with contextlib.suppress(Lost):
            self.group.sweep(set())
        remove_tree(self.folder)


def main(server: socket.socket, folder: str, session: Session, confinement: Confinement, spent: float) -> NoReturn:
    """Keep one episode in this freshly forked process until the server hangs up.

    Args:
        server: socket to the server.
        folder: folder for its files; doesn't exist yet.
        session: its interpreter's state, as the zygote made it.
        confinement: what the kernel forbids it.
        spent: CPU seconds that went into this process's start.
    """
    try:
        keeper = Keeper(server, folder, session, confinement, spent)
        try:
            _serve(keeper, server)
        finally:
            keeper.end()
    except (Closed, BrokenPipeError, ConnectionResetError):
        pass
    except BaseException:
        traceback.print_exc()  # a fault of the sandbox's own: the server quotes it
    finally:
        os._exit(0)


def _serve(keeper: Keeper, server: socket.socket) -> None:
    frame = wire.read_frame(server)
    if frame is None:
        return
    error = keeper.start(*frame)
    # In a namespace of its own all ends with this process; elsewhere the server finds what is left by the session.
    session = 0 if keeper.confinement.namespaces else os.getpid()
    server.sendall(wire.pack({"error": error, "session": session}))
    while not error and (frame := wire.read_frame(server)):
        try:
            header, blobs = keeper.turn(frame[0])
        except Lost as lost:
            header, blobs = {"status": "episode_lost", "error": f"episode_lost: {lost}"}, []
            error = "lost"
        server.sendall(wire.pack(header, blobs))

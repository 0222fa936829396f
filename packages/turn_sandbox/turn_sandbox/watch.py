"""One turn as the keeper sees it: descriptors, deadline, caps, and the verdict, which it doesn't trust."""

from __future__ import annotations

import math
import os
import re
import secrets
import select
import socket
import struct
import time
from collections.abc import Mapping
from typing import Any

from turn_sandbox import linux, wire
from turn_sandbox.installation import without_paths
from turn_sandbox.limits import Limits
from turn_sandbox.verdict import Ended, Lost, checked
from turn_sandbox.wire import HELLO

LOOK_SECONDS = 0.05
"""How often processes and threads are counted."""

BUFFER = 1 << 16
CREDENTIALS = struct.Struct("3i")
CONTROL = re.compile(r"[\x00-\x08\x0b-\x1f\x7f-\x9f]")


class Closed(Exception):
    """Nobody waits for this turn any more."""


class Output:
    """Text written to one pipe, up to a cap."""

    def __init__(self, name: str, max_chars: int) -> None:
        self.name, self.max_chars = name, max_chars
        self.fd, self.child_fd = os.pipe()
        os.set_blocking(self.fd, False)
        self._kept, self._total = bytearray(), 0

    def read(self) -> bool:
        """Take what is there; whether more may come."""
        try:
            data = os.read(self.fd, 1 << 16)
        except BlockingIOError:
            return True
        self._total += len(data)
        # 4 bytes a character at most; what is over the cap is read all the same, or the writer would wait.
        self._kept += data[: max(0, 4 * self.max_chars - len(self._kept))]
        return bool(data)

    def text(self) -> tuple[str, list[str]]:
        """The text without the host's paths, control characters made visible, and a warning if it is cut."""
        if not self._total:
            return "", []
        text = without_paths(self._kept.decode("utf-8", "replace").replace("\r\n", "\n"))
        text = CONTROL.sub(lambda found: f"\\x{ord(found[0]):02x}", text)
        if len(text) <= self.max_chars and self._total == len(self._kept):
            return text, []
        return text[: self.max_chars], [f"{self.name} cut to {self.max_chars} characters of {self._total} bytes"]


class Watch:
    """The keeper's ends of one turn; a context manager that closes them.

    Args:
        limits: limits of the turn.
        server: socket to the server.
        head: socket to the head.
        head_pid: process id of the head.
    """

    def __init__(self, limits: Limits, server: socket.socket, head: socket.socket, head_pid: int) -> None:
        self.limits, self._server, self._head, self._head_pid = limits, server, head, head_pid
        self.outputs = Output("stdout", limits.stdout_chars), Output("stderr", limits.stdout_chars)
        self.verdicts, self._theirs = socket.socketpair()
        self._kept = False
        self._kernel_tells = hasattr(socket, "SO_PASSCRED")
        if self._kernel_tells:
            self.verdicts.setsockopt(socket.SOL_SOCKET, socket.SO_PASSCRED, 1)
        self.pid, self.began, self.wall_s = 0, time.perf_counter(), 0.0
        self._poll = select.poll()
        for fd in (self.verdicts.fileno(), server.fileno(), *(output.fd for output in self.outputs)):
            self._poll.register(fd, select.POLLIN)
        self._poll.register(head.fileno(), 0)  # only whether it is gone

    def __enter__(self) -> Watch:
        return self

    def __exit__(self, *_: object) -> None:
        for output in self.outputs:
            os.close(output.fd)
        if not self._kept:
            self.verdicts.close()

    def give(self) -> list[int]:
        """The child's ends, for :func:`socket.send_fds`; call :meth:`given` afterwards."""
        return [*(output.child_fd for output in self.outputs), self._theirs.fileno()]

    def given(self) -> None:
        """Close this process's copies of the child's ends."""
        for output in self.outputs:
            os.close(output.child_fd)
        self._theirs.close()

    def hello(self, seconds: float) -> bool:
        """Wait for the child's first message and learn its process id."""
        data = self._next(time.perf_counter() + seconds)
        if not data or len(data) != HELLO.size:
            return False
        # Where the kernel names the sender, self._next has taken the pid from it already.
        self.pid = self.pid or HELLO.unpack(data)[1]
        self.began = time.perf_counter()
        return True

    def send(self, request: Mapping[str, Any], seconds: float) -> None:
        """Give the child its code; it has run none yet, so it reads at once."""
        self.verdicts.settimeout(seconds)
        try:
            self.verdicts.sendall(wire.pack(request))
        except OSError as error:
            raise Lost("the turn's process did not take its code") from error
        self.verdicts.settimeout(None)

    def verdict(self) -> Ended:
        """Read the child's verdict, if it comes in time and within bounds; else derive how it ended."""
        px = self.limits.image_px**2 * 3
        frame = wire.Incoming(1 << 18, px + self.limits.value_chars + (1 << 16))
        try:
            while True:
                data = self._next(self.began + self.limits.seconds)
                if data is None:
                    return self._over(Ended("timeout", f"timeout: it ran longer than {self.limits.seconds:g} s"))
                if not data:
                    return self._over(Ended("died"))
                if complete := frame.feed(data):
                    return self._over(checked(complete, self.limits))
        except wire.TooLong as error:
            return self._over(Ended("limit", f"limit: its report is a {error}"))
        except wire.WireError as error:
            return self._over(Ended("died", f"died: its report makes no sense: {error}"))
        except _OverLimit as error:
            return self._over(Ended("limit", f"limit: {error}"))

    def _over(self, ended: Ended) -> Ended:
        self.wall_s = time.perf_counter() - self.began
        used = linux.cpu_seconds(self.pid)
        ended.cpu_s = used if used is not None else ended.cpu_s
        return ended

    def ping(self) -> Ended | None:
        """Check that the child answers from its loop (None); code that forged a verdict does not."""
        word, got, data = secrets.token_bytes(8), b"", None
        try:
            self.verdicts.sendall(b"p" + word)
            # A fair chance for a turn that was over just in time.
            until = max(self.began + self.limits.seconds, time.perf_counter() + 1.0)
            while len(got) < len(word):
                data = self._next(until)
                if not data:
                    break
                got += data
        except OSError:
            data = b""
        except _OverLimit as error:
            return self._over(Ended("limit", f"limit: {error}"))
        if got == word:
            return None
        if data == b"":
            return self._over(Ended("died"))
        return self._over(Ended("timeout", "timeout: it reported success and did not stop"))

    def keep(self) -> socket.socket:
        """The socket to the child, which is now the head's."""
        self._kept = True
        return self.verdicts

    def replace(self, other: Watch) -> None:
        """Go on with the process of another watch."""
        self.verdicts.close()
        self.pid, self.verdicts = other.pid, other.keep()

    def drain(self) -> None:
        """Take what is still in the pipes; after the turn's processes are gone or stopped."""
        for output in self.outputs:
            for _ in range(1 + (1 << 20) // (1 << 16)):  # a pipe holds at most 1 MiB
                poll = select.poll()
                poll.register(output.fd, select.POLLIN)
                if not poll.poll(0) or not output.read():
                    break

    def _next(self, until: float) -> bytes | None:
        """The child's next bytes: empty if it hung up, None at the time ``until``. Keeps the pipes flowing."""
        look = time.perf_counter() + LOOK_SECONDS
        while (now := time.perf_counter()) < until:
            if now >= look:
                self._count()
                # Looking may take long among many processes: spend at most a tenth of the time on it.
                look = time.perf_counter() + max(LOOK_SECONDS, 10 * (time.perf_counter() - now))
            events = self._poll.poll(math.ceil((min(until, look) - now) * 1000))
            ready = dict(events)
            if self._head.fileno() in ready:
                raise Lost("the process that held the state is gone")
            if self._server.fileno() in ready:
                raise Closed
            for output in self.outputs:
                if output.fd in ready and not output.read():
                    self._poll.unregister(output.fd)
            if self.verdicts.fileno() in ready:
                data = self._receive()
                if data is not None:
                    return data
        return None

    def _receive(self) -> bytes | None:
        """Bytes from the child; None if another process sent them."""
        try:
            if not self._kernel_tells:
                return self.verdicts.recv(BUFFER)
            data, control, _, _ = self.verdicts.recvmsg(BUFFER, socket.CMSG_SPACE(CREDENTIALS.size))
        except ConnectionResetError:
            return b""
        if not data:
            return b""
        sender = next((CREDENTIALS.unpack(item)[0] for _, kind, item in control if kind == socket.SCM_CREDENTIALS), 0)
        self.pid = self.pid or sender
        return data if sender == self.pid else None

    def _count(self) -> None:
        """Count what the turn started, and what all of it takes."""
        started = set(filter(linux.alive, linux.descendants() - {self._head_pid})) if self.pid else set()
        count = sum(map(linux.threads, started))
        if count > self.limits.processes:
            raise _OverLimit(f"{count} processes and threads at once, {self.limits.processes} are allowed")
        if len(started) > 1:  # what a single process takes, the system bounds
            # Above what the head takes, in each: a page shared since the turn forked counts for every one.
            base = linux.own_bytes(self._head_pid)
            taken = sum(max(0, linux.own_bytes(pid) - base) for pid in started) >> 20
            if taken > self.limits.memory_mb:
                raise _OverLimit(f"{taken} MB in {len(started)} processes, {self.limits.memory_mb} MB are allowed")


class _OverLimit(Exception):
    """More processes, threads or memory than allowed."""

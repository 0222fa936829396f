"""The client's end of the socket to the server: requests out, answers back to whoever asked."""

from __future__ import annotations

import contextlib
import itertools
import os
import socket
import subprocess
import tempfile
import threading
from collections.abc import Mapping, Sequence
from concurrent.futures import Future
from typing import Any

from turn_sandbox import wire
from turn_sandbox.clean import command, environment
from turn_sandbox.result import SandboxError, ServerDied, Tier

END_SECONDS = 10.0


class Connection:
    """Starts the server and talks to it; any number of threads may ask at once.

    Args:
        hello: ``workers``, ``preload`` and ``folder`` (where temporary files go).

    Raises:
        SandboxError: the server can't start, with the reason.
    """

    def __init__(self, hello: Mapping[str, Any]) -> None:
        self._process_id = os.getpid()
        self._ids = itertools.count(1)
        self._waiting: dict[int, Future[wire.Frame]] = {0: Future()}
        self._lock = threading.Lock()
        self._closed = ""
        self.died = False
        self._stderr = tempfile.TemporaryFile()  # noqa: SIM115 (closed with the connection)
        self._socket, theirs = socket.socketpair()
        with theirs:
            self._server = subprocess.Popen(
                command("turn_sandbox.server", str(theirs.fileno())),
                env=environment(hello["folder"]),
                cwd=hello["folder"],
                stdin=subprocess.DEVNULL,
                stdout=subprocess.DEVNULL,
                stderr=self._stderr,
                pass_fds=[theirs.fileno()],
                start_new_session=True,  # Ctrl-C in the client's terminal is for the client
            )
        first = self._waiting[0]
        self._reader = threading.Thread(target=self._read, name="sandbox", daemon=True)
        self._reader.start()
        with contextlib.suppress(OSError):  # if it died already, the reader says why
            self._socket.sendall(wire.pack(hello))
        answer, _ = first.result()
        if answer["error"]:
            self.close()
            raise SandboxError(answer["error"])
        self.pids: tuple[int, int] = tuple(answer["pids"])
        self.tier: Tier = answer["tier"]
        self.missing: dict[str, str] = answer["missing"]

    def ask(self, header: Mapping[str, Any], blobs: Sequence[bytes] = ()) -> Future[wire.Frame]:
        """Send a request; its answer will be the future's result."""
        number = next(self._ids)
        frame = wire.pack({**header, "id": number}, blobs)
        answer: Future[wire.Frame] = Future()
        self._own()
        with self._lock:
            if self._closed:
                raise self._why()
            self._waiting[number] = answer
            self._send(frame)
        return answer

    def tell(self, header: Mapping[str, Any]) -> None:
        """Send what has no answer; nothing to do if there is nobody any more."""
        self._own()
        with self._lock:
            if not self._closed:
                self._send(wire.pack(header))

    def close(self) -> None:
        """End the server and wait until everything of it is gone."""
        if os.getpid() != self._process_id:  # a forked copy: the server isn't its own
            return
        with self._lock:
            self._closed = self._closed or "the sandbox is closed"
            with contextlib.suppress(OSError):
                self._socket.shutdown(socket.SHUT_RDWR)
        try:
            self._server.wait(END_SECONDS)
        except subprocess.TimeoutExpired:
            self._server.kill()
            self._server.wait()
        if threading.current_thread() is not self._reader:
            self._reader.join()

    def _own(self) -> None:
        if os.getpid() != self._process_id:
            raise SandboxError(
                f"this sandbox belongs to process {self._process_id}, not to its copy {os.getpid()}; start one here"
            )

    def _send(self, frame: bytes) -> None:
        with contextlib.suppress(OSError):  # if the server died, the reader tells whoever waits
            self._socket.sendall(frame)

    def _read(self) -> None:
        """Hand answers to whoever waits for them, until the server is gone."""
        try:
            while frame := wire.read_frame(self._socket):
                with self._lock:
                    answer = self._waiting.pop(frame[0]["id"])
                answer.set_result(frame)
        except (OSError, wire.WireError):
            pass
        with self._lock:
            self.died = not self._closed
            self._closed = self._closed or f"the sandbox's server died{self._last_words()}"
            waiting, self._waiting = list(self._waiting.values()), {}
            self._socket.close()
            self._stderr.close()
        for answer in waiting:
            answer.set_exception(self._why())

    def _why(self) -> SandboxError:
        """Why there is no answer."""
        return ServerDied(self._closed) if self.died else SandboxError(self._closed)

    def _last_words(self) -> str:
        """Read the server's last output before it died."""
        self._stderr.seek(0)
        lines = self._stderr.read().decode("utf-8", "replace").strip().splitlines()
        return f": {lines[-1]}" if lines else ""

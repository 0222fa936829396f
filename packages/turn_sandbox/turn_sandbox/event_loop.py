"""``asyncio.run`` in a session: event loops that wake themselves through a pipe.

An event loop keeps a pair of connected sockets, into which other threads write a byte to wake it. The sandbox denies
sockets of every kind, and a pipe does the same.
"""

from __future__ import annotations

import os
from asyncio.selector_events import BaseSelectorEventLoop
from typing import Any


class PipeEnd:
    """One end of a pipe, with what an event loop calls of a socket.

    Args:
        fd: its descriptor; :meth:`close` closes it.
    """

    def __init__(self, fd: int) -> None:
        os.set_blocking(fd, False)
        self._fd = fd

    def fileno(self) -> int:
        """Its descriptor; −1 once it is closed."""
        return self._fd

    def recv(self, size: int) -> bytes:
        """Read what is there."""
        return os.read(self._fd, size)

    def send(self, data: bytes) -> int:
        """Write; returns how many bytes."""
        return os.write(self._fd, data)

    def close(self) -> None:
        """Close it, if it is open."""
        fd, self._fd = self._fd, -1
        if fd >= 0:
            os.close(fd)


def wake_by_pipe() -> None:
    """Have every event loop of this process made with a pipe, for good."""

    def make_self_pipe(loop: Any) -> None:
        reader, writer = os.pipe()
        loop._ssock, loop._csock = PipeEnd(reader), PipeEnd(writer)
        loop._internal_fds += 1
        loop._add_reader(reader, loop._read_from_self)

    BaseSelectorEventLoop._make_self_pipe = make_self_pipe  # type: ignore[attr-defined]

"""Frames between the sandbox's processes: a JSON header and raw bytes, both with their length in front.

::

    4 bytes  length of the header (big endian)     {"kind": …, "blobs": [n1, n2, …]}
    4 bytes  length of all blobs together          n1 + n2 + … bytes

Never pickle: a frame may come from code that wants to do harm. Whoever reads one states how long
it may be, and gets :class:`WireError` for anything else than a well-formed frame.
"""

from __future__ import annotations

import json
import socket
import struct
from collections.abc import Mapping, Sequence
from typing import Any

LENGTHS = struct.Struct("!II")
HELLO = struct.Struct("!cI")
"""A child's first message: ``h`` and its process id."""

STATUS = struct.Struct("!i")
"""A head's answer to ``w`` and ``r``: the child's wait status, or -1."""

MAX_HEADER = 1 << 26
MAX_BLOBS = 1 << 30
"""Bytes a frame between trusted processes may have."""

Frame = tuple[dict[str, Any], list[bytes]]


class WireError(ValueError):
    """Bytes that are no frame."""


class TooLong(WireError):
    """A frame that is longer than it may be."""


def pack(header: Mapping[str, Any], blobs: Sequence[bytes] = ()) -> bytes:
    """One frame."""
    text = _encode({**header, "blobs": [len(blob) for blob in blobs]}).encode("ascii")
    size = sum(map(len, blobs))
    if len(text) > MAX_HEADER or size > MAX_BLOBS:
        raise TooLong(f"frame of {len(text)} + {size} bytes: at most {MAX_HEADER} + {MAX_BLOBS} can be sent")
    return b"".join((LENGTHS.pack(len(text), size), text, *blobs))


# Of its own: code may patch json.dumps and json.loads, and a turn's process packs and reads with these.
_encode, _decode = json.JSONEncoder(ensure_ascii=True, check_circular=True).encode, json.JSONDecoder().decode


def lengths(start: bytes, max_header: int = MAX_HEADER, max_blobs: int = MAX_BLOBS) -> tuple[int, int]:
    """Lengths of header and blobs from a frame's first 8 bytes.

    Args:
        start: the frame's first 8 bytes.
        max_header: bytes of a header, at most.
        max_blobs: bytes of all blobs, at most.
    """
    header, blobs = LENGTHS.unpack(start)
    if header > max_header or blobs > max_blobs:
        raise TooLong(f"frame of {header} + {blobs} bytes: at most {max_header} + {max_blobs} are allowed")
    return header, blobs


def unpack(header: bytes, data: bytes) -> Frame:
    """Header and blobs of one frame, checked."""
    try:
        found = _decode(header.decode("ascii"))
        sizes = found["blobs"]
        if not all(type(size) is int and size >= 0 for size in sizes) or sum(sizes) != len(data):
            raise WireError("the frame's blobs don't have the lengths its header says")
    except (ValueError, TypeError, KeyError, RecursionError) as error:
        raise WireError(f"not a frame: {type(error).__name__}") from error
    blobs, at = [], 0
    for size in sizes:
        blobs.append(bytes(data[at : at + size]))
        at += size
    return found, blobs


def read_frame(sock: socket.socket) -> Frame | None:
    """The next frame from a trusted process; None at the end of the stream."""
    start = read_exactly(sock, LENGTHS.size)
    if not start:
        return None
    header_size, blob_size = lengths(start)
    return unpack(read_exactly(sock, header_size), read_exactly(sock, blob_size))


def read_exactly(sock: socket.socket, size: int) -> bytes:
    """``size`` bytes, or none at all if the stream ends before."""
    data = bytearray(size)
    view, got = memoryview(data), 0
    while got < size:
        n = sock.recv_into(view[got:])
        if n == 0:
            return b""
        got += n
    return bytes(data)


class Incoming:
    """Bytes of one frame as they arrive."""

    def __init__(self, max_header: int, max_blobs: int) -> None:
        self._caps = max_header, max_blobs
        self._data = bytearray()
        self._need = LENGTHS.size
        self._split = 0

    def feed(self, data: bytes) -> Frame | None:
        """The frame once it is complete.

        Raises:
            WireError: it is too long or no frame, or something follows it.
        """
        self._data += data
        if not self._split and len(self._data) >= LENGTHS.size:
            header, blobs = lengths(bytes(self._data[: LENGTHS.size]), *self._caps)
            self._split = LENGTHS.size + header
            self._need = self._split + blobs
        if not self._split or len(self._data) < self._need:
            return None
        if len(self._data) > self._need:
            raise WireError("bytes after the end of the frame")
        view = memoryview(self._data)
        return unpack(bytes(view[LENGTHS.size : self._split]), bytes(view[self._split :]))

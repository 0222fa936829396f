"""Frames between the service and its workers: a header in JSON, then as many bytes as it was announced with."""

from __future__ import annotations

import asyncio
import json
import struct
from collections import OrderedDict
from collections.abc import Mapping
from typing import Any, BinaryIO, Generic, TypeVar

from visual_tools.serve.store import Stored

T = TypeVar("T")

_SIZES = struct.Struct("!II")

RECENT = 16
"""Images that a worker keeps opened."""


class Recent(Generic[T]):
    """The last few values that were asked for or put in, by key.

    A worker keeps its opened images so, and the service beside it the keys alone: both do the same in the same order,
    so the service knows which images it need not send.
    """

    def __init__(self, most: int = RECENT) -> None:
        self._most, self._kept = most, OrderedDict[str, T]()

    def get(self, key: str) -> T | None:
        """The value of a key, which is the latest now; None: it isn't kept."""
        if key in self._kept:
            self._kept.move_to_end(key)
        return self._kept.get(key)

    def put(self, key: str, value: T) -> None:
        """Keep a value; what nobody asked for longest goes."""
        self._kept[key] = value
        if len(self._kept) > self._most:
            self._kept.popitem(last=False)


def packed(header: Mapping[str, Any], *blobs: bytes) -> bytes:
    """A frame."""
    head = json.dumps(header).encode()
    return b"".join((_SIZES.pack(len(head), sum(map(len, blobs))), head, *blobs))


def asked(tool: str, arguments: Mapping[str, Any], images: Mapping[str, Stored], sent: Recent[bool]) -> bytes:
    """A call as it goes to a worker.

    Args:
        tool: its name.
        arguments: of the call.
        images: what it may look at, by name.
        sent: keys of the images that the worker has; those of this call are added.
    """
    named, blobs = [], []
    for name, image in images.items():
        known = sent.get(image.key) is not None
        named.append((name, image.key, 0 if known else len(image.data)))
        if not known:
            sent.put(image.key, True)
            blobs.append(image.data)
    return packed({"tool": tool, "arguments": dict(arguments), "images": named}, *blobs)


async def receive(source: asyncio.StreamReader) -> dict[str, Any]:
    """The header of the next frame, which has no bytes.

    Raises:
        asyncio.IncompleteReadError: the other end is gone.
    """
    size, _ = _SIZES.unpack(await source.readexactly(_SIZES.size))
    header: dict[str, Any] = json.loads(await source.readexactly(size))
    return header


def read_frame(source: BinaryIO) -> tuple[dict[str, Any], bytes] | None:
    """The next frame, its header and its bytes; None: the other end is gone."""
    sizes = source.read(_SIZES.size)
    if len(sizes) < _SIZES.size:
        return None
    head, blob = _SIZES.unpack(sizes)
    return json.loads(source.read(head)), source.read(blob)

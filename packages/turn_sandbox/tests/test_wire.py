"""Frames: exact there and back; anything else is a WireError and nothing worse."""

from __future__ import annotations

import json
import socket

import pytest
from hypothesis import given
from hypothesis import strategies as st

from turn_sandbox import wire

VALUES = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(), inner, max_size=3),
    max_leaves=6,
)


@given(st.dictionaries(st.text().filter(lambda key: key != "blobs"), VALUES), st.lists(st.binary()), st.integers(1, 9))
def test_a_frame_arrives_as_it_left(header: dict[str, object], blobs: list[bytes], step: int) -> None:
    frame = wire.pack(header, blobs)
    incoming = wire.Incoming(1 << 20, 1 << 20)
    found = [incoming.feed(frame[i : i + step]) for i in range(0, len(frame), step)]
    assert found[:-1] == [None] * (len(found) - 1)
    assert found[-1] == ({**header, "blobs": [len(blob) for blob in blobs]}, blobs)
    here, there = socket.socketpair()
    with here, there:
        here.sendall(frame[:4096])  # what a socket takes without a reader
        if len(frame) <= 4096:
            assert wire.read_frame(there) == found[-1]
        here.shutdown(socket.SHUT_WR)


@given(st.binary(max_size=64), st.booleans())
def test_garbage_is_a_wire_error(data: bytes, framed: bool) -> None:
    if framed:
        data = wire.LENGTHS.pack(len(data), 0) + data
    try:
        found = wire.Incoming(1 << 20, 1 << 20).feed(data)
    except wire.WireError:
        return
    assert found is None


@pytest.mark.parametrize("blobs", [[-1, 4], [4], [1.5, 1.5], [True, 2], None, "ab", [[3]]])
def test_wrong_lengths_are_a_wire_error(blobs: object) -> None:
    with pytest.raises(wire.WireError):
        wire.unpack(json.dumps({"blobs": blobs}).encode(), b"abc")


def test_deep_or_long_frames_are_refused() -> None:
    with pytest.raises(wire.WireError, match="not a frame: RecursionError"):
        wire.unpack(b'{"x": ' + b"[" * 100_000, b"")
    with pytest.raises(wire.TooLong, match=r"frame of 100 \+ 0 bytes: at most 99 \+ 5 are allowed"):
        wire.Incoming(99, 5).feed(wire.LENGTHS.pack(100, 0))
    with pytest.raises(wire.WireError, match="after the end"):
        wire.Incoming(99, 5).feed(wire.pack({}) + b"x")


def test_a_stream_that_ends_is_no_frame() -> None:
    here, there = socket.socketpair()
    with there:
        with here:
            here.sendall(b"\0\0")
        assert wire.read_frame(there) is None

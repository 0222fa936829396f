"""A helper: the process that does calls under a deadline (:mod:`turn_sandbox.deadline`), one after the other.

It bounds its own memory, and ends by itself when the process that started it is gone: between two calls it reads the
end of its connection; during one the kernel ends it, since a tool at work may not let Python's own threads run.
"""

from __future__ import annotations

import fcntl
import os
import pickle
import resource
import signal
import traceback
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from multiprocessing.connection import Connection
from typing import Any

import cloudpickle
from PIL import Image

from turn_sandbox.deadline import Key, Unable
from turn_sandbox.images import NamedImage

MEMORY = 8 << 30
"""Bytes of its data; an image of 50 million pixels takes 1.2 GB in floating point."""
GRACE = 5.0
"""Seconds after its deadline at which a call ends for which nobody waits any more."""


def main(handle: int) -> None:
    """Do what is asked until the other end is gone.

    Args:
        handle: the connection's file descriptor.
    """
    there = Connection(handle)
    hard = resource.getrlimit(resource.RLIMIT_DATA)[1]
    most = MEMORY if hard == resource.RLIM_INFINITY else min(MEMORY, hard)
    resource.setrlimit(resource.RLIMIT_DATA, (most, most))
    for one in (signal.SIGALRM, signal.SIGIO):
        signal.signal(one, signal.SIG_DFL)  # ends the process
    fcntl.fcntl(handle, fcntl.F_SETOWN, os.getpid())
    tools: dict[bytes, Any] = {}
    images: dict[Key, Image.Image] = {}
    while True:
        try:
            kind, *asked = pickle.loads(there.recv_bytes())
        except EOFError:
            os._exit(0)
        there.send_bytes(_loaded(tools, *asked) if kind == "load" else _called(there, tools, images, *asked))


def _loaded(tools: dict[bytes, Any], key: bytes, data: bytes, anew: bool) -> bytes:
    if anew:
        tools.clear()
    try:
        tools[key] = pickle.loads(data)
    except Exception as error:
        return pickle.dumps((False, f"{type(error).__name__}: {error}"))
    return pickle.dumps((True, None))


def _called(
    there: Connection,
    tools: Mapping[bytes, Any],
    images: dict[Key, Image.Image],
    tool: bytes,
    arguments: Mapping[str, Any],
    named: Mapping[str, Key],
    fresh: Mapping[Key, Image.Image],
    anew: bool,
    deadline: float,
) -> bytes:
    """The reply to a call: what the tool returns, or its exception.

    Args:
        there: the connection.
        tools: by key.
        images: that are kept, by key; changed.
        tool: key of the one that is called.
        arguments: of the call.
        named: keys of the images that it may look at, by name.
        fresh: images that aren't kept yet.
        anew: forget the others.
        deadline: seconds.
    """
    if anew:
        images.clear()
    images.update(fresh)
    shown = {name: NamedImage(name, images[key]) for name, key in named.items()}
    try:
        with _ends(there, deadline + GRACE):
            seen = _seen(tools[tool], arguments, shown)
        reply: bytes = cloudpickle.dumps((True, seen))
        return reply
    except Exception as error:
        error.add_note("in a process of its own:\n" + traceback.format_exc())
        return _told(error)


def _seen(tool: Any, arguments: Mapping[str, Any], shown: Mapping[str, NamedImage]) -> Any:
    """What a tool says; one that doesn't promise to hold nothing is looked at before and after.

    Raises:
        Unable: it holds something, which would be lost.
        Exception: the tool's own.
    """
    if hasattr(tool, "looks_at"):
        return tool.call(arguments, shown)
    before = cloudpickle.dumps(vars(tool))
    seen = tool.call(arguments, shown)
    if cloudpickle.dumps(vars(tool)) != before:
        raise Unable(
            f"{tool.name} holds something between two calls, which a copy in another process can't: give it a limit of "
            "its own, and its environment no deadline"
        )
    return seen


@contextmanager
def _ends(there: Connection, seconds: float) -> Iterator[None]:
    """Let the kernel end this process when the other end is gone, or after so many seconds."""
    flags = fcntl.fcntl(there.fileno(), fcntl.F_GETFL)
    # Nothing is sent during a call: what the kernel signals of the connection is its end.
    fcntl.fcntl(there.fileno(), fcntl.F_SETFL, flags | os.O_ASYNC)
    signal.setitimer(signal.ITIMER_REAL, seconds)
    if there.poll():
        os._exit(0)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        fcntl.fcntl(there.fileno(), fcntl.F_SETFL, flags)


def _told(error: Exception) -> bytes:
    """An exception as it can be sent: itself, or its words."""
    try:
        reply: bytes = cloudpickle.dumps((False, error))
        pickle.loads(reply)
        return reply
    except Exception:
        return pickle.dumps((False, RuntimeError(str(error))))

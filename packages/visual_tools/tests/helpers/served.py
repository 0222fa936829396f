"""Calling tools of a service in tests, and waiting for what becomes of it."""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import Any

import pytest
from PIL import Image

from turn_sandbox.images import NamedImage
from visual_tools.serve.client import RemoteTool
from visual_tools.serve.command import bound
from visual_tools.serve.pool import Pool, Refused
from visual_tools.tool import PureTool, Reply, run


def said(tool: PureTool | RemoteTool, shown: Image.Image | None = None, **arguments: Any) -> Reply:
    """What a tool says to a call, about an image or none."""
    return run(tool, arguments, {} if shown is None else {"image": NamedImage("image", shown)})


def free_port() -> int:
    """A port of loopback that nobody listens on."""
    with bound("127.0.0.1", 0) as free:
        return int(free.getsockname()[1])


def until(true: Callable[[], bool], seconds: float = 60) -> None:
    """Wait for something that comes sooner or later; how soon is for benchmarks to say."""
    end = time.monotonic() + seconds
    while not true():
        assert time.monotonic() < end, "it never came"
        time.sleep(0.02)


async def refusal(pool: Pool) -> str:
    """Start a pool, call its only tool, and say why it refuses."""
    pool.start()
    try:
        with pytest.raises(Refused) as refused:
            await pool.call(pool.name, {}, {})
        return str(refused.value)
    finally:
        await pool.stop()

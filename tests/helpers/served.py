"""Calling tools of a service in tests, and waiting for what becomes of it."""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import Any

import pytest
from PIL import Image

from kit.episode import Action, NamedImage, Observation
from kit.tools.base import Tool, run_tool
from kit.tools.serve.pool import Pool, Refused


def said(tool: Tool, shown: Image.Image | None = None, **arguments: Any) -> Observation:
    """What a tool says to a call, about an image or none."""
    images = {} if shown is None else {"image": NamedImage("image", shown)}
    return run_tool(tool, Action(tool.name, "", arguments), images)


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

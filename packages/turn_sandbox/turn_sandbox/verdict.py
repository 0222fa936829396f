"""Decide how a turn ended; of a child's own report only what is well-formed is believed."""

from __future__ import annotations

import os
import signal
from dataclasses import dataclass, field
from typing import Any

from turn_sandbox import wire
from turn_sandbox.installation import without_paths
from turn_sandbox.limits import MAX_WARNINGS, Limits, cpu_limit
from turn_sandbox.result import Status

MAX_TEXT = 4000
"""Characters of an error or a warning that are passed on."""


class Lost(Exception):
    """The turn has no end that could be told: the state of its episode is gone."""


@dataclass
class Ended:
    """The end of a turn.

    ``started``: whether it may have started processes (only its own word says it didn't); ``threads``: how many of its
    own still run, by its own word as well.
    """

    status: Status
    error: str = ""
    warnings: list[str] = field(default_factory=list)
    images: list[list[Any]] = field(default_factory=list)
    blobs: list[bytes] = field(default_factory=lambda: [b"{}"])
    cpu_s: float = 0.0
    started: bool = True
    threads: int = 0

    def died(self, wait_status: int, limits: Limits) -> Ended:
        """Return this end with what the system says about the process."""
        if wait_status >= 0 and os.WIFSIGNALED(wait_status):
            number = os.WTERMSIG(wait_status)
            if number == signal.SIGXCPU:
                return Ended("limit", f"limit: over {cpu_limit(limits)} s of CPU")
            return Ended("died", f"died: the process was ended by {signal.Signals(number).name}")
        if wait_status >= 0:
            return Ended("died", f"died: the process left with exit code {os.WEXITSTATUS(wait_status)}")
        return Ended("died", "died: the process closed its connection")


def checked(frame: wire.Frame, limits: Limits) -> Ended:
    """A verdict, taken apart and put together from what is as it should be."""
    header, blobs = frame
    try:
        status, error, cpu_s = header["status"], header["error"], header["cpu_s"]
        warnings, images, started = header["warnings"], header["images"], header["started"]
        threads = header["threads"]
        fine = status in ("ok", "error") and isinstance(error, str) and isinstance(cpu_s, int | float)
        fine = fine and type(threads) is int
        fine = fine and all(isinstance(text, str) for text in warnings) and len(warnings) <= MAX_WARNINGS
        fine = fine and len(images) <= limits.images and len(blobs) == 1 + len(images)
        for (name, width, height), data in zip(images, blobs[1:], strict=True):
            fine = fine and isinstance(name, str) and type(width) is type(height) is int and min(width, height) > 0
            fine = fine and len(data) == 3 * width * height and max(width, height) <= limits.image_px
    except (KeyError, TypeError, ValueError) as wrong:
        raise wire.WireError("it isn't a verdict") from wrong
    if not fine:
        raise wire.WireError("it isn't a verdict")
    texts = [_readable(text) for text in warnings]
    named = [[_readable(name[:64]), width, height] for name, width, height in images]
    cpu_s = max(0.0, min(float(cpu_s), 1e6))
    return Ended(status, _readable(error), texts, named, blobs, cpu_s, bool(started), threads)


def _readable(text: str) -> str:
    """A text that every encoder and file takes: half a surrogate pair, ``ValueError("\\ud800")``, is spelt out.

    Of the host's paths it has none.
    """
    return without_paths(text)[:MAX_TEXT].encode("utf-8", "backslashreplace").decode("utf-8")

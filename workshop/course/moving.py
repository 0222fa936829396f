"""An episode as a GIF that moves turn by turn: for slide programs and pages that take no HTML."""

from __future__ import annotations

import io
from collections.abc import Sequence
from math import ceil, sqrt
from pathlib import Path
from textwrap import wrap
from typing import Any

import numpy as np
from matplotlib import rc_context
from PIL import Image

from kit.episode import Episode, NamedImage
from kit.files import write_bytes
from kit.images import rgb
from kit.view.charts import STYLE, Plot

TURN, LAST = 2500, 5000
"""Milliseconds that a turn stays, and the last one."""

LINE, LINES = 50, 17
"""Characters of a line of what the agent writes, and lines of it that have room."""

COLOURS = 128
"""Of the whole GIF."""


def write(episode: Episode, path: Path) -> None:
    """Write a GIF with a frame for each turn: on the left what the agent sees, on the right what it writes.

    Args:
        episode: of at least one turn.
        path: the file, written whole or not at all.
    """
    drawn, seen = [], episode.task.images
    for number, turn in enumerate(episode.turns, 1):
        drawn.append(rgb(_frame(seen, turn.text, f"turn {number} of {len(episode.turns)}: it writes")))
        seen = (turn.observation and turn.observation.images) or seen
    palette = drawn[0].quantize(COLOURS)
    frames = [one.quantize(palette=palette, dither=Image.Dither.NONE) for one in drawn]
    times = [TURN] * (len(frames) - 1) + [LAST]
    file = io.BytesIO()
    frames[0].save(file, "GIF", save_all=True, append_images=frames[1:], duration=times, loop=0, optimize=True)
    write_bytes(path, file.getvalue())


def _frame(seen: Sequence[NamedImage], text: str, title: str) -> Image.Image:
    with rc_context(STYLE):
        figure = Plot(8.0, 3.6)
        parts: Any = figure.subfigures(1, 2, width_ratios=(1, 1.25))
        left, right = parts
        columns = ceil(sqrt(len(seen)))
        for axis, one in zip(left.subplots(ceil(len(seen) / columns), columns, squeeze=False).flat, seen, strict=False):
            axis.imshow(np.asarray(rgb(one.image)), interpolation="lanczos")
            axis.set_title(one.name.replace("_", " "), fontsize=7)
        for axis in left.axes:
            axis.axis("off")
        right.suptitle(title, fontsize=11, x=0.02, ha="left")
        right.text(0.02, 0.86, _text(text), fontsize=8, family="monospace", va="top", parse_math=False)
    return figure.drawn()


def _text(text: str) -> str:
    lines = [part for line in text.splitlines() for part in wrap(line, LINE, subsequent_indent="  ") or [""]]
    return "\n".join(lines if len(lines) <= LINES else [*lines[: LINES - 1], "…"])

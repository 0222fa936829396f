"""Draw the answers to the five questions: every value with its interval, question by question."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from matplotlib import rc_context

from kit.evaluate.five.questions import Row, answered
from kit.view.charts import COLOURS, MARKERS, STYLE, WIDEST, Plot, label_sides

ROW = 0.19
"""Inches of a line."""


def five(results: Mapping[str, Any], subsets: Sequence[str] = (), title: str = "", headlines: bool = False) -> Plot:
    """Draw what a results file says to the five questions.

    Filled markers are differences, to be compared with the line at 0; hollow ones are shares. A line is the 95 %
    interval; a marker without one was measured with one seed only. Numbers on scales of their own are written, not
    drawn.

    Args:
        results: the content of a ``results.json``, or stage → metrics.
        subsets: names of subsets to show as well, such as ``hard``.
        title: of the figure.
        headlines: draw each question's first value alone, and that of the subsets.

    Raises:
        ValueError: it answers none of them.
    """
    found = answered(results, subsets)
    if not found:
        raise ValueError("these results answer none of the five questions: run the paper's claims notebook")
    rows: list[tuple[str, Row | None, int]] = []
    for k, (question, every) in enumerate(found.items()):
        values = [row for row in every if not headlines or row[0].name.startswith(every[0][0].name)]
        rows += [(question, None, k), *((f"{answer.label}", (answer, value), k) for answer, value in values)]
    with rc_context(STYLE):
        figure = Plot(WIDEST, ROW * len(rows) + 0.75)
        axis = figure.subplots()
        drawn = [_draw(axis, at, row, k) for at, (_, row, k) in enumerate(rows) if row is not None]
        axis.axvline(0, color="black", linewidth=1)
        figures = ["" if row is None else f"{row[1]}, n = {row[1].n}" for _, row, _ in rows]
        label_sides(axis, [label for label, _, _ in rows], figures)
        for tick, (_, row, _) in zip(axis.get_yticklabels(), rows, strict=True):
            tick.set_fontweight("bold" if row is None else "normal")
        axis.set_xlim(min(-0.1, *(low for low, _ in drawn)) - 0.03, max(1.0, *(high for _, high in drawn)) + 0.03)
        axis.set_xlabel("difference (filled) or share (hollow)", fontsize=8)
        axis.grid(False, axis="y")
        axis.set_title(title or "what was learnt, and from what: value and 95 % interval")
    return figure


def _draw(axis: Any, at: int, row: Row, question: int) -> tuple[float, float]:
    """Draw one value unless it has a scale of its own; returns the range that it takes up."""
    answer, value = row
    if answer.kind == "number":
        return 0.0, 0.0
    colour = COLOURS[question % 6]
    low, high = (value.low, value.high) if np.isfinite([value.low, value.high]).all() else (value.value, value.value)
    axis.plot([low, high], [at, at], color=colour, linewidth=2)
    face = colour if answer.kind == "difference" else "white"
    look: Any = {"marker": MARKERS[question % 6], "markerfacecolor": face, "markeredgewidth": 1.5}
    axis.plot(value.value, at, color=colour, **look)
    return low, high

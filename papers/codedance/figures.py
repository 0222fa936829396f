"""CodeDance's figure: calls an episode over the training, easy and hard questions apart, one line a reward."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from matplotlib import rc_context

from kit.train.metrics import Row
from kit.view.charts import DASHES, MARKERS, STYLE, Plot, colour
from papers.codedance.reward import REWARDS
from papers.published_curves import published_curves

Rows = Mapping[str, Sequence[Sequence[Row]]]
"""Name of a reward → the rows of metrics of each of its runs."""

LEVELS = ("easy", "hard")
"""Of questions, a panel each."""

SMOOTHED = 4
"""Steps that a point of the figure averages over: a batch has few questions of a level."""


def published_rows() -> dict[str, list[list[Row]]]:
    """Read the published runs of each reward; rewards without a run are left out."""
    found = {
        name: list(published_curves("codedance", "grpo", "" if name == "adaptive" else name).values())
        for name in REWARDS
    }
    return {name: runs for name, runs in found.items() if runs}


def mean_curve(runs: Sequence[Sequence[Row]], column: str) -> tuple[list[float], list[float]]:
    """Average a column over runs and over :data:`SMOOTHED` neighbouring steps.

    Args:
        runs: rows of metrics of each run.
        column: of the rows, such as ``calls_easy``.

    Returns:
        Steps and values, a point for each whole stretch of steps in which any run has the column.
    """
    stretches: dict[int, list[float]] = {}
    for row in (row for rows in runs for row in rows if column in row):
        stretches.setdefault((row["step"] - 1) // SMOOTHED, []).append(float(row[column]))
    at = sorted(stretches)
    return [SMOOTHED * (k + 0.5) + 0.5 for k in at], [float(np.mean(stretches[k])) for k in at]


def levels_of(rows: Rows) -> list[str]:
    """Levels whose calls any of the runs logged; the paper's own questions have none."""
    return [n for n in LEVELS if any(mean_curve(runs, f"calls_{n}")[0] for runs in rows.values())]


def calls_by_reward(rows: Rows) -> Plot:
    """Draw calls an episode over the steps, a panel for each level, a line for each reward.

    Args:
        rows: metrics of the runs, by reward.

    Raises:
        ValueError: no run has such a column.
    """
    levels = levels_of(rows)
    if not levels:
        raise ValueError("no run has a column calls_easy or calls_hard: train with notebook 33, which logs them")
    with rc_context(STYLE):
        figure = Plot(6.4, 2.6)
        axes = figure.subplots(1, len(levels), sharey=True, squeeze=False)[0]
        for axis, level in zip(axes, levels, strict=True):
            for k, (name, runs) in enumerate(rows.items()):
                style: Any = {"color": colour(k), "marker": MARKERS[k % 6], "linestyle": DASHES[k % 4]}
                axis.plot(*mean_curve(runs, f"calls_{level}"), label=name, **style)
            axis.set_title(f"{level} questions")
            axis.set_xlabel("step")
        axes[0].set_ylabel("calls an episode")
        figure.legend(*axes[0].get_legend_handles_labels(), ncols=6, fontsize=8, loc="outside upper center")
    return figure

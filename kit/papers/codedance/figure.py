"""CodeDance's figure: calls an episode over the training, easy and hard questions apart, one line a reward."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from kit.papers.codedance.reward import REWARDS
from kit.train.metrics import Row
from kit.train.published_curves import published_curves
from kit.view.charts import Plot, lines

Rows = Mapping[str, Sequence[Sequence[Row]]]
"""Name of a reward → the rows of metrics of each of its runs."""

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


def calls_by_reward(rows: Rows) -> Plot:
    """Draw calls an episode over the steps, a line for each reward and level.

    Args:
        rows: metrics of the runs, by reward.

    Raises:
        ValueError: no run has such a column.
    """
    series: dict[str, tuple[Any, Any]] = {
        f"{name}, {level}": curve
        for level in ("easy", "hard")
        for name, runs in rows.items()
        if (curve := mean_curve(runs, f"calls_{level}"))[0]
    }
    if not series:
        raise ValueError("no run has a column calls_easy or calls_hard: train with notebook 33, which logs them")
    return lines(series, "step", "calls an episode", "how often each reward makes the agent call")

"""AGILE's figure: accuracy of each level, stage by stage."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from kit.evaluate.intervals import Interval
from kit.evaluate.outcomes import by_stage
from kit.view.charts import Plot, bars
from papers.agile.metrics import random_baseline
from papers.agile.reported import REPORTED


def levels(
    results: Mapping[str, Any], metric: str = "acc", grid: str = "2x2", names: Mapping[str, str] | None = None
) -> Plot:
    """Draw a metric of each level, with 95 % intervals; untrained, SFT and GRPO side by side.

    Args:
        results: the content of a ``results.json``, or stage → metrics.
        metric: ``acc`` or ``score``.
        grid: pieces a side, twice: ``2x2`` or ``3x3``.
        names: stage → what the legend calls it; None: its name.

    Raises:
        ValueError: a stage has no such metric.
    """
    stages = by_stage(results)
    groups: dict[str, dict[Any, float | Interval]] = {}
    for stage in (s for s in REPORTED if s in stages):
        found = {n.removeprefix(f"{metric}_{grid}"): i for n, i in stages[stage].items()}
        whole = {"all": found[""]} if "" in found else {}
        per_level = {n.removeprefix("_"): i for n, i in found.items() if n.startswith("_L")}
        groups[stage] = {**whole, **per_level}
        if not groups[stage]:
            raise ValueError(f"{stage} has no {metric}_{grid}; it has {', '.join(stages[stage])}")
    groups = {(names or {}).get(stage, stage): found for stage, found in groups.items()}
    label = f"{metric.capitalize()} {grid.replace('x', '×')}"
    figure = bars(groups, label, ("random", random_baseline(int(grid[0]))[metric]))
    figure.axes[0].set_ylim(0, 1.02)
    return figure

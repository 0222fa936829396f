"""AGILE's Tables 1 to 3 once more, its rows of Qwen2.5-VL-7B: its number in every cell, ours beside it or "not run".

The paper's test pictures aren't published: Tables 1 and 2 are filled by the run's own held-out puzzles, whose levels
are the paper's. Table 3 is about nine benchmarks; only their own questions fill it.
"""

from __future__ import annotations

from collections.abc import Mapping

from kit.evaluate.intervals import Interval
from kit.evaluate.outcomes import Metrics
from papers import tables
from papers.agile.metrics import random_baseline
from papers.agile.reported import AGILE, GENERAL
from papers.tables import Table, beside

MEASURES = {"Table 1": "acc", "Table 2": "score"}
"""Table → what it has of each level."""

_ROWS = {"random": "random", "untrained": "base", "sft": "sft", "grpo": "grpo"}


def jigsaw(here: Mapping[str, Metrics]) -> dict[str, Table]:
    """Tables 1 and 2; the row ``random`` is chance, exactly.

    Args:
        here: stage → metrics of :mod:`papers.agile.metrics`.
    """
    exact = {}
    for name in AGILE["random"]:
        measure, grid = name.split("_")[:2]
        chance = random_baseline(int(grid[0]))[measure]
        exact[name] = Interval(chance, chance, chance, 0)
    ours = {**here, "random": exact}
    return {
        title: beside(
            {
                stage: {name: theirs for name, theirs in AGILE[row].items() if name.startswith(f"{measure}_")}
                for stage, row in _ROWS.items()
            },
            ours,
        )
        for title, measure in MEASURES.items()
    }


def general(here: Mapping[str, Metrics]) -> dict[str, Table]:
    """Table 3; its average is a mean over nine benchmarks, so it isn't filled by other questions, or by a few of them.

    Args:
        here: stage → metrics of :mod:`papers.agile.general`.
    """
    nine = [name for name in next(iter(GENERAL.values())) if name != "general_all"]
    whole = {stage: found for stage, found in here.items() if all(name in found for name in nine)}
    parts = {stage: {name: found[name] for name in nine if name in found} for stage, found in here.items()}
    return {"Table 3": beside(GENERAL, {**parts, **whole})}


def told_jigsaw(cells: Mapping[str, Table]) -> str:
    """Tables 1 and 2 as one text, in percent: a line for each level, the paper's number in brackets."""
    joined = {
        f"{MEASURES[title].title()} {stage}": {name.partition("_")[2]: cell for name, cell in row.items()}
        for title, table in cells.items()
        for stage, row in table.items()
    }
    return tables.told(joined, "%", digits=1)


def told_general(cells: Mapping[str, Table]) -> str:
    """Table 3 as text, in percent: a line for each benchmark, the paper's number in brackets."""
    [table] = cells.values()
    short = {stage: {name.partition("_")[2]: cell for name, cell in row.items()} for stage, row in table.items()}
    return tables.told(short, "%", digits=1)

"""One picture of all papers: what reinforcement adds, by how decided its start is.

Every paper has three cold starts. *As the expert plays* is cloned from demonstrations that always do what is best;
*published* ones also show something else in a share of them, so that the agent goes on trying, which is what
reinforcement learns from; *half* show half as much of it.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any

from matplotlib import rc_context

from kit.evaluate.intervals import Interval
from kit.evaluate.outcomes import Metrics, by_stage
from kit.view.charts import COLOURS, STYLE, Plot
from papers.played import flat
from papers.registry import find_paper

STARTS = {"as the\nexpert plays": "decided", "half": "half", "published": ""}
"""Name of a start → the arm of its runs; empty: a paper's first runs."""

TRAININGS = {"imitation alone": ("sft", "o", COLOURS[0]), "then reinforcement": ("grpo", "s", COLOURS[1])}
"""What is drawn of each start: name → stage, marker and colour."""


def reached(stages: Mapping[str, Metrics], metric: str) -> dict[str, dict[str, Interval | None]]:
    """Find what each start reaches: name of the start → of the training → value; None where it was not measured.

    Args:
        stages: flat name of a stage (:func:`papers.played.flat`) → metrics.
        metric: which is told.
    """

    def of(arm: str, stage: str) -> Interval | None:
        return stages.get(flat(arm, stage), {}).get(metric)

    return {start: {name: of(arm, told[0]) for name, told in TRAININGS.items()} for start, arm in STARTS.items()}


def comparable(results: Mapping[str, Mapping[str, Any] | None]) -> dict[str, Mapping[str, Any]]:
    """Keep the papers of which at least two starts are measured, each before and after reinforcement.

    Args:
        results: paper's name → content of its results file; None: it has none.
    """

    def starts(name: str, found: Mapping[str, Any]) -> int:
        metric = next(iter(find_paper(name).load_evaluation().headlines))
        return sum(all(told.values()) for told in reached(by_stage(found), metric).values())

    return {name: found for name, found in results.items() if found and starts(name, found) > 1}


def starts_picture(results: Mapping[str, Mapping[str, Any] | None]) -> Plot:
    """Draw a panel for each paper: its first headline after imitation and after reinforcement, start by start.

    Args:
        results: paper's name → content of its results file; None: it has none.
    """
    with rc_context(STYLE):
        figure = Plot(max(4.0, 2.0 * len(results) + 0.4), 2.9)  # a single panel leaves room for the legend
        panels: Any = figure.subplots(1, len(results), squeeze=False, sharey=True)[0]
        for axis, (name, found) in zip(panels, results.items(), strict=True):
            paper = find_paper(name)
            metric, called = next(iter(paper.load_evaluation().headlines.items()))
            axis.set_title(f"{paper.title}\n{called.partition(';')[0]}", fontsize=8)
            _panel(axis, reached(by_stage(found), metric) if found else {})
        handles, names = panels[0].get_legend_handles_labels()
        figure.legend(handles, names, loc="outside lower center", ncols=2, fontsize=8, frameon=False)
    return figure


def _panel(axis: Any, found: Mapping[str, Mapping[str, Interval | None]]) -> None:
    """A paper's starts from the most decided on the left; lines join what one training reaches from each of them."""
    axis.set_ylim(0, 1)
    axis.set_xlim(-0.4, len(STARTS) - 0.6)
    axis.set_xticks(range(len(STARTS)), [*STARTS], fontsize=7)
    for k, (name, (_, marker, colour)) in enumerate(TRAININGS.items()):
        places = [at + 0.08 * (2 * k - 1) for at in range(len(found))]
        values = [one.value if (one := told[name]) else math.nan for told in found.values()]  # no line over a gap
        axis.plot(places, values, color=colour, marker=marker, label=name, linewidth=1)
        for place, told in zip(places, found.values(), strict=True):
            if one := told[name]:
                axis.vlines(place, max(0.0, one.low), min(1.0, one.high), color=colour, linewidth=1.5)
    for at, told in enumerate(found.values()):
        if not any(told.values()):
            axis.text(at, 0.5, "not measured yet", ha="center", va="center", fontsize=7, rotation=90)

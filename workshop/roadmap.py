"""Draw the way from images to a trained agent: which notebook does which part of it, and how far it got."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from typing import Any

from matplotlib import rc_context

from kit.evaluate.intervals import Interval
from kit.view.charts import COLOURS, MARKERS, STYLE, WIDEST, Plot

GRPO_STEP = {
    "play": "each task,\nseveral times",
    "score": "one number\nan episode",
    "compare": "an advantage\nwithin its group",
    "loss": "what was better\nshall be likelier",
    "step": "the weights\nmove a little",
}
"""Parts of one step of GRPO and what happens in each."""


def roadmap(
    stages: Mapping[str, str],
    notebooks: Mapping[str, Mapping[str, str]],
    reached: Mapping[str, Sequence[tuple[str, Interval]]],
    measure: str = "tasks solved (share)",
) -> Plot:
    """Draw the stages as a row of boxes, each paper's notebooks below them, and beside it what each stage reached.

    Args:
        stages: name of a stage → what happens in it, in a few words, in order.
        notebooks: paper's title → stage → the notebooks' numbers; a stage may be missing.
        reached: paper's title, and what is measured → the trained stages and their measured results, in order.
        measure: label of the results' axis.
    """
    with rc_context(STYLE):
        figure = Plot(WIDEST, 1.5 + 0.42 * len(notebooks))
        way, results = figure.subplots(1, 2, width_ratios=(2.1, 1))
        _way(way, stages, notebooks)
        _results(results, reached, measure)
        # Below both: beside the results, or inside, what is measured of five papers would narrow or cover the curves.
        figure.legend(*results.get_legend_handles_labels(), ncols=3, fontsize=8, loc="outside lower center")
    return figure


def parts(stages: Mapping[str, str], now: Collection[str], title: str = "one step") -> Plot:
    """Draw stages as a row of boxes, of which some are done now: filled, the others pale.

    Args:
        stages: name of a stage → what happens in it, in a few words, in order.
        now: names of the stages that the text is about.
        title: above the row.

    Raises:
        ValueError: ``now`` names a stage that there isn't.
    """
    if unknown := [name for name in now if name not in stages]:
        raise ValueError(f"now={unknown}: the stages are {', '.join(stages)}")
    with rc_context(STYLE):
        figure = Plot(1.75 * len(stages), 1.15)
        axis = figure.subplots()
        axis.axis("off")
        axis.set_xlim(-0.55, len(stages) - 0.45)
        axis.set_ylim(0.0, 0.9)
        _boxes(axis, stages, now, arrow=0.3)
        axis.set_title(title, loc="left")
    return figure


def _boxes(axis: Any, stages: Mapping[str, str], now: Collection[str], arrow: float) -> None:
    """Draw a row of boxes and between them arrows of this length; boxes not done now are pale."""
    for k, (stage, told) in enumerate(stages.items()):
        filled, edge, text = ("#dcebf5", COLOURS[0], "black") if stage in now else ("white", "#b5b5b5", "#767676")
        box: Any = {"boxstyle": "round,pad=0.35", "facecolor": filled, "edgecolor": edge}
        axis.text(k, 0.45, f"{stage}\n{told}", ha="center", va="center", fontsize=8, color=text, bbox=box)
        if k:
            ends = (k - 0.5 + arrow / 2, 0.45), (k - 0.5 - arrow / 2, 0.45)
            axis.annotate("", *ends, arrowprops={"arrowstyle": "-|>", "color": COLOURS[0]})


def _way(axis: Any, stages: Mapping[str, str], notebooks: Mapping[str, Mapping[str, str]]) -> None:
    axis.axis("off")
    axis.set_xlim(-1.5, len(stages) - 0.45)  # the papers' names have a column of their own
    axis.set_ylim(-len(notebooks) - 0.2, 1.0)
    _boxes(axis, stages, stages, arrow=0.12)
    for row, (paper, numbers) in enumerate(notebooks.items(), start=1):
        axis.text(-1.45, -row + 0.3, paper, ha="left", va="center", fontsize=9, fontweight="bold")
        for k, stage in enumerate(stages):
            if stage in numbers:
                axis.text(k, -row + 0.3, numbers[stage], ha="center", va="center", fontsize=10)
    axis.set_title("which notebook does what", loc="left")


def _results(axis: Any, reached: Mapping[str, Sequence[tuple[str, Interval]]], measure: str) -> None:
    names = list(dict.fromkeys(stage for found in reached.values() for stage, _ in found))
    for k, (paper, found) in enumerate(reached.items()):
        shift = 0.12 * (k - (len(reached) - 1) / 2)
        at = [names.index(stage) + shift for stage, _ in found]
        values = [interval.value for _, interval in found]
        style: Any = {"color": COLOURS[(0, 5, 2, 3, 1, 4)[k % 6]]}
        axis.plot(at, values, marker=MARKERS[k % 6], label=paper, **style)
        axis.vlines(at, [interval.low for _, interval in found], [interval.high for _, interval in found], **style)
    axis.set_xticks(range(len(names)), names)
    axis.set_ylim(-0.04, 1.04)
    axis.set_ylabel(measure)
    axis.set_title("what training did, held-out tasks", loc="left")

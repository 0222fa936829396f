"""The README's table of what each training brought: a headline of each paper's, all of its arms in one row."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any

from kit.evaluate.intervals import Interval
from kit.evaluate.outcomes import by_stage
from papers.differences import difference
from papers.registry import find_paper
from papers.tables import markdown
from workshop.jobs.finding import ADDED, DIRECT, GAP, GRPO, SFT, UNTRAINED, alongside

ARMS = {
    DIRECT: "asked directly",
    UNTRAINED: "untrained",
    SFT: "SFT",
    GRPO: "then GRPO",
}
"""Arms of the table of what came out, and the heads of their columns."""

SAME = 0.005
"""Two differences that are told by two digits are one within this."""


def came_out(results: Mapping[str, Mapping[str, Any] | None]) -> str:
    """A table of the papers: the first headline asked directly and after each training, and what looking is worth.

    Args:
        results: paper → the content of its results file; None: nothing was measured yet.
    """
    return markdown(["", *ARMS.values(), "GRPO adds", "gap", "trainings"], (_row(*one) for one in results.items()))


def _row(paper: str, results: Mapping[str, Any] | None) -> list[str]:
    metric, called = next(iter(find_paper(paper).load_evaluation().headlines.items()))
    head = f"{find_paper(paper).title}: {called}"
    if results is None:
        return [head, *["not measured yet"] * len(ARMS), "", "", ""]
    stages = by_stage(results)
    value = {arm: stages.get(arm, {}).get(metric) for arm in ARMS}
    after = stages.get(GRPO, {})
    added = _added(value[SFT], value[GRPO], alongside(after, ADDED, metric))
    differences = added, alongside(after, GAP, metric)
    return [head, *map(_short, value.values()), *(_short(one, "+") for one in differences), _trainings(results)]


def _trainings(results: Mapping[str, Any]) -> str:
    """How many there were, and how long each took: ``5 × 11 min``."""
    minutes = minutes_a_seed(results)
    return str(seeds_of(results)) if minutes is None else f"{seeds_of(results)} × {minutes:.0f} min"


def seeds_of(results: Mapping[str, Any]) -> int:
    """Number of trainings that the figures are of."""
    return len(results["seed"]) if isinstance(results["seed"], list) else 1


def minutes_a_seed(results: Mapping[str, Any]) -> float | None:
    """Minutes that a seed's training took; None: not recorded."""
    minutes = results.get("training_minutes")
    return None if minutes is None else minutes / seeds_of(results)


def _added(before: Interval | None, after: Interval | None, paired: Interval | None) -> Interval | None:
    """What a training added: on the same tasks, where that is known of this metric and these tasks."""
    if before is None or after is None:
        return None
    apart = difference(after, before)
    return paired if paired is not None and abs(paired.value - apart.value) < SAME else apart


def _short(found: Interval | None, signs: str = "") -> str:
    """A value with its interval in two digits; a difference with its sign."""
    if found is None:
        return "not run"
    ends = f" [{found.low:.2f}, {found.high:.2f}]" if math.isfinite(found.high - found.low) else ""
    return f"{found.value:{signs}.2f}{ends}"

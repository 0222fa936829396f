"""Exercises of notebook 24: parts of a gain, verdicts from intervals, the limit of plain retrieval."""

from __future__ import annotations

import math
import random
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from kit.episode import Task
from kit.evaluate.intervals import Interval
from kit.tools.search import Search
from workshop.exercises import Exercise, Mistake

Metrics = Mapping[str, Mapping[str, Interval]]


def _f1(metrics: Metrics, stage: str) -> float:
    return metrics[stage]["f1_coding"].value


def parts_of_the_gain(metrics: Metrics) -> tuple[float, float]:
    """What the tools change before any training, and what training adds."""
    untrained = _f1(metrics, "untrained")
    return untrained - _f1(metrics, "direct"), _f1(metrics, "grpo") - untrained


def verdict(checks: Sequence[tuple[float, float]]) -> str:
    """A claim's verdict from its checks' intervals."""
    if any(high <= 0 for _, high in checks):
        return "doesn't"
    return "holds" if checks and all(low > 0 for low, _ in checks) else "undecided"


def best_of_retrieval(tasks: Sequence[Task], index: Search, k: int) -> float:
    """Share of the tasks whose answer stands in what a search for the question finds."""
    return _share_found(tasks, index, k, lambda task: [task.question])


def _share_found(tasks: Sequence[Task], index: Search, k: int, queries: Callable[[Task], Sequence[str]]) -> float:
    found = 0
    for task in tasks:
        texts = [snippet.text.lower() for query in queries(task) for snippet in index.search(query, k)]
        found += any(task.target[0].lower() in text for text in texts)
    return found / len(tasks)


def low_end(gains: Sequence[float], t: float) -> float:
    """Lower end of Student's interval of a mean."""
    mean = sum(gains) / len(gains)
    variance = sum((gain - mean) ** 2 for gain in gains) / (len(gains) - 1)
    return mean - t * math.sqrt(variance / len(gains))


def _low_end(gains: Sequence[float], t: float, lost: int, n: float) -> float:
    mean = sum(gains) / len(gains)
    variance = sum((gain - mean) ** 2 for gain in gains) / (len(gains) - lost)
    return mean - t * math.sqrt(variance / n)


def _other_checks(seed: int) -> list[dict[str, Any]]:
    """Every mixture of checks, but none at all: that case has one form only, and is among the visible ones."""
    rng = random.Random(seed)

    def drawn() -> float:
        return rng.uniform(0.02, 0.6)

    def above() -> tuple[float, float]:
        low = drawn()
        return low, low + drawn()

    def below() -> tuple[float, float]:
        high = -drawn()
        return high - drawn(), high

    def around() -> tuple[float, float]:
        return -drawn(), drawn()

    mixtures: list[list[tuple[float, float]]] = [
        [above(), above(), above()],
        [around(), above(), above()],
        [above(), below(), above()],
        [around(), below()],
        [below(), below()],
        [around(), (-math.inf, math.inf)],
        [above(), (0.0, drawn())],
        [above(), (-drawn(), 0.0)],
    ]
    for checks in mixtures:
        rng.shuffle(checks)
    return [{"checks": checks} for checks in mixtures]


def _other_gains(seed: int) -> list[dict[str, Any]]:
    rng = random.Random(seed)
    found: list[dict[str, Any]] = [{"gains": [rng.uniform(-0.2, 0.5)] * 4, "t": 3.182}]
    for number, t in ((2, 12.706), (3, 4.303), (6, 2.571), (10, 2.262)):
        middle = rng.uniform(-0.1, 0.4)
        gains = [middle + (-1) ** k * rng.uniform(0.05, 0.2) for k in range(number)]
        found.append({"gains": gains, "t": t})
    return found


EXERCISES = [
    Exercise(
        "24.1",
        parts_of_the_gain,
        "Three stages: direct (no tools), untrained (tools, no training), grpo (tools and training). Each part is the "
        "difference of two neighbours; together they are grpo minus direct.",
        mistakes=[
            Mistake(
                lambda metrics: (
                    _f1(metrics, "untrained") - _f1(metrics, "direct"),
                    _f1(metrics, "grpo") - _f1(metrics, "direct"),
                ),
                "Your second number is the whole difference. Training's part begins at the agent that has the tools.",
            ),
            Mistake(
                lambda metrics: (_f1(metrics, "untrained"), _f1(metrics, "grpo")),
                "Those are the agents' values. You are asked for differences.",
            ),
            Mistake(
                lambda metrics: (
                    _f1(metrics, "direct") - _f1(metrics, "untrained"),
                    _f1(metrics, "grpo") - _f1(metrics, "untrained"),
                ),
                "Tools that make it worse change F1 by a negative number: after minus before.",
            ),
            Mistake(
                lambda metrics: (
                    _f1(metrics, "untrained") - _f1(metrics, "direct"),
                    _f1(metrics, "grpo") - _f1(metrics, "sft"),
                ),
                "Imitation is training, too: count it in.",
            ),
        ],
    ),
    Exercise(
        "24.2",
        verdict,
        "Ask in this order: is there a check whose whole interval is at or below 0? Are there checks, and is every low "
        "end above 0? Else undecided.",
        cases=[
            {"checks": [(0.1, 0.3), (0.02, 0.5)]},
            {"checks": [(0.1, 0.3), (-0.03, 0.32)]},
            {"checks": [(-0.4, -0.1), (0.1, 0.3)]},
            {"checks": [(-0.4, -0.1), (-0.1, 0.3)]},
            {"checks": [(-math.inf, math.inf)]},
            {"checks": [(0.0, 0.2)]},
            {"checks": [(-0.2, 0.0)]},
            {"checks": []},
        ],
        hidden=_other_checks,
        mistakes=[
            Mistake(
                lambda checks: (
                    "doesn't"
                    if any(h <= 0 for _, h in checks)
                    else "holds"
                    if all(w > 0 for w, _ in checks)
                    else "undecided"
                ),
                "A claim without any check was not tested. `all` of an empty list is True.",
            ),
            Mistake(
                lambda checks: (
                    "holds"
                    if checks and all(w > 0 for w, _ in checks)
                    else "doesn't"
                    if checks and all(h <= 0 for _, h in checks)
                    else "undecided"
                ),
                "One check that doesn't hold is enough: the claim says that all of them do.",
            ),
            Mistake(
                lambda checks: (
                    "holds"
                    if checks and all(w >= 0 for w, _ in checks)
                    else "doesn't"
                    if any(h < 0 for _, h in checks)
                    else "undecided"
                ),
                "An interval that ends exactly at 0: the rule says above for holds, at or below for doesn't.",
            ),
            Mistake(
                lambda checks: "holds" if checks and all(w > 0 for w, _ in checks) else "doesn't",
                "Not to hold is not yet the opposite: an interval with 0 inside decides nothing.",
            ),
            Mistake(
                lambda checks: (
                    "undecided"
                    if not checks or any(w <= 0 < h for w, h in checks)
                    else "doesn't"
                    if any(h <= 0 for _, h in checks)
                    else "holds"
                ),
                "A claim with one check that doesn't hold can't hold any more, whatever an undecided one would say.",
            ),
        ],
    ),
    Exercise(
        "24.3",
        best_of_retrieval,
        "For each task search for its question, look whether the lower-case answer is in a snippet's lower-case text, "
        "and divide the number of such tasks by the number of tasks.",
        mistakes=[
            Mistake(
                lambda tasks, index, k: _share_found(tasks, index, k, lambda task: task.meta["queries"]),
                "Those are the gold queries: what an agent can reach that searches well. Plain retrieval searches for "
                "the question alone.",
            ),
            Mistake(
                lambda tasks, index, k: round(best_of_retrieval(tasks, index, k) * len(tasks)),
                "That is a number of tasks. Divide it by how many there are.",
            ),
        ],
    ),
    Exercise(
        "24.4",
        low_end,
        "Mean; squared distances from it, added up and divided by k − 1; the root of that is s. Then mean − t·s/√k.",
        cases=[
            {"gains": [0.0, 0.1, 0.1, 0.2, 0.3], "t": 2.776},
            {"gains": [0.1, 0.3], "t": 12.706},
            {"gains": [0.2, 0.2, 0.2], "t": 4.303},
        ],
        hidden=_other_gains,
        mistakes=[
            Mistake(
                lambda gains, t: _low_end(gains, t, 0, len(gains)),
                "You divide the squares by k. With few runs that makes s too small; divide by k − 1.",
            ),
            Mistake(
                lambda gains, t: _low_end(gains, t, 1, 1),
                "That is where a single run may lie. The mean of k runs is known better, by √k.",
            ),
            Mistake(
                lambda gains, t: _low_end(gains, 1.96, 1, len(gains)),
                "1.96 is for many runs. With k runs use the t that is given.",
            ),
            Mistake(
                lambda gains, t: 2 * sum(gains) / len(gains) - low_end(gains, t),
                "That is the upper end.",
            ),
        ],
    ),
]

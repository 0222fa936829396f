"""Exercises of notebook 43: groups that can teach where to look, visits, looking and reading apart."""

from __future__ import annotations

import random
from statistics import fmean
from typing import Any

from workshop.exercises import Exercise, Mistake


def telling(groups: list[list[tuple[bool, float]]]) -> float:
    """Both kinds of look, and the right ones earn more."""

    def tells(group: list[tuple[bool, float]]) -> bool:
        right, wrong = ([reward for look, reward in group if look == kind] for kind in (True, False))
        return bool(right and wrong) and fmean(right) > fmean(wrong)

    return sum(map(tells, groups)) / len(groups)


def visits(steps: int, prompts_per_batch: int, group_size: int, samples: int) -> tuple[float, float]:
    """All questions that were drawn, shared among the samples."""
    times = steps * prompts_per_batch / samples
    return times, times * group_size


def split(w1: float, q1: float, w2: float, q2: float) -> tuple[float, float]:
    """Looking at the old reading, reading at the new looking."""
    return (w2 - w1) * q1, w2 * (q2 - q1)


def _both_kinds(groups: list[list[tuple[bool, float]]]) -> float:
    return sum(len({look for look, _ in group}) == 2 for group in groups) / len(groups)


def _of_mixed(groups: list[list[tuple[bool, float]]]) -> float:
    mixed = _both_kinds(groups)
    return telling(groups) / mixed if mixed else 0.0


def _other_groups(seed: int) -> list[dict[str, Any]]:
    rng = random.Random(seed)

    def group(share: float, edge: float) -> list[tuple[bool, float]]:
        looks = [rng.random() < share for _ in range(8)]
        return [(look, round(1.5 + edge * look + 0.2 * rng.random(), 3)) for look in looks]

    chances = [(0.5, 2.0), (1.0, 2.0), (0.0, 2.0), (0.5, -1.0), (0.4, 1.0)]
    return [{"groups": [group(*rng.choice(chances)) for _ in range(6)] + [group(0.5, 2.0)]} for _ in range(3)]


def _other_splits(seed: int) -> list[dict[str, Any]]:
    rng = random.Random(seed)
    return [{name: round(rng.uniform(0.1, 0.9), 3) for name in ("w1", "q1", "w2", "q2")} for _ in range(3)]


def _other_visits(seed: int) -> list[dict[str, Any]]:
    rng = random.Random(seed)
    return [
        {"steps": rng.randint(10, 90), "prompts_per_batch": rng.randint(3, 12), "group_size": g, "samples": n}
        for g, n in ((4, 20), (8, 30), (16, 200))
    ]


EXERCISES = [
    Exercise(
        "43.1",
        telling,
        "Divide each group into right and wrong looks; a group counts if both are there and the first mean is higher.",
        cases=[
            {"groups": [[(True, 4.0), (False, 2.0)], [(True, 4.0), (True, 2.0)]]},
            {"groups": [[(True, 2.0), (False, 2.0)], [(False, 2.0), (False, 1.0)]]},
            {"groups": [[(True, 4.0), (True, 2.0), (False, 2.5)], [(True, 2.0), (False, 4.0)], [(False, 1.0)] * 2]},
        ],
        hidden=_other_groups,
        mistakes=[
            Mistake(_both_kinds, "Looks of both kinds aren't enough: the right ones have to earn more on average."),
            Mistake(_of_mixed, "It is a share of all groups, not of those that have looks of both kinds."),
        ],
    ),
    Exercise(
        "43.2",
        visits,
        "steps · prompts_per_batch questions are drawn in all; each is tried group_size times.",
        cases=[
            {"steps": 30, "prompts_per_batch": 10, "group_size": 8, "samples": 20},
            {"steps": 300, "prompts_per_batch": 4, "group_size": 16, "samples": 20},
        ],
        hidden=_other_visits,
        mistakes=[
            Mistake(
                lambda steps, prompts_per_batch, group_size, samples: (
                    steps * prompts_per_batch,
                    steps * prompts_per_batch * group_size,
                ),
                "That is over all questions. How many of them are there?",
            ),
        ],
    ),
    Exercise(
        "43.3",
        split,
        "The gain is w2·q2 − w1·q1. Put w2·q1 between the two.",
        cases=[
            {"w1": 0.4, "q1": 0.6, "w2": 0.8, "q2": 0.6},
            {"w1": 0.4, "q1": 0.5, "w2": 0.4, "q2": 0.75},
            {"w1": 0.3, "q1": 0.5, "w2": 0.6, "q2": 0.4},
        ],
        hidden=_other_splits,
        mistakes=[
            Mistake(
                lambda w1, q1, w2, q2: ((w2 - w1) * q2, w1 * (q2 - q1)),
                "These add up as well, but looking is valued at the new reading here, and it should be at the old one.",
            ),
            Mistake(
                lambda w1, q1, w2, q2: ((w2 - w1) * q1, w1 * (q2 - q1)),
                "These don't add up to the gain: where both grow, something is left over.",
            ),
        ],
    ),
]

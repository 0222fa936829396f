"""Exercises of notebook 54: the reward, what a right answer is worth in its group, which questions to go on with."""

from __future__ import annotations

import itertools
import random
from typing import Any

from workshop.exercises import Exercise, Mistake


def reward_of(repetition: float, well_formed: bool, right: bool) -> float:
    """A repetition is all; a broken form is all as well."""
    if repetition:
        return repetition
    return 1.0 + right if well_formed else -1.0


def advantage_of_right(n: int, right: int) -> float:
    """Clean and right is 2, clean and wrong is 1, the mean 1 + right / n."""
    return 1 - right / n


def to_go_on_with(passed: dict[str, float]) -> list[str]:
    """Both ends belong to it."""
    return sorted(name for name, share in passed.items() if 1 / 8 <= share <= 3 / 8)


def _added(repetition: float, well_formed: bool, right: bool) -> float:
    return repetition + (1.0 if well_formed else -1.0) + right


SHOWN: list[dict[str, Any]] = [
    {"repetition": 0.0, "well_formed": True, "right": True},
    {"repetition": 0.0, "well_formed": False, "right": False},
    {"repetition": 0.0, "well_formed": False, "right": True},
    {"repetition": -2.0, "well_formed": True, "right": True},
]


def _other_episodes(seed: int) -> list[dict[str, Any]]:
    every = itertools.product([0.0, -1.5, -2.0, -3.0], [True, False], [True, False])
    rest = [dict(zip(("repetition", "well_formed", "right"), some, strict=True)) for some in every]
    return random.Random(seed).sample([case for case in rest if case not in SHOWN], 9)


def _other_groups(seed: int) -> list[dict[str, Any]]:
    rng = random.Random(seed)
    return [{"n": n, "right": rng.randint(1, n)} for n in (5, 9, 16)]


def _other_rates(seed: int) -> list[dict[str, Any]]:
    rng = random.Random(seed)
    return [
        {"passed": {f"q{k}": rng.randint(0, 8) / 8 for k in range(9)} | {"e": 0.125, "f": 0.375, "g": 0.0}}
        for _ in range(3)
    ]


EXERCISES = [
    Exercise(
        "54.1",
        reward_of,
        "Three questions in order: does it repeat itself? Is the form kept? Is the answer right?",
        cases=SHOWN,
        hidden=_other_episodes,
        mistakes=[
            Mistake(_added, "Nothing is added to a repetition."),
        ],
    ),
    Exercise(
        "54.2",
        advantage_of_right,
        "A right one earns 2, a wrong one 1. What is the mean?",
        cases=[{"n": 8, "right": 2}, {"n": 8, "right": 8}, {"n": 4, "right": 1}],
        hidden=_other_groups,
        mistakes=[Mistake(lambda n, right: 2 - right / n, "The mean is 1 + right / n: wrong ones earn 1 as well.")],
    ),
    Exercise(
        "54.3",
        to_go_on_with,
        "Keep shares from 0.125 to 0.375, both included, and sort the names.",
        cases=[{"passed": {"a": 0.125, "b": 0.5, "c": 0.375, "d": 0.0}}, {"passed": {"b": 0.25, "a": 0.25}}],
        hidden=_other_rates,
        mistakes=[
            Mistake(
                lambda passed: sorted(name for name, share in passed.items() if 1 / 8 < share < 3 / 8),
                "Both ends belong to it.",
            ),
            Mistake(
                lambda passed: sorted(name for name, share in passed.items() if share <= 3 / 8),
                "Those that it never solves are too hard: all its attempts are alike.",
            ),
        ],
    ),
]

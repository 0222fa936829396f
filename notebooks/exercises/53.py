"""Exercises of notebook 53: what a filter by answers does, when a group has spread, what a gap is made of."""

from __future__ import annotations

import random
from typing import Any

from workshop.exercises import Exercise, Mistake


def believed_wrongly(accuracy: float) -> tuple[float, float]:
    """A wrong reply makes a wrong answer, and a wrong answer is dropped."""
    return 0.0, 1 - accuracy


def has_spread(p: float, group: int = 8) -> float:
    """One minus all right, minus all wrong."""
    return 1 - p**group - (1 - p) ** group


def gap(sight: float, own: float) -> float:
    """What is answered at sight is in both."""
    return (1 - sight) * own


def _shares(name: str) -> Any:
    return lambda seed: [{name: random.Random(seed + k).uniform(0.05, 0.95)} for k in range(4)]


def _other_groups(seed: int) -> list[dict[str, Any]]:
    rng = random.Random(seed)
    return [{"p": rng.uniform(0.05, 0.95), "group": rng.choice([2, 4, 8, 16])} for _ in range(4)]


def _other_gaps(seed: int) -> list[dict[str, Any]]:
    rng = random.Random(seed)
    return [{"sight": rng.uniform(0.1, 0.9), "own": rng.uniform(0.1, 0.9)} for _ in range(4)]


EXERCISES = [
    Exercise(
        "53.1",
        believed_wrongly,
        "An expert that believes a wrong reply gives a wrong answer. What becomes of that episode?",
        cases=[{"accuracy": 0.9}, {"accuracy": 1.0}, {"accuracy": 0.5}],
        hidden=_shares("accuracy"),
        mistakes=[
            Mistake(lambda accuracy: (1 - accuracy, 1 - accuracy), "Kept are only those whose answer is right."),
            Mistake(lambda accuracy: (0.0, accuracy), "That is how often the tool was right."),
        ],
    ),
    Exercise(
        "53.2",
        has_spread,
        "All right has probability p^group; all wrong, (1 − p)^group.",
        cases=[{"p": 0.5}, {"p": 0.9}, {"p": 0.99}, {"p": 0.0}, {"p": 0.5, "group": 2}],
        hidden=_other_groups,
        mistakes=[
            Mistake(lambda p, group=8: 1 - p**group, "A group that is all wrong has no spread either."),
            Mistake(lambda p, group=8: p**group + (1 - p) ** group, "That is the probability of no spread."),
        ],
    ),
    Exercise(
        "53.3",
        gap,
        "With blank replies, what is answered at sight stays, and nothing else. Subtract.",
        cases=[{"sight": 0.25, "own": 0.8}, {"sight": 0.0, "own": 0.5}, {"sight": 1.0, "own": 0.5}],
        hidden=_other_gaps,
        mistakes=[
            Mistake(lambda sight, own: sight + (1 - sight) * own, "That is the accuracy with its own replies."),
            Mistake(lambda sight, own: own, "Only the questions that can't be answered at sight lose anything."),
        ],
    ),
]

"""Exercises of notebook 55: kinds of errors, lucky guesses, how much more reinforcement adds."""

from __future__ import annotations

import itertools
import random
from typing import Any

from kit.exercises import Exercise, Mistake


def kind_of_error(read: bool, fits: bool, own: bool, holds: bool) -> str:
    """From the call's form to what came of it."""
    if not read:
        return "E1"
    if not fits:
        return "E2 or E3"
    if holds:
        return "E6"
    return "E5" if own else "E4"


def reads(own: float, swapped: float, n: int, margin: float) -> tuple[float, bool]:
    """One of n alike, by luck."""
    return 1 / n, own - swapped > margin


def much_more(direct: float, cloned: float, reinforced: float) -> float:
    """One gain minus the other."""
    return (reinforced - cloned) - (cloned - direct)


def _own_first(read: bool, fits: bool, own: bool, holds: bool) -> str:
    found = kind_of_error(read, fits, own, holds)
    return "E4" if found == "E6" and not own else found


ALL = [
    dict(zip(("read", "fits", "own", "holds"), some, strict=True))
    for some in itertools.product([True, False], repeat=4)
]


def _other_pairs(seed: int) -> list[dict[str, Any]]:
    rng = random.Random(seed)
    return [
        {
            "own": rng.uniform(0.5, 1),
            "swapped": rng.uniform(0, 0.5),
            "n": rng.randint(2, 9),
            "margin": rng.uniform(0, 0.5),
        }
        for _ in range(4)
    ]


def _other_stages(seed: int) -> list[dict[str, Any]]:
    rng = random.Random(seed)
    return [{name: rng.random() for name in ("direct", "cloned", "reinforced")} for _ in range(4)]


EXERCISES = [
    Exercise(
        "55.1",
        kind_of_error,
        "In this order: can it be read? Does it fit? Did the reply hold the answer? Was it the question's own call?",
        cases=ALL[:6],
        hidden=lambda seed: ALL,
        mistakes=[Mistake(_own_first, "If the reply holds the gold answer, the call was good enough.")],
    ),
    Exercise(
        "55.2",
        reads,
        "One of n answers, each as likely; and a difference above the margin.",
        cases=[
            {"own": 0.9, "swapped": 0.2, "n": 5, "margin": 0.1},
            {"own": 0.3, "swapped": 0.25, "n": 4, "margin": 0.1},
        ],
        hidden=_other_pairs,
        mistakes=[
            Mistake(
                lambda own, swapped, n, margin: (1 / n, own > margin), "Compare with what it gets by others' replies."
            )
        ],
    ),
    Exercise(
        "55.3",
        much_more,
        "Two gains: reinforcement's and cloning's.",
        cases=[
            {"direct": 0.57, "cloned": 0.61, "reinforced": 0.71},
            {"direct": 0.2, "cloned": 0.6, "reinforced": 0.9},
        ],
        hidden=_other_stages,
        mistakes=[
            Mistake(lambda direct, cloned, reinforced: reinforced - direct, "That is both gains together."),
            Mistake(lambda direct, cloned, reinforced: reinforced - cloned, "That is reinforcement's gain alone."),
        ],
    ),
]

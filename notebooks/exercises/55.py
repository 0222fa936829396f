"""Exercises of notebook 55: kinds of errors, lucky guesses, how much more reinforcement adds."""

from __future__ import annotations

import itertools
import random
from typing import Any

from workshop.exercises import Exercise, Mistake


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


def _the_other_way(read: bool, fits: bool, own: bool, holds: bool) -> str:
    found = kind_of_error(read, fits, own, holds)
    return {"E4": "E5", "E5": "E4"}.get(found, found)


def _episode(*some: bool) -> dict[str, Any]:
    return dict(zip(("read", "fits", "own", "holds"), some, strict=True))


SHOWN = [
    _episode(True, True, True, True),
    _episode(True, True, True, False),
    _episode(True, False, True, False),
    _episode(False, False, False, False),
]
TELLING = _episode(True, True, False, False)


def _other_calls(seed: int) -> list[dict[str, Any]]:
    every = [_episode(*some) for some in itertools.product([True, False], repeat=4)]
    return [TELLING, *random.Random(seed).sample([case for case in every if case not in (*SHOWN, TELLING)], 6)]


def _other_pairs(seed: int) -> list[dict[str, Any]]:
    rng, found = random.Random(seed), []
    for apart in (0.02, 0.3, 0.4):
        swapped = rng.uniform(0.2, 0.5)
        found.append(
            {"own": swapped + apart, "swapped": swapped, "n": rng.randint(2, 9), "margin": rng.uniform(0.05, 0.15)}
        )
    return found


def _other_stages(seed: int) -> list[dict[str, Any]]:
    rng = random.Random(seed)
    return [{name: rng.random() for name in ("direct", "cloned", "reinforced")} for _ in range(4)]


EXERCISES = [
    Exercise(
        "55.1",
        kind_of_error,
        "In this order: can it be read? Does it fit? Did the reply hold the answer? Was it the question's own call?",
        cases=SHOWN,
        hidden=_other_calls,
        mistakes=[
            Mistake(_the_other_way, "E5 is the tool's: the call was the question's own, and the reply was no good.")
        ],
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

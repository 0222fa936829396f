"""Exercises of notebook 32: the loss at a fork, what blank observations tell, which calls the reward discourages."""

from __future__ import annotations

import math
import random
from typing import Any

from workshop.exercises import Exercise, Mistake


def least_loss(p: float) -> float:
    """The best that a model can do is to give each way its share; certain forks cost nothing."""
    return -sum(share * math.log(share) for share in (p, 1 - p) if share > 0)


def observation_gap(own: list[bool], blanked: list[bool], called: list[bool]) -> float:
    """The mean difference over the questions with a call."""
    pairs = [(a, b) for a, b, call in zip(own, blanked, called, strict=True) if call]
    return sum(a - b for a, b in pairs) / len(pairs) if pairs else 0.0


def discouraged(mu: dict[str, float]) -> list[str]:
    """Those whose d(μ) is below 0."""
    return sorted(kind for kind, share in mu.items() if 1 / (1 + math.exp(-8 * (0.5 - share))) - 0.2 < 0)


def _over_all(own: list[bool], blanked: list[bool], called: list[bool]) -> float:
    return observation_gap(own, blanked, [True] * len(called))


def _other_way(own: list[bool], blanked: list[bool], called: list[bool]) -> float:
    return -observation_gap(own, blanked, called)


def _other_forks(seed: int) -> list[dict[str, Any]]:
    rng = random.Random(seed)
    return [{"p": rng.uniform(0.02, 0.98)} for _ in range(4)]


def _other_questions(seed: int) -> list[dict[str, Any]]:
    rng, found = random.Random(seed), []
    for n in (5, 9, 14):
        own, blanked, called = ([rng.random() < share for _ in range(n)] for share in (0.8, 0.3, 0.6))
        found.append(
            {"own": [True, False, *own], "blanked": [False, False, *blanked], "called": [True, False, *called]}
        )
    return found


def _other_kinds(seed: int) -> list[dict[str, Any]]:
    rng = random.Random(seed)
    found = []
    for low, high in ((0.0, 0.66), (0.69, 1.0), (0.0, 0.5)):
        shares = {name: round(rng.uniform(low, high), 3) for name in ("value", "sheet", "board", "count")}
        found.append({"mu": shares | {"figure": round(rng.uniform(0.52, 0.65), 3), "disc": 0.8}})
    return found


EXERCISES = [
    Exercise(
        "32.1",
        least_loss,
        "With probability q for the first way the mean loss is −p ln q − (1 − p) ln (1 − q). Which q is best?",
        cases=[{"p": 0.5}, {"p": 0.25}, {"p": 1.0}, {"p": 0.0}, {"p": 0.9}],
        hidden=_other_forks,
        mistakes=[
            Mistake(lambda p: 0.0, "A model that is certain of one way pays without limit for the other."),
            Mistake(
                lambda p: least_loss(p) / math.log(2), "That is in bits. The loss has the natural logarithm, to base e."
            ),
            Mistake(lambda p: math.log(2), "That is the loss of giving each way one half, whatever p is."),
        ],
    ),
    Exercise(
        "32.2",
        observation_gap,
        "Keep the questions with a call. There, take the share right with own observations minus that with blank ones.",
        cases=[
            {"own": [True, True, False], "blanked": [False, True, False], "called": [True, True, False]},
            {"own": [True, True], "blanked": [False, False], "called": [True, True]},
            {"own": [True, False], "blanked": [True, False], "called": [False, False]},
            {"own": [False, True, True], "blanked": [True, False, False], "called": [True, False, False]},
        ],
        hidden=_other_questions,
        mistakes=[
            Mistake(_over_all, "Questions without a call have nothing to blank: leave them out."),
            Mistake(_other_way, "It is the other way round: own minus blanked."),
        ],
    ),
    Exercise(
        "32.3",
        discouraged,
        "Compute d(μ) = σ(8 (0.5 − μ)) − 0.2 for each kind, and keep those below 0.",
        cases=[
            {"mu": {"value": 0.9, "compute": 0.3, "sheet": 0.7, "board": 0.1}},
            {"mu": {"value": 0.6, "board": 0.65}},
            {"mu": {"sheet": 1.0, "count": 0.0}},
            {"mu": {}},
        ],
        hidden=_other_kinds,
        mistakes=[
            Mistake(
                lambda mu: sorted(kind for kind, share in mu.items() if share > 0.5),
                "At μ = 0.5 a call is still paid for: the offset is only 0.2.",
            ),
            Mistake(
                lambda mu: sorted(kind for kind in mu if kind not in discouraged(mu)),
                "Those are the kinds on which calls are paid for.",
            ),
        ],
    ),
]

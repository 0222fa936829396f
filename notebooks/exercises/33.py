"""Exercises of notebook 33: a turn's own part, change of a curve, a reward's prediction, what sharpness costs."""

from __future__ import annotations

import math
import random
from statistics import fmean, pstdev, stdev
from typing import Any

from workshop.exercises import Exercise, Mistake


def turn_parts(returns: list[list[float]], weight: float = 0.2) -> list[list[float]]:
    """Returns of all turns of the batch, normalised together."""
    every = [value for turns in returns for value in turns]
    mean, deviation = fmean(every), pstdev(every)
    return [[weight * (value - mean) / deviation if deviation else 0.0 for value in turns] for turns in returns]


def change(values: list[float]) -> float:
    """Last quarter minus first."""
    n = max(1, len(values) // 4)
    return fmean(values[-n:]) - fmean(values[:n])


def agreement(worth: dict[str, float], moved: dict[str, float]) -> float | None:
    """Equal signs, among those that moved."""
    some = [kind for kind in worth if abs(moved[kind]) >= 0.05]
    return sum((worth[kind] > 0) == (moved[kind] > 0) for kind in some) / len(some) if some else None


def _worth(mu: float, sharpness: float) -> float:
    return 1 / (1 + math.exp(-sharpness * (0.5 - mu))) - 0.2


def jump(sharpness: float) -> float:
    """The offset drops out."""
    return _worth(5 / 8, sharpness) - _worth(6 / 8, sharpness)


def _each_apart(returns: list[list[float]], weight: float = 0.2) -> list[list[float]]:
    return [turn_parts([turns], weight)[0] for turns in returns]


def _of_sample(returns: list[list[float]], weight: float = 0.2) -> list[list[float]]:
    every = [value for turns in returns for value in turns]
    mean, deviation = fmean(every), stdev(every) if len(every) > 1 else 0.0
    return [[weight * (value - mean) / deviation if deviation else 0.0 for value in turns] for turns in returns]


def _every_kind(worth: dict[str, float], moved: dict[str, float]) -> float | None:
    return sum((worth[kind] > 0) == (moved[kind] > 0) for kind in worth) / len(worth) if worth else None


def _other_returns(seed: int) -> list[dict[str, Any]]:
    rng = random.Random(seed)
    return [
        {"returns": [[rng.choice([-0.5, -0.1, 0.0]) for _ in range(n)] for n in (3, 2, 1)] + [[-0.5, 0.0]]}
        for _ in range(3)
    ]


def _other_curves(seed: int) -> list[dict[str, Any]]:
    rng = random.Random(seed)
    return [{"values": [rng.random() for _ in range(n)]} for n in (3, 9, 16)]


def _other_moves(seed: int) -> list[dict[str, Any]]:
    rng, found = random.Random(seed), []
    for _ in range(3):
        worth = {name: rng.uniform(-0.18, 0.78) for name in "abcde"}
        found.append({"worth": worth, "moved": {"a": 0.01, **{n: rng.choice([-0.4, 0.3]) for n in "bcde"}}})
    return found


EXERCISES = [
    Exercise(
        "33.1",
        turn_parts,
        "Put all returns into one list first; its mean and deviation serve every turn.",
        cases=[
            {"returns": [[-0.5, 0.0, 0.0], [0.0, 0.0]]},
            {"returns": [[-0.52, -0.1, -0.5, 0.0], [0.0], [0.0]], "weight": 1.0},
            {"returns": [[0.0, 0.0], [0.0]]},
        ],
        hidden=_other_returns,
        mistakes=[
            Mistake(_each_apart, "Mean and deviation are those of the whole batch, not of one episode."),
            Mistake(_of_sample, "Divide by the standard deviation of the population: over n, not over n − 1."),
        ],
    ),
    Exercise(
        "33.2",
        change,
        "n // 4 values at each end, at least one.",
        cases=[{"values": [1.0, 0.8, 0.4, 0.2]}, {"values": [0.5, 0.9]}, {"values": [0.0, 1.0, 0.0, 1.0] * 3}],
        hidden=_other_curves,
        mistakes=[
            Mistake(lambda values: -change(values), "It is the other way round: last minus first."),
            Mistake(
                lambda values: values[-1] - values[0] if len(values) > 7 else change(values),
                "Those are two points. Average a quarter of the steps at each end.",
            ),
        ],
    ),
    Exercise(
        "33.3",
        agreement,
        "Keep the kinds whose calls moved by 0.05 or more, either way; then count equal signs.",
        cases=[
            {"worth": {"sheet": -0.1, "board": 0.7}, "moved": {"sheet": -0.3, "board": 0.2}},
            {"worth": {"sheet": -0.1, "board": 0.7}, "moved": {"sheet": 0.3, "board": 0.2}},
            {"worth": {"sheet": -0.1, "board": 0.7}, "moved": {"sheet": 0.01, "board": -0.2}},
            {"worth": {"sheet": -0.1}, "moved": {"sheet": 0.0}},
        ],
        hidden=_other_moves,
        mistakes=[Mistake(_every_kind, "Leave out the kinds whose calls moved by less than 0.05.")],
    ),
    Exercise(
        "33.4",
        jump,
        "d(μ) = σ(s (0.5 − μ)) − offset, at 5/8 and at 6/8. What happens to the offset?",
        cases=[{"sharpness": 1.0}, {"sharpness": 8.0}, {"sharpness": 64.0}, {"sharpness": 0.0}],
        hidden=lambda seed: [{"sharpness": random.Random(seed + k).uniform(0.5, 40)} for k in range(3)],
        mistakes=[Mistake(lambda sharpness: -jump(sharpness), "It is d(5/8) minus d(6/8): what one more right costs.")],
    ),
]

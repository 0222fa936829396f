"""Exercises of notebook 03: an advantage on paper, the size of a group, a ratio of temperatures."""

from __future__ import annotations

import math

from kit.exercises import Exercise, Mistake


def advantage() -> float:
    """3d divided by the standard deviation of 3d, −d, −d, −d, which is √(12d²/3) = 2d."""
    return 1.5


def smallest_group(p: float, most: float) -> int:
    """Try one size after another."""
    size = 2
    while p**size + (1 - p) ** size > most:
        size += 1
    return size


def ratio_of(logits: list[float], action: int, T: float) -> float:
    """Two softmaxes, one probability of each."""

    def pi(temperature: float) -> float:
        weights = [math.exp(z / temperature) for z in logits]
        return weights[action] / sum(weights)

    return pi(1.0) / pi(T)


def _only_all_right(p: float, most: float) -> int:
    size = 2
    while p**size > most:
        size += 1
    return size


def _one_less(p: float, most: float) -> int:
    return smallest_group(p, most) - 1


def _upside_down(logits: list[float], action: int, T: float) -> float:
    return 1 / ratio_of(logits, action, T)


def _of_logits(logits: list[float], action: int, T: float) -> float:
    return math.exp(logits[action]) / math.exp(logits[action] / T)


EXERCISES = [
    Exercise(
        "03.1",
        advantage,
        "Four times d apart: 3d, −d, −d, −d. The squares add up to 12d²; divide by 3, take the root.",
        mistakes=[
            Mistake(lambda: 3**0.5, "You divided by 4 inside the root; it is G − 1 = 3."),
            Mistake(lambda: 0.6, "That is the distance from the mean. Divide it by the standard deviation."),
            Mistake(lambda: 0.8, "That is the distance to the others. Compare with the mean of all four."),
        ],
        tolerance=2e-3,
    ),
    Exercise(
        "03.2",
        smallest_group,
        "Begin with G = 2 and make it larger until p^G + (1 − p)^G is at most `most`.",
        cases=[
            {"p": 0.5, "most": 0.1},
            {"p": 0.1, "most": 0.5},
            {"p": 0.22, "most": 0.2},
            {"p": 0.9, "most": 0.5},
            {"p": 0.5, "most": 0.5},
        ],
        mistakes=[
            Mistake(_only_all_right, "A group in which all fail is flat as well: add (1 − p)^G."),
            Mistake(_one_less, "Check the last size: it must fulfil the condition itself."),
        ],
    ),
    Exercise(
        "03.3",
        ratio_of,
        "Divide the logits by T before the softmax, and take the probability of the action at both temperatures.",
        cases=[
            {"logits": [2.0, 1.0, 0.0, 0.0], "action": 0, "T": 0.7},
            {"logits": [2.0, 1.0, 0.0, 0.0], "action": 3, "T": 0.7},
            {"logits": [0.0, 0.0], "action": 1, "T": 2.0},
            {"logits": [1.0, -1.0, 0.5], "action": 1, "T": 1.0},
        ],
        mistakes=[
            Mistake(_upside_down, "The other way round: the trained policy is above, the one that sampled below."),
            Mistake(_of_logits, "A probability needs the softmax's sum, which depends on T as well."),
        ],
    ),
]

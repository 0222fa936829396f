"""Exercises of notebook 12: the loss of SFT, what its size means, a group of both kinds, what can be played."""

from __future__ import annotations

import math
import random
from typing import Any

from workshop.exercises import Exercise, Mistake


def sft_loss(logprobs: list[float], mask: list[int]) -> float:
    """Add up what the expert wrote, divide by how much that is, change the sign."""
    return -sum(p * m for p, m in zip(logprobs, mask, strict=True)) / sum(mask)


def _over_all(logprobs: list[float], mask: list[int]) -> float:
    return -sum(p * m for p, m in zip(logprobs, mask, strict=True)) / len(mask)


def _unmasked(logprobs: list[float], mask: list[int]) -> float:
    return -sum(logprobs) / len(logprobs)


def _sign(logprobs: list[float], mask: list[int]) -> float:
    return -sft_loss(logprobs, mask)


def probability() -> float:
    """Undo the logarithm."""
    return math.exp(-0.5)


def undecided_group(p: float, size: int) -> float:
    """Neither all of them look, nor none of them."""
    return 1 - p**size - (1 - p) ** size


def is_playable(code_turns: int, max_turns: int) -> bool:
    """Count the turn that answers, too."""
    return code_turns + 1 <= max_turns


def _other_losses(seed: int) -> list[dict[str, Any]]:
    rng = random.Random(seed)
    found = []
    for length in (2, 5, 9):
        mask = [1, 0, *(rng.randint(0, 1) for _ in range(length - 2))]
        rng.shuffle(mask)
        found.append({"logprobs": [-rng.uniform(0.01, 8) for _ in mask], "mask": mask})
    return found


def _other_groups(seed: int) -> list[dict[str, Any]]:
    rng = random.Random(seed)
    return [{"p": rng.uniform(0.05, 0.45) + 0.5 * side, "size": rng.randint(2, 9)} for side in (0, 1, 0, 1)]


def _other_turns(seed: int) -> list[dict[str, Any]]:
    most = random.Random(seed).randint(6, 40)
    return [{"code_turns": turns, "max_turns": most} for turns in (0, most - 2, most - 1, most, most + 1)]


EXERCISES = [
    Exercise(
        "12.1",
        sft_loss,
        "Multiply each log-probability by its mask, add them up, divide by how many tokens the expert wrote.",
        cases=[
            {"logprobs": [-1.0, -2.0, -9.0, -3.0], "mask": [1, 1, 0, 1]},
            {"logprobs": [-0.7, -0.1], "mask": [0, 1]},
            {"logprobs": [-0.5, -0.5, -4.0, -4.0], "mask": [1, 1, 0, 0]},
        ],
        hidden=_other_losses,
        mistakes=[
            Mistake(_over_all, "You divide by all tokens: the environment's don't count."),
            Mistake(_unmasked, "The environment's tokens are in it: where is the mask?"),
            Mistake(_sign, "A loss is positive here: log-probabilities are below 0."),
        ],
    ),
    Exercise(
        "12.2",
        probability,
        "The mean of −log p is 0.5, so the mean of log p is −0.5. Which p has this logarithm (the natural one)?",
        mistakes=[
            Mistake(lambda: 0.5, "That is the loss itself. A loss is −log p."),
            Mistake(lambda: math.exp(0.5), "A probability is at most 1: mind the sign."),
            Mistake(lambda: 10**-0.5, "The logarithm is the natural one, to base e."),
        ],
        tolerance=5e-3,
    ),
    Exercise(
        "12.3",
        undecided_group,
        "It is easier to count the groups that are *not* mixed: all of them look, or none does.",
        cases=[{"p": p, "size": n} for p, n in ((0.4, 8), (0.0, 8), (1.0, 8), (0.01, 8), (0.5, 2), (0.3, 1))],
        hidden=_other_groups,
        mistakes=[
            Mistake(lambda p, size: 1 - (1 - p) ** size, "A group in which all look compares nothing, either."),
            Mistake(lambda p, size: 1 - p**size, "A group in which none looks compares nothing, either."),
            Mistake(lambda p, size: p**size + (1 - p) ** size, "That is how likely all of them do the same."),
            Mistake(lambda p, size: p * (1 - p), "That is one episode that looks and one that doesn't, in this order."),
        ],
    ),
    Exercise(
        "12.4",
        is_playable,
        "How many turns does an episode take that runs code in 4 of them and then answers?",
        cases=[{"code_turns": n, "max_turns": m} for n, m in ((0, 1), (4, 5), (5, 5), (8, 5), (3, 5), (1, 1))],
        hidden=_other_turns,
        mistakes=[
            Mistake(lambda code_turns, max_turns: code_turns <= max_turns, "The answer takes a turn as well."),
            Mistake(lambda code_turns, max_turns: code_turns + 1 < max_turns, "An exact fit can be played."),
        ],
    ),
]

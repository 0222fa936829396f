"""Exercises of notebook 44: what luck answers, what a sharper crop is worth, a claim made of many comparisons."""

from __future__ import annotations

import random
from typing import Any

from workshop.exercises import Exercise, Mistake


def blind(counts: list[int]) -> tuple[float, float]:
    """Sum of the squared shares; the largest share."""
    shares = [n / sum(counts) for n in counts]
    return sum(share**2 for share in shares), max(shares)


def worth(w: float, sharp: float, plain: float, cards: int) -> float:
    """All cards looked at and read, with the network minus without."""
    return float((w * sharp) ** cards - (w * plain) ** cards)


def everywhere(found: dict[str, dict[str, tuple[float, float]]]) -> str:
    """One that fails decides; else all have to hold."""
    every = [ends for others in found.values() for ends in others.values()]
    if any(high <= 0 for _, high in every):
        return "doesn't"
    return "holds" if all(low > 0 for low, _ in every) else "undecided"


def _evenly(counts: list[int]) -> tuple[float, float]:
    return 1 / len(counts), max(counts) / sum(counts)


def _by_most(found: dict[str, dict[str, tuple[float, float]]]) -> str:
    every = [ends for others in found.values() for ends in others.values()]
    holds = sum(low > 0 for low, _ in every)
    return "holds" if holds > len(every) / 2 else "undecided"


def _other_counts(seed: int) -> list[dict[str, Any]]:
    rng = random.Random(seed)
    return [{"counts": [rng.randint(1, 30) for _ in range(n)]} for n in (3, 5, 6)]


def _other_readers(seed: int) -> list[dict[str, Any]]:
    rng = random.Random(seed)
    draw = lambda: round(rng.uniform(0.2, 0.95), 3)  # noqa: E731
    return [{"w": draw(), "sharp": draw(), "plain": draw(), "cards": n} for n in (1, 2, 4)]


def _other_claims(seed: int) -> list[dict[str, Any]]:
    rng, found = random.Random(seed), []
    for lift in (0.3, 0.12, 0.0, -0.3):
        middle = {level: [lift + rng.uniform(0, 0.1) for _ in range(2)] for level in ("easy", "hard")}
        ends = {k: {n: (m - 0.1, m + 0.1) for n, m in zip("ab", v, strict=True)} for k, v in middle.items()}
        found.append({"found": ends})
    return found


EXERCISES = [
    Exercise(
        "44.1",
        blind,
        "A number is right with its own share; guessed in proportion, it is also guessed with its share.",
        cases=[{"counts": [2, 1, 1, 1]}, {"counts": [5, 5]}, {"counts": [9, 1]}],
        hidden=_other_counts,
        mistakes=[Mistake(_evenly, "That is guessing all numbers alike. Guess each as often as it comes.")],
    ),
    Exercise(
        "44.2",
        worth,
        "One card is looked at and read with probability w · sharp; all of several, with its power.",
        cases=[
            {"w": 1.0, "sharp": 0.7, "plain": 0.4, "cards": 1},
            {"w": 0.8, "sharp": 0.7, "plain": 0.4, "cards": 1},
            {"w": 0.8, "sharp": 0.9, "plain": 0.9, "cards": 4},
            {"w": 0.9, "sharp": 0.9, "plain": 0.5, "cards": 4},
        ],
        hidden=_other_readers,
        mistakes=[
            Mistake(
                lambda w, sharp, plain, cards: w * (sharp**cards - plain**cards),
                "Each card has to be looked at, not only one of them.",
            ),
            Mistake(
                lambda w, sharp, plain, cards: (w * (sharp - plain)) ** cards,
                "Take the power of each accuracy first, then their difference.",
            ),
        ],
    ),
    Exercise(
        "44.3",
        everywhere,
        "First look for one that lies wholly at or below 0; then ask whether all lie wholly above.",
        cases=[
            {"found": {"easy": {"direct": (0.1, 0.3)}, "hard": {"direct": (0.2, 0.4), "grit": (0.1, 0.2)}}},
            {"found": {"easy": {"direct": (-0.1, 0.3)}, "hard": {"direct": (0.2, 0.4), "grit": (0.1, 0.2)}}},
            {"found": {"easy": {"direct": (-0.3, -0.1)}, "hard": {"direct": (0.2, 0.4), "grit": (0.1, 0.2)}}},
            {"found": {"easy": {"direct": (-0.3, 0.0)}, "hard": {"direct": (-0.2, 0.4)}}},
        ],
        hidden=_other_claims,
        mistakes=[Mistake(_by_most, "It is about all of them: most aren't enough, and one that fails refutes it.")],
    ),
]

"""Exercises of notebook 23: how often a task comes back, what an update does to odds, answers that were earned."""

from __future__ import annotations

import math
import random
from typing import Any

from workshop.exercises import Exercise, Mistake


def repeats(steps: int, prompts_per_batch: int, share: float, tasks: int) -> float:
    """Count the search tasks of all batches, then share them out among the tasks there are."""
    return steps * prompts_per_batch * share / tasks


def odds() -> float:
    """Subtract what the worst gained from what the best gained, and undo the logarithm."""
    return math.exp((-3.4 - -4.0) - (-5.9 - -6.0))


def earned_share(right: list[bool], document_found: list[bool]) -> float:
    """Count the right answers whose document was found, among the right ones."""
    earned = [found for ok, found in zip(right, document_found, strict=True) if ok]
    return sum(earned) / len(earned) if earned else 0.0


def _of_all(right: list[bool], document_found: list[bool]) -> float:
    return sum(r and f for r, f in zip(right, document_found, strict=True)) / len(right) if right else 0.0


def _of_found(right: list[bool], document_found: list[bool]) -> float:
    found = [r for r, f in zip(right, document_found, strict=True) if f]
    return sum(found) / len(found) if found else 0.0


def _other_trainings(seed: int) -> list[dict[str, Any]]:
    rng = random.Random(seed)
    return [
        {"steps": rng.randint(2, 99), "prompts_per_batch": 8 * n, "share": n / 8, "tasks": rng.randint(3, 50)}
        for n in (1, 3, 7)
    ]


def _other_answers(seed: int) -> list[dict[str, Any]]:
    """All four kinds are there, so that no two ways to count agree by chance; then none is right, then all are."""
    rng = random.Random(seed)
    kinds = [(True, True), (True, False), (False, True), (False, True), (False, False)]
    kinds += [rng.choice(kinds[:2]) for _ in range(rng.randint(4, 9))]
    rng.shuffle(kinds)
    mixed = {"right": [right for right, _ in kinds], "document_found": [found for _, found in kinds]}
    none = rng.randint(3, 9)
    all_right = [True, True, False, *(rng.random() < 0.5 for _ in range(rng.randint(2, 6)))]
    return [
        mixed,
        {"right": [False] * none, "document_found": [True] * none},
        {"right": [True] * len(all_right), "document_found": all_right},
    ]


EXERCISES = [
    Exercise(
        "23.1",
        repeats,
        "How many search tasks are in one batch, and how many in all batches? They share this many places.",
        cases=[
            {"steps": 8, "prompts_per_batch": 12, "share": 0.25, "tasks": 20},
            {"steps": 100, "prompts_per_batch": 16, "share": 0.5, "tasks": 20},
            {"steps": 1, "prompts_per_batch": 8, "share": 0.0, "tasks": 20},
        ],
        hidden=_other_trainings,
        mistakes=[
            Mistake(
                lambda steps, prompts_per_batch, share, tasks: steps * prompts_per_batch / tasks,
                "Only a share of each batch are search tasks.",
            ),
            Mistake(
                lambda steps, prompts_per_batch, share, tasks: steps * prompts_per_batch * share,
                "That is how many places there are for all search tasks together.",
            ),
        ],
    ),
    Exercise(
        "23.2",
        odds,
        "The odds are p(best) / p(worst). Their logarithm is a difference; how much did it grow?",
        mistakes=[
            Mistake(lambda: math.exp(0.6), "That is what the best gained alone. The worst gained something, too."),
            Mistake(lambda: 0.5, "That is the change of the logarithm. Undo the logarithm."),
            Mistake(lambda: math.exp(-0.5), "The best gained more than the worst: the factor is above 1."),
        ],
        tolerance=5e-3,
    ),
    Exercise(
        "23.3",
        earned_share,
        "Keep the right answers only. Of these, which share had its document found?",
        cases=[
            {"right": [True, True, False, True], "document_found": [True, False, True, True]},
            {"right": [False, False], "document_found": [True, True]},
            {"right": [True, True], "document_found": [False, False]},
            {"right": [True, False, False], "document_found": [True, False, True]},
        ],
        hidden=_other_answers,
        mistakes=[
            Mistake(_of_all, "You divide by all episodes. Divide by the right ones."),
            Mistake(_of_found, "You divide by the episodes whose document was found. Divide by the right ones."),
        ],
    ),
]

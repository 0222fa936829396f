"""Exercises of notebook 42: where talk stops to pay, boxes that count, a whole reward, what a right look is worth."""

from __future__ import annotations

import random
from typing import Any

from workshop.exercises import Exercise, Mistake


def enough_words() -> int:
    """Solve ln(N + 1) = ln 20."""
    return 19


def counted(asked: int, valid: int, count: int) -> float:
    """Compare the valid boxes with the true count; each invalid one costs a twentieth."""
    if count == 0:
        return 0.0 if asked else 1.0
    return max(0.0, min(1.0, valid / count) - 0.05 * (asked - valid))


def whole_reward() -> float:
    """Form 0.1 · (1 + 0.5 + 0.5) + 0.5 · 1, answer 2, zoom 1, rethinking 0.5 · min(1, 0.2 · 5)."""
    return 0.7 + 2.0 + 1.0 + 0.5


def edge(p: float) -> float:
    """The answer's weight, times how much likelier it is right."""
    return 2.0 * p


def _uncapped(asked: int, valid: int, count: int) -> float:
    return counted(asked, valid, count) if not count else max(0.0, valid / count - 0.05 * (asked - valid))


def _below_zero(asked: int, valid: int, count: int) -> float:
    return counted(asked, valid, count) if not count else min(1.0, valid / count) - 0.05 * (asked - valid)


def _by_asked(asked: int, valid: int, count: int) -> float:
    return counted(asked, valid, count) if not count else max(0.0, min(1.0, asked / count) - 0.05 * (asked - valid))


def _free(asked: int, valid: int, count: int) -> float:
    return counted(valid, valid, count)


def _other_boxes(seed: int) -> list[dict[str, Any]]:
    """More boxes than things, fewer, many invalid ones, none at all, and boxes where there is nothing to count."""
    rng = random.Random(seed)
    count = rng.randint(5, 40)
    cases = [(count + 3, count + 3, count), (count, count - 1, count), (count + 24, 1, count), (0, 0, count)]
    return [{"asked": n, "valid": k, "count": c} for n, k, c in [*cases, (rng.randint(3, 9), 1, 0)]]


def _other_readers(seed: int) -> list[dict[str, Any]]:
    """Readers that are mostly wrong, and mostly right."""
    rng = random.Random(seed)
    return [{"p": round(rng.uniform(low, low + 0.2), 3)} for low in (0.03, 0.3, 0.55, 0.75)]


EXERCISES = [
    Exercise(
        "42.1",
        enough_words,
        "The minimum is reached when ln(N + 1) = ln 20.",
        mistakes=[
            Mistake(lambda: 20, "With 20 words it is ln 21 over ln 20, above 1 already. Is there a smaller number?"),
            Mistake(lambda: 5, "From five words on they earn something, and more of them earn more."),
        ],
    ),
    Exercise(
        "42.2",
        counted,
        "First the case of a count of 0. Else the share of valid boxes in the count, 1 at most; then what the invalid "
        "ones cost; and never below 0.",
        cases=[
            {"asked": 4, "valid": 3, "count": 3},
            {"asked": 1, "valid": 1, "count": 3},
            {"asked": 6, "valid": 6, "count": 3},
            {"asked": 12, "valid": 1, "count": 4},
            {"asked": 0, "valid": 0, "count": 2},
            {"asked": 0, "valid": 0, "count": 0},
            {"asked": 2, "valid": 2, "count": 0},
        ],
        hidden=_other_boxes,
        mistakes=[
            Mistake(_uncapped, "More valid boxes than there are things earn no more than 1."),
            Mistake(_below_zero, "Many invalid boxes would earn less than nothing: max(0, …)."),
            Mistake(_by_asked, "It is the valid boxes, k, that are compared with the count."),
            Mistake(_free, "Each box that isn't valid costs 0.05, so one tries no boxes at random."),
        ],
    ),
    Exercise(
        "42.3",
        whole_reward,
        "Form: 0.1 · (1 + 0.5 + 0.5) + 0.5 · 1. Then 2 for the answer, 1 for the box, and 0.5 times the last term.",
        mistakes=[
            Mistake(lambda: 4.7, "Rethinking weighs one half."),
            Mistake(lambda: 3.2, "A right answer weighs 2."),
            Mistake(
                lambda: 4.5, "Answer, thinking and rethinking weigh a tenth each in the form, and two of them earn 0.5."
            ),
            Mistake(lambda: 4.3, "Thinking and rethinking earn at most 0.5 each, before the weight of a tenth."),
        ],
        tolerance=5e-3,
    ),
    Exercise(
        "42.4",
        edge,
        "Form, zoom and rethinking are the same in both. What differs is the answer, which weighs 2.",
        cases=[{"p": 0.6}, {"p": 0.0}, {"p": 1.0}, {"p": 0.25}],
        hidden=_other_readers,
        mistakes=[
            Mistake(lambda p: p, "The answer weighs 2."),
            Mistake(lambda p: 2 * p + 1, "The zoom term pays a valid box wherever it lies: it is in both."),
            Mistake(lambda p: 2 * (1 - p), "p is the share that is read rightly, not the share that isn't."),
        ],
    ),
]

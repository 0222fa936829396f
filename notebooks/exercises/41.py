"""Exercises of notebook 41: which boxes are valid, decibels, and what an undecided start leaves to learn."""

from __future__ import annotations

import math
import random
from typing import Any

from workshop.exercises import Exercise, Mistake


def largest_square() -> float:
    """Solve s² = 0.4."""
    return math.sqrt(0.4)


def is_valid(left: float, top: float, right: float, bottom: float) -> bool:
    """In order, inside, smaller than 40 % of the area."""
    inside = 0 <= left < right <= 1 and 0 <= top < bottom <= 1
    return inside and (right - left) * (bottom - top) < 0.4


def five_away() -> float:
    """The mean squared difference is 25."""
    return 10 * math.log10(255**2 / 25)


def start(q: float) -> tuple[float, float]:
    """A right look that is read rightly; and not all of eight wrong."""
    right = 0.6 * q
    return right, 1 - (1 - right) ** 8


def _any_side(left: float, top: float, right: float, bottom: float) -> bool:
    return 0 <= left < right <= 1 and 0 <= top < bottom <= 1 and right - left < 0.4 and bottom - top < 0.4


def _anywhere(left: float, top: float, right: float, bottom: float) -> bool:
    return left < right and top < bottom and (right - left) * (bottom - top) < 0.4


def _reversed_too(left: float, top: float, right: float, bottom: float) -> bool:
    low, high = min(left, top, right, bottom), max(left, top, right, bottom)
    return low >= 0 and high <= 1 and abs((right - left) * (bottom - top)) < 0.4


def _empty_too(left: float, top: float, right: float, bottom: float) -> bool:
    return 0 <= left <= right <= 1 and 0 <= top <= bottom <= 1 and (right - left) * (bottom - top) < 0.4


def _box(left: float, top: float, right: float, bottom: float) -> dict[str, Any]:
    return {"left": left, "top": top, "right": right, "bottom": bottom}


def _other_boxes(seed: int) -> list[dict[str, Any]]:
    """Valid ones, long ones, and such as each rule alone refuses."""
    rng = random.Random(seed)
    a, b = rng.randrange(51, 200, 2) / 1000, rng.randrange(301, 500, 2) / 1000  # none of them is shown
    return [
        *(_box(a, a, b, b), _box(b, a, a, b), _box(a, b, b, a), _box(b, b, a, a), _box(a, a, a, b)),
        *(_box(-a, a, b, b), _box(a, a, 1 + a, a + 0.1), _box(a, 0.0, a + 0.3, 1.0), _box(0.0, a, 1.0, a + 0.6)),
    ]


def _other_starts(seed: int) -> list[dict[str, Any]]:
    """Starts that look right now and then, mostly, or nearly always."""
    rng = random.Random(seed)
    return [{"q": round(rng.uniform(low, low + 0.2), 3)} for low in (0.03, 0.3, 0.55, 0.75)]


EXERCISES = [
    Exercise(
        "41.1",
        largest_square,
        "Its area is s · s.",
        mistakes=[
            Mistake(lambda: 0.4, "That is 16 % of the image: it is the area that counts, not the side."),
            Mistake(lambda: 0.16, "You squared. Which s has the square 0.4?"),
        ],
        tolerance=6e-3,
    ),
    Exercise(
        "41.2",
        is_valid,
        "Three conditions for the width (0 ≤ left < right ≤ 1), the same for the height, and one for the area.",
        cases=[
            _box(0.0, 0.5, 0.5, 1.0),
            _box(0.5, 0.5, 0.1, 0.9),
            _box(0.1, 0.1, 0.1, 0.4),
            _box(0.7, 0.7, 1.2, 0.9),
            _box(-0.1, 0.2, 0.3, 0.5),
            _box(0.0, 0.0, 1.0, 0.5),
            _box(0.0, 0.0, 1.0, 0.25),
            _box(0.6, 0.9, 0.2, 0.5),
        ],
        hidden=_other_boxes,
        mistakes=[
            Mistake(_any_side, "A long strip may be small: it is the area that has to be below 0.4."),
            Mistake(_anywhere, "A box may also reach out of the image."),
            Mistake(_reversed_too, "With both sides reversed the area is positive again. Look at the order first."),
            Mistake(_empty_too, "A box without width shows nothing: left has to be below right."),
        ],
    ),
    Exercise(
        "41.3",
        five_away,
        "Each squared difference is 25, and so is their mean.",
        mistakes=[
            Mistake(lambda: 10 * math.log10(255**2 / 5), "The difference is squared first: 25."),
            Mistake(lambda: 10 * math.log(255**2 / 25), "Decibels are of the logarithm to base 10."),
            Mistake(lambda: 10 * math.log10(255 / 25), "It is 255 squared over the mean squared difference."),
        ],
        tolerance=5e-2,
    ),
    Exercise(
        "41.4",
        start,
        "One rollout is right with p = 0.6 q. All eight are wrong with (1 − p)⁸.",
        cases=[{"q": 0.5}, {"q": 0.0}, {"q": 1.0}, {"q": 0.25}],
        hidden=_other_starts,
        mistakes=[
            Mistake(lambda q: (q, 1 - (1 - q) ** 8), "A right look is read rightly in 0.6 of the cases only."),
            Mistake(lambda q: (0.6 * q, min(1.0, 8 * 0.6 * q)), "Chances don't add up: several may be right at once."),
            Mistake(lambda q: (0.6 * q, (0.6 * q) ** 8), "That is the chance that all eight are right."),
        ],
    ),
]

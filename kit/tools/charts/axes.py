"""A value axis, from the numbers beside it: the straight line that turns pixels into values.

Of all numbers on a chart those belong to an axis that stand in one row (or column) and whose values grow evenly with
their places; the line through most of them is taken, so a misread number or two do no harm.

Worked example: 0, 20 and 40 stand at heights of 400, 300 and 200 pixels: 0.2 a pixel, upwards, so a bar that ends at
250 is (400 - 250) · 0.2 = 30.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import combinations
from typing import Literal

import numpy as np

from kit.tools.words import Word

Direction = Literal["x", "y"]
"""Along which side of the image a value axis runs."""


@dataclass(frozen=True)
class Axis:
    """Turns a place into a value: ``slope · place + start``.

    Attributes:
        direction: ``y`` for an axis that stands, ``x`` for one that lies.
        slope: value of a pixel (negative for an axis that grows upwards).
        start: value at pixel 0.
        ticks: the numbers it was read from, in the order of their places.
    """

    direction: Direction
    slope: float
    start: float
    ticks: tuple[Word, ...]

    def value(self, place: float) -> float:
        """The value at a place, rounded to what a pixel tells."""
        exact = self.slope * place + self.start
        return float(round(exact, -math.floor(math.log10(abs(self.slope)))))

    def from_zero(self, place: float) -> Axis:
        """Move the axis' zero to where all bars begin, if that is within a third of a step from where it was."""
        step = abs(self.slope * (_place(self.ticks[1], self.direction) - _place(self.ticks[0], self.direction)))
        if abs(self.slope * place + self.start) > step / 3:
            return self
        others = [(_place(tick, self.direction) - place, tick.number or 0.0) for tick in self.ticks]
        along = np.array([away for away, _ in others])
        slope = float(along @ np.array([value for _, value in others]) / (along @ along))
        return Axis(self.direction, slope, -slope * place, self.ticks)


def axis(words: Sequence[Word], direction: Direction) -> Axis | None:
    """Find the value axis along a direction; None if no two numbers in a line could be one.

    Args:
        words: on the chart.
        direction: along which the axis runs.
    """
    best: tuple[float, list[Word]] = (0.0, [])
    numbers = [word for word in words if word.number is not None]
    for one, other in combinations(numbers, 2):
        row = [word for word in numbers if _beside(one, word, direction)]
        if other not in row:
            continue
        gap = _place(other, direction) - _place(one, direction)
        if abs(gap) < one.height or one.number == other.number:
            continue
        slope = (_number(other) - _number(one)) / gap
        due = [_place(one, direction) + (_number(word) - _number(one)) / slope for word in row]
        fit = [word for word, place in zip(row, due, strict=True) if abs(_place(word, direction) - place) < 4]
        # Upwards or to the right, as axes do: years in a legend or a falling row of bars' numbers must not win.
        score = len(fit) + 0.5 * ((slope < 0) == (direction == "y"))
        if score > best[0]:
            best = (score, fit)
    ticks = sorted(best[1], key=lambda word: _place(word, direction))
    if len(ticks) < 2:
        return None
    slope, start = np.polyfit([_place(w, direction) for w in ticks], [_number(w) for w in ticks], 1)
    return Axis(direction, float(slope), float(start), tuple(ticks))


def _place(word: Word, direction: Direction) -> float:
    return word.x if direction == "x" else word.y


def _number(word: Word) -> float:
    return word.number or 0.0


def _beside(one: Word, other: Word, direction: Direction) -> bool:
    """Whether two words may be numbers of one axis: in a column flush right or centred, or in a row."""
    if direction == "x":
        return abs(one.y - other.y) < 0.5 * one.height
    return abs(one.right - other.right) < 0.6 * one.height or abs(one.x - other.x) < 0.3 * one.height

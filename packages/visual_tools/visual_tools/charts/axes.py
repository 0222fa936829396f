"""A value axis, from the numbers beside it: the straight line that turns pixels into values.

Of all numbers on a chart those belong to an axis that stand in one row (or column) and whose values grow evenly with
their places; the line through most of them is taken, so a misread number or two do no harm. An axis whose numbers
don't grow evenly (a logarithmic one), a second axis with another scale, and a factor that can't be read are refused:
values would be off by any amount, and look right.

Worked example: 0, 20 and 40 stand at heights of 400, 300 and 200 pixels: 0.2 a pixel, upwards, so a bar that ends at
250 is (400 - 250) · 0.2 = 30.
"""

from __future__ import annotations

import math
import re
from collections.abc import Sequence
from dataclasses import dataclass, replace
from itertools import combinations
from typing import Literal

import numpy as np

from visual_tools.words import Word

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
        scale: what each of these stands for, where a factor stands at the axis' end.
    """

    direction: Direction
    slope: float
    start: float
    ticks: tuple[Word, ...]
    scale: float = 1.0

    def value(self, place: float) -> float:
        """The value at a place, rounded to what a pixel tells."""
        exact = self.slope * place + self.start
        return float(round(exact, -math.floor(math.log10(abs(self.slope)))))

    def times(self, scale: float) -> Axis:
        """The same axis with a factor at its end."""
        return replace(self, slope=self.slope * scale, start=self.start * scale, scale=self.scale * scale)

    def from_zero(self, place: float) -> Axis:
        """Move the axis' zero to where all bars begin, if that is within a third of a step from where it was."""
        step = abs(self.slope * (_place(self.ticks[1], self.direction) - _place(self.ticks[0], self.direction)))
        if abs(self.slope * place + self.start) > step / 3:
            return self
        others = [(_place(tick, self.direction) - place, self.scale * _number(tick)) for tick in self.ticks]
        along = np.array([away for away, _ in others])
        slope = float(along @ np.array([value for _, value in others]) / (along @ along))
        return replace(self, slope=slope, start=-slope * place)


def axis(words: Sequence[Word], direction: Direction) -> Axis | None:
    """Find the value axis along a direction; None if no two numbers in a line could be one.

    Args:
        words: on the chart.
        direction: along which the axis runs.

    Raises:
        ValueError: its numbers don't lie on one straight line, or there are two axes.
    """
    ticks = _ticks(words, direction)
    if len(ticks) < 2:
        return None
    beside = [word for word in words if word.number is not None and _beside(ticks[0], word, direction)]
    odd = [word for word in beside if word not in ticks]
    powers = all(re.fullmatch(r"10[-−–]?\d", word.text.strip()) for word in ticks)
    if powers or (odd and len(odd) >= len(ticks) - 1):
        told = ", ".join(word.text for word in sorted(beside, key=lambda word: _place(word, direction)))
        raise ValueError(
            f"the axis' numbers ({told:.60}) don't grow evenly with their places, as on a logarithmic axis"
        )
    slope, start = _line(ticks, direction)
    other = _ticks([word for word in words if word not in beside], direction)
    if direction == "y" and len(other) > 2 and _line(other, direction)[0] < 0:
        far = abs(_line(other, direction)[0] / slope - 1) > 0.05
        if far and {word.y for word in other} != {word.y for word in ticks}:
            raise ValueError("there are two axes of values with different scales, and nothing tells which counts")
    return Axis(direction, slope, start, tuple(ticks))


def _line(ticks: Sequence[Word], direction: Direction) -> tuple[float, float]:
    """Slope and start of the straight line through numbers."""
    slope, start = np.polyfit([_place(w, direction) for w in ticks], [_number(w) for w in ticks], 1)
    return float(slope), float(start)


_POWER = re.compile(r"[1lI|]\s*[eE]\s*([+-−–]?)\s*(\d{1,2})|[x×*]\s*10\s*\^?\s*([-−–]?)(\d)")
_ODD_POWER = re.compile(r"[+−-]?\s*\d+(\.\d+)?\s*[eE]\s*[+-−–]?\s*\d{1,2}|[x×*]\s*10\b.*|.*\d[eE]\d+\s*[+−-].*")


def factor(words: Sequence[Word]) -> tuple[float, Word | None]:
    """Find the factor that stands at an axis' end, ``1e6`` or ``×10⁶``: its value, and the word; 1 if there is none.

    Raises:
        ValueError: there is one that can't be read, such as ``+2.01e3``.
    """
    for word in words:
        text = word.text.strip()
        if found := _POWER.fullmatch(text):
            sign, digits = (found[1], found[2]) if found[2] else (found[3], found[4])
            return 10.0 ** (-int(digits) if sign in ("-", "−", "–") else int(digits)), word
        if _ODD_POWER.fullmatch(text):
            raise ValueError(f"the axis' numbers carry {text!r:.30}, which can't be read")
    return 1.0, None


def _ticks(words: Sequence[Word], direction: Direction) -> list[Word]:
    """The numbers in a line that grow most evenly, in the order of their places."""
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
    return sorted(best[1], key=lambda word: _place(word, direction))


def _place(word: Word, direction: Direction) -> float:
    return word.x if direction == "x" else word.y


def _number(word: Word) -> float:
    return word.number or 0.0


def _beside(one: Word, other: Word, direction: Direction) -> bool:
    """Whether two words may be numbers of one axis: in a column flush right or centred, or in a row."""
    if direction == "x":
        return abs(one.y - other.y) < 0.5 * one.height
    return abs(one.right - other.right) < 0.6 * one.height or abs(one.x - other.x) < 0.3 * one.height

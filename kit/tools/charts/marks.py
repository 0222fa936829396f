"""The marks of a chart that show numbers: bars, points of lines, slices of a pie."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from kit.tools.charts.colours import Colour, Part
from kit.tools.words import Word


@dataclass(frozen=True)
class Bar:
    """A rectangle of one colour (a number in the list of colours)."""

    colour: int
    part: Part


@dataclass(frozen=True)
class Bars:
    """A chart's bars: whether they lie, and the place (a row, or a column if they lie) where all begin."""

    lying: bool
    base: float
    bars: tuple[Bar, ...]


def bars(colours: Sequence[Colour], patches: Sequence[Part]) -> Bars | None:
    """Find rectangles that begin at one line; None if there aren't two.

    Args:
        colours: of the chart.
        patches: parts that belong to a legend.
    """
    found = [
        Bar(number, part)
        for number, colour in enumerate(colours)
        for part in colour.parts
        if part not in patches and part.fill > 0.85 and min(part.width, part.height) >= 3 and part.area >= 20
    ]
    if not found:
        return None
    bottoms, lefts = [bar.part.bottom for bar in found], [bar.part.left for bar in found]
    standing, lying = _common(bottoms), _common(lefts)
    many = [sum(abs(v - base) <= 3 for v in places) for places, base in ((bottoms, standing), (lefts, lying))]
    if max(many) < 2:
        return None
    if many[0] >= many[1]:
        kept = tuple(bar for bar in found if abs(bar.part.bottom - standing) <= 3)
        return Bars(False, float(np.median([bar.part.bottom for bar in kept])), kept)
    kept = tuple(bar for bar in found if abs(bar.part.left - lying) <= 3)
    return Bars(True, float(np.median([bar.part.left for bar in kept])), kept)


def _common(places: Sequence[int]) -> int:
    """The place that most others are near."""
    return max(places, key=lambda place: sum(abs(place - other) <= 3 for other in places))


def height_at(colour: Colour, x: float, but: Sequence[Part] = ()) -> float | None:
    """Find the height of a line at a column, or None.

    Read on both sides of the column, some pixels away, and drawn through to it: a line's sharp turn is thicker than the
    line, and a point may carry a marker.

    Args:
        colour: the line's.
        x: the column.
        but: parts that don't belong to the line (its patch in a legend).
    """
    first = max(0, round(x) - 17)
    strip = colour.mask[:, first : round(x) + 18].copy()
    for part in but:
        strip[part.top : part.bottom, max(0, part.left - first) : max(0, part.right - first)] = False
    columns = np.arange(strip.shape[1])
    many = strip.sum(axis=0)
    rows = (strip * (np.arange(strip.shape[0]) + 0.5)[:, None]).sum(axis=0) / np.maximum(many, 1)
    away = columns + first + 0.5 - x
    told = []
    for side in ((away < -5) & (many > 0), (away > 5) & (many > 0)):
        if side.sum() >= 4:
            told.append(float(np.polyval(np.polyfit(away[side], rows[side], 1), 0.0)))
    near = (np.abs(away) <= 2) & (many > 0)
    if not told and near.any():
        told.append(float(rows[near].mean()))
    return float(np.mean(told)) if told else None


@dataclass(frozen=True)
class Pie:
    """A disc cut into slices: its middle and radius in pixels; of each slice its colour, share and middle's angle."""

    x: float
    y: float
    radius: float
    slices: tuple[tuple[int, float, float], ...]

    def point(self, share: float, angle: float) -> tuple[float, float]:
        """The point at a share of the radius from the middle, at an angle from the right, upwards."""
        return self.x + share * self.radius * np.cos(angle), self.y - share * self.radius * np.sin(angle)


def pie(colours: Sequence[Colour], patches: Sequence[Part]) -> Pie | None:
    """Find a disc that several colours fill; None if there is none.

    Shares are counted along three circles near the rim, where no numbers are printed.

    Args:
        colours: of the chart.
        patches: parts that belong to a legend.
    """
    large = [part for colour in colours for part in colour.parts[:1] if part not in patches]
    if len(large) < 2:
        return None
    left, top = min(p.left for p in large), min(p.top for p in large)
    right, bottom = max(p.right for p in large), max(p.bottom for p in large)
    x, y, radius = (left + right) / 2, (top + bottom) / 2, (right - left + bottom - top) / 4
    filled = sum(int(c.mask[top:bottom, left:right].sum()) for c in colours) / ((right - left) * (bottom - top))
    if abs(right - left - bottom + top) > 0.06 * radius or not 0.7 < filled < 0.81:
        return None
    turns = np.arange(0, 2 * np.pi, np.pi / 1800)
    votes = np.zeros((len(colours), len(turns)))
    for share in (0.82, 0.88, 0.94):
        rows = np.clip(y - share * radius * np.sin(turns), 0, colours[0].mask.shape[0] - 1).astype(int)
        columns = np.clip(x + share * radius * np.cos(turns), 0, colours[0].mask.shape[1] - 1).astype(int)
        votes += np.stack([colour.mask[rows, columns] for colour in colours])
    owner = np.where(votes.max(axis=0) >= 2, votes.argmax(axis=0), -1)
    slices = []
    for number in range(len(colours)):
        mine = owner == number
        if mine.sum() >= 18:  # a two-hundredth of the circle
            angle = float(np.angle(np.exp(1j * turns[mine]).sum()))
            slices.append((number, float(mine.sum() / (owner >= 0).sum()), angle % (2 * np.pi)))
    return Pie(x, y, radius, tuple(slices)) if len(slices) > 1 else None


def nearest_word(x: float, y: float, words: Sequence[Word]) -> Word | None:
    """The word whose box is nearest to a point.

    Args:
        x: of the point, in pixels.
        y: of the point.
        words: to choose from.
    """

    def away(word: Word) -> float:
        return float(np.hypot(max(word.left - x, 0, x - word.right), max(word.top - y, 0, y - word.bottom)))

    return min(words, key=away, default=None)

"""The marks of a chart that show numbers: bars, points of lines, slices of a pie."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from visual_tools.charts.colours import Colour, Part, parts
from visual_tools.words import Word


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

    def end(self, bar: Bar) -> int:
        """The place where a bar ends: above (or right of) the base, or on its other side, as negative values do."""
        low, high = _sides(bar.part, self.lying)
        return low if abs(high - self.base) < abs(low - self.base) else high


def _sides(part: Part, lying: bool) -> tuple[int, int]:
    """Top and bottom of a part, or its left and right if bars lie."""
    return (part.left, part.right) if lying else (part.top, part.bottom)


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
    standing, lying = (_based(found, along) for along in (False, True))
    best = standing if len(standing.bars) >= len(lying.bars) else lying
    return best if len(best.bars) > 1 else None


def _based(found: Sequence[Bar], lying: bool) -> Bars:
    """The rectangles that begin at the place where most do: all above it, or some of them below."""
    sides = [_sides(bar.part, lying) for bar in found]
    # Where as many end as begin, they begin below (or on the left), as bars of equal values do.
    places = [side[0] if lying else side[1] for side in sides] + [side[1] if lying else side[0] for side in sides]
    base = max(places, key=lambda place: sum(min(abs(place - a), abs(place - b)) <= 3 for a, b in sides))
    kept = [k for k, (a, b) in enumerate(sides) if min(abs(base - a), abs(base - b)) <= 3]
    exact = np.median([min(sides[k], key=lambda side: abs(side - base)) for k in kept])
    return Bars(lying, float(exact), tuple(found[k] for k in kept))


def loose(colours: Sequence[Colour], blocks: Bars, patches: Sequence[Part]) -> str:
    """Say what stands over bars as if it were more of them; empty: nothing does.

    Args:
        colours: of the chart.
        blocks: the bars that were found.
        patches: parts that belong to a legend.
    """
    used = {*(bar.part for bar in blocks.bars), *patches}
    for number, colour in enumerate(colours):
        for part in colour.parts:
            for bar in blocks.bars if part not in used and part.area >= 20 else ():
                inside = _overlap(_sides(part, not blocks.lying), _sides(bar.part, not blocks.lying))
                own, wide = _sides(bar.part, not blocks.lying), _sides(part, not blocks.lying)
                like = (wide[1] - wide[0]) <= 1.3 * (own[1] - own[0])
                along, bar_s = _sides(part, blocks.lying), _sides(bar.part, blocks.lying)
                gap = -_overlap(along, bar_s)
                beyond = -0.5 * (along[1] - along[0]) < gap <= CUT + 3
                if like and beyond and inside > 0.5 * (wide[1] - wide[0]) and part.area > 0.03 * bar.part.area:
                    return "they are cut into pieces" if number == bar.colour else "they stand on one another"
    return ""


def _overlap(one: tuple[int, int], other: tuple[int, int]) -> int:
    return min(one[1], other[1]) - max(one[0], other[0])


CUT = 11
"""Pixels of a cut, at most, that is healed: a line of hatching or of the grid."""


def healed(colours: Sequence[Colour], pixels: NDArray[np.uint8]) -> tuple[Colour, ...]:
    """Join what lines of hatching or of a grid cut apart: gaps that are narrow and not of the paper's colour.

    Args:
        colours: of the chart.
        pixels: its image, ``(H, W, 3)``.
    """
    import cv2

    flat = pixels.reshape(-1, 3)
    packed = (flat.astype(np.int64) // 8) @ np.array([1 << 10, 1 << 5, 1])
    paper = np.median(flat[packed == np.bincount(packed).argmax()], axis=0)
    drawn = np.abs(pixels.astype(np.float64) - paper).max(axis=2) > 30
    found = []
    for colour in colours:
        closed = cv2.morphologyEx(colour.mask.astype(np.uint8), cv2.MORPH_CLOSE, np.ones((CUT, CUT), np.uint8)) > 0
        mask = colour.mask | (closed & drawn)
        found.append(replace(colour, mask=mask, parts=parts(mask)))
    return tuple(found)


def is_filled(colour: Colour, but: Sequence[Part] = ()) -> bool:
    """Tell whether a colour fills an area down to one row, as under a curve; a line doesn't.

    Args:
        colour: the colour.
        but: parts that don't belong to it (its patch in a legend).
    """
    mask = colour.mask.copy()
    for part in but:
        mask[part.top : part.bottom, part.left : part.right] = False
    columns = np.flatnonzero(mask.any(axis=0))
    if len(columns) < 20:
        return False
    lowest = mask.shape[0] - 1 - mask[::-1, columns].argmax(axis=0)
    thick = mask[:, columns].sum(axis=0)
    level = np.abs(lowest - np.median(lowest)) <= 2
    return bool(level.mean() > 0.8 and np.median(thick) > 8)


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

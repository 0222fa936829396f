"""Lines, circles and corners of a drawing: lines by OpenCV's Hough transform, circles by trying points of ink.

Letters are taken out first; their places come from OCR, or are known.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from math import hypot

import numpy as np
from numpy.typing import NDArray
from PIL import Image

from visual_tools.words import Word

Place = tuple[float, float]
"""Across and down, in pixels."""
Ink = NDArray[np.uint8]
"""``(H, W)``: 255 where something is drawn, else 0."""

NEAR = 10.0
"""Pixels within which two places are one corner, or a place lies on a line."""
MOST_RINGS, TRIES, RIM = 3, 3000, 0.6
"""Circles that are looked for, triples of points tried for each, and the share of a rim that must be drawn."""
SHORTEST = 0.06
"""Length of the shortest line that counts, as a share of the image's shorter side."""


@dataclass(frozen=True)
class Stroke:
    """A straight line from one place to another."""

    start: Place
    end: Place

    @property
    def length(self) -> float:
        """In pixels."""
        return hypot(self.end[0] - self.start[0], self.end[1] - self.start[1])

    def share(self, place: Place) -> float:
        """Tell how far along the line the foot of a place is: 0 at its start, 1 at its end."""
        dx, dy = self.end[0] - self.start[0], self.end[1] - self.start[1]
        return ((place[0] - self.start[0]) * dx + (place[1] - self.start[1]) * dy) / max(1e-9, dx * dx + dy * dy)

    def holds(self, place: Place) -> bool:
        """Tell whether a place lies on it, or just beyond its ends."""
        return self.away(place) < NEAR and -NEAR < self.share(place) * self.length < self.length + NEAR

    def away(self, place: Place) -> float:
        """Pixels from a place to the line, drawn on without end."""
        dx, dy = self.end[0] - self.start[0], self.end[1] - self.start[1]
        cross = dx * (place[1] - self.start[1]) - dy * (place[0] - self.start[0])
        return abs(cross) / max(1e-9, self.length)


@dataclass(frozen=True)
class Ring:
    """A circle: its middle and radius."""

    middle: Place
    radius: float


@dataclass(frozen=True)
class Drawing:
    """A drawing's parts: long lines, circles, and the places where lines end, meet or leave a circle."""

    strokes: tuple[Stroke, ...]
    rings: tuple[Ring, ...]
    corners: tuple[Place, ...]
    ink: Ink


def drawing(image: Image.Image, words: Sequence[Word] = ()) -> Drawing:
    """Find the lines, circles and corners of a drawing.

    Args:
        image: RGB, dark on light or light on dark.
        words: on it; what is inside their boxes isn't looked at.
    """
    import cv2

    grey = np.asarray(image.convert("L")).astype(np.int64)
    apart = np.abs(grey - int(np.median(grey)))
    ink = ((apart > max(60, 0.4 * float(apart.max()))) * 255).astype(np.uint8)
    # Letters are taken out piece by piece: the box of a word may reach over a line that runs past it.
    _, names, stats, _ = cv2.connectedComponentsWithStats(ink, connectivity=8)
    for number, (x, y, wide, high, _) in enumerate(stats[1:], 1):
        if any(
            w.left - 3 <= x and w.top - 3 <= y and x + wide <= w.right + 3 and y + high <= w.bottom + 3 for w in words
        ):
            ink[names == number] = 0
    rings = _rings(ink)
    rest = ink.copy()
    for ring in rings:
        middle = round(ring.middle[0]), round(ring.middle[1])
        cv2.circle(rest, middle, round(ring.radius), 0, 7)
    strokes = tuple(_to_rim(stroke, rings) for stroke in _strokes(rest))
    return Drawing(strokes, rings, _corners(strokes, rings), ink)


def _rings(ink: Ink) -> tuple[Ring, ...]:
    """Circles through three points of ink picked at random (always the same ones), kept if most of the rim is there."""
    import cv2

    rest, rings = ink.copy(), []
    for _ in range(MOST_RINGS):
        best = _best_ring(rest)
        if best is None:
            break
        rings.append(best)
        cv2.circle(rest, (round(best.middle[0]), round(best.middle[1])), round(best.radius), 0, 7)
    return tuple(rings)


def _best_ring(ink: Ink) -> Ring | None:
    rows, columns = np.nonzero(ink)
    if len(rows) < 60:
        return None
    some = np.random.default_rng(0).integers(len(rows), size=(TRIES, 3))
    x, y = columns[some].astype(float) + 0.5, rows[some].astype(float) + 0.5
    # The point as far from all three: two linear equations, of the first with each of the others.
    dx, dy = x[:, 1:] - x[:, :1], y[:, 1:] - y[:, :1]
    half = (x[:, 1:] ** 2 - x[:, :1] ** 2 + y[:, 1:] ** 2 - y[:, :1] ** 2) / 2
    cross = dx[:, 0] * dy[:, 1] - dx[:, 1] * dy[:, 0]
    cross = np.where(np.abs(cross) < 1, np.nan, cross)
    u = (half[:, 0] * dy[:, 1] - half[:, 1] * dy[:, 0]) / cross
    v = (dx[:, 0] * half[:, 1] - dx[:, 1] * half[:, 0]) / cross
    radius = np.hypot(x[:, 0] - u, y[:, 0] - v)
    side = min(ink.shape)
    fits = (radius > side / 12) & (radius < side)
    turns = np.arange(0, 2 * np.pi, np.pi / 60)
    at_x = np.nan_to_num(u[fits, None] + radius[fits, None] * np.cos(turns), nan=-1).astype(int)
    at_y = np.nan_to_num(v[fits, None] + radius[fits, None] * np.sin(turns), nan=-1).astype(int)
    inside = (at_x >= 0) & (at_x < ink.shape[1]) & (at_y >= 0) & (at_y < ink.shape[0])
    rim = (ink[at_y.clip(0, ink.shape[0] - 1), at_x.clip(0, ink.shape[1] - 1)] > 0) & inside
    if not fits.any() or rim.mean(axis=1).max() < RIM:
        return None
    best = int(rim.mean(axis=1).argmax())
    u0, v0, r0 = u[fits][best], v[fits][best], radius[fits][best]
    near = np.abs(np.hypot(columns + 0.5 - u0, rows + 0.5 - v0) - r0) < 4
    px, py = columns[near] + 0.5, rows[near] + 0.5
    # Least squares over all ink near the rim: x^2 + y^2 = 2 u x + 2 v y + c.
    (a, b, c), *_ = np.linalg.lstsq(np.stack([2 * px, 2 * py, np.ones_like(px)], axis=1), px**2 + py**2, rcond=None)
    return Ring((float(a), float(b)), float(np.sqrt(max(1.0, c + a * a + b * b))))


def _strokes(ink: Ink) -> tuple[Stroke, ...]:
    import cv2

    least = SHORTEST * min(ink.shape)
    found = cv2.HoughLinesP(ink, 1, np.pi / 360, 25, minLineLength=least, maxLineGap=8)
    rows = [] if found is None else found.reshape(-1, 4).tolist()  # OpenCV 4 has another axis between
    pieces = [Stroke((float(a), float(b)), (float(c), float(d))) for a, b, c, d in rows]
    merged: list[Stroke] = []
    for piece in sorted(pieces, key=lambda stroke: -stroke.length):
        for i, stroke in enumerate(merged):
            close = max(stroke.away(piece.start), stroke.away(piece.end)) < 5
            shares = sorted((stroke.share(piece.start), stroke.share(piece.end)))
            gap = 14 / stroke.length
            if close and shares[0] < 1 + gap and shares[1] > -gap:
                ends = [stroke.start, stroke.end, piece.start, piece.end]
                ends.sort(key=stroke.share)
                merged[i] = Stroke(ends[0], ends[-1])
                break
        else:
            merged.append(piece)
    return tuple(stroke for stroke in merged if stroke.length > 1.5 * least)


def _to_rim(stroke: Stroke, rings: Sequence[Ring]) -> Stroke:
    """A line whose end was taken out together with a circle's rim, drawn on to the rim."""
    ends = [stroke.start, stroke.end]
    for ring in rings:
        foot, away = stroke.share(ring.middle) * stroke.length, stroke.away(ring.middle)
        if away >= ring.radius:
            continue
        half = float(np.sqrt(ring.radius**2 - away**2))
        dx, dy = ((stroke.end[i] - stroke.start[i]) / stroke.length for i in (0, 1))
        for along in (foot - half, foot + half):
            place = (stroke.start[0] + along * dx, stroke.start[1] + along * dy)
            for i, end in enumerate((stroke.start, stroke.end)):
                if hypot(place[0] - end[0], place[1] - end[1]) < 3 * NEAR:
                    ends[i] = place
    return Stroke(ends[0], ends[1])


def _corners(strokes: Sequence[Stroke], rings: Sequence[Ring]) -> tuple[Place, ...]:
    """Where lines meet, else where they end; near ones are one."""
    meets = [place for i, one in enumerate(strokes) for other in strokes[:i] if (place := _meet(one, other))]
    ends = [end for stroke in strokes for end in (stroke.start, stroke.end)]
    corners: list[Place] = []
    for place in [*meets, *ends, *(ring.middle for ring in rings)]:
        if all(hypot(place[0] - x, place[1] - y) > 1.4 * NEAR for x, y in corners):
            corners.append(place)
    return tuple(corners)


def _meet(one: Stroke, other: Stroke) -> Place | None:
    """Where two lines cross, if both reach there."""
    (a, b), (c, d) = one.start, one.end
    (e, f), (g, h) = other.start, other.end
    cross = (c - a) * (h - f) - (d - b) * (g - e)
    if abs(cross) < 0.08 * one.length * other.length:
        return None
    t = ((e - a) * (h - f) - (f - b) * (g - e)) / cross
    place = (a + t * (c - a), b + t * (d - b))
    reach = [-NEAR < s.share(place) * s.length < s.length + NEAR for s in (one, other)]
    return place if all(reach) else None

"""Diagrams of geometry problems: lines, circle, letters, numbers and marks, in several fonts, turns and inks.

What the diagram alone states is known: its lines, which points lie on them, and what is written beside them.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from itertools import pairwise
from math import atan2, cos, degrees, hypot, pi, radians, sin

import numpy as np
from PIL import Image, ImageDraw, ImageFont

from visual_tools.charts.table import number
from visual_tools.drawn.geometry_problems import KINDS, Plan, Points, reworded
from visual_tools.geometry.forms import Form, form, length, line, measure
from visual_tools.words import Word

SIZE, MARGIN = (560, 440), 70
"""Width and height of a diagram, and the room for letters around it, in pixels."""
FONTS = ("DejaVu Sans", "DejaVu Serif", "DejaVu Sans:bold", "DejaVu Serif:bold")
FINER = 2
"""A diagram is drawn so many times larger, then shrunk: its lines are soft as in print."""


@dataclass(frozen=True)
class Problem:
    """A drawn problem; ``shown`` is what the diagram alone states, ``places`` where its points are in pixels."""

    plan: Plan
    image: Image.Image
    shown: tuple[Form, ...]
    words: tuple[Word, ...]
    places: Points


def problem(rng: np.random.Generator, kinds: Sequence[str] = tuple(KINDS)) -> Problem:
    """Draw a problem of one of these kinds.

    Args:
        rng: source of all randomness.
        kinds: of problems to choose from, keys of :data:`visual_tools.drawn.geometry_problems.KINDS`.
    """
    plan = KINDS[kinds[int(rng.integers(len(kinds)))]](rng)
    return draw(rng, replace(plan, text=reworded(rng, plan.text)))


def shown(plan: Plan) -> tuple[Form, ...]:
    """State what a plan's diagram shows: points on lines and circle, right angles, what is written."""
    forms = [form("PointLiesOnLine", on[1], line(on[0] + on[2])) for on in plan.on]
    if plan.circle:
        ring = form("Circle", plan.circle[0])
        far = _away(plan.points, plan.circle)
        rim = [
            p for p in plan.points if p != plan.circle[0] and abs(_away(plan.points, plan.circle[0] + p) - far) < 1e-6
        ]
        forms += [form("PointLiesOnCircle", point, ring) for point in rim]
    forms += [form("RightAngle", form("Angle", *plan.right))] if plan.right else []
    forms += [length(name, value) for name, value in plan.lengths.items()]
    return (*forms, *(measure(name, value) for name, value in plan.angles.items()))


def _away(points: Points, two: str) -> float:
    (x, y), (u, v) = points[two[0]], points[two[1]]
    return hypot(u - x, v - y)


def _placed(rng: np.random.Generator, plan: Plan) -> Points:
    """The points in pixels: turned, perhaps mirrored, as large as they fit."""
    turn = radians(float(rng.uniform(-25, 25))) if plan.kind != "rectangle" else 0.0
    flip = -1 if rng.random() < 0.5 else 1
    turned = {
        name: (flip * (x * cos(turn) - y * sin(turn)), -(x * sin(turn) + y * cos(turn)))
        for name, (x, y) in plan.points.items()
    }
    reach = _away(plan.points, plan.circle) if plan.circle else 0.0
    around = [turned[plan.circle[0]]] if plan.circle else list(turned.values())
    left, right = min(x for x, _ in around) - reach, max(x for x, _ in around) + reach
    top, bottom = min(y for _, y in around) - reach, max(y for _, y in around) + reach
    scale = min((SIZE[0] - 2 * MARGIN) / (right - left), (SIZE[1] - 2 * MARGIN) / (bottom - top))
    return {
        name: (SIZE[0] / 2 + scale * (x - (left + right) / 2), SIZE[1] / 2 + scale * (y - (top + bottom) / 2))
        for name, (x, y) in turned.items()
    }


def draw(rng: np.random.Generator, plan: Plan) -> Problem:
    """Draw a plan in a style made up."""
    at, size = _placed(rng, plan), int(rng.integers(20, 26))
    face = _font(FONTS[int(rng.integers(len(FONTS)))], size * FINER)
    ink = tuple(int(v) for v in rng.integers(0, 70, 3))
    image = Image.new("RGB", (SIZE[0] * FINER, SIZE[1] * FINER), "white")
    pen, wide = ImageDraw.Draw(image), int(rng.integers(2, 4)) * FINER
    fine = {name: (x * FINER, y * FINER) for name, (x, y) in at.items()}
    ends = [(line[0], line[1]) for line in plan.lines]
    strokes = [(at[one], at[two]) for one, two in ends]
    for one, two in ends:
        pen.line((*fine[one], *fine[two]), fill=ink, width=wide)
    if plan.circle:
        (x, y), reach = fine[plan.circle[0]], _away(fine, plan.circle)
        pen.ellipse((x - reach, y - reach, x + reach, y + reach), outline=ink, width=wide)
        pen.ellipse((x - 7, y - 7, x + 7, y + 7), fill=ink)
        spots = [i * pi / 24 for i in range(49)]
        (x, y), reach = at[plan.circle[0]], reach / FINER
        rim = [(x + reach * cos(a), y + reach * sin(a)) for a in spots]
        strokes += pairwise(rim)
    if plan.right:
        pen.line([(x * FINER, y * FINER) for x, y in _square(at, plan.right)], fill=ink, width=FINER * 2)
    words: list[Word] = []
    for name, value in plan.angles.items():
        _angle(rng, pen, at, name, ink)
        _write(pen, f"{value}°", _inside(at, name, 1.9 * size + 12), face, ink, words)
    for name, length_ in plan.lengths.items():
        _write(pen, number(length_), _free(_along(at, name, size), strokes, words), face, ink, words)
    for name, place in at.items():
        ring = [
            (place[0] + 0.95 * size * cos(a), place[1] + 0.95 * size * sin(a)) for a in np.arange(0, 2 * pi, pi / 12)
        ]
        _write(pen, name, _free(ring, strokes, words), face, ink, words)
    small = image.resize(SIZE, Image.Resampling.LANCZOS)
    return Problem(plan, small, shown(plan), tuple(words), at)


def _write(
    pen: ImageDraw.ImageDraw,
    text: str,
    at: tuple[float, float],
    face: ImageFont.FreeTypeFont,
    ink: tuple[int, ...],
    words: list[Word],
) -> None:
    place = (at[0] * FINER, at[1] * FINER)
    box = pen.textbbox(place, text, font=face, anchor="mm")
    pen.text((place[0], place[1] - (box[1] + box[3]) / 2 + place[1]), text, font=face, fill=ink, anchor="mm")
    box = pen.textbbox((place[0], 2 * place[1] - (box[1] + box[3]) / 2), text, font=face, anchor="mm")
    words.append(Word(text, *(edge / FINER for edge in box)))


def _free(
    places: Sequence[tuple[float, float]], strokes: Sequence[tuple[tuple[float, float], ...]], words: Sequence[Word]
) -> tuple[float, float]:
    """The place with the most room to lines and other words."""

    def room(place: tuple[float, float]) -> float:
        to_words = [hypot(place[0] - word.x, place[1] - word.y) - word.width / 2 for word in words]
        return min([*(_distance(place, *stroke) for stroke in strokes), *to_words])

    return max(places, key=room)


def _distance(p: tuple[float, float], a: tuple[float, float], b: tuple[float, float]) -> float:
    """From a point to a stretch of line."""
    (x, y), (u, v) = (b[0] - a[0], b[1] - a[1]), (p[0] - a[0], p[1] - a[1])
    share = min(1.0, max(0.0, (x * u + y * v) / max(1e-9, x * x + y * y)))
    return hypot(u - share * x, v - share * y)


def _along(at: Points, name: str, size: int) -> list[tuple[float, float]]:
    """Places beside the middle of a line, on both sides."""
    (x, y), (u, v) = at[name[0]], at[name[1]]
    far = hypot(u - x, v - y)
    off = 0.95 * size + 3
    return [
        ((x + u) / 2 + side * off * (v - y) / far * 1.1, (y + v) / 2 - side * off * (u - x) / far) for side in (1, -1)
    ]


def _turns(at: Points, name: str) -> tuple[float, float]:
    """Where an angle begins, and by how much it opens, in radians, the way round that is below half a turn."""
    (x, y) = at[name[1]]
    one, two = (atan2(at[p][1] - y, at[p][0] - x) for p in (name[0], name[2]))
    opens = (two - one + pi) % (2 * pi) - pi
    return one, opens


def _inside(at: Points, name: str, far: float) -> tuple[float, float]:
    start, opens = _turns(at, name)
    # A narrow angle has room only further out.
    far = max(far, far * radians(52) / max(abs(opens), 0.3))
    (x, y), turn = at[name[1]], start + opens / 2
    return x + far * cos(turn), y + far * sin(turn)


def _angle(rng: np.random.Generator, pen: ImageDraw.ImageDraw, at: Points, name: str, ink: tuple[int, ...]) -> None:
    """Draw the arc of an angle, in most diagrams."""
    if rng.random() < 0.3:
        return
    start, opens = _turns(at, name)
    (x, y), reach = at[name[1]], 22
    low, high = sorted((degrees(start), degrees(start + opens)))
    box = ((x - reach) * FINER, (y - reach) * FINER, (x + reach) * FINER, (y + reach) * FINER)
    pen.arc(box, low, high, fill=ink, width=2 * FINER)


def _square(at: Points, name: str) -> list[tuple[float, float]]:
    """The mark of a right angle: three corners of a small square."""
    (x, y) = at[name[1]]
    unit = []
    for point in (name[0], name[2]):
        dx, dy = at[point][0] - x, at[point][1] - y
        unit.append((16 * dx / hypot(dx, dy), 16 * dy / hypot(dx, dy)))
    (a, b), (c, d) = unit
    return [(x + a, y + b), (x + a + c, y + b + d), (x + c, y + d)]


def _font(name: str, size: int) -> ImageFont.FreeTypeFont:
    """One of :data:`FONTS`."""
    from matplotlib.font_manager import FontProperties, findfont

    family, _, weight = name.partition(":")
    return ImageFont.truetype(findfont(FontProperties(family=family, weight=weight or "normal")), size)

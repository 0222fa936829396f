"""A diagram to statements: letters name corners, numbers belong to lines or angles, small squares to right angles."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import combinations, pairwise
from math import acos, atan2, cos, degrees, hypot, pi, sin

import numpy as np
from PIL import Image

from visual_tools.geometry.arithmetic import compact
from visual_tools.geometry.forms import Form, angle, form, length, line, measure
from visual_tools.geometry.primitives import NEAR, Drawing, Place, drawing
from visual_tools.words import Word

_VALUE = re.compile(r"(\d+(?:\.\d+)?|\d*[a-z](?:\s*[+-]\s*\d+)?|\d+[a-z])\s*([°ºo˚]?)")


@dataclass(frozen=True)
class Diagram:
    """A diagram as it was read.

    Attributes:
        places: the named points, in pixels.
        lines: for each line the letters on it, in their order along it.
        circles: middle's letter, letters on the rim.
        written: what is written beside lines and in angles, and marks of right angles.
    """

    places: dict[str, Place]
    lines: tuple[str, ...]
    circles: tuple[tuple[str, str], ...]
    written: tuple[Form, ...]

    @property
    def forms(self) -> tuple[Form, ...]:
        """State all of it: lines, points on them, circles, what is written."""
        made = [line(on[0] + on[-1]) for on in self.lines]
        for on in self.lines:
            made += [form("PointLiesOnLine", b, line(a + c)) for a, b, c in combinations(on, 3)]
        for middle, rim in self.circles:
            made += [form("PointLiesOnCircle", point, form("Circle", middle)) for point in rim]
        return (*made, *self.written)

    @property
    def construction(self) -> tuple[Form, ...]:
        """Shapes, collinear points and points on circles, as CDL's construction has them."""
        made = [form("Shape", *(line(a + b) for a, b in zip(s, s[1:] + s[0], strict=True))) for s in self.shapes()]
        made += [form("Collinear", *on) for on in self.lines if len(on) > 2]
        return (*made, *(form("Cocircular", middle, *rim) for middle, rim in self.circles))

    def shapes(self) -> list[str]:
        """Triangles and quadrilaterals whose sides are drawn, each from its first letter on."""
        sides = {frozenset(pair) for on in self.lines for pair in combinations(on, 2)}
        flat = [set(on) for on in self.lines]
        found = []
        for count in (3, 4):
            for some in combinations(sorted(self.places), count):
                if any(len(on & set(some)) > 2 for on in flat):
                    continue
                around = self._around(some)
                closed = all(frozenset(pair) in sides for pair in zip(around, around[1:] + around[0], strict=True))
                crossed = count == 4 and any(frozenset((around[i], around[i + 2])) in sides for i in (0, 1))
                if closed and not crossed:
                    found.append(around)
        return found

    def _around(self, some: Sequence[str]) -> str:
        x, y = (sum(self.places[name][axis] for name in some) / len(some) for axis in (0, 1))
        turned = sorted(some, key=lambda name: atan2(y - self.places[name][1], self.places[name][0] - x))
        first = turned.index(min(turned))
        return "".join(turned[first:] + turned[:first])


def read_diagram(image: Image.Image, words: Sequence[Word]) -> Diagram:
    """Read a diagram from its pixels and the words on it.

    Args:
        image: RGB.
        words: from OCR, or known.

    Raises:
        ValueError: no letter stands at a corner of lines.
    """
    drawn = drawing(image, words)
    letters = [word for word in words if re.fullmatch(r"[A-Z]", word.text)]
    places = _named(letters, drawn)
    if len(places) < 2:
        raise ValueError(f"{len(drawn.strokes)} lines, {len(letters)} letters, but fewer than two letters at corners")
    lines = []
    for stroke in drawn.strokes:
        on = [name for name, at in places.items() if stroke.holds(at)]
        if len(on) > 1:
            lines.append("".join(sorted(on, key=lambda name: stroke.share(places[name]))))
    lines = list(dict.fromkeys(min(on, on[::-1]) for on in lines))
    circles = []
    for ring in drawn.rings:
        middle = next((n for n, at in places.items() if _far(at, ring.middle) < NEAR), None)
        rim = [n for n, at in places.items() if abs(_far(at, ring.middle) - ring.radius) < NEAR]
        if middle is not None:
            circles.append((middle, "".join(sorted(rim))))
    known = Diagram(places, tuple(lines), tuple(circles), ())
    return Diagram(places, known.lines, known.circles, (*_right_angles(known, drawn), *_values(known, words)))


def _far(one: Place, other: Place) -> float:
    return hypot(one[0] - other[0], one[1] - other[1])


def _named(letters: Sequence[Word], drawn: Drawing) -> dict[str, Place]:
    """Corner of each letter: nearest pairs first, each corner and letter once."""
    pairs = sorted(
        (_far((word.x, word.y), corner), word.text, corner)
        for word in letters
        for corner in drawn.corners
        if _far((word.x, word.y), corner) < 3 * max(16.0, word.height)
    )
    places: dict[str, Place] = {}
    for _, name, corner in pairs:
        if name not in places and corner not in places.values():
            places[name] = corner
    return places


def _segments(known: Diagram) -> list[str]:
    """Neighbours on every line."""
    return [a + b for on in known.lines for a, b in pairwise(on)]


def _angles(known: Diagram) -> list[str]:
    """Angles between lines that meet at a point and are next to each other there."""
    made = []
    for name in known.places:
        rays = {other for pair in _segments(known) if name in pair for other in pair if other != name}
        turned = sorted(rays, key=lambda other: _turn(known, name, other))
        pairs = list(zip(turned, turned[1:] + turned[:1], strict=True)) if len(turned) > 2 else [tuple(turned)]
        names = [pair[0] + name + pair[1] for pair in pairs if len(pair) == 2]
        made += [one for one in names if _opens(known, one) < 176]
    return made


def _turn(known: Diagram, at: str, other: str) -> float:
    (x, y), (u, v) = known.places[at], known.places[other]
    return atan2(v - y, u - x)


def _opens(known: Diagram, name: str) -> float:
    """Degrees of an angle as drawn."""
    away = _turn(known, name[1], name[0]) - _turn(known, name[1], name[2])
    return degrees(acos(max(-1.0, min(1.0, cos(away)))))


def _values(known: Diagram, words: Sequence[Word]) -> list[Form]:
    """What is written beside lines and in angles; with a sign of degrees it is an angle's."""
    made = []
    for word in words:
        sides = [s for s in _segments(known) if _beside(known, s, word) < 2.5 * max(word.height, 14)]
        try:
            value, degree = _written(word.text.strip())
        except ValueError:
            if sides:
                raise
            continue  # away from all lines: a caption, a page's number
        if not value:
            continue
        if degree:
            nearest = min(_angles(known), key=lambda name: _misfit(known, name, word), default=None)
            made += [measure(_sorted(nearest), value)] if nearest else []
        else:
            nearest = min(sides, key=lambda side: _beside(known, side, word), default=None)
            made += [length("".join(sorted(nearest)), value)] if nearest else []
    return made


def _written(text: str) -> tuple[str, bool]:
    """The value that a word is, and whether it has a sign of degrees; an empty one if it holds no number.

    Raises:
        ValueError: there is a number in it, and something beside it that isn't understood.
    """
    if found := _VALUE.fullmatch(text):
        return found[1], bool(found[2])
    if not re.search(r"\d|√", text):
        return "", False
    bare = text.rstrip("°ºo˚ ")
    return compact(bare), bare != text


def _sorted(name: str) -> str:
    return min(name, name[::-1])


def _misfit(known: Diagram, name: str, word: Word) -> float:
    """How badly a word sits in an angle: far from its corner, or off the middle of its opening."""
    x, y = known.places[name[1]]
    one, two = _turn(known, name[1], name[0]), _turn(known, name[1], name[2])
    middle = atan2(sin(one) + sin(two), cos(one) + cos(two))
    off = abs((atan2(word.y - y, word.x - x) - middle + pi) % (2 * pi) - pi)
    return hypot(word.x - x, word.y - y) * (1 + (4.0 if degrees(off) > _opens(known, name) / 2 else 0.5 * off))


def _beside(known: Diagram, side: str, word: Word) -> float:
    """Pixels from a word to the middle third of a side."""
    (x, y), (u, v) = known.places[side[0]], known.places[side[1]]
    shares = np.linspace(0.35, 0.65, 7)
    return min(
        hypot(
            max(word.left - (x + s * (u - x)), 0, x + s * (u - x) - word.right),
            max(word.top - (y + s * (v - y)), 0, y + s * (v - y) - word.bottom),
        )
        for s in shares
    )


def _right_angles(known: Diagram, drawn: Drawing) -> list[Form]:
    """Angles drawn square whose small square mark is in the ink: two strokes parallel to the sides."""
    made = []
    for name in _angles(known):
        if abs(_opens(known, name) - 90) > 6:
            continue
        x, y = known.places[name[1]]
        one, two = _turn(known, name[1], name[0]), _turn(known, name[1], name[2])
        for side in range(10, 25):
            # Points of the mark's two strokes: out along one ray, then in the direction of the other.
            marks = [
                (x + side * (cos(a) + t * cos(b)), y + side * (sin(a) + t * sin(b)))
                for a, b in ((one, two), (two, one))
                for t in (0.35, 0.5, 0.65, 0.8, 0.95)
            ]
            if all(_inked(drawn, place) for place in marks):
                made.append(form("RightAngle", angle(_sorted(name))))
                break
    return made


def _inked(drawn: Drawing, place: Place) -> bool:
    column, row = round(place[0]), round(place[1])
    return bool(drawn.ink[max(0, row - 1) : row + 2, max(0, column - 1) : column + 2].any())

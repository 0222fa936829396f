"""Geometry problems before they are drawn: points, a text, what both state, what is asked and its answer.

The kinds are those that are most frequent in geometry sets: angles and sides of triangles, rectangles, parallelograms,
a line parallel to a side, angles in circles. :mod:`visual_tools.drawn.diagrams` draws them.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass, field
from math import atan2, cos, degrees, radians, sin, sqrt

import numpy as np

from visual_tools.geometry.forms import Form, form, line

Points = dict[str, tuple[float, float]]


@dataclass(frozen=True)
class Plan:
    """A problem before it is drawn: points, lines, a circle, what the diagram says, the text, goal and answer.

    Attributes:
        kind: of problem.
        points: by letter, in units of the text's lengths or any others, upwards.
        lines: pairs of letters.
        text: the problem in words, its question last.
        stated: forms that the text states.
        goal: form that is asked for.
        answer: its value.
        lengths: line → what is written beside it.
        angles: three letters → degrees that are written there.
        right: three letters whose angle has a square mark.
        circle: the middle's letter and one on the rim, or empty.
        on: triples A, D, B where D lies between A and B.
    """

    kind: str
    points: Points
    lines: tuple[str, ...]
    text: str
    stated: tuple[Form, ...]
    goal: Form
    answer: float
    lengths: dict[str, float] = field(default_factory=dict)
    angles: dict[str, int] = field(default_factory=dict)
    right: str = ""
    circle: str = ""
    on: tuple[str, ...] = ()


def _letters(rng: np.random.Generator, count: int) -> list[str]:
    return [str(letter) for letter in rng.permutation(list("ABCDEFGHKLMNPQRST"))[:count]]


def _polar(turn: float, far: float = 1.0) -> tuple[float, float]:
    return far * cos(radians(turn)), far * sin(radians(turn))


def third_angle(rng: np.random.Generator) -> Plan:
    """A triangle with two angles written in: the third is asked."""
    a, b, c = _letters(rng, 3)
    one, two = int(rng.integers(35, 80)), int(rng.integers(35, 75))
    far = sin(radians(two)) / sin(radians(one + two))
    text = f"In triangle {a}{b}{c}, find the measure of angle {a}{c}{b}."
    return Plan(
        "third angle",
        {a: (0, 0), b: (1, 0), c: _polar(one, far)},
        (a + b, b + c, c + a),
        text,
        (form("Triangle", a, b, c),),
        form("Find", form("MeasureOf", form("Angle", a, c, b))),
        180 - one - two,
        angles={c + a + b: one, a + b + c: two},
    )


def right_triangle(rng: np.random.Generator) -> Plan:
    """A right triangle with two sides written in: the third is asked."""
    a, b, c = _letters(rng, 3)
    one, two = int(rng.integers(4, 15)), int(rng.integers(4, 15))
    long = sqrt(one**2 + two**2)
    points = {a: (float(one), 0.0), b: (0.0, 0.0), c: (0.0, float(two))}
    if rng.random() < 0.5:
        given, asked, answer = {a + b: float(one), b + c: float(two)}, a + c, long
    else:
        given, asked, answer = {a + b: float(one), a + c: round(long, 1)}, b + c, sqrt(round(long, 1) ** 2 - one**2)
    lines = (a + b, b + c, a + c)
    text = f"Triangle {a}{b}{c} has a right angle at {b}. Find the length of {asked}."
    stated = (form("Triangle", a, b, c), form("RightAngle", form("Angle", a, b, c)))
    goal = form("Find", form("LengthOf", line(asked)))
    return Plan("right triangle", points, lines, text, stated, goal, answer, lengths=given, right=a + b + c)


def isosceles(rng: np.random.Generator) -> Plan:
    """A triangle with two equal sides, the angle between them written in: another angle is asked."""
    a, b, c = _letters(rng, 3)
    top = 2 * int(rng.integers(15, 50))
    points = {a: (0.0, 0.0), b: _polar(-90 - top / 2), c: _polar(-90 + top / 2)}
    text = f"In triangle {a}{b}{c}, {a}{b} = {a}{c}. Find the measure of angle {a}{b}{c}."
    equal = form("Equals", form("LengthOf", line(a + b)), form("LengthOf", line(a + c)))
    goal = form("Find", form("MeasureOf", form("Angle", a, b, c)))
    lines, stated = (a + b, b + c, a + c), (form("Triangle", a, b, c), equal)
    return Plan("isosceles", points, lines, text, stated, goal, (180 - top) / 2, angles={b + a + c: top})


def rectangle(rng: np.random.Generator) -> Plan:
    """A rectangle with two sides written in: its area or perimeter is asked."""
    a, b, c, d = _letters(rng, 4)
    wide, high = int(rng.integers(6, 20)), int(rng.integers(4, 12))
    points = {a: (0.0, 0.0), b: (float(wide), 0.0), c: (float(wide), float(high)), d: (0.0, float(high))}
    name, answer = ("area", wide * high) if rng.random() < 0.5 else ("perimeter", 2 * (wide + high))
    figure = form("Rectangle", a, b, c, d)
    return Plan(
        "rectangle",
        points,
        (a + b, b + c, c + d, d + a),
        f"{a}{b}{c}{d} is a rectangle. Find its {name}.",
        (figure,),
        form("Find", form(f"{name.capitalize()}Of", figure)),
        answer,
        lengths={a + b: float(wide), b + c: float(high)},
    )


def parallelogram(rng: np.random.Generator) -> Plan:
    """A parallelogram with an angle written in: the next angle is asked."""
    a, b, c, d = _letters(rng, 4)
    lean, side = int(rng.integers(50, 80)), float(rng.uniform(0.5, 0.8))
    x, y = _polar(lean, side)
    points = {a: (0.0, 0.0), b: (1.0, 0.0), c: (1 + x, y), d: (x, y)}
    return Plan(
        "parallelogram",
        points,
        (a + b, b + c, c + d, d + a),
        f"{a}{b}{c}{d} is a parallelogram. Find the measure of angle {a}{b}{c}.",
        (form("Parallelogram", a, b, c, d),),
        form("Find", form("MeasureOf", form("Angle", a, b, c))),
        180 - lean,
        angles={d + a + b: lean},
    )


def parallel(rng: np.random.Generator) -> Plan:
    """A triangle cut by a parallel to a side, three of four parts written in: the fourth is asked."""
    a, b, c, d, e = _letters(rng, 5)
    near, far, other = int(rng.integers(4, 10)), int(rng.integers(4, 10)), int(rng.integers(4, 10))
    share, answer = near / (near + far), other * far / near
    down, across = _polar(-115), _polar(-55)
    left = near + far
    right = other + answer
    points = {a: (0.0, 0.0), b: (left * down[0], left * down[1]), c: (right * across[0], right * across[1])}
    points |= {d: (share * points[b][0], share * points[b][1]), e: (share * points[c][0], share * points[c][1])}
    text = (
        f"In triangle {a}{b}{c}, {d} lies on {a}{b} and {e} lies on {a}{c}, and {d}{e} is parallel to {b}{c}. "
        f"Find the length of {e}{c}."
    )
    stated = (
        form("Triangle", a, b, c),
        form("PointLiesOnLine", d, line(a + b)),
        form("PointLiesOnLine", e, line(a + c)),
        form("Parallel", line(d + e), line(b + c)),
    )
    return Plan(
        "parallel",
        points,
        (a + b, a + c, b + c, d + e),
        text,
        stated,
        form("Find", form("LengthOf", line(e + c))),
        answer,
        lengths={a + d: near, d + b: far, a + e: other},
        on=(a + d + b, a + e + c),
    )


def inscribed(rng: np.random.Generator) -> Plan:
    """Three points on a circle, the angle at its middle written in: the one on the rim is asked."""
    o, a, b, c = _letters(rng, 4)
    middle = 2 * int(rng.integers(30, 65))
    points = {o: (0.0, 0.0), a: _polar(-90 - middle / 2), b: _polar(-90 + middle / 2), c: _polar(80)}
    text = f"{a}, {b} and {c} lie on circle {o}. Find the measure of angle {a}{c}{b}."
    on = tuple(form("PointLiesOnCircle", point, form("Circle", o)) for point in (a, b, c))
    goal = form("Find", form("MeasureOf", form("Angle", a, c, b)))
    lines = (o + a, o + b, c + a, c + b)
    return Plan("inscribed", points, lines, text, on, goal, middle / 2, angles={a + o + b: middle}, circle=o + a)


def thales(rng: np.random.Generator) -> Plan:
    """A triangle on a diameter with two sides written in: the diameter is asked."""
    o, a, b, c = _letters(rng, 4)
    one, two = int(rng.integers(4, 15)), int(rng.integers(4, 15))
    answer = sqrt(one**2 + two**2)
    radius = answer / 2
    # An angle on the rim is half of the one at the middle, and the side at A is the diameter times its cosine.
    turn = 2 * degrees(atan2(two, one))
    points = {o: (0.0, 0.0), a: (-radius, 0.0), b: (radius, 0.0), c: _polar(turn, radius)}
    text = f"{a}{b} is a diameter of circle {o}, and {c} lies on circle {o}. Find the length of {a}{b}."
    ring = form("Circle", o)
    stated = (form("IsDiameterOf", line(a + b), ring), form("PointLiesOnCircle", c, ring))
    goal, given = form("Find", form("LengthOf", line(a + b))), {a + c: float(one), b + c: float(two)}
    lines, on = (a + b, a + c, b + c), (a + o + b,)
    return Plan("thales", points, lines, text, stated, goal, answer, lengths=given, circle=o + a, on=on)


KINDS: dict[str, Callable[[np.random.Generator], Plan]] = {
    "third angle": third_angle,
    "right triangle": right_triangle,
    "isosceles": isosceles,
    "rectangle": rectangle,
    "parallelogram": parallelogram,
    "parallel": parallel,
    "inscribed": inscribed,
    "thales": thales,
}
"""All kinds of problems by name."""


# fmt: off
_WORDINGS: tuple[tuple[str, tuple[str, ...]], ...] = (
    ("Find the measure of angle", ("Find the measure of \u2220", "What is the measure of angle", "Calculate angle",
                                   "How many degrees is \u2220", "Determine the size of angle", "Find m\u2220")),
    ("Find the length of", ("What is the length of", "Find", "Calculate the length of", "How long is", "Determine")),
    ("Find its", ("What is its", "Calculate its", "Determine its")),
    (" is parallel to ", (" \u2225 ", " || ", " is parallel to line ")),
    (" has a right angle at ", (" is right-angled at ", " has its right angle at ", " has a right angle at vertex ")),
    ("In triangle", ("In \u25b3", "Given triangle", "Consider triangle")),
    ("triangle ", ("\u25b3",)),
)
# fmt: on


def reworded(rng: np.random.Generator, text: str) -> str:
    """Say a problem's text in other words, as different books would; what it states stays."""
    for words, others in _WORDINGS:
        if words in text and rng.random() < 0.6:
            text = text.replace(words, others[int(rng.integers(len(others)))], 1)
    return text if not re.search(r"\b(What|How)\b", text) else f"{text[:-1]}?"

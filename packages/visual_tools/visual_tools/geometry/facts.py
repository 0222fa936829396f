"""Equations of what logic forms state: a symbol for every length and angle, and what geometry says of them.

Angles are in degrees. One symbol stands for all names of an angle: where D lies on AB, ray AD is ray AB.
"""

from __future__ import annotations

from collections.abc import Iterable
from itertools import combinations, permutations
from typing import Any

import sympy as sp

from visual_tools.geometry.arithmetic import expression
from visual_tools.geometry.checked import FIGURES, QUADRILATERALS, check_stated, check_value
from visual_tools.geometry.forms import Form

Equation = Any
"""A sympy expression that is zero."""


class Facts:
    """A problem's equations.

    Args:
        forms: what is stated, in Inter-GPS's logic forms.

    Raises:
        ValueError: a form that isn't known, or a value that is no expression.
    """

    def __init__(self, forms: Iterable[Form]) -> None:
        self.forms = tuple(dict.fromkeys(forms))
        for one in self.forms:
            check_stated(one)
        self.between: list[tuple[str, str, str]] = []
        self.rims: dict[str, list[str]] = {}
        self.sides: set[frozenset[str]] = set()
        self.equations: list[Equation] = []
        for one in self.forms:
            self._places(one)
        for one in self.forms:
            self.equations += self._stated(one)
        self.equations += [self.length(a + b) + self.length(b + c) - self.length(a + c) for a, b, c in self.between]

    def length(self, two: str) -> Any:
        """The symbol of a length."""
        return sp.Symbol("l_" + "".join(sorted(two)), positive=True)

    def radius(self, circle: str) -> Any:
        """The symbol of a circle's radius."""
        return sp.Symbol(f"r_{circle}", positive=True)

    def angle(self, three: str) -> Any:
        """An angle's symbol; 180 if the middle letter lies between the others on a line."""
        one, at, two = tuple(three)
        if any({one, two} == {a, c} and at == b for a, b, c in self.between):
            return sp.Integer(180)
        rays = sorted((self._ray(at, one), self._ray(at, two)))
        return sp.Integer(0) if rays[0] == rays[1] else sp.Symbol(f"a_{rays[0]}{at}{rays[1]}", positive=True)

    def _ray(self, at: str, to: str) -> str:
        """One name for all points in the same direction: the first in the alphabet."""
        same, grown = {to}, True
        while grown:
            more = {p for a, b, c in self.between for p in (b, c) if at == a and same & {b, c}}
            more |= {p for a, b, c in self.between for p in (a, b) if at == c and same & {a, b}}
            grown, same = not more <= same, same | more
        return min(same)

    def triangles(self) -> list[str]:
        """Three points, not on a line, whose three sides are drawn."""
        points = sorted({point for side in self.sides for point in side})
        flat = [set(three) for three in self.between]
        return [
            "".join(three)
            for three in combinations(points, 3)
            if all(frozenset(pair) in self.sides for pair in combinations(three, 2)) and set(three) not in flat
        ]

    def _places(self, one: Form) -> None:
        """Note lines, points between others and points on circles."""
        if one.name in ("Line", *FIGURES):
            around = one.points
            ends = (
                [around] if one.name == "Line" else [a + b for a, b in zip(around, around[1:] + around[0], strict=True)]
            )
            self.sides |= {frozenset(pair) for pair in ends}
        elif one.name in ("PointLiesOnLine", "IsMidpointOf"):
            a, c = tuple(one.args[1].points)
            self.between.append((a, one.args[0].name, c))
            self.sides |= {frozenset(pair) for pair in combinations((a, one.args[0].name, c), 2)}
        elif one.name == "PointLiesOnCircle":
            self.rims.setdefault(one.args[1].points, []).append(one.args[0].name)
            self.sides.add(frozenset((one.args[0].name, one.args[1].points)))
        elif one.name == "IsDiameterOf":
            (a, c), middle = tuple(one.args[0].points), one.args[1].points
            self.between.append((a, middle, c))
            self.sides |= {frozenset(pair) for pair in combinations((a, middle, c), 2)}
            self.rims.setdefault(middle, []).extend((a, c))
        elif one.name == "Angle":
            self.sides |= {frozenset(one.points[:2]), frozenset(one.points[1:])}
        for arg in one.args:
            if arg.args:
                self._places(arg)
        self.between = list(dict.fromkeys(min(three, three[::-1]) for three in self.between))

    def value(self, of: Form) -> Any:
        """A form that is a number: a measure, a variable, or arithmetic with them.

        Raises:
            ValueError: it is none of these.
        """
        check_value(of)
        if of.name == "LengthOf":
            return self.length(of.args[0].points)
        if of.name == "MeasureOf":
            return self.angle(of.args[0].points)
        if of.name in ("RadiusOf", "DiameterOf", "CircumferenceOf"):
            times = {"RadiusOf": 1, "DiameterOf": 2, "CircumferenceOf": 2 * sp.pi}[of.name]
            return times * self.radius(of.args[0].points)
        if of.name == "PerimeterOf":
            around = of.args[0].points
            return sum(self.length(a + b) for a, b in zip(around, around[1:] + around[0], strict=True))
        if of.name == "AreaOf":
            return self._area(of.args[0])
        if any(arg.args for arg in of.args) or of.name[:1].isupper():
            raise ValueError(f"{of} is no length, angle, area, perimeter or number")
        return expression(str(of))

    def _area(self, of: Form) -> Any:
        if of.name == "Circle":
            return sp.pi * self.radius(of.points) ** 2
        a, b, c = tuple(of.points[:3])
        product = self.length(a + b) * self.length(b + c) * sp.sin(self.angle(a + b + c) * sp.pi / 180)
        return product / 2 if of.name == "Triangle" else product

    def _stated(self, one: Form) -> list[Equation]:
        """The equations that one form states outright."""
        if one.name == "Equals":
            return [self.value(one.args[0]) - self.value(one.args[1])]
        if one.name == "RightAngle":
            return [self.angle(one.args[0].points) - 90]
        if one.name == "Perpendicular":
            (a, b), (c, d) = (tuple(arg.points) for arg in one.args)
            at = next((p for p in (a, b) if p in (c, d)), None)
            at = at or next((m for x, m, y in self.between if m in (a, b) and {x, y} == {c, d}), None)
            rest = [next((p for p in pair if p != at), "") for pair in ((a, b), (c, d))]
            return [self.angle(rest[0] + at + rest[1]) - 90] if at and all(rest) else []
        if one.name == "IsMidpointOf":
            middle, (a, c) = one.args[0].name, tuple(one.args[1].points)
            return [self.length(a + middle) - self.length(middle + c)]
        if one.name == "BisectsAngle":
            (p, q), (a, at, c) = tuple(one.args[0].points), tuple(one.args[1].points)
            ray = q if p == at else p
            half = self.angle(a + at + ray)
            return [half - self.angle(ray + at + c), 2 * half - self.angle(a + at + c)]
        if one.name == "Tangent":
            middle, ends = one.args[1].points, one.args[0].points
            at = next((p for p in ends if p in self.rims.get(middle, ())), None)
            other = next((p for p in ends if p != at), None)
            return [self.angle(middle + at + other) - 90] if at and other else []
        if one.name in ("Isosceles", "Equilateral"):
            a, b, c = tuple(one.args[0].points)
            # By convention A is the tip, unless the text says which two sides are equal.
            told = one.name == "Isosceles" and any(self._of_sides(other, {a, b, c}) for other in self.forms)
            equal = [] if told else [self.length(a + b) - self.length(a + c)]
            return equal + ([self.length(a + b) - self.length(b + c)] if one.name == "Equilateral" else [])
        if one.name in QUADRILATERALS:
            return self._quadrilateral(one)
        return self._parallel(*(arg.points for arg in one.args)) if one.name == "Parallel" else []

    def _of_sides(self, one: Form, corners: set[str]) -> bool:
        """Tell whether a form says of two sides of a triangle that they are equal."""
        return one.name == "Equals" and all(
            arg.name == "LengthOf" and set(arg.args[0].points) <= corners for arg in one.args
        )

    def _quadrilateral(self, one: Form) -> list[Equation]:
        a, b, c, d = tuple(one.points)
        corners = [self.angle(three) for three in (d + a + b, a + b + c, b + c + d, c + d + a)]
        sides = [self.length(pair) for pair in (a + b, b + c, c + d, d + a)]
        made = [sum(corners) - 360]
        if one.name in ("Parallelogram", "Rectangle", "Square", "Rhombus"):
            made += [sides[0] - sides[2], sides[1] - sides[3], corners[0] - corners[2], corners[1] - corners[3]]
            made.append(corners[0] + corners[1] - 180)
        if one.name in ("Square", "Rhombus"):
            made.append(sides[0] - sides[1])
        return made + ([corner - 90 for corner in corners] if one.name in ("Rectangle", "Square") else [])

    def _parallel(self, one: str, other: str) -> list[Equation]:
        """A side of a triangle and a line between the two others; or two sides of a quadrilateral."""
        made: list[Equation] = []
        for (d, e), (b, c) in permutations((tuple(one), tuple(other))):
            for left, right in ((b, c), (c, b)):
                tops = [x for x, m, y in self._ways() if m == d and y == left]
                for a in tops:
                    if (a, e, right) in self._ways():
                        made += self._cut(a, d, e, left, right)
        for f in self.forms:
            if f.name in QUADRILATERALS and {frozenset(one), frozenset(other)} <= set(_pairs(f.points)):
                first = frozenset(f.points[:2]) in map(frozenset, (one, other))
                a, b, c, d = tuple(f.points if first else f.points[1:] + f.points[0])
                made += [
                    self.angle(d + a + b) + self.angle(a + d + c) - 180,
                    self.angle(a + b + c) + self.angle(b + c + d) - 180,
                ]
        return made

    def _ways(self) -> list[tuple[str, str, str]]:
        return [(a, b, c) for three in self.between for a, b, c in (three, three[::-1])]

    def _cut(self, a: str, d: str, e: str, b: str, c: str) -> list[Equation]:
        """D on AB and E on AC with DE parallel to BC: equal angles, sides in proportion."""
        size = self.length
        return [
            self.angle(a + d + e) - self.angle(a + b + c),
            self.angle(a + e + d) - self.angle(a + c + b),
            size(a + d) * size(a + c) - size(a + e) * size(a + b),
            size(a + d) * size(e + c) - size(a + e) * size(d + b),
            size(a + d) * size(b + c) - size(d + e) * size(a + b),
        ]


def _pairs(around: str) -> list[frozenset[str]]:
    return [frozenset(pair) for pair in zip(around, around[1:] + around[0], strict=True)]

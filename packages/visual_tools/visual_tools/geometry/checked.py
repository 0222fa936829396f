"""Inter-GPS's logic forms that are known here, and what each is made of: any other is refused by name."""

from __future__ import annotations

from visual_tools.geometry.forms import Form

QUADRILATERALS = ("Parallelogram", "Rectangle", "Square", "Rhombus", "Trapezoid", "Quadrilateral")
FIGURES = ("Triangle", *QUADRILATERALS)
POINTS = {"Line": 2, "Angle": 3, "Circle": 1, "Triangle": 3, "Point": 1} | dict.fromkeys(QUADRILATERALS, 4)
"""Figures, and how many points name them."""

_AREAS = ("Triangle", "Circle", "Parallelogram", "Rectangle", "Square")
VALUES = {
    "LengthOf": ("Line",),
    "MeasureOf": ("Angle",),
    "RadiusOf": ("Circle",),
    "DiameterOf": ("Circle",),
    "CircumferenceOf": ("Circle",),
    "PerimeterOf": FIGURES,
    "AreaOf": (*_AREAS, "Rhombus"),
}
"""Measures, and of which figures they are taken."""
STATED: dict[str, tuple[str, ...]] = {
    "Equals": ("value", "value"),
    "Find": ("value",),
    "RightAngle": ("Angle",),
    "Perpendicular": ("Line", "Line"),
    "Parallel": ("Line", "Line"),
    "PointLiesOnLine": ("point", "Line"),
    "IsMidpointOf": ("point", "Line"),
    "PointLiesOnCircle": ("point", "Circle"),
    "IsDiameterOf": ("Line", "Circle"),
    "BisectsAngle": ("Line", "Angle"),
    "Tangent": ("Line", "Circle"),
    "Isosceles": ("Triangle",),
    "Equilateral": ("Triangle",),
}
"""Statements, and what stands in their brackets."""


def check_stated(one: Form) -> None:
    """Check a statement: a figure, or one of :data:`STATED`.

    Raises:
        ValueError: it isn't known, or isn't made of what it should be; names it.
    """
    if one.name in POINTS:
        return _check(one, one.name)
    if one.name not in STATED:
        known = ", ".join((*STATED, *POINTS))
        raise ValueError(f"{one.name!r} is no form that is known here; there are {known}")
    wanted = STATED[one.name]
    if len(one.args) != len(wanted):
        raise ValueError(f"{one}: {one.name} has {len(wanted)} parts, not {len(one.args)}; write 1200 for 1,200")
    for arg, kind in zip(one.args, wanted, strict=True):
        _check(arg, kind)


def check_value(of: Form) -> None:
    """Check a measure of a figure; numbers and variables are checked as they are read.

    Raises:
        ValueError: a measure of something that has none, or whose points aren't single letters.
    """
    _check(of, "value")


def _check(one: Form, kind: str) -> None:
    if kind == "value":
        if one.name in VALUES:
            if len(one.args) != 1 or one.args[0].name not in VALUES[one.name]:
                raise ValueError(f"{one}: {one.name} is taken of {' or '.join(VALUES[one.name])}")
            _check(one.args[0], one.args[0].name)
    elif kind == "point":
        if one.args or len(one.name) != 1 or not one.name.isalpha():
            raise ValueError(f"{one.name!r} is no point; write a single letter")
    elif one.name != kind:
        raise ValueError(f"{str(one)[:60]!r} stands where a {kind} should be")
    else:
        if len(one.args) != POINTS[kind] or len(set(one.args)) != len(one.args):
            raise ValueError(f"{str(one)[:60]!r}: {kind} is named by {POINTS[kind]} different points")
        for arg in one.args:
            _check(arg, "point")

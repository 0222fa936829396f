"""Statements of geometry: Inter-GPS's logic forms, read and written, and FormalGeo's CDL, written.

A form is a name with arguments: ``Equals(LengthOf(Line(A, B)), 5)``. The two languages say the same:

==========================================  =====================================
Inter-GPS                                   CDL
==========================================  =====================================
``Equals(LengthOf(Line(A, B)), 5)``         ``Equal(LengthOfLine(AB),5)``
``Equals(MeasureOf(Angle(A, B, C)), 60)``   ``Equal(MeasureOfAngle(ABC),60)``
``Perpendicular(Line(A, B), Line(C, B))``   ``PerpendicularBetweenLine(AB,CB)``
``PointLiesOnLine(D, Line(A, B))``          ``Collinear(ADB)``
``Find(LengthOf(Line(A, C)))``              ``Value(LengthOfLine(AC))``
==========================================  =====================================
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass

DEEPEST, LONGEST = 30, 4000
"""Levels of a form, and characters of a text of forms, at most."""


class FormError(ValueError):
    """A text that is no form; the message shows where it breaks off."""


@dataclass(frozen=True)
class Form:
    """A name and its arguments; a point, a number or a variable is a name without any."""

    name: str
    args: tuple[Form, ...] = ()

    def __str__(self) -> str:
        return f"{self.name}({', '.join(map(str, self.args))})" if self.args else self.name

    @property
    def points(self) -> str:
        """The names of its arguments, one after the other: ABC of ``Angle(A, B, C)``."""
        return "".join(arg.name for arg in self.args)


def form(name: str, *args: Form | str | float) -> Form:
    """Make a form; texts and numbers among the arguments become names."""
    return Form(name, tuple(arg if isinstance(arg, Form) else Form(_said(arg)) for arg in args))


def _said(arg: str | float) -> str:
    return arg if isinstance(arg, str) else f"{arg:g}"


def line(points: str) -> Form:
    """``Line(A, B)`` of AB."""
    return form("Line", *points)


def angle(points: str) -> Form:
    """``Angle(A, B, C)`` of ABC."""
    return form("Angle", *points)


def length(points: str, value: str | float) -> Form:
    """State how long a line is: AB, 5."""
    return form("Equals", form("LengthOf", line(points)), value)


def measure(points: str, value: str | float) -> Form:
    """State how large an angle is, in degrees: ABC, 60."""
    return form("Equals", form("MeasureOf", angle(points)), value)


def read_forms(text: str) -> tuple[Form, ...]:
    """Read logic forms, parted by semicolons or on lines of their own.

    Raises:
        FormError: one of them isn't a form.
    """
    if len(text) > LONGEST:
        raise FormError(f"{len(text)} characters of forms; {LONGEST} at most")
    return tuple(read_form(part) for part in re.split(r"[;\n]", text) if part.strip())


def read_form(text: str) -> Form:
    """Read one logic form; arithmetic in it stays as it is written: ``2*(x+1)``, ``sqrt(3)/2``.

    Raises:
        FormError: brackets that don't close, nothing between commas, or text after the end.
    """

    def wrong(why: str) -> FormError:
        return FormError(f"{text[:60]!r} is no form: {why}")

    def one(part: str, depth: int) -> Form:
        part = part.strip()
        if not part or depth > DEEPEST:
            raise wrong("a name is missing" if not part else f"more than {DEEPEST} levels")
        found = _NAMED.fullmatch(part)
        if found and (inner := _parts(found[2])) is not None:
            return Form(found[1], tuple(one(each, depth + 1) for each in inner))
        parts = _parts(part)
        if parts is None:
            raise wrong(f"the brackets of {part[:60]!r} don't match")
        if len(parts) > 1 or (_NAMED.match(part) and "(" in part):
            raise wrong(f"{part[len(parts[0]) if len(parts) > 1 else _end(part) :].strip()[:20]!r} follows its end")
        return Form(part)

    return one(text, 0)


def _end(text: str) -> int:
    """The place after the first bracket is closed."""
    return next(at for at in range(1, len(text) + 1) if text[at - 1] == ")" and _parts(text[:at]) is not None)


_NAMED = re.compile(r"\s*([A-Z]\w*)\s*\((.*)\)\s*", re.DOTALL)


def _parts(text: str) -> list[str] | None:
    """A text cut at the commas outside of brackets; None if its brackets don't match."""
    parts, depth = [""], 0
    for sign in text:
        depth += (sign == "(") - (sign == ")")
        if depth < 0:
            return None
        if sign == "," and depth == 0:
            parts.append("")
        else:
            parts[-1] += sign
    return parts if depth == 0 else None


_OF = {
    "LengthOf": "LengthOfLine",
    "MeasureOf": "MeasureOfAngle",
    "RadiusOf": "RadiusOfCircle",
    "DiameterOf": "DiameterOfCircle",
    "CircumferenceOf": "PerimeterOfCircle",
}
_BETWEEN = {"Parallel": "ParallelBetweenLine", "Perpendicular": "PerpendicularBetweenLine"}


def cdl(of: Form) -> str:
    """Write a form in FormalGeo's CDL."""
    if of.name == "Find":
        return f"Value({cdl(of.args[0])})"
    if of.name == "Equals":
        return f"Equal({','.join(map(cdl, of.args))})"
    if of.name in _OF:
        return f"{_OF[of.name]}({of.args[0].points})"
    if of.name in ("AreaOf", "PerimeterOf"):
        return f"{of.name}{_kind(of.args[0])}({of.args[0].points})"
    if of.name in _BETWEEN:
        return f"{_BETWEEN[of.name]}({','.join(arg.points for arg in of.args)})"
    if of.name == "PointLiesOnLine":
        ends = of.args[1].points
        return f"Collinear({ends[0]}{of.args[0].name}{ends[1]})"
    if of.name == "PointLiesOnCircle":
        return f"Cocircular({of.args[1].points},{of.args[0].name})"
    if of.name == "Isosceles":
        return f"IsoscelesTriangle({of.args[0].points})"
    if of.name == "Shape":
        return f"Shape({','.join(arg.points for arg in of.args)})"
    inner = ",".join(arg.points or arg.name for arg in of.args) if any(arg.args for arg in of.args) else of.points
    return f"{of.name}({inner})" if of.args else of.name


def _kind(of: Form) -> str:
    return of.name if of.name in ("Triangle", "Circle") else "Quadrilateral"


def written(forms: Iterable[Form], language: str = "forms") -> str:
    """Write forms one after the other, parted by semicolons, as logic forms or as ``cdl``."""
    return "; ".join(map(cdl if language == "cdl" else str, forms))

"""A problem's text to statements and goal, by patterns: ``AB = 5``, ``triangle ABC``, ``find the length of AC``.

Texts of geometry problems use few turns of phrase; what matches none of them is left out, so a text in other words
gives fewer statements, never wrong ones.
"""

from __future__ import annotations

import re
from collections.abc import Callable

from kit.tools.geometry.forms import Form, angle, form, length, line, measure

_VALUE = (
    r"(\d+(?:\.\d+)?(?:\s*\*?\s*[a-z]\b)?(?:\s*[+-]\s*\d+(?:\.\d+)?)?"
    r"|(?:[b-z]|a(?=\s*[+-]))(?:\s*[+-]\s*\d+)?)(?![A-Za-z0-9])"
)
"""A number, or a variable in a sum; the article a is none."""
_SIGNS = {
    "△": "triangle ",
    "∠": " angle ",
    "⊥": " perpendicular to ",
    "∥": " parallel to ",
    "||": " parallel to ",
    "⊙": "circle ",
    "▱": "parallelogram ",
}
_FIGURES = {"triangle": 3, "rectangle": 4, "square": 4, "parallelogram": 4, "rhombus": 4, "trapezoid": 4}

Rule = tuple[str, Callable[[re.Match[str]], list[Form]]]


def _points(found: re.Match[str]) -> list[Form]:
    """Several letters on one circle: ``A, B and C lie on circle O``."""
    return [form("PointLiesOnCircle", point, form("Circle", found[2])) for point in re.findall("[A-Z]", found[1])]


def _midpoint(found: re.Match[str]) -> list[Form]:
    return [form("IsMidpointOf", found[1], line(found[2]))]


_RULES: tuple[Rule, ...] = (
    (
        rf"\b(?:m\s*)?angle\s+([A-Z]{{3}})\s*(?:=|is|measures|equals)\s*{_VALUE}",
        lambda f: [measure(f[1], _compact(f[2]))],
    ),
    (rf"\b([A-Z]{{2}})\s*(?:=|is|equals|has (?:a )?length)\s*{_VALUE}", lambda f: [length(f[1], _compact(f[2]))]),
    (r"\b([A-Z]{2})\s*=\s*([A-Z]{2})\b", lambda f: [form("Equals", *(form("LengthOf", line(f[i])) for i in (1, 2)))]),
    (
        r"\bangle\s+([A-Z]{3})\s*=\s*angle\s+([A-Z]{3})\b",
        lambda f: [form("Equals", *(form("MeasureOf", angle(f[i])) for i in (1, 2)))],
    ),
    (r"\b([A-Z]{2}) (?:is )?parallel to (?:line )?([A-Z]{2})\b", lambda f: [form("Parallel", line(f[1]), line(f[2]))]),
    (
        r"\b([A-Z]{2}) (?:is )?perpendicular to (?:line )?([A-Z]{2})\b",
        lambda f: [form("Perpendicular", line(f[1]), line(f[2]))],
    ),
    (r"\b([A-Z]) (?:is the )?midpoint of ([A-Z]{2})\b", _midpoint),
    (
        r"\b([A-Z]) (?:lies|is) on (?:line |side )?([A-Z]{2})\b",
        lambda f: [form("PointLiesOnLine", f[1], line(f[2]))],
    ),
    (r"\b((?:[A-Z](?:, | and )?)+) (?:lie|lies|are|is) on (?:the )?circle ([A-Z])\b", _points),
    (
        r"\b([A-Z]{2}) is (?:a|the) diameter of (?:the )?circle ([A-Z])\b",
        lambda f: [form("IsDiameterOf", line(f[1]), form("Circle", f[2]))],
    ),
    (
        r"\b([A-Z]{2}) is (?:a )?tangent to (?:the )?circle ([A-Z])(?: at ([A-Z]))?",
        lambda f: [form("Tangent", line(f[1]), form("Circle", f[2]))],
    ),
    (
        r"\b([A-Z]{2}) bisects angle ([A-Z]{3})\b",
        lambda f: [form("BisectsAngle", line(f[1]), angle(f[2]))],
    ),
    (
        rf"\bradius of (?:the )?circle ([A-Z]) (?:is|=) {_VALUE}",
        lambda f: [form("Equals", form("RadiusOf", form("Circle", f[1])), _compact(f[2]))],
    ),
    (
        r"\bisosceles triangle ([A-Z]{3})\b",
        lambda f: [form("Isosceles", form("Triangle", *f[1]))],
    ),
    (
        r"\bequilateral triangle ([A-Z]{3})\b",
        lambda f: [form("Equilateral", form("Triangle", *f[1]))],
    ),
)


def _compact(value: str) -> str:
    return re.sub(r"\s+", "", value)


def plain(text: str) -> str:
    """A text with its signs in words and its formulas' dollars taken off: ``∠ABC = 60°`` as ``angle ABC = 60``."""
    for sign, words in _SIGNS.items():
        text = text.replace(sign, words)
    text = re.sub(r"\b(Angle|Circle|Triangle)\b", lambda found: found[0].lower(), text)
    text = re.sub(r"\\(?:angle|triangle|odot)\b", lambda found: {"\\odot": "circle"}.get(found[0], found[0][1:]), text)
    text = re.sub(r"\\perp\b", " perpendicular to ", re.sub(r"\\parallel\b", " parallel to ", text))
    text = re.sub(r"\^\s*(?:\\circ|\{\\circ\})|[°$]|\bdegrees?\b|\\overline|[{}]", "", text)
    return re.sub(r"\s+", " ", re.sub(r"\bm\s*(?=angle\b)", " ", text)).strip()


def read_text(text: str) -> tuple[Form, ...]:
    """Read what a text states; nothing of what it asks."""
    statements, _ = _parted(plain(text))
    forms: list[Form] = []
    # A figure may be named in the question alone: Find the area of rectangle ABCD.
    for kind, corners in _FIGURES.items():
        named = re.findall(rf"\b{kind} ([A-Z]{{{corners}}})\b", plain(text), re.IGNORECASE)
        named += re.findall(rf"\b([A-Z]{{{corners}}}) is an? (?:\w+ )?{kind}\b", plain(text))
        forms += [form(kind.capitalize(), *letters) for letters in dict.fromkeys(named)]
    right = re.findall(r"\bright(?: angle|-angled) at (?:vertex |point )?([A-Z])\b", statements)
    right += re.findall(r"\bright triangle [A-Z]{3} with right angle ([A-Z])\b", statements)
    for at in right:
        triangle = next((f.points for f in forms if f.name == "Triangle" and at in f.points), None)
        if triangle:
            one, two = (point for point in triangle if point != at)
            forms.append(form("RightAngle", angle(one + at + two)))
    for pattern, made in _RULES:
        for found in re.finditer(pattern, statements):
            forms += made(found)
    return tuple(dict.fromkeys(forms))


def read_goal(text: str) -> Form:
    """Read what a text asks for.

    Raises:
        ValueError: it asks for nothing that is known; shows what was taken for the question.
    """
    _, asked = _parted(plain(text))
    if found := re.search(r"\b(area|perimeter|circumference|radius|diameter) of (?:the )?(\w+) ([A-Z]{1,4})\b", asked):
        what, kind, points = found.groups()
        return form("Find", form(f"{what.capitalize()}Of", form(kind.capitalize(), *points)))
    if found := re.search(r"\bits (area|perimeter)\b", asked):
        figure = next((f for f in read_text(text) if f.name.casefold() in _FIGURES), None)
        if figure is not None:
            return form("Find", form(f"{found[1].capitalize()}Of", figure))
    if found := re.search(r"\bangle ([A-Z]{3})\b", asked):
        return form("Find", form("MeasureOf", angle(found[1])))
    if found := re.search(r"(?<![A-Z])([A-Z]{2})(?![A-Z])", asked):
        return form("Find", form("LengthOf", line(found[1])))
    if found := re.search(r"\b(?:find|value of|what is|solve for) ([a-z])\b", asked, re.IGNORECASE):
        return form("Find", found[1])
    raise ValueError(f"no goal in {asked[-80:]!r}: ask for an angle, a length, an area, a perimeter or a variable")


def _parted(text: str) -> tuple[str, str]:
    """What a text states, and the part from its question's first word on."""
    starts = [m.start() for m in re.finditer(r"\b(find|what|how|calculate|determine|solve)\b", text, re.IGNORECASE)]
    return (text[: starts[-1]], text[starts[-1] :]) if starts else (text, text)

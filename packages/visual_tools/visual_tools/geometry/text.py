"""A problem's text to statements and goal, by patterns: ``AB = 5``, ``triangle ABC``, ``find the length of AC``.

Texts of geometry problems use few turns of phrase. A sentence that names points or numbers is read whole: a word, a
number or a sign in it that no pattern takes and that isn't known to change nothing (``side``, ``given that``) is
refused by name, for ``arc AB = 60`` says nothing of the line AB. Sentences without points and numbers are left out.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable
from dataclasses import dataclass

from visual_tools.geometry.arithmetic import compact
from visual_tools.geometry.forms import Form, angle, form, length, line, measure
from visual_tools.geometry.notation import LENGTHS, plain

_NUMERAL = r"\d[\d.,'’]*[\d'’]|\d|\.\d+"
_LETTER = r"(?<![A-Za-z])[b-zα-ω](?![A-Za-z])|(?<![A-Za-z])a(?=\s*[-+−*/=°^])"
_PIECE = (
    rf"{_NUMERAL}|{_LETTER}|(?<=\d)[a-z](?![A-Za-z])|\\(?:[dt]?frac|sqrt|pi|times|cdot|div|left|right)(?![a-z])|"
    r"(?<![A-Za-z])(?:pi|sqrt)(?![A-Za-z])|\*\*|[-+−–*/^×·÷√π½⅓⅔¼¾⅕⅛⅜⅝⅞⁰¹²³⁴⁵⁶⁷⁸⁹⁻%(){}]|\s+"
)
_VALUE = rf"(?=[^\s)}}])((?:{_PIECE})+)"
"""Arithmetic, as far as its signs go; whether all of it can be read is seen later. The article a is no variable."""
_UNIT = "|".join(sorted(LENGTHS, key=len, reverse=True))
_LENGTH = rf"{_VALUE}(?P<unit>{_UNIT})?(?![A-Za-z])"
_DEGREES = rf"{_VALUE}(?:°|degrees?\b)?"
_FIGURES = {"triangle": 3, "rectangle": 4, "square": 4, "parallelogram": 4, "rhombus": 4, "trapezoid": 4}
_MEASURED = {"area": (*_FIGURES, "circle"), "perimeter": tuple(_FIGURES)} | dict.fromkeys(
    ("circumference", "radius", "diameter"), ("circle",)
)
"""What is measured → of which figures."""

Made = Callable[[re.Match[str]], list[Form]]


def _points(found: re.Match[str]) -> list[Form]:
    """Several letters on one circle: ``A, B and C lie on circle O``."""
    return [form("PointLiesOnCircle", point, form("Circle", found[2])) for point in re.findall("[A-Z]", found[1])]


def _measured(found: re.Match[str]) -> list[Form]:
    return [form("Equals", _measure_of(found[1], found[2], found[3]), compact(found[4]))]


_OF = r"(area|perimeter|circumference|radius|diameter) of (?:the )?(?:isosceles |equilateral )?(\w+) ([A-Z]{1,4})\b"
_RULES: tuple[tuple[str, Made], ...] = tuple(
    (pattern, made)
    for pattern, made in (
        (
            rf"\b(?:m\s*)?angle\s+([A-Z]{{3}})\s*(?:=|is|measures|equals)\s*{_DEGREES}",
            lambda f: [measure(f[1], compact(f[2]))],
        ),
        (
            rf"(?<!angle )\b([A-Z]{{2}})\s*(?:=|is|equals|has (?:a )?length)\s*{_LENGTH}",
            lambda f: [length(f[1], compact(f[2]))],
        ),
        (
            r"\b([A-Z]{2})(?=\s*=\s*([A-Z]{2})\b)",
            lambda f: [form("Equals", *(form("LengthOf", line(f[i])) for i in (1, 2)))],
        ),
        (
            r"\bangle\s+([A-Z]{3})(?=\s*=\s*angle\s+([A-Z]{3})\b)",
            lambda f: [form("Equals", *(form("MeasureOf", angle(f[i])) for i in (1, 2)))],
        ),
        (
            r"\b([A-Z]{2}) (?:is )?parallel to (?:line )?([A-Z]{2})\b",
            lambda f: [form("Parallel", line(f[1]), line(f[2]))],
        ),
        (
            r"\b([A-Z]{2}) (?:is )?perpendicular to (?:line )?([A-Z]{2})\b",
            lambda f: [form("Perpendicular", line(f[1]), line(f[2]))],
        ),
        (r"\b([A-Z]) (?:is the )?midpoint of ([A-Z]{2})\b", lambda f: [form("IsMidpointOf", f[1], line(f[2]))]),
        (
            r"\b([A-Z]) (?:lies|is) on (?:line |side )?([A-Z]{2})\b",
            lambda f: [form("PointLiesOnLine", f[1], line(f[2]))],
        ),
        (r"(?<!circle )\b((?:[A-Z](?:, and |, | and )?)+) (?:lie|lies|are|is) on (?:the )?circle ([A-Z])\b", _points),
        (
            r"\b([A-Z]{2}) is (?:a|the) diameter of (?:the )?circle ([A-Z])\b",
            lambda f: [form("IsDiameterOf", line(f[1]), form("Circle", f[2]))],
        ),
        (
            r"\b([A-Z]{2}) is (?:a )?tangent to (?:the )?circle ([A-Z])(?: at ([A-Z]))?\b",
            lambda f: [form("Tangent", line(f[1]), form("Circle", f[2]))],
        ),
        (
            r"\b([A-Z]{2}) bisects angle ([A-Z]{3})\b",
            lambda f: [form("BisectsAngle", line(f[1]), angle(f[2]))],
        ),
        (rf"\b{_OF} (?:is|=|equals) {_LENGTH}", _measured),
        (r"\bisosceles triangle ([A-Z]{3})\b", lambda f: [form("Isosceles", form("Triangle", *f[1]))]),
        (r"\bequilateral triangle ([A-Z]{3})\b", lambda f: [form("Equilateral", form("Triangle", *f[1]))]),
        (
            r"\b([A-Z]{3}) is an? (isosceles|equilateral) triangle\b",
            lambda f: [form(f[2].capitalize(), form("Triangle", *f[1]))],
        ),
        (
            r"\btriangle ([A-Z]{3}) is (isosceles|equilateral)\b",
            lambda f: [form(f[2].capitalize(), form("Triangle", *f[1]))],
        ),
        # These state nothing.
        (rf"\bin (?P<unit>{_UNIT})(?![A-Za-z])", lambda f: []),
        (r"\bangle [A-Z]{1,3} is not (?:named|given|known|shown)\b", lambda f: []),
        (r"\bpoints? (?:[A-Z](?:, and |, | and )?)+(?= (?:lie|lies|are|is) on\b)", lambda f: []),
        (
            r",? ?(?:(?:rounded|[Rr]ound(?: your answers?)?) )?to (?:the nearest (?:whole number|integer|tenth|"
            r"hundredth|thousandth|degree)|one decimal place|(?:two|three) decimal places)(?:,? if necessary)?",
            lambda f: [],
        ),
    )
)

_RIGHT = (
    r"\bright(?: angle|-angled) at (?:vertex |point )?([A-Z])\b|"
    r"\bright triangle [A-Z]{3} with right angle ([A-Z])\b"
)
_FILLERS = (
    "a an the in of and has have with is are given that if where when as shown figure diagram below above we know side "
    "sides segment segments line lines length lengths measure point points vertex its it consider let so then suppose "
    "following"
)
_ASKERS = (
    "find what how calculate determine solve for long large big many much degrees size value please measures to "
    "compute evaluate"
)
_PASSED = set(_FILLERS.split())
"""Words that change nothing beside what was read."""
_ASKING = {*_PASSED, *_ASKERS.split()}
"""Those of a question."""
_NAME = r"(?<![A-Za-z\\])[A-Z]{1,6}(?![A-Za-z])"


def _measure_of(what: str, kind: str, points: str) -> Form:
    corners = 1 if kind == "circle" else _FIGURES.get(kind.lower())
    if kind.lower() not in _MEASURED[what] or corners != len(points):
        raise ValueError(f"the {what} of {f'{kind} {points}'!r} isn't known: only of {', '.join(_MEASURED[what])}")
    return form(f"{what.capitalize()}Of", form(kind.capitalize(), *points))


def read_text(text: str) -> tuple[Form, ...]:
    """Read what a text states; nothing of what it asks.

    Raises:
        ValueError: a sentence with points or numbers has something that isn't understood; names it.
    """
    stated, asked = _parted(plain(text))
    said, wanted = _both(stated, asked, plain(text))
    if not said.forms and not wanted.forms and not is_geometry(text):
        return ()
    # That a triangle is right is known once it is known where.
    right = {"right"} if any(one.name == "RightAngle" for one in said.forms) else set()
    _all_read(stated, said.left(stated), _PASSED | right)
    goal, rest = _goal(asked, wanted, (*said.forms, *wanted.forms))
    if goal is not None or re.search(r"\d|=", rest):
        _all_read(asked, rest, _ASKING)
    return _ordered((*said.forms, *wanted.forms))


def read_goal(text: str) -> Form:
    """Read what a text asks for.

    Raises:
        ValueError: it asks for nothing that is known, or for more; names what isn't understood.
    """
    stated, asked = _parted(plain(text))
    asked = asked or stated
    said, wanted = _both(stated, asked, plain(text))
    goal, rest = _goal(asked, wanted, (*said.forms, *wanted.forms))
    if goal is None:
        raise ValueError(f"no goal in {asked[-80:]!r}: ask for an angle, a length, an area, a perimeter or a variable")
    _all_read(asked, rest, _ASKING)
    return goal


def is_geometry(text: str) -> bool:
    """Tell whether a text speaks of points or figures, rather than of numbers and variables alone."""
    words = r"angles?|triangles?|circles?|radius|diameter|perimeter|circumference|rectangles?|squares?|parallelograms?"
    return bool(re.search(rf"(?<![A-Za-z\\])[A-Z]{{2,6}}(?![A-Za-z])|\b(?:{words})\b(?! root)", plain(text)))


Span = tuple[int, int]


@dataclass(frozen=True)
class _Found:
    """What patterns find in a text: forms, where figures are named, and where anything else is stated."""

    forms: tuple[Form, ...]
    figures: tuple[Span, ...]
    stated: tuple[Span, ...]
    units: frozenset[str]

    def left(self, text: str, *more: Span) -> str:
        """The text with blanks where something was found."""
        return _blank(text, (*self.figures, *self.stated, *more))


def _both(stated: str, asked: str, whole: str) -> tuple[_Found, _Found]:
    """What is found in a problem's statements and in its question."""
    said, wanted = _read(stated, whole), _read(asked, whole)
    units = sorted(said.units | wanted.units)
    if len(units) > 1:
        raise ValueError(f"{' and '.join(map(repr, units))} in one text: write all lengths in one unit")
    return said, wanted


def _blank(text: str, spans: Iterable[Span]) -> str:
    left = list(text)
    for start, end in spans:
        left[start:end] = " " * (end - start)
    return "".join(left)


def _read(text: str, whole: str) -> _Found:
    """Find all that patterns find in a text.

    Args:
        text: a part of a problem.
        whole: the problem; a right angle's triangle may be named anywhere in it.

    Raises:
        ValueError: a value that can't be read.
    """
    forms, figures = _figures(text)
    triangles = [f.points for f in _figures(whole)[0] if f.name == "Triangle"]
    stated: list[Span] = []
    units = set()
    for found in re.finditer(_RIGHT, text):
        at = found[1] or found[2]
        triangle = next((points for points in triangles if at in points), None)
        if triangle:
            one, two = (point for point in triangle if point != at)
            forms.append(form("RightAngle", angle(one + at + two)))
            stated.append(found.span())
    for pattern, made in _RULES:
        for found in re.finditer(pattern, text):
            new = made(found)
            forms += new
            ends = [found.end(group) for group in range(1, found.re.groups + 1) if found[group]]
            kind = figures if any(one.name in ("Isosceles", "Equilateral") for one in new) else stated
            kind.append((found.start(), max([found.end(), *ends])))
            units.add(LENGTHS.get(found.groupdict().get("unit") or "", ""))
    return _Found(tuple(forms), tuple(figures), tuple(stated), frozenset(units - {""}))


def _figures(text: str) -> tuple[list[Form], list[Span]]:
    """Figures that are named, and where."""
    forms, spans = [], []
    for kind, corners in _FIGURES.items():
        named = rf"\b(?i:{kind}) ([A-Z]{{{corners}}})\b"
        said = rf"\b([A-Z]{{{corners}}}) is an? (?:acute |obtuse |scalene |right |isosceles |equilateral )?{kind}\b"
        for found in [*re.finditer(named, text), *re.finditer(said, text)]:
            forms.append(form(kind.capitalize(), *found[1]))
            # What kind of triangle it is says a rule of its own, or nobody: then it is left, and refused.
            kinds = re.search(r"\b(?:right|isosceles|equilateral) ", found[0])
            spans += [(found.start(), found.start() + kinds.start())] if kinds else [found.span()]
            spans += [(found.start() + kinds.end(), found.end())] if kinds else []
    return forms, spans


def _ordered(forms: Iterable[Form]) -> tuple[Form, ...]:
    """Figures first, then right angles, then all else, each once."""
    first = [one for one in forms if one.name.lower() in _FIGURES]
    return tuple(dict.fromkeys((*first, *(one for one in forms if one not in first))))


def _goal(asked: str, wanted: _Found, forms: Iterable[Form]) -> tuple[Form | None, str]:
    """What is asked for, and the question without it and without all that it states."""
    without = _blank(asked, wanted.stated)
    figure = next((f for f in forms if f.name.casefold() in _FIGURES), None)
    tries: tuple[tuple[str, Callable[[re.Match[str]], Form | None]], ...] = (
        (_OF, lambda f: form("Find", _measure_of(f[1], f[2], f[3]))),
        (
            r"\bits (area|perimeter)\b",
            lambda f: form("Find", form(f"{f[1].capitalize()}Of", figure)) if figure else None,
        ),
        (r"\bangle ([A-Z]{3})\b", lambda f: form("Find", form("MeasureOf", angle(f[1])))),
        (r"(?<![A-Z])([A-Z]{2})(?![A-Z])", lambda f: form("Find", form("LengthOf", line(f[1])))),
        (rf"(?i:\b(?:find|value of|what is|solve for)) {_VALUE}", lambda f: form("Find", compact(f[1]))),
    )
    for pattern, made in tries:
        if (found := re.search(pattern, without)) and (goal := made(found)) is not None:
            return goal, wanted.left(asked, found.span())
    return None, wanted.left(asked)


def _all_read(text: str, left: str, passed: set[str]) -> None:
    """Refuse the first thing that was left of a sentence with points or numbers."""
    start = 0
    for end in [*(found.end() for found in re.finditer(_SENTENCE, text)), len(text)]:
        sentence, rest = text[start:end], left[start:end]
        start = end
        # A at a sentence's start is the article, unless a verb follows: "A circle has …", but "A lies on BC".
        rest = re.sub(r"^\s*A (?!(?:is|lies|and|are)\b)(?=[a-z])", "  ", rest)
        if not re.search(rf"\d|=|{_NAME}", re.sub(r"^\s*A (?=[a-z])", "  ", sentence)):
            continue
        if asks := re.match(r"\s*(?:is|are|does|do|can|has) ", sentence, re.IGNORECASE):
            raise ValueError(f"{asks[0].strip()!r} asks whether it is so: {sentence.strip()[:100]!r}; ask for a value")
        for found in re.finditer(r"[A-Za-z\\]+(?:['’][a-z]+)?|\d[\d.,'’]*(?<![.,])|[^\s,:;.?()\"]", rest):
            if found[0].lower() not in passed or (found[0].isupper() and found[0] != "A"):
                raise ValueError(f"{found[0]!r} isn't understood in {sentence.strip()[:100]!r}; say it more plainly")


_SENTENCE = r"(?<!\d)\.(?!\d)|(?<=\d)\.(?=\s|$)|[;?\n]"


def _parted(text: str) -> tuple[str, str]:
    """What a text states, and the part from its question's first word on."""
    starts = [m.start() for m in re.finditer(r"\b(find|what|how|calculate|determine|solve)\b", text, re.IGNORECASE)]
    return (text[: starts[-1]], text[starts[-1] :]) if starts else (text, "")

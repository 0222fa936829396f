"""Equations in a text, solved: ``2x + 3 = 11, find x``, also two of them together, and plain arithmetic.

All of the text is read: words that only lead up to an equation are passed over, some stand for signs (``plus``,
``half of``), and any other word, number or sign is refused by name, since it may change what is asked.
"""

from __future__ import annotations

import re
from fractions import Fraction
from itertools import pairwise
from typing import Any

import sympy as sp

from visual_tools.geometry.arithmetic import exact, expression
from visual_tools.geometry.notation import pieces

_SPOKEN = (
    (r"=\s*(?:\?+|_+)\s*(?=$|[.;\n])", " "),
    (r"\bis (?:equal to|equals)\b|\bequals\b|\bequal to\b|(?<=\b[a-zA-Z]) is (?=\s*-?[\d.])", "="),
    (r"\bplus\b", "+"),
    (r"\bminus\b", "-"),
    (r"(?<=[\w)]) (?:times|multiplied by) (?=[-\w(])", "*"),
    (r"\bdivided by\b", "/"),
    (r"\bper ?cent\b", "%"),
    (r"\bhalf of\b", "1/2 of"),
    (r"\bsquare root of\b", "sqrt "),
    (r"(?<=[\w)]) squared\b", "^2"),
    (r"(?<=[\w)]) cubed\b", "^3"),
    (r"\bdegrees?\b", "°"),
    # 3 x 4: a letter between two numbers with spaces around it is the sign of a product.
    (r"(?<=\d) [xX] (?=\d)", "*"),
)
"""Words and what they say in signs."""

_LEADING = re.compile(
    r"\b(?:(?:the )?(?:value|result|answer|solution)s? (?:of|for|to)|what(?:'s|’s|s| is| are)?|how much is|"
    r"solve|find|calculate|compute|evaluate|simplify|determine|work out|given that|given|if|when|where|then|let|"
    r"suppose|that|such|the|this|these|following|(?:system of )?equations?|expression|please|for|and|so|"
    r"variable|unknown|linear|quadratic|simultaneous|equals|we have|have|satisf(?:y|ies)|value)\b",
    re.IGNORECASE,
)
"""Words that lead up to an equation and change nothing in it; they part it from others."""

_END = re.compile(
    r"[;\n]|,(?!\d)|(?<!\d)\.(?!\d)|(?<=\d)\.(?=\s|$|[A-Za-z;])|\?(?=\s*(?:$|[A-Za-z;]))|(?<=[A-Za-z]):(?=\s)"
)

Stated = tuple[list[Any], list[Any]]
"""Expressions that are zero, and expressions that are asked for."""


def solve_equations(text: str) -> Fraction | float:
    """Solve a text's equations for what it asks for, or work out its arithmetic.

    Raises:
        ValueError: something in it isn't understood, no equation or arithmetic is there, or none or several values
            solve it; says which.
    """
    equations, asked = _stated(text)
    if len(asked) > 1:
        raise ValueError(f"{' and '.join(repr(str(one)) for one in asked)} both asked in {text[:60]!r}: ask for one")
    if not equations:
        return exact(asked[0], text)
    symbols = sorted({symbol for equation in equations for symbol in equation.free_symbols}, key=str)
    if not symbols or (not asked and len(symbols) > 1):
        raise ValueError(f"{text[:60]!r}: say which of {', '.join(map(str, symbols)) or 'no variables'} to find")
    sought = asked[0] if asked else symbols[0]
    if not sought.free_symbols or sought.free_symbols - set(symbols):
        raise ValueError(f"'{sought}' is asked, but the equations of {text[:60]!r} say nothing of it")
    values = _values(equations, symbols, sought, text)
    if len(values) != 1:
        raise ValueError(f"{text[:60]!r}: {len(values)} values of {sought} solve it, one was wanted")
    return exact(values[0], text)


def _values(equations: list[Any], symbols: list[Any], sought: Any, text: str) -> list[Any]:
    """What is sought may be; of several real values only those of positive variables, if there are any."""
    try:
        solutions = sp.solve(equations, symbols, dict=True)
    except RuntimeError as error:  # sympy's "no algorithms are implemented to solve equation"
        raise ValueError(f"{text[:60]!r}: equations of this kind aren't solved; ask for simpler ones") from error
    found: dict[Any, bool] = {}
    for solution in solutions:
        value = sp.simplify(sought.subs(solution))
        if value.is_real:
            positive = all(solution.get(symbol, symbol).is_positive for symbol in sought.free_symbols)
            found[value] = found.get(value, False) or positive
    positive_ones = [value for value, positive in found.items() if positive]
    return positive_ones if len(found) > 1 and positive_ones else list(found)


def _stated(text: str) -> Stated:
    """Read all clauses of a text."""
    spoken = text
    for pattern, signs in _SPOKEN:
        spoken = re.sub(pattern, signs, spoken, flags=re.IGNORECASE)
    clauses = [part for part in _END.split(_LEADING.sub(";", spoken)) if part.strip(" \t.~")]
    equations, asked, units = [], [], set()
    for clause in clauses:
        sides = re.sub(r"^\s*\\\[|\\\]\s*$|\\\(|\\\)", " ", clause).split("=")
        if len(sides) > 1 and not all(side.strip() for side in sides):
            raise ValueError(f"'=' has nothing on one side in {clause.strip()[:60]!r}; write it like 2x+3 = 11")
        units |= {unit for side in sides for unit in _units(side)}
        read = [expression(side) for side in sides]
        equations += [left - right for left, right in pairwise(read)]
        asked += read if len(sides) == 1 else []
    if len(units) > 1:
        raise ValueError(f"{' and '.join(map(repr, sorted(units)))} in one question {text[:60]!r}: use one unit")
    worked = any(mark in clause for clause in clauses for mark in "+-−–*/^×·⋅÷√%½¼¾°|(\\⁰¹²³⁴⁵⁶⁷⁸⁹") or "sqrt" in spoken
    if not equations and (not asked or (len(asked) == 1 and not worked)):
        raise ValueError(f"{text[:60]!r} holds no equation and no arithmetic that could be worked out")
    return equations, asked


def _units(side: str) -> set[str]:
    """Units of one side; a degree in a sine is none."""
    read = pieces(side)
    degrees = "°" in read.tokens and not {"sin", "cos", "tan"} & set(read.tokens)
    return {*read.units, "°"} if degrees else set(read.units)

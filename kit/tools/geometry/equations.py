"""Equations in a text, solved: ``2x + 3 = 11, find x``, also two of them together, and plain arithmetic."""

from __future__ import annotations

import re

import sympy as sp

from kit.tools.geometry.facts import expression

_SIDE = r"[\da-z(][\da-z\s.+*/()^-]*"
_EQUATION = re.compile(rf"(-?\s*{_SIDE})=\s*(-?\s*{_SIDE})")
_WORD = re.compile(r"\b(?!sqrt\b|pi\b)[A-Za-z]{2,}\b")


def solve_equations(text: str) -> float:
    """Solve a text's equations for the variable it asks for, or work out its arithmetic.

    Raises:
        ValueError: no equation or arithmetic is there, or none or several values solve it; says which.
    """
    # Words part equations from each other; single letters are variables.
    parts = re.split(r"[,;?]|\.(?!\d)", _WORD.sub(";", text.replace("−", "-").replace("×", "*").replace("÷", "/")))
    pairs = [found.groups() for part in parts if (found := _EQUATION.search(part))]
    equations = [expression(left.strip()) - expression(right.strip()) for left, right in pairs]
    if not equations:
        sums = [part.strip() for part in parts if re.search(r"\d", part) and re.search(r"[-+*/^]", part)]
        if len(sums) != 1:
            raise ValueError(f"{text[:60]!r} holds no equation and no arithmetic that could be worked out")
        return _real(expression(sums[0]), text)
    symbols = sorted({symbol for equation in equations for symbol in equation.free_symbols}, key=str)
    last = re.findall(r"\b([a-z])\b(?!\s*[=+*/^-])", text)
    wanted = sp.Symbol(last[-1]) if last and sp.Symbol(last[-1]) in symbols else None
    if not symbols or (wanted is None and len(symbols) > 1):
        raise ValueError(f"{text[:60]!r}: say which of {', '.join(map(str, symbols)) or 'no variables'} to find")
    sought = wanted or symbols[0]
    values = {value[sought] for value in sp.solve(equations, symbols, dict=True) if sought in value}
    real = [value for value in values if value.is_real]
    if len(real) > 1 and any(value > 0 for value in real):
        real = [value for value in real if value > 0]
    if len(real) != 1:
        raise ValueError(f"{text[:60]!r}: {len(real)} values of {sought} solve it, one was wanted")
    return _real(real[0], text)


def _real(value: sp.Expr, text: str) -> float:
    if not value.is_real or not value.is_finite:
        raise ValueError(f"{text[:60]!r} comes to {value}, which is no number")
    return float(value)

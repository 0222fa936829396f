"""Solve a problem given in logic forms: theorems as equations, solved one unknown at a time.

The search is the plainest that works, lowest first: an equation with one unknown is solved and its value put in
everywhere; where none is left, all linear equations are solved together. A triangle with equal sides gets equal angles
as soon as that is known.

Worked example: ``Triangle(A, B, C); RightAngle(Angle(A, B, C)); Equals(LengthOf(Line(A, B)), 3);
Equals(LengthOf(Line(B, C)), 4)``. The law of cosines at B, with cos 90° = 0, is AC² = 3² + 4²: AC is 5.
"""

from __future__ import annotations

from collections.abc import Iterable
from fractions import Fraction
from itertools import combinations
from typing import Any

import sympy as sp

from visual_tools.geometry.arithmetic import exact
from visual_tools.geometry.facts import Equation, Facts
from visual_tools.geometry.forms import Form

ROUNDS, MOST_EQUATIONS = 40, 400
"""Rounds of solving, and equations of a problem, at most: a diagram of a dozen points stays within."""


class Unsolved(ValueError):
    """A problem that these theorems don't solve; the message says what was found on the way."""


def solve(forms: Iterable[Form], goal: Form) -> Fraction | float:
    """Solve for a goal.

    Args:
        forms: what is stated, in logic forms.
        goal: ``Find(…)``, or what is to be found.

    Raises:
        Unsolved: what is stated doesn't tell it, by the theorems here.
        ValueError: something that has no value is asked for, or an expression that can't be read.
    """
    wanted = goal.args[0] if goal.name == "Find" and len(goal.args) == 1 else goal
    facts = Facts((*forms, Form("Find", (wanted,))))
    sought = facts.value(wanted)
    equations = [*facts.equations, *theorems(facts)]
    if len(equations) > MOST_EQUATIONS:
        raise Unsolved(f"{len(equations)} equations, {MOST_EQUATIONS} at most: state less")
    known: dict[Any, Any] = {}
    for _ in range(ROUNDS):
        if not (left := sp.sympify(sought).subs(known)).free_symbols:
            return exact(left, str(goal))
        equations = [one for equation in equations if (one := equation.subs(known)) != 0]
        equations += _equal_sides(facts, known, equations)
        found = _one_unknown(equations) or _linear(equations)
        if not found:
            break
        known = {symbol: value.subs(found) for symbol, value in known.items()} | found
    told = ", ".join(f"{symbol} = {float(value):.4g}" for symbol, value in known.items() if not value.free_symbols)
    raise Unsolved(f"{wanted} doesn't follow; found: {told or 'nothing'}")


def theorems(facts: Facts) -> list[Equation]:
    """Write down what holds in every triangle, on every line and circle of the problem."""
    made: list[Equation] = []
    size, angle = facts.length, facts.angle
    for a, b, c in map(tuple, facts.triangles()):
        made.append(angle(b + a + c) + angle(a + b + c) + angle(a + c + b) - 180)
        for p, q, r in ((a, b, c), (b, a, c), (c, a, b)):
            cosine = sp.cos(angle(q + p + r) * sp.pi / 180)
            made.append(size(p + q) ** 2 + size(p + r) ** 2 - 2 * size(p + q) * size(p + r) * cosine - size(q + r) ** 2)
        made.append(
            size(b + c) * sp.sin(angle(a + b + c) * sp.pi / 180) - size(a + c) * sp.sin(angle(b + a + c) * sp.pi / 180)
        )
    points = sorted({point for side in facts.sides for point in side})
    for a, d, c in facts.between:
        for x in points:
            if x in (a, d, c):
                continue
            if frozenset((d, x)) in facts.sides:
                made.append(angle(a + d + x) + angle(x + d + c) - 180)
                if {frozenset((a, x)), frozenset((x, c))} <= facts.sides:
                    made.append(angle(a + x + d) + angle(d + x + c) - angle(a + x + c))
    for middle, rim in facts.rims.items():
        rim = list(dict.fromkeys(rim))
        made += [size(middle + point) - facts.radius(middle) for point in rim]
        for a, b in combinations(rim, 2):
            for c in rim:
                if c not in (a, b) and {frozenset((a, c)), frozenset((b, c))} <= facts.sides:
                    made.append(angle(a + middle + b) - 2 * angle(a + c + b))
    return made


def _one_unknown(equations: list[Equation]) -> dict[Any, Any]:
    """The value of the first unknown that an equation tells alone, and only one value."""
    for equation in sorted(equations, key=sp.count_ops):
        if len(equation.free_symbols) == 1:
            (symbol,) = equation.free_symbols
            values = {_plain(value) for value in _roots(equation, symbol)}
            if len(values) == 1:
                return {symbol: values.pop()}
    return {}


def _roots(equation: Equation, symbol: Any) -> list[Any]:
    """Real values that make it zero: positive, and less than 180 for an angle."""
    most = 180 if str(symbol).startswith("a_") else sp.oo
    if symbol.name[:2] in ("l_", "a_", "r_"):
        turned = equation.has(sp.sin)
        # Of an angle a sine alone says too little: two angles have it.
        found = [] if turned and most == 180 else sp.solve(equation, symbol)
        return [value for value in found if value.is_real and 0 < value < most]
    return [value for value in sp.solve(equation, symbol) if value.is_real]


def _plain(value: Any) -> Any:
    """A value as it is if it is short, else as a decimal number: cosines of cosines grow without end."""
    return value if value.is_Rational or sp.count_ops(value) < 4 else sp.N(value, 15)


def _linear(equations: list[Equation]) -> dict[Any, Any]:
    """What all linear equations tell together: values, and unknowns that are equal."""
    linear = [equation for equation in equations if _is_linear(equation)]
    symbols = sorted({symbol for equation in linear for symbol in equation.free_symbols}, key=str)
    if not symbols:
        return {}
    matrix, constants = sp.linear_eq_to_matrix(linear, symbols)
    solved = sp.linsolve((matrix, constants), symbols)
    if not solved:
        raise Unsolved("what is stated contradicts itself")
    values = dict(zip(symbols, next(iter(solved)), strict=True))
    # Of equal unknowns one stands for the other; longer sums are left as they are.
    return {s: v for s, v in values.items() if v != s and (not v.free_symbols or v.is_Symbol)}


def _is_linear(equation: Equation) -> bool:
    symbols = equation.free_symbols
    return bool(symbols) and not equation.has(sp.sin, sp.cos) and sp.Poly(equation, *symbols).total_degree() == 1


def _equal_sides(facts: Facts, known: dict[Any, Any], equations: list[Equation]) -> list[Equation]:
    """Equal angles opposite equal sides, and the other way round, as far as either is known by now."""
    made = []
    for three in facts.triangles():
        for a, b in combinations(three, 2):
            c = next(point for point in three if point not in (a, b))
            sides = [sp.sympify(facts.length(pair)).subs(known) for pair in (a + c, b + c)]
            corners = [sp.sympify(facts.angle(name)).subs(known) for name in (a + b + c, b + a + c)]
            if sides[0] == sides[1] and corners[0] != corners[1]:
                made.append(corners[0] - corners[1])
            if corners[0] == corners[1] and sides[0] != sides[1]:
                made.append(sides[0] - sides[1])
    return [one for one in made if one not in equations]

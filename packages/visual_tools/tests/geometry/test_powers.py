"""Powers of powers: refused before a solver multiplies them out; ordinary ones are left alone."""

from __future__ import annotations

import pytest
import sympy as sp

from visual_tools.geometry.facts import expression
from visual_tools.geometry.tools import SolveForms, SolveText
from visual_tools.tool import run


@pytest.mark.parametrize(
    "text",
    [
        "(((x+1)^10)^10)^10",
        "((x+1)^10)^10",
        "((2x)^9)^9",
        "((x+y)^8)^4",
        "((x*y)^5)^5",
        "(x^10*y^10)^2",
        "((1/x)^10)^10",
        "((x+1)^(0-10))^10",
        "(sqrt(x+1)^10)^10",
        "((x^2.54)^2)",
        "(x^(1/7))^(1/7)",
        "1+((x+1)^10)^10/2",
    ],
)
def test_powers_of_powers_are_refused(text: str) -> None:
    with pytest.raises(ValueError, match="its powers come to a degree above 30; write it in lower ones"):
        expression(text)
    for tool, arguments in (
        (SolveText(), {"question": f"{text} = 2, find x"}),
        (SolveForms(), {"forms": f"Equals(LengthOf(Line(A, B)), {text})", "goal": "LengthOf(Line(A, B))"}),
    ):
        seen = run(tool, arguments, {})
        assert seen.status == "error", seen


@pytest.mark.parametrize(
    "text", ["((((9^10)^10)^10)^10)^10", "(((((9^10)^10)^10)^10)^10)^10+1", "((((1/9)^10)^10)^10)^10", "((9^10)^10)^10"]
)
def test_numbers_that_are_infinite_in_a_float_are_refused(text: str) -> None:
    with pytest.raises(ValueError, match="a power has more than 300 digits; ask for a lower one"):
        expression(text)


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("(x^2)^3", 64),
        ("(x+1)^10", 59049),
        ("x^10+x^5", 1056),
        ("(x*y)^5", 7776),
        ("((x+1)^2)^5", 59049),
        ("x^1.5", 2.8284),
        ("x^0.5", 1.4142),
        ("(sqrt(x)+1)^4", 33.9706),
        ("(2x)^(0-2)", 0.0625),
        ("((2^10)^10)^9", 2.0**900),
        ("10^10", 1e10),
        ("(1/2)^10", 0.0009765625),
        ("(x/x)^10", 1),
    ],
)
def test_ordinary_powers_are_read(text: str, value: float) -> None:
    read = expression(text).subs({sp.Symbol("x"): 2, sp.Symbol("y"): 3})
    assert float(read) == pytest.approx(value, rel=1e-4)

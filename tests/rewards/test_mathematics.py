"""Formulas by math-verify: what it is asked about, and that it is asked about nothing else."""

from __future__ import annotations

import logging
from fractions import Fraction

import pytest

from kit.rewards.mathematics import LONGEST, compare, is_formula, value
from kit.rewards.notation import plain


@pytest.mark.parametrize(
    ("answer", "gold", "same"),
    [
        ("2√221", r"2 \sqrt { 221 }", True),
        ("2*sqrt(221)", r"2 \sqrt { 221 }", True),
        (r"\sqrt{12}", "2√3", True),
        (r"\frac{9}{\sqrt{3}}", r"3 \sqrt { 3 }", True),
        ("1024", "2^{10}", True),
        ("3 × 10^5", "300000", True),
        ("(x+1)(x-1)", "x²-1", True),
        ("1 - 2x", "-2x+1", True),
        ("-2√3", "2√3", False),
        ("x=3", "x=-3", False),
        ("y=3", "x=3", False),
        ("x<3", "x>3", False),
        ("10^2", "10^{-2}", False),
        ("10m", "10", False),  # an m may be metres, and a variable
        ("2.5", "2 5", None),
        ("2/10/1986", "1/5/1986", None),  # dates aren't divided
        ("cat", "act", None),
        ("3x-", "3x", None),
        ("3, x", "x, 3", None),
    ],
)
def test_what_is_the_same_formula(answer: str, gold: str, same: bool | None) -> None:
    assert compare(plain(answer), plain(gold)) is same


@pytest.mark.parametrize(
    "text",
    [
        *(
            "9^9^9",
            "9^{9^{9}}",
            "(((x+1)^10)^10)^10",
            "(2^9)^9",
            "2^100",
            "9^40+9^40",
            "x^4+x^5",
            "(x+y+z+a)^2",
            "x^y^z",
        ),
        *("((((((x))))))", "(x", "x)", "([x)]", "+" * LONGEST, "x" + "+1" * LONGEST, "9" * 16 + "x", "√" * 7 + "2"),
        *("", "x y", "sin x", "5!", r"\int x", "x+", "*x", "x==3", "9**9**9**9"),
    ],
)
def test_what_may_take_long_or_is_no_whole_formula_is_not_computed(text: str) -> None:
    assert not is_formula(text) and value(text) is None and compare(text, "x+1") is None


@pytest.mark.parametrize(
    ("text", "number"),
    [("2√4", 4), ("2^{-1}", Fraction(1, 2)), ("x+1", None), ("√-4", None), ("1/0", None), ("e", None)],
)
def test_what_a_formula_comes_to(text: str, number: Fraction | None) -> None:
    assert value(text) == number


def test_it_says_nothing_in_the_log(caplog: pytest.LogCaptureFixture) -> None:
    with caplog.at_level(logging.WARNING):
        assert compare("x+7", "7+x") is True
    assert caplog.text == ""

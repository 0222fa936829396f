"""One notation for many, and quantities with their units."""

from __future__ import annotations

from fractions import Fraction

import pytest
from hypothesis import given
from hypothesis import strategies as st

from kit.rewards.notation import Quantity, plain, quantity


@pytest.mark.parametrize(
    ("texts", "one"),
    [
        (("1/2", "½", r"\frac{1}{2}", r"\frac12", r"\dfrac { 1 } { 2 }", "1⁄2", r"$\tfrac{1}{2}$"), "1/2"),
        (("60°", r"60^\circ", r"60^{\circ}", r"60 ^ { \circ }", "60º"), "60°"),
        (("-5", "−5", "–5", "minus 5", "negative 5"), "-5"),
        (("x^2", "x²"), "x^2"),
        (("≥ 5", ">= 5", r"\geq 5", r"\ge  5"), "≥ 5"),
        (("12,345", "12{,}345", "１２,３４５"), "12,345"),
        (("2√3", r"2\sqrt3"), "2√3"),
        (("3×4", "3 x 4", r"3\times4", "3X4"), "3×4"),
    ],
)
def test_many_notations_are_one(texts: tuple[str, ...], one: str) -> None:
    assert {text: plain(text).replace("√{3}", "√3") for text in texts} == dict.fromkeys(texts, one)


@pytest.mark.parametrize(
    ("text", "number", "unit"),
    [
        ("1,200", 1200, ""),
        ("$1,200.50", Fraction("1200.5"), "$"),
        ("-$5", -5, "$"),
        ("$-5", -5, "$"),
        ("$(8,500)", -8500, "$"),
        ("20 percent", 20, "%"),
        ("5 centimetres", 5, "cm"),
        ("25 sq. cm", 25, "cm^2"),
        ("25 cm^2", 25, "cm^2"),
        ("5.2M", 5_200_000, ""),
        ("$1.5 billion", 1_500_000_000, "$"),
        ("1 1/2 hours", Fraction(3, 2), "h"),
        ("(5)", 5, ""),
        ("1.5e-3", Fraction(3, 2000), ""),
    ],
)
def test_a_quantity_has_a_number_and_a_unit(text: str, number: Fraction | int, unit: str) -> None:
    assert quantity(plain(text)) == Quantity(Fraction(number), unit)


@pytest.mark.parametrize(
    "text",
    [
        *(
            "1,5",
            "1,2345",
            "1,23,456",
            "12:30",
            "2/10/1986",
            "1/0",
            "--5",
            "5-7",
            "1 2",
            "10 apples",
            "5!",
            "5+",
            "1990s",
        ),
        *("3m", "<5", "x", "", "1e999999999", "9" * 400, "5%5", "$5%", "(2,3)", "(1,200)", "1.2.3", "5 5/6/7"),
    ],
)
def test_what_is_more_than_a_number_is_none(text: str) -> None:
    assert quantity(text) is None


def test_units_that_speak_against_each_other() -> None:
    five = {unit: Quantity(Fraction(5), unit) for unit in ("", "cm", "m", "°", "°C", "°F")}
    assert five[""].like(five["cm"]) and five["°"].like(five["°C"])
    assert not five["cm"].like(five["m"]) and not five["°C"].like(five["°F"])


@given(st.text())
def test_any_text_is_read(text: str) -> None:
    quantity(plain(text))

"""Problems whose answers were worked out by hand, given in logic forms, in words, and as equations."""

from __future__ import annotations

from fractions import Fraction

import pytest

from visual_tools.charts.table import number
from visual_tools.geometry.equations import solve_equations
from visual_tools.geometry.facts import expression
from visual_tools.geometry.forms import read_form, read_forms
from visual_tools.geometry.solver import Unsolved, solve
from visual_tools.geometry.text import read_goal, read_text
from visual_tools.words import Word

PROBLEMS = {
    "angle sum": ("Triangle ABC. Angle A is not named. ∠ABC = 50°, ∠ACB = 60°. Find ∠BAC.", 70),
    "Pythagoras": ("Triangle ABC has a right angle at B. AB = 5, AC = 13. Find BC.", 12),
    "isosceles": ("In triangle ABC, AB = AC. ∠BAC = 40°. Find the measure of angle ABC.", 70),
    "a variable": ("In triangle ABC, ∠ABC = 2x, ∠ACB = 3x, ∠BAC = 80°. Find x.", 20),
    "rectangle": ("ABCD is a rectangle. AB = 7. BC = 3. Find its perimeter.", 20),
    "rectangle's area": ("AB = 7. BC = 3. Find the area of rectangle ABCD.", 21),
    "parallelogram": ("ABCD is a parallelogram. ∠DAB = 65°. Find ∠ABC.", 115),
    # AD : DB = AE : EC, so EC = 6 · 2 / 4.
    "parallel": ("In triangle ABC, D lies on AB and E lies on AC, and DE ∥ BC. AD = 4. DB = 2. AE = 6. Find EC.", 3),
    "Thales": ("AB is a diameter of circle O, and C lies on circle O. AC = 6. BC = 8. Find AB.", 10),
    "inscribed": ("A, B and C lie on circle O. ∠AOB = 80°. In triangle ABC, find ∠ACB.", 40),
    "midpoint": ("M is the midpoint of AB. AB = 9. Find AM.", 4.5),
    "equilateral": ("In equilateral triangle ABC, find ∠ABC.", 60),
    # 3² + 8² - 2 · 3 · 8 · cos 60° = 49.
    "cosines": ("In triangle ABC, AB = 3, AC = 8. ∠BAC = 60°. Find BC.", 7),
    # (x + 2) + 3 = 9, and twice that part is asked of nothing else.
    "parts of a line": ("D lies on AB. AD = x+2. DB = 3. AB = 9. Find x.", 4),
    "circle": ("The radius of circle O is 3. Find the diameter of circle O.", 6),
}


@pytest.mark.parametrize("name", PROBLEMS)
def test_problems_in_words(name: str) -> None:
    text, answer = PROBLEMS[name]
    assert solve(read_text(text), read_goal(text)) == pytest.approx(answer)


def test_a_problem_in_forms() -> None:
    forms = read_forms(
        "Triangle(A, B, C); PointLiesOnLine(D, Line(B, C)); Perpendicular(Line(A, D), Line(B, C));"
        "Equals(LengthOf(Line(A, B)), 10); Equals(LengthOf(Line(B, D)), 6); Equals(LengthOf(Line(D, C)), 15)"
    )
    # AD² = 10² - 6² = 64; AC² = 8² + 15² = 289.
    assert solve(forms, read_form("Find(LengthOf(Line(A, C)))")) == pytest.approx(17)


def test_what_does_not_follow_is_told_with_what_does() -> None:
    forms = read_forms("Triangle(A, B, C); Equals(LengthOf(Line(A, B)), 3)")
    with pytest.raises(Unsolved, match=r"LengthOf\(Line\(B, C\)\) doesn't follow; found: l_AB = 3"):
        solve(forms, read_form("LengthOf(Line(B, C))"))


def test_a_contradiction_is_told() -> None:
    forms = read_forms("Equals(LengthOf(Line(A, B)), 3); Equals(LengthOf(Line(A, B)), 4)")
    with pytest.raises(Unsolved):
        solve(forms, read_form("LengthOf(Line(B, C))"))


def test_a_goal_without_a_value_is_told() -> None:
    with pytest.raises(ValueError, match="is no length, angle, area, perimeter or number"):
        solve((), read_form("Find(Triangle(A, B, C))"))
    with pytest.raises(ValueError, match="ask for an angle"):
        read_goal("Why is the sky blue?")


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("2x + 3 = 11. What is x?", 4),
        ("x + y = 10 and x - y = 2. Find y.", 4),
        ("Solve x^2 = 49 for x.", 7),
        ("What is 12 * (3 + 4)?", 84),
        ("Calculate 1.5 / 3.", 0.5),
    ],
)
def test_equations_and_arithmetic(text: str, value: float) -> None:
    assert solve_equations(text) == pytest.approx(value)


@pytest.mark.parametrize(
    ("value", "said"),
    [
        (2e-6, "0.000002"),
        (-0.00041, "-0.00041"),
        (1e-30, "1e-30"),
        (Fraction(1, 3000), "0.000333"),
        (Fraction(10**20 + 1, 2), "50000000000000000000.5"),
        (Fraction(-5, 4), "-1.25"),
        (0.0, "0"),
        (-0.0, "0"),
        (1200.0, "1200"),
        (0.0625, "0.062"),
        (None, "?"),
    ],
)
def test_a_value_that_is_not_0_is_never_written_as_0_and_no_digit_is_lost(value: Fraction | float, said: str) -> None:
    assert number(value) == said


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("1,200", 1200),
        ("$1,234.5", 1234.5),
        (".5", 0.5),
        ("2.5k", 2500),
        ("1,5", None),
        ("1,2,3", None),
        ("12,34", None),
    ],
)
def test_a_word_is_a_number_only_if_all_of_it_is(text: str, value: float | None) -> None:
    assert Word(text, 0, 0, 9, 9).number == value


@pytest.mark.parametrize("text", ["hello", "x = y. Find z.", "x^2 = -4. Find x.", "1/0 = x", "2^(9^9)", "9^9^9"])
def test_what_has_no_value_is_told(text: str) -> None:
    with pytest.raises(ValueError):
        solve_equations(text)


@pytest.mark.parametrize("text", ["__import__('os')", "2 +", "(2", "2x)", "9**9**9", "x" * 99])
def test_only_arithmetic_is_read(text: str) -> None:
    with pytest.raises(ValueError):
        expression(text)

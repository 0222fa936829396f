"""Drawings are read: by hand for one triangle, and over many drawn problems whose words are known."""

from __future__ import annotations

import re

import cv2
import numpy as np
import pytest
from PIL import Image

from visual_tools.drawn.diagrams import problem
from visual_tools.geometry.diagram import read_diagram
from visual_tools.geometry.forms import Form, written
from visual_tools.geometry.golden import circle, right_triangle
from visual_tools.geometry.primitives import drawing
from visual_tools.words import Word


def word(text: str, x: float, y: float) -> Word:
    """A letter's or number's box around a place."""
    return Word(text, x - 9, y - 11, x + 9, y + 11)


WORDS = (word("A", 80, 36), word("B", 60, 258), word("C", 340, 250), word("3", 52, 150), word("4", 200, 264))


def test_a_triangle_is_read_with_its_sides_and_its_right_angle() -> None:
    seen = read_diagram(right_triangle(), WORDS)
    assert sorted(seen.lines) == ["AB", "AC", "BC"]
    assert written(seen.written) == (
        "RightAngle(Angle(A, B, C)); Equals(LengthOf(Line(A, B)), 3); Equals(LengthOf(Line(B, C)), 4)"
    )
    assert written(seen.construction, "cdl") == "Shape(AB,BC,CA)"


@pytest.mark.parametrize("shape", [(-1, 4), (-1, 1, 4)], ids=["OpenCV 5", "OpenCV 4"])
def test_lines_are_read_as_either_opencv_returns_them(shape: tuple[int, ...], monkeypatch: pytest.MonkeyPatch) -> None:
    seen, found = drawing(right_triangle(), WORDS).strokes, cv2.HoughLinesP
    monkeypatch.setattr(cv2, "HoughLinesP", lambda *args, **named: found(*args, **named).reshape(shape))
    assert drawing(right_triangle(), WORDS).strokes == seen and len(seen) >= 3


@pytest.mark.parametrize(
    ("said", "value"),
    [
        ("2√3", "2*sqrt(3)"),
        ("√2", "sqrt(2)"),
        ("1,200", "1200"),
        ("5 cm", "5"),
        (".5", "0.5"),
        ("3/4", "3/4"),
        ("x²+1", "x^2+1"),
    ],
)
def test_a_measure_beside_a_line_is_read_whole(said: str, value: str) -> None:
    seen = read_diagram(right_triangle(), (*WORDS[:4], word(said, 200, 264)))
    assert f"Equals(LengthOf(Line(B, C)), {value})" in written(seen.written)


@pytest.mark.parametrize("said", ["1,5", "5?", "√", "4 apples", "3:4", "5 m", "1.2.3"])
def test_a_measure_beside_a_line_that_cannot_be_read_is_told(said: str) -> None:
    with pytest.raises(ValueError, match=re.escape(said.split()[-1])):
        read_diagram(right_triangle(), (*WORDS[:4], word(said, 200, 264)))


def test_without_its_mark_an_angle_is_not_stated_to_be_right() -> None:
    image = right_triangle()
    image.paste("white", (84, 218, 100, 238))
    assert "RightAngle" not in written(read_diagram(image, WORDS).written)


def test_a_circle_is_found_where_it_was_drawn() -> None:
    (ring,) = drawing(circle()).rings
    assert (*ring.middle, ring.radius) == pytest.approx((120, 100, 60), abs=0.6)


def test_white_on_black_is_read_alike() -> None:
    image = Image.eval(right_triangle(), lambda level: 255 - level)
    assert sorted(read_diagram(image, WORDS).lines) == ["AB", "AC", "BC"]


def test_a_page_without_lines_is_told() -> None:
    with pytest.raises(ValueError, match="0 lines, 1 letters"):
        read_diagram(Image.new("RGB", (100, 100), "white"), (word("A", 50, 50),))


def _plain(one: Form) -> str:
    """A form whose lines and angles may be read from either end."""
    points = one.args[0].args[0].points if one.name == "Equals" else one.points
    return f"{one.name} {min(points, points[::-1])} {one.args[-1]}" if one.name == "Equals" else str(one)


def test_drawn_problems_are_read_as_they_were_drawn() -> None:
    """The words are known here, so what is amiss is the lines' or circles' fault."""
    right = []
    for seed in range(700, 716):
        drawn = problem(np.random.default_rng(seed))
        seen = read_diagram(drawn.image, drawn.words)
        right.append(
            {_plain(f) for f in seen.written if f.name == "Equals"}
            == {_plain(f) for f in drawn.shown if f.name == "Equals"}
        )
    assert np.mean(right) > 0.9

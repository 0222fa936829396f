"""Figures with a number, for MathVista, MathVerse and WeMath: reading it is easy, what follows from it is hard."""

from __future__ import annotations

import numpy as np
from PIL import Image, ImageDraw

from papers.codedance.drawn import Drawn, one_of, reader
from papers.codedance.sheets import READ
from pictures.documents import Colour, Print, Sheet, font

SIDE, SIZE, FONT = 112, 32, "DejaVu Sans"
"""Pixels of a figure's image, of its number, and the number's font: as large as the base was taught to read."""

SIDES = {"square": 4, "triangle": 3}

EASY = {
    "square": "How long is a side of the square?",
    "triangle": "How long is a side of the triangle?",
    "disc": "Which number is it?",
}
"""What is asked about each kind of figure at once."""
HARD = {
    ("square", "perimeter"): "Each side of the square is as long as it says. How long are all four together?",
    ("square", "area"): "Each side of the square is as long as it says. What is its area?",
    ("triangle", "perimeter"): "Each side of the triangle is as long as it says. How long are all three together?",
    ("triangle", "angle"): "Two angles of the triangle are as large as it says, in degrees. How large is the third?",
}
"""What is asked of what follows."""


def _shade(rng: np.random.Generator, low: int, high: int) -> Colour:
    red, green, blue = (int(v) for v in rng.integers(low, high, 3))
    return red, green, blue


def figure(rng: np.random.Generator, kind: str, number: int) -> Sheet:
    """Draw a pale figure with a number on it.

    Args:
        rng: source of all randomness.
        kind: ``square``, ``triangle`` or ``disc``.
        number: the number.
    """
    paper, pale, ink = (_shade(rng, *levels) for levels in ((238, 256), (200, 231), (0, 90)))
    image = Image.new("RGB", (SIDE, SIDE), paper)
    canvas = ImageDraw.Draw(image)
    near, far = 7, SIDE - 7
    if kind == "disc":
        canvas.ellipse((near, near, far, far), fill=pale)
    else:
        top = [(near, near), (far, near)] if kind == "square" else [(SIDE // 2, near)]
        canvas.polygon([*top, (far, far), (near, far)], fill=pale)
    said = str(number)
    left, high, right, bottom = font(FONT, SIZE).getbbox(said)
    low = SIDE // 8 if kind == "triangle" else 0
    at = round((SIDE - left - right) / 2), round((SIDE - high - bottom) / 2) + low
    canvas.text(at, said, font=font(FONT, SIZE), fill=ink)
    print_ = Print(said, FONT, SIZE, at, ink)
    return Sheet(kind, image, (("", said),), ((READ, said),), (print_, print_))


def _asked(one: Sheet, question: str, answer: str, expression: str = "") -> Drawn:
    key, facts = f"{one.kind} {one.text}", {"number": one.text}
    return Drawn(one.image, question, answer, key, READ, one.text, facts, reader(one), expression=expression)


def label(rng: np.random.Generator) -> Drawn:
    """Ask for the number on a square or triangle."""
    one = figure(rng, one_of(rng, tuple(SIDES)), int(rng.integers(2, 100)))
    return _asked(one, EASY[one.kind], one.text)


def compute(rng: np.random.Generator) -> Drawn:
    """Ask for a perimeter, an area, or the third angle of a triangle with two equal ones."""
    kind, asked = list(HARD)[int(rng.integers(len(HARD)))]
    n = int(rng.integers(2, 90 if asked == "angle" else 100))
    expression, answer = {
        "perimeter": (f"{SIDES[kind]} * {n}", SIDES[kind] * n),
        "area": (f"{n} * {n}", n * n),
        "angle": (f"180 - 2 * {n}", 180 - 2 * n),
    }[asked]
    return _asked(figure(rng, kind, n), HARD[kind, asked], str(answer), expression)


def number(rng: np.random.Generator) -> Drawn:
    """Ask for the number on a disc."""
    one = figure(rng, "disc", int(rng.integers(2, 100)))
    return _asked(one, EASY["disc"], one.text)


def arithmetic(rng: np.random.Generator) -> Drawn:
    """Ask for such a number, multiplied."""
    n, times = (int(v) for v in rng.integers(3, 100, 2))
    return _asked(figure(rng, "disc", n), f"What is {times} times this number?", str(times * n), f"{times} * {n}")

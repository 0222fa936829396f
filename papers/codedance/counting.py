"""Counting, for PixMo-count and CountBench: a few shapes are seen at once, many are counted by code."""

from __future__ import annotations

from itertools import product

import numpy as np
from PIL import Image, ImageDraw

from papers.codedance.drawn import Drawn, one_of
from pictures.scenes import COLOURS
from visual_tools.counting import count

FEW = "How many shapes?"
"""How the base is asked, and what is asked of few."""
SIDE, CELL = 112, 14
"""Of an image, and of the cell that a small shape lies in, in pixels: no two shapes touch."""
DYES = ("red", "green", "blue", "yellow", "purple", "orange")
SHAPES = ("circle", "square", "triangle")
LEAST, MOST = 9, 24
"""Things that are counted by code: more than are seen at a glance."""


def _shape(canvas: ImageDraw.ImageDraw, kind: str, x: int, y: int, size: int, dye: str) -> None:
    right, bottom = x + size - 1, y + size - 1
    if kind == "circle":
        canvas.ellipse((x, y, right, bottom), fill=COLOURS[dye])
    elif kind == "square":
        canvas.rectangle((x, y, right, bottom), fill=COLOURS[dye])
    else:
        canvas.polygon([((x + right) / 2, y), (x, bottom), (right, bottom)], fill=COLOURS[dye])


def _paper(rng: np.random.Generator) -> Image.Image:
    grey = int(rng.integers(95, 150))
    return Image.new("RGB", (SIDE, SIDE), tuple(int(v) for v in grey + rng.integers(-12, 13, 3)))


def few(rng: np.random.Generator) -> Drawn:
    """Draw one to four large shapes of different colours, one in each of some quarters."""
    image, n = _paper(rng), int(rng.integers(1, 5))
    dyes = [str(dye) for dye in rng.choice(DYES, size=n, replace=False)]
    for quarter, dye in zip(rng.permutation(4), dyes, strict=False):
        size = int(rng.integers(28, 48))
        x, y = (int(v) for v in rng.integers(3, SIDE // 2 - size - 2, 2))
        x, y = x + int(quarter) % 2 * SIDE // 2, y + int(quarter) // 2 * SIDE // 2
        _shape(ImageDraw.Draw(image), one_of(rng, SHAPES), x, y, size, dye)
    return Drawn(
        image=image,
        question=FEW,
        answer=str(n),
        key=_key(image),
        asks=FEW,
        seen=str(n),
        facts={"shapes": str(n)},
        readable=lambda given: sum(count(given, dye) for dye in DYES) == n,
    )


def many(rng: np.random.Generator) -> Drawn:
    """Draw nine to 24 small shapes of one colour among as many of others."""
    image, n, others = _paper(rng), int(rng.integers(LEAST, MOST + 1)), int(rng.integers(LEAST, MOST + 1))
    cells = list(product(range(0, SIDE, CELL), repeat=2))
    dyes = [str(dye) for dye in rng.choice(DYES, size=3, replace=False)]
    asked, *rest = dyes
    drawn = [asked] * n + [one_of(rng, tuple(rest)) for _ in range(others)]
    for cell, dye in zip(rng.permutation(len(cells)), drawn, strict=False):
        size = int(rng.integers(7, 12))
        x, y = (int(v) for v in cells[int(cell)] + rng.integers(1, CELL - size, 2))
        _shape(ImageDraw.Draw(image), one_of(rng, SHAPES), x, y, size, dye)
    return Drawn(
        image=image,
        question=f"How many {asked} shapes are there?",
        answer=str(n),
        key=_key(image),
        asks="",
        seen="",
        facts={asked: str(n)},
        readable=lambda given: count(given, asked) == n,
        colour=asked,
    )


def _key(image: Image.Image) -> str:
    return f"count {image.tobytes().hex()}"

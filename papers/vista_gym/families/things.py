"""Draw coloured things on paper: circles, squares, triangles and stars, to be told apart by hue and shape."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise
from math import cos, pi, sin

import numpy as np
from PIL import Image, ImageDraw

from papers.vista_gym.drawn import call
from pictures.scenes import COLOURS

DYES = ("red", "green", "blue", "yellow", "purple", "orange")
SHAPES = ("circle", "square", "triangle", "star")
SIZE = (640, 480)
SMALL = (29, 41)
"""Least and greatest side of a thing in pixels: shrunk to the prompt's image, it has four at the most."""
GAP = 8
"""Pixels between two things at least: those that touch would be one."""

AREA = call("sam.segment", "area", point_prompts=[[9, 9]])
"""Measures the paper: a call that counts nothing."""

Box = tuple[int, int, int, int]


@dataclass(frozen=True)
class Thing:
    """A thing of one colour, and its box in pixels: left, top, right and bottom."""

    colour: str
    shape: str
    box: Box


def paper(rng: np.random.Generator, size: tuple[int, int] = SIZE) -> Image.Image:
    """Pale paper of one shade."""
    level = int(rng.integers(222, 250))
    red, green, blue = (int(v) for v in level + rng.integers(-5, 6, 3))
    return Image.new("RGB", size, (red, green, blue))


def scatter(
    rng: np.random.Generator,
    image: Image.Image,
    wanted: Sequence[tuple[str, str]],
    room: Box | None = None,
    sizes: tuple[int, int] = SMALL,
    free: Sequence[Box] = (),
) -> list[Thing]:
    """Draw things of these colours and shapes where there is room; those that find none are left out.

    Args:
        rng: source of all randomness.
        image: to draw on.
        wanted: colour and shape of each.
        room: within which box; None: anywhere.
        sizes: least side, and one more than the greatest.
        free: boxes that stay free.
    """
    left, top, right, bottom = room or (0, 0, *image.size)
    drawn: list[Thing] = []
    for colour, shape in wanted:
        for _ in range(60):
            side = int(rng.integers(*sizes))
            x, y = int(rng.integers(left + 2, right - side - 2)), int(rng.integers(top + 2, bottom - side - 2))
            box = (x, y, x + side, y + side)
            if not any(_touch(box, other) for other in (*free, *(thing.box for thing in drawn))):
                drawn.append(Thing(colour, shape, box))
                paint(image, drawn[-1])
                break
    return drawn


def _touch(one: Box, other: Box) -> bool:
    apart = one[2] + GAP <= other[0] or other[2] + GAP <= one[0] or one[3] + GAP <= other[1] or other[3] + GAP <= one[1]
    return not apart


def paint(image: Image.Image, thing: Thing) -> None:
    """Draw a thing."""
    pen, ink = ImageDraw.Draw(image), COLOURS[thing.colour]
    left, top, right, bottom = thing.box
    if thing.shape == "circle":
        pen.ellipse(thing.box, fill=ink)
    elif thing.shape == "square":
        pen.rectangle(thing.box, fill=ink)
    elif thing.shape == "triangle":
        pen.polygon([((left + right) / 2, top), (left, bottom), (right, bottom)], fill=ink)
    else:
        x, y, reach = (left + right) / 2, (top + bottom) / 2, (right - left) / 2
        far = [(reach if k % 2 == 0 else 0.42 * reach) for k in range(10)]
        pen.polygon([(x + r * sin(k * pi / 5), y - r * cos(k * pi / 5)) for k, r in enumerate(far)], fill=ink)


def told(things: Sequence[Thing]) -> str:
    """List colour, shape and place of each thing: the whole content of their image."""
    return "; ".join(f"{one.colour} {one.shape} {one.box}" for one in things)


def arrows(image: Image.Image, places: Sequence[tuple[float, float]]) -> None:
    """Draw black arrows from each place to the next."""
    pen = ImageDraw.Draw(image)
    for (x, y), (u, v) in pairwise(places):
        pen.line((x, y, u, v), fill="black", width=3)
        turn = np.arctan2(v - y, u - x)
        tips = [(u - 14 * cos(turn + off), v - 14 * sin(turn + off)) for off in (0.4, -0.4)]
        pen.polygon([(u, v), *tips], fill="black")

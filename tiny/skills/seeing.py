"""Samples that teach seeing: pieces of images and their places, colours, shapes, digits, bars."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cache

import numpy as np
from numpy.typing import NDArray
from PIL import Image, ImageDraw, ImageFont

from pictures.permutations import belonging, places
from pictures.scenes import COLOURS, Pixels, random_view
from tiny.skills.text import Sample

PIECE = 56
SIDE = 2 * PIECE
PLACES = places(2)
"""The four places of a 2×2 grid in row-major order."""


def _pick(rng: np.random.Generator, pool: Sequence[Pixels], size: int = SIDE) -> Pixels:
    return random_view(rng, pool[int(rng.integers(len(pool)))], size)


def cut(pixels: Pixels, m: int = 2) -> list[Pixels]:
    """The m×m pieces of an image in row-major order."""
    h, w = pixels.shape[0] // m, pixels.shape[1] // m
    return [pixels[r * h : (r + 1) * h, c * w : (c + 1) * w] for r in range(m) for c in range(m)]


def _lettered(rng: np.random.Generator, pool: Sequence[Pixels]) -> tuple[list[str | Pixels], list[int], list[Pixels]]:
    """Four pieces in random order, each under a letter: the question's parts, each letter's place, the pieces."""
    pieces = cut(_pick(rng, pool))
    homes = [int(home) for home in rng.permutation(4)]
    parts: list[str | Pixels] = []
    for letter, home in zip("ABCD", homes, strict=True):
        parts += [f"Image {letter}: ", pieces[home]]
    return parts, homes, pieces


def _target(homes: Sequence[int]) -> list[str]:
    """Row by row, the letter that belongs there."""
    at = dict(zip(homes, "ABCD", strict=True))
    return [at[home] for home in range(4)]


def place(rng: np.random.Generator, pool: Sequence[Pixels]) -> Sample:
    """Four pieces, each under a letter: where does each belong?"""
    parts, homes, _ = _lettered(rng, pool)
    return Sample("place", (((*parts, "Where does each belong?"), f"{belonging('ABCD', _target(homes))}."),))


def order(rng: np.random.Generator, pool: Sequence[Pixels]) -> Sample:
    """Four pieces, each under a letter: where does each belong, and which order, row by row, is that?"""
    parts, homes, _ = _lettered(rng, pool)
    target = _target(homes)
    answer = f"{belonging('ABCD', target)}; right order {', '.join(target)}."
    return Sample("order", (((*parts, "Where does each belong, in which order?"), answer),))


def neighbours(rng: np.random.Generator, pool: Sequence[Pixels]) -> Sample:
    """Four pieces, each under a letter: which lies right of it, which below it?"""
    parts, homes, _ = _lettered(rng, pool)
    at = _target(homes)
    said = []
    for letter, home in zip("ABCD", homes, strict=True):
        right, below = (at[home + 1] if home % 2 == 0 else "no"), (at[home + 2] if home < 2 else "no")
        said.append(f"{letter} right {right} below {below}")
    return Sample("neighbours", (((*parts, "Which are neighbours?"), f"{', '.join(said)}."),))


def rearranged(rng: np.random.Generator, pool: Sequence[Pixels]) -> Sample:
    """One image whose quarters were exchanged, a thin white gap between them: where does each belong?"""
    pieces = cut(_pick(rng, pool))
    order = rng.permutation(4)
    gap = 2
    canvas = np.full((SIDE + gap, SIDE + gap, 3), 255, dtype=np.uint8)
    for spot, home in enumerate(order):
        y, x = (spot // 2) * (PIECE + gap), (spot % 2) * (PIECE + gap)
        canvas[y : y + PIECE, x : x + PIECE] = pieces[home]
    view = np.asarray(Image.fromarray(canvas).resize((SIDE, SIDE), Image.Resampling.BICUBIC))
    answer = ", ".join(f"{PLACES[s]} to {PLACES[h]}" for s, h in enumerate(order))
    return Sample("rearranged", (((view, "Where does each quarter belong?"), f"{answer}."),))


def adjacency(rng: np.random.Generator, pool: Sequence[Pixels]) -> Sample:
    """Two pieces: is the second right of, left of, above, below or not beside the first?"""
    pieces = cut(_pick(rng, pool))
    relation = ("right of", "left of", "above", "below", "not beside")[int(rng.integers(5))]
    pairs = {
        "right of": [(0, 1), (2, 3)],
        "left of": [(1, 0), (3, 2)],
        "above": [(2, 0), (3, 1)],
        "below": [(0, 2), (1, 3)],
        "not beside": [(0, 3), (3, 0), (1, 2), (2, 1)],
    }[relation]
    first, second = pairs[int(rng.integers(len(pairs)))]
    question = ("Image A: ", pieces[first], "Image B: ", pieces[second], "How is B placed to A?")
    return Sample("adjacency", ((question, f"{relation}."),))


HUES: dict[str, tuple[int, int, int]] = COLOURS | {
    "grey": (128, 128, 128),
    "brown": (120, 75, 40),
    "pink": (240, 150, 180),
    "cyan": (60, 200, 210),
}
"""Names for any colour: the nearest of these."""


def hue(colour: NDArray[np.float64]) -> str:
    """The name nearest to an RGB colour."""
    names = list(HUES)
    return names[int(((np.array(list(HUES.values())) - colour) ** 2).sum(1).argmin())]


def colours(rng: np.random.Generator, pool: Sequence[Pixels]) -> Sample:
    """Four pieces: which colours are at the corners of each? Dense and easy, so what is learnt first."""
    parts, homes, pieces = _lettered(rng, pool)
    ends = (slice(0, PIECE // 3), slice(-(PIECE // 3), None))
    readings = []
    for letter, home in zip("ABCD", homes, strict=True):
        corners = [pieces[home][y, x] for y in ends for x in ends]
        readings.append(f"{letter} {' '.join(hue(corner.reshape(-1, 3).mean(0)) for corner in corners)}")
    return Sample("colours", (((*parts, "Which colours?"), f"{', '.join(readings)}."),))


SHAPES = ("circle", "square", "triangle", "star")


def _shape(draw: ImageDraw.ImageDraw, kind: str, box: tuple[int, int, int, int], fill: tuple[int, int, int]) -> None:
    x1, y1, x2, y2 = box
    if kind == "circle":
        draw.ellipse(box, fill=fill)
    elif kind == "square":
        draw.rectangle(box, fill=fill)
    elif kind == "triangle":
        draw.polygon([((x1 + x2) / 2, y1), (x1, y2), (x2, y2)], fill=fill)
    else:
        angle = np.arange(10) * np.pi / 5 - np.pi / 2
        radius = np.where(np.arange(10) % 2 == 0, 1.0, 0.45)
        xs = (x1 + x2) / 2 + np.cos(angle) * radius * (x2 - x1) / 2
        ys = (y1 + y2) / 2 + np.sin(angle) * radius * (y2 - y1) / 2
        draw.polygon([(float(x), float(y)) for x, y in zip(xs, ys, strict=True)], fill=fill)


def shapes(rng: np.random.Generator, pool: Sequence[Pixels]) -> Sample:
    """Coloured shapes, one in each of some cells: how many, which colour, which shape, where (box in 0..1)?"""
    back = Image.fromarray((_pick(rng, pool) * 0.35 + 90).astype(np.uint8))
    draw = ImageDraw.Draw(back)
    count = int(rng.integers(1, 5))
    names = [str(c) for c in rng.choice(list(COLOURS), size=count, replace=False)]
    kinds = [str(k) for k in rng.choice(SHAPES, size=count, replace=False)]
    boxes = []
    for cell, name, kind in zip(rng.permutation(4), names, kinds, strict=False):
        side = int(rng.integers(26, 50))
        x = int(cell % 2) * PIECE + int(rng.integers(0, PIECE - side))
        y = int(cell // 2) * PIECE + int(rng.integers(0, PIECE - side))
        boxes.append((x, y, x + side, y + side))
        _shape(draw, kind, boxes[-1], COLOURS[name])
    one, two = int(rng.integers(count)), int(rng.integers(count))
    box = ", ".join(f"{v / SIDE:.1f}" for v in boxes[two])
    asked = (
        ("How many shapes?", f"{count}."),
        (f"Which shape is {names[one]}?", f"{kinds[one]}."),
        (f"Which colour is the {kinds[two]}?", f"{names[two]}."),
        (f"Where is the {kinds[two]}?", f"[{box}]."),
    )
    first, second = rng.choice(4, size=2, replace=False)
    (question, answer), (more, reply) = asked[int(first)], asked[int(second)]
    return Sample("shapes", (((np.asarray(back), question), answer), ((more,), reply)))


@cache
def _font(size: int) -> ImageFont.FreeTypeFont:
    from matplotlib import font_manager

    return ImageFont.truetype(font_manager.findfont("DejaVu Sans"), size)


def _written(rng: np.random.Generator, pool: Sequence[Pixels], text: str) -> Image.Image:
    """``text`` in a random colour, size and place on a faint background."""
    dark = rng.random() < 0.5
    faint = _pick(rng, pool) * 0.3
    back = Image.fromarray((faint + (170 if dark else 0)).astype(np.uint8))
    font = _font(int(rng.integers(26, 46 if len(text) < 3 else 38)))
    left, top, right, bottom = font.getbbox(text)
    x = int(rng.integers(0, max(1, SIDE - int(right)))) - left
    y = int(rng.integers(0, max(1, SIDE - int(bottom - top)))) - top
    ink = tuple(int(v) for v in (rng.integers(0, 90, 3) if dark else rng.integers(170, 256, 3)))
    ImageDraw.Draw(back).text((x, y), text, font=font, fill=ink)
    return back


def digits(rng: np.random.Generator, pool: Sequence[Pixels]) -> Sample:
    """One to three printed digits: what does it say?"""
    text = "".join(str(d) for d in rng.integers(0, 10, size=int(rng.integers(1, 4))))
    return Sample("digits", (((np.asarray(_written(rng, pool, text)), "What does it say?"), f"{text}."),))


def orientation(rng: np.random.Generator, pool: Sequence[Pixels]) -> Sample:
    """Printed digits, turned: by how many degrees clockwise?"""
    text = "".join(str(d) for d in rng.choice([2, 3, 4, 5, 7], size=3))
    quarter = int(rng.integers(4))
    image = np.rot90(np.asarray(_written(rng, pool, text)), -quarter)
    return Sample("orientation", (((np.ascontiguousarray(image), "Turned by how much?"), f"{90 * quarter}."),))


def chart(rng: np.random.Generator, pool: Sequence[Pixels]) -> Sample:
    """A bar chart of three coloured bars, heights 1 to 9: how high is each, which is the highest?"""
    image = Image.new("RGB", (SIDE, SIDE), (250, 250, 250))
    draw = ImageDraw.Draw(image)
    names = [str(c) for c in rng.choice([c for c in COLOURS if c != "white"], size=3, replace=False)]
    heights = [int(h) for h in rng.choice(np.arange(1, 10), size=3, replace=False)]
    for line in range(10):
        draw.line((6, 106 - line * 11, 108, 106 - line * 11), fill=(205, 205, 205) if line else (0, 0, 0))
    for i, (name, height) in enumerate(zip(names, heights, strict=True)):
        draw.rectangle((14 + i * 34, 106 - height * 11, 34 + i * 34, 106), fill=COLOURS[name])
    reading = ", ".join(f"{n} {h}" for n, h in zip(names, heights, strict=True))
    top = names[int(np.argmax(heights))]
    return Sample(
        "chart", (((np.asarray(image), "Read the bars."), f"{reading}."), (("Which is highest?",), f"{top}."))
    )

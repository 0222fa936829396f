"""Samples that teach reading: sheets, boards of them, what distorts an image.

The words are few (:data:`pictures.documents.WORDS`) and their fonts known; what stands beside what is drawn at random.
A third of the sheets look as sheets do that were mended: a distortion and its undoing, or a small one enlarged.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray
from PIL import Image, ImageDraw

from kit.images import rgb
from pictures.distortion import GROUPS, NAMES, Distortion, distort, draw, undo
from pictures.documents import FONTS, SIDE, WORDS, Card, Sheet, board, font, sheet
from pictures.scenes import Pixels
from tiny.skills.text import Sample


def mishap(rng: np.random.Generator, most: int = 3) -> tuple[Distortion, ...]:
    """None to ``most`` distortions, at most one of light, turn and detail.

    Detail comes first and light last: undone from the end, each is undone exactly or as well as it can be (noise
    that was added after the light was taken away would be multiplied with it), and what is undone first is seen best.
    """
    n = int(rng.integers(0, most + 1))
    groups = [list(GROUPS.values())[k] for k in sorted(rng.choice(3, size=n, replace=False))]
    return tuple(draw(group[int(rng.integers(2))], rng) for group in groups)


def named(distortions: Sequence[Distortion]) -> str:
    """In the order in which they are undone: ``dark, turned 90``, or ``nothing``."""
    return ", ".join(NAMES[one.kind] for one in reversed(distortions)) or "nothing"


def _array(image: Image.Image) -> NDArray[np.uint8]:
    return np.asarray(rgb(image))


def _mended(rng: np.random.Generator, image: Image.Image) -> Image.Image:
    """Distort an image and restore it."""
    done = mishap(rng, 2)
    return undo(distort(image, done), done)


def enlarged(image: Image.Image, card: Card) -> Image.Image:
    """A board's card at the size of a board."""
    x1, y1, x2, y2 = (round(share * SIDE) for share in card.box)
    return image.crop((x1, y1, x2, y2)).resize((SIDE, SIDE), Image.Resampling.LANCZOS)


def _seen(rng: np.random.Generator, pool: Sequence[Pixels]) -> tuple[Sheet, Image.Image]:
    chance = rng.random()
    if chance < 0.2:
        image, cards = board(rng, pool)
        card = cards[int(rng.integers(4))]
        return card.sheet, enlarged(image, card)
    one = sheet(rng, pool)
    return one, _mended(rng, one.image) if chance < 0.4 else one.image


def _asked(rng: np.random.Generator, one: Sheet) -> tuple[str, str]:
    question, answer = one.questions[int(rng.integers(len(one.questions)))]
    return question, f"{answer}."


def reading(rng: np.random.Generator, pool: Sequence[Pixels]) -> Sample:
    """A sheet: everything on it, and a question about it, in either order."""
    one, image = _seen(rng, pool)
    both = [("What does it say?", f"{one.text}."), _asked(rng, one)]
    if rng.random() < 0.4:
        both.reverse()
    (first, answer), (second, reply) = both
    return Sample("reading", (((_array(image), first), answer), ((second,), reply)))


def grid(rng: np.random.Generator, pool: Sequence[Pixels]) -> Sample:
    """Rows of single digits, or of words: dense and easy, so what is learnt first of reading."""
    del pool
    dark = rng.random() < 0.5
    paper, ink = (
        tuple(int(v) for v in rng.integers(*((0, 110) if side else (180, 256)), 3)) for side in (dark, not dark)
    )
    image = Image.new("RGB", (SIDE, SIDE), paper)
    canvas = ImageDraw.Draw(image)
    name = FONTS[int(rng.integers(len(FONTS)))]
    digits = rng.random() < 0.65
    n = int(rng.integers(2, 6))
    across = n if digits else 1
    wide, high = SIDE / across, SIDE / n
    rows = []
    for y in range(n):
        said = [str(rng.integers(10)) if digits else str(rng.choice(WORDS)) for _ in range(across)]
        rows.append(" ".join(said))
        for x, text in enumerate(said):
            # Nearly as large as its cell, and somewhere in it.
            size = int(min(high * 0.95, 44 if digits else 30) * rng.uniform(0.8, 1.0))
            left, top, right, bottom = font(name, size).getbbox(text)
            free_x, free_y = max(0.0, wide - (right - left)), max(0.0, high - (bottom - top))
            at = x * wide + rng.uniform(0, 1) * free_x - left, y * high + rng.uniform(0, 1) * free_y - top
            canvas.text(at, text, font=font(name, size), fill=ink)
    return Sample("grid", (((_array(image), "Read it row by row."), f"{', '.join(rows)}."),))


def cards(rng: np.random.Generator, pool: Sequence[Pixels]) -> Sample:
    """A board: which card is where, and the box of one of them."""
    image, four = board(rng, pool)
    where = ", ".join(f"{card.colour} {card.corner}" for card in four)
    one = four[int(rng.integers(4))]
    box = ", ".join(f"{share:.1f}" for share in one.box)
    return Sample(
        "cards",
        (((_array(image), "Which card is where?"), f"{where}."), ((f"Where is the {one.colour} card?",), f"[{box}].")),
    )


def distorted(rng: np.random.Generator, pool: Sequence[Pixels]) -> Sample:
    """A sheet or a board to which something happened: what was it?"""
    image = board(rng, pool)[0] if rng.random() < 0.2 else sheet(rng, pool).image
    done = mishap(rng)
    return Sample("distorted", (((_array(distort(image, done)), "What is wrong with it?"), f"{named(done)}."),))

"""Describe a drawn task: what the prompt shows, what the tools open, and how its truth is checked."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import partial

import numpy as np
from PIL import Image

from kit.images import rgb
from pictures.documents import SIDE, Sheet
from pictures.readable import is_readable

Box = tuple[float, float, float, float]
"""Left, top, right and bottom as shares of an image's sides."""

Readable = Callable[[Image.Image], bool]
"""Decides by comparing pixels whether what the answer needs can be read off an image."""

CONTRAST = 90
"""Levels between the darkest and the brightest hundredth of an image, from which it isn't dark: drawn sheets have 105
and more, darkened ones 77 at the most."""


@dataclass(frozen=True)
class Drawn:
    """One drawn image and a question about it whose answer is known.

    Attributes:
        image: what the prompt shows.
        question: what is asked.
        answer: the gold answer.
        key: all that the image says; images of one key lie on one side of the split.
        asks: the words in which the tiny model's base was taught to describe such an image.
        seen: what it then says of ``image``.
        facts: the values that decide the answer, by name, in the base's words.
        readable: of the first image, or of the one that ``repair`` or cropping ``boxes`` makes.
        original: what the tools open, where the prompt hides detail.
        detail: height in pixels, as the prompt shows it, of the smallest thing that has to be read.
        then: as ``asks``, of the image that code makes.
        reading: what the base then says of that image; empty if the first image is enough.
        boxes: the part to crop.
        repair: a call that mends the image, with the functions of :mod:`kit.tools.restoration`.
        expression: the computation behind the answer, in Python.
        colour: of the things to count.
    """

    image: Image.Image
    question: str
    answer: str
    key: str
    asks: str
    seen: str
    facts: Mapping[str, str]
    readable: Readable
    original: Image.Image | None = None
    detail: float = float("inf")
    then: str = ""
    reading: str = ""
    boxes: tuple[Box, ...] = ()
    repair: str = ""
    expression: str = ""
    colour: str = ""


Maker = Callable[[np.random.Generator], Drawn]
"""Draws one of a kind."""


def one_of(rng: np.random.Generator, some: tuple[str, ...]) -> str:
    """Choose any of these."""
    return some[int(rng.integers(len(some)))]


def legible(image: Image.Image, one: Sheet) -> bool:
    """Check that an image isn't dark and that every line of the sheet can be read from it, pixel by pixel."""
    low, high = np.percentile(np.asarray(rgb(image).convert("L"), dtype=np.float64), (1, 99))
    if image.size != one.image.size or high - low < CONTRAST:
        return False
    whole = Image.new("RGB", (SIDE, SIDE))  # writing is compared on the canvas of a sheet
    whole.paste(image)
    return all(is_readable(one, whole, " ".join(row).strip()) for row in one.rows)


def reader(one: Sheet) -> Readable:
    """:func:`legible` of this sheet."""
    return partial(legible, one=one)

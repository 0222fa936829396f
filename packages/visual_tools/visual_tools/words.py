"""Words on an image and where they stand: what OCR returns, and what a drawn image knows of itself."""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass

from PIL import Image

_NUMBER = re.compile(r"[$€£]?\s*([-−–]?)\s*((?:\d{1,3}(?:,\d{3})+|\d+)(?:\.\d+)?|\.\d+)\s*([kKmMbB%°]?)")
SCALES = {"k": 1e3, "m": 1e6, "b": 1e9}


@dataclass(frozen=True)
class Word:
    """One piece of writing, and its box in pixels: left, top, right, bottom."""

    text: str
    left: float
    top: float
    right: float
    bottom: float

    @property
    def x(self) -> float:
        """The middle, across."""
        return (self.left + self.right) / 2

    @property
    def y(self) -> float:
        """The middle, down."""
        return (self.top + self.bottom) / 2

    @property
    def height(self) -> float:
        """Pixels from top to bottom."""
        return self.bottom - self.top

    @property
    def width(self) -> float:
        """Pixels from left to right."""
        return self.right - self.left

    @property
    def number(self) -> float | None:
        """Its value if it is a number: 1200 of ``1,200``, 2500 of ``2.5k``, 30 of ``30%``."""
        found = _NUMBER.fullmatch(self.text.strip())
        if found is None:
            return None
        sign, digits, unit = found.groups()
        value = float(digits.replace(",", "")) * SCALES.get(unit.lower(), 1)
        return -value if sign else value


Reader = Callable[[Image.Image], tuple[Word, ...]]
"""Reads the words of an image (:func:`read_words`, or what a drawn image knows)."""


def read_words(image: Image.Image) -> tuple[Word, ...]:
    """Read an image's words by OCR; those along an axis that stands are read a second time, laid down."""
    from visual_tools.perception.text import read_lines  # a second to import

    words = [Word(line.text, *line.box) for line in read_lines(image)]
    upright = [word for word in words if len(word.text) > 2 and word.height > 1.5 * word.width]
    if not upright:
        return tuple(words)
    left = max(0, int(min(word.left for word in upright)) - 4)
    right = int(max(word.right for word in upright)) + 4
    strip = image.crop((left, 0, right, image.height)).rotate(-90, expand=True)
    # A pixel of the strip laid down, (x, y), was (left + y, height - x).
    laid = [line for line in read_lines(strip) if line.box[2] - line.box[0] > line.box[3] - line.box[1]]
    again = [
        Word(line.text, left + line.box[1], image.height - line.box[2], left + line.box[3], image.height - line.box[0])
        for line in laid
    ]
    kept = [word for word in words if word not in upright]
    return (*kept, *(word for word in again if not any(_over(word, other) for other in kept)))


def _over(one: Word, other: Word) -> bool:
    return one.left < other.right and other.left < one.right and one.top < other.bottom and other.top < one.bottom

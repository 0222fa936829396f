"""Words on an image and where they stand: what OCR returns, and what a drawn image knows of itself."""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass

from PIL import Image

_NUMBER = re.compile(r"[$€£]?\s*([-−–]?)\s*(\d[\d,]*(?:\.\d+)?|\.\d+)\s*([kKmMbB%°]?)")
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
"""Reads the words of an image (:func:`kit.tools.ocr`, or what a drawn image knows)."""

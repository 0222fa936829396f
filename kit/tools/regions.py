"""Boxes as tools are given them: four pixels that have to lie on the image, checked and told in one place."""

from __future__ import annotations

from collections.abc import Sequence
from math import isfinite

Pixels = tuple[float, float, float, float]
"""Left, top, right and bottom of a box, in pixels of the image as given."""
Region = tuple[int, int, int, int]
"""The same in whole pixels, on the image for certain."""


def inside(tool: str, region: Sequence[float], size: tuple[int, int]) -> Region:
    """A region in whole pixels.

    Args:
        tool: its name, for the message.
        region: left, top, right and bottom.
        size: width and height of the image.

    Raises:
        ValueError: it reaches out of the image, is turned round, or holds less than a pixel.
    """
    known = all(isfinite(value) for value in region)
    left, top, right, bottom = (round(value) for value in region) if known else (0, 0, 0, 0)
    if not (0 <= left < right <= size[0] and 0 <= top < bottom <= size[1]):
        raise ValueError(
            f"{tool}: region {list(region)!r:.80} isn't on the image; give left < right <= {size[0]} and "
            f"top < bottom <= {size[1]} in pixels"
        )
    return left, top, right, bottom

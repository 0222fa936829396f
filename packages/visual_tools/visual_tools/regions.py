"""Places as tools are given them: boxes and points in pixels, which have to lie on the image; checked in one place.

Models are taught boxes in several units. What can only be shares of the sides, such as [0.1, 0.1, 0.9, 0.9], is refused
by that name: read as pixels it would be a box of one pixel, in which nothing is found.
"""

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
        ValueError: it reaches out of the image, is turned round, holds less than a pixel, or is in shares of its sides.
    """
    if all(0 <= value <= 1 for value in region) and max(size) > 1:
        raise ValueError(
            f"{tool}: region {list(region)!r:.80} looks like shares of the image's sides; give pixels, up to {size[0]} "
            f"and {size[1]}"
        )
    known = all(isfinite(value) for value in region)
    left, top, right, bottom = (round(value) for value in region) if known else (0, 0, 0, 0)
    if not (0 <= left < right <= size[0] and 0 <= top < bottom <= size[1]):
        raise ValueError(
            f"{tool}: region {list(region)!r:.80} isn't on the image; give left < right <= {size[0]} and "
            f"top < bottom <= {size[1]} in pixels"
        )
    return left, top, right, bottom


def on_image(tool: str, points: Sequence[Sequence[float]], size: tuple[int, int]) -> list[tuple[int, int]]:
    """Points in whole pixels.

    Args:
        tool: its name, for the message.
        points: each across and down.
        size: width and height of the image.

    Raises:
        ValueError: one isn't on the image; or they are in shares of its sides.
    """
    values = [value for point in points for value in point]
    if all(0 <= value <= 1 for value in values) and any(0 < value < 1 for value in values):
        raise ValueError(
            f"{tool}: points {[list(point) for point in points]!r:.80} look like shares of the image's sides; give "
            f"pixels, up to {size[0]} and {size[1]}"
        )
    for x, y in points:
        if not (0 <= x < size[0] and 0 <= y < size[1]):
            raise ValueError(f"{tool}: point {[x, y]!r:.60} isn't on the image of {size[0]} x {size[1]} pixels")
    return [(int(x), int(y)) for x, y in points]

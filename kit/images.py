"""Images as a person sees them: the one conversion to RGB that every reader, store, sandbox and model of the kit uses.

The sandbox has it (:mod:`turn_sandbox.images`): what a model's code made is converted beside that code.
"""

from __future__ import annotations

from math import sqrt

from PIL import Image

from turn_sandbox.images import StretchedLevels as StretchedLevels
from turn_sandbox.images import rgb as rgb
from turn_sandbox.images import upright_rgb as upright_rgb


def within_pixels(image: Image.Image, max_pixels: int) -> Image.Image:
    """Shrink an image to ``max_pixels`` pixels at most and keep its aspect ratio; one that fits is returned as it is.

    800×600 with 120,000 allowed: both sides times √(120,000 / 480,000) = 0.5, so 400×300.

    Args:
        image: the image.
        max_pixels: width times height, at most; 0: no limit.

    Raises:
        ValueError: ``max_pixels`` is negative.
    """
    if max_pixels < 0:
        raise ValueError(f"max_pixels={max_pixels}: give a number of pixels, or 0 for no limit")
    width, height = image.size
    if not max_pixels or width * height <= max_pixels:
        return image
    factor = sqrt(max_pixels / (width * height))
    size = (max(1, int(width * factor)), max(1, int(height * factor)))  # rounded down: never more than allowed
    return image.resize(size, Image.Resampling.LANCZOS)

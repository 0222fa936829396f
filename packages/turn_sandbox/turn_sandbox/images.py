"""Images as a person sees them: the one conversion to RGB, and an image with its name.

PIL's own ``convert("RGB")`` drops transparency (black text on a transparent page becomes a black page) and cuts values
above 255 off (a 16-bit scan becomes white). :func:`rgb` shows both as an image viewer would:

==========================================  ========================================
what an image holds                         what a reader sees
==========================================  ========================================
8 bits a channel, any mode                  PIL's own conversion
transparency, of any form                   laid on white
``I;16``; ``I`` from 256 to 65,535          divided by 257: 0 … 65,535 → 0 … 255
``I`` from 0 to 255                         as it is: an array of ordinary levels
``F`` from 0 to 1                           times 255
any other ``I`` or ``F``                    stretched, its least to 0, its most to 255
==========================================  ========================================
"""

from __future__ import annotations

import hashlib
import warnings
from dataclasses import dataclass
from functools import cached_property
from math import sqrt

import numpy as np
from PIL import ExifTags, Image

# Kept before a model's code can patch them: the sandbox converts what that code made.
_convert, _new, _composite = Image.Image.convert, Image.new, Image.Image.alpha_composite
_from_array, _asarray, _transpose = Image.fromarray, np.asarray, Image.Image.transpose


class StretchedLevels(UserWarning):
    """An image holds levels of no known range; it is shown from its own least to its own most."""


def rgb(image: Image.Image) -> Image.Image:
    """Convert an image of any mode to RGB as a person sees it; always a new image, read into memory.

    Warns:
        StretchedLevels: its levels have no known range, so they were stretched.
    """
    if image.mode == "F" or image.mode.startswith("I"):
        levels, clear = _levels(image), image.info.get("transparency")
        if isinstance(clear, int):  # a PNG of 16 bits names the one level that is transparent
            levels[_asarray(image) == clear] = 255
        return _convert(_from_array(levels), "RGB")
    if image.has_transparency_data:
        rgba = _convert(_convert(image, "LA") if image.mode == "La" else image, "RGBA")
        canvas = _new("RGBA", rgba.size, "white")
        _composite(canvas, rgba)
        return _convert(canvas, "RGB")
    return _convert(image, "RGB")


def _levels(image: Image.Image) -> np.ndarray:
    """Levels from 0 to 255 of an image with one deep or floating channel, ``(H, W)``."""
    values = _asarray(image).astype(np.float64)
    known = values[np.isfinite(values)]
    least, most = (float(known.min()), float(known.max())) if known.size else (0.0, 0.0)
    values = np.nan_to_num(values, nan=least, posinf=most, neginf=least)
    if image.mode.startswith("I;16") or (image.mode == "I" and least >= 0 and 255 < most <= 65535):
        values = values / 257
    elif image.mode == "F" and least >= 0 and most <= 1:
        values = values * 255
    elif image.mode == "F" or least < 0 or most > 255:
        warnings.warn(
            f"an image of mode {image.mode} holds levels from {least:g} to {most:g}: shown from its least to its most",
            StretchedLevels,
            stacklevel=3,
        )
        values = (values - least) * (255 / (most - least) if most > least else 0.0)
    return np.floor(values + 0.5).astype(np.uint8)


_UPRIGHT = {
    2: Image.Transpose.FLIP_LEFT_RIGHT,
    3: Image.Transpose.ROTATE_180,
    4: Image.Transpose.FLIP_TOP_BOTTOM,
    5: Image.Transpose.TRANSPOSE,
    6: Image.Transpose.ROTATE_270,
    7: Image.Transpose.TRANSVERSE,
    8: Image.Transpose.ROTATE_90,
}
"""EXIF's orientation → what sets such an image upright."""


def upright_rgb(image: Image.Image) -> Image.Image:
    """Convert an image that was read from a file: turned as its EXIF data say, and :func:`rgb`.

    EXIF data that can't be read say nothing, as in an image viewer. What is returned has none: it isn't turned again.
    """
    image.load()  # a TIFF is turned while it is read
    try:  # not by ImageOps.exif_transpose: it writes the data anew, and fails on what cameras leave in them
        turn = _UPRIGHT.get(image.getexif().get(ExifTags.Base.Orientation, 1))
    except Exception:
        turn = None
    made = rgb(image if turn is None else _transpose(image, turn))
    made.info.clear()
    return made


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


def content_hash(image: Image.Image) -> str:
    """SHA-256 of size and RGB pixels: the same for the same image in any lossless file."""
    seen = rgb(image)
    return hashlib.sha256(f"{seen.width}x{seen.height}:".encode() + seen.tobytes()).hexdigest()


@dataclass(frozen=True, eq=False)
class NamedImage:
    """An image under the name by which code can use it in later turns; equal if name and pixels are.

    Pixels as every reader of the kit takes them, in RGB. They must not change any more: they are hashed once.
    """

    name: str
    image: Image.Image

    @cached_property
    def sha256(self) -> str:
        """:func:`content_hash` of the image, worked out once.

        Pixels only: PIL also compares what a file's header said (``info``), which storing changes.
        """
        return content_hash(self.image)

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, NamedImage):
            return NotImplemented
        return (self.name, self.image.mode, self.sha256) == (other.name, other.image.mode, other.sha256)

    def __hash__(self) -> int:
        # Of the pixels too: a cache holds thousands of images of one name and size, and with a hash of those two
        # alone each look-up would compare pixels with all of them (measured: a fifth of a GRPO step, and growing).
        return hash((self.name, self.image.mode, self.sha256))

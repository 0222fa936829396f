"""Images as a person sees them: upright, RGB, transparency on white, and no larger than a model may be given."""

from __future__ import annotations

from math import sqrt

from PIL import Image, ImageOps


def flat_image(image: Image.Image) -> Image.Image:
    """RGB, upright, transparency on white: what a person sees when they open the file."""
    image = ImageOps.exif_transpose(image) or image
    if image.mode in ("RGBA", "LA", "PA") or "transparency" in image.info:
        rgba = image.convert("RGBA")
        canvas = Image.new("RGBA", rgba.size, "white")
        canvas.alpha_composite(rgba)
        return canvas.convert("RGB")
    return image.convert("RGB")


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

"""Crop and zoom: a part of an image, or all of it larger.

This file runs in agents' sessions as it stands (:func:`kit.tools.code.module_source`), so it imports
nothing of the kit.
"""

from collections.abc import Sequence

from PIL import Image


def crop(image: Image.Image, box: Sequence[float]) -> Image.Image:
    """The part of a picture inside ``box``: left, top, right and bottom as shares of its sides.

    Raises:
        TypeError: not a picture.
        ValueError: a box outside the picture, or of less than 8 pixels.
    """
    if not isinstance(image, Image.Image):
        raise TypeError("crop: the first argument must be an image")
    x1, y1, x2, y2 = (float(v) for v in box)
    if not (0 <= x1 < x2 <= 1 and 0 <= y1 < y2 <= 1):
        raise ValueError("crop: need 0 <= x1 < x2 <= 1 and 0 <= y1 < y2 <= 1")
    w, h = image.size
    cut = image.crop((round(x1 * w), round(y1 * h), round(x2 * w), round(y2 * h)))
    if min(cut.size) < 8:
        raise ValueError("crop: the box is too thin")
    return cut


def zoom(image: Image.Image, factor: float) -> Image.Image:
    """A picture ``factor`` times as wide and as high.

    Raises:
        TypeError: not a picture.
        ValueError: a factor outside 0.1 to 8, or a result over 4,096 pixels.
    """
    if not isinstance(image, Image.Image):
        raise TypeError("zoom: the first argument must be an image")
    factor = float(factor)
    if not 0.1 <= factor <= 8:
        raise ValueError("zoom: the factor must be from 0.1 to 8")
    w, h = (max(8, round(side * factor)) for side in image.size)
    if max(w, h) > 4096:
        raise ValueError("zoom: the result would be over 4096 pixels wide")
    return image.resize((w, h), Image.Resampling.LANCZOS)

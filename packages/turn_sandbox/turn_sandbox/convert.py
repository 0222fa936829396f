"""Make PIL images of what code holds images in: arrays, matplotlib's figures.

==================================  ==================================================================
an array of                         is shown as
==================================  ==================================================================
H×W, H×W×1, H×W×3, H×W×4            gray, gray, RGB, RGBA (cv2's are BGR: turn them, ``array[..., ::-1]``)
``bool``                            black and white
whole numbers from 0 to 255         as they are
``uint16``                          divided by 257
floats from 0 to 1                  times 255
H×W, anything else                  stretched from its least to its most, as :func:`turn_sandbox.images.rgb` does
H×W×3 or H×W×4, up to 255           rounded
==================================  ==================================================================

Nothing else is an image. What isn't shown explicitly is only *taken* for one (:func:`looks_like_image`) if it holds
``uint8``, or floats in 3 or 4 channels, and has 16 pixels a side: a small table of numbers is no image.
"""

from __future__ import annotations

import sys
from typing import Any

import numpy as np
from PIL import Image

# Kept before any code of a turn runs: it may patch these names.
_Image, _fromarray, _frombytes, _Array = Image.Image, Image.fromarray, Image.frombytes, np.ndarray
SIDE = 16
"""Least side of an array that is taken for an image unasked."""

INT32 = np.iinfo(np.int32)


def image_of(value: Any) -> Image.Image:
    """Make a PIL image of a PIL image (itself), an array or a figure.

    Raises:
        TypeError: it is none of these, or an array of another shape or type.
        ValueError: channels with levels outside 0 to 255.
    """
    if isinstance(value, _Image):
        return value
    if isinstance(value, _Array):
        return _of_array(value)
    if is_figure(value):
        return drawn(value)
    raise TypeError(f"needs a PIL image, not {type(value).__name__}; an array (H×W, H×W×3) or a figure will do as well")


def looks_like_image(value: Any) -> bool:
    """Check whether an array can only be meant as an image."""
    if not isinstance(value, _Array) or value.ndim not in (2, 3) or min(value.shape[:2]) < SIDE:
        return False
    channels = value.ndim == 3 and value.shape[2] in (3, 4)
    return (value.dtype == np.uint8 and (value.ndim == 2 or channels)) or (value.dtype.kind == "f" and channels)


def is_figure(value: Any) -> bool:
    """Check whether a value is a figure of matplotlib, which may not have been imported."""
    module: Any = sys.modules.get("matplotlib.figure")
    return module is not None and isinstance(value, module.Figure)


def drawn(figure: Any) -> Image.Image:
    """Draw a figure of matplotlib, RGBA."""
    canvas = figure.canvas
    if not hasattr(canvas, "buffer_rgba"):  # a Figure() that pyplot didn't make
        from matplotlib.backends.backend_agg import FigureCanvasAgg

        canvas = FigureCanvasAgg(figure)
    canvas.draw()
    return _frombytes("RGBA", canvas.get_width_height(), bytes(canvas.buffer_rgba()))


def _of_array(array: Any) -> Image.Image:
    if not (array.ndim == 2 or (array.ndim == 3 and array.shape[2] in (1, 3, 4))) or 0 in array.shape:
        raise TypeError(f"needs an image: H×W, H×W×3 or H×W×4, not an array of shape {array.shape}")
    if array.dtype.kind not in "buif":
        raise TypeError(f"needs an image of numbers, not an array of {array.dtype}")
    if array.ndim == 3 and array.shape[2] == 1:
        array = array[:, :, 0]
    if array.dtype == np.bool_:
        array = array * np.uint8(255)
    elif array.ndim == 3:
        array = _bytes(array)
    elif array.dtype not in (np.uint8, np.uint16):  # turn_sandbox.images knows what to do with deep gray levels
        deep = array.dtype.kind != "f"
        array = np.clip(array, INT32.min, INT32.max).astype(np.int32) if deep else array.astype(np.float32)
    return _fromarray(np.ascontiguousarray(array))


def _bytes(array: Any) -> Any:
    """Channels as bytes."""
    if array.dtype == np.uint8:
        return array
    if array.dtype == np.uint16:
        return (array / 257 + 0.5).astype(np.uint8)
    least, most = float(array.min()), float(array.max())
    if not 0 <= least <= most <= 255:  # NaN, too
        raise ValueError(f"an array of {array.dtype} with levels from {least:g} to {most:g}: give 0 to 1, or 0 to 255")
    return (array * (255 if array.dtype.kind == "f" and most <= 1 else 1) + 0.5).astype(np.uint8)

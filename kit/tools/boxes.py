"""Boxes that name their image and their frame, and the one place that converts between frames.

Models speak of boxes in different units: Qwen2.5-VL in pixels of the image as resized for its vision tower, InternVL3
in thousandths of the sides, code in pixels of the image as given. A box without its frame is four numbers that can be
read three ways.

Worked example: an image of 640 × 480, resized to 644 × 476. The box (161, 119, 322, 238) in the resized frame is
(160, 120, 320, 240) in pixels, (250, 250, 500, 500) in thousandths and (0.25, 0.25, 0.5, 0.5) in shares.
"""

from __future__ import annotations

import json
from dataclasses import dataclass
from typing import Literal, get_args

Frame = Literal["pixels", "resized", "thousandths", "shares"]
"""Units of a box: pixels of the image as given, of the resized one, or parts of its width and height."""

Size = tuple[int, int]
"""Width and height in pixels."""


@dataclass(frozen=True)
class Box:
    """A rectangle on one image, its origin at the top left.

    Attributes:
        image: the image's name.
        frame: the unit of the four numbers.
        left: start along the width.
        top: start along the height.
        right: end along the width.
        bottom: end along the height.

    Raises:
        ValueError: an unknown frame, or a box that is empty or turned round.
    """

    image: str
    frame: Frame
    left: float
    top: float
    right: float
    bottom: float

    def __post_init__(self) -> None:
        if self.frame not in get_args(Frame):
            raise ValueError(f"box on {self.image!r}: no frame {self.frame!r}; choose one of {get_args(Frame)}")
        if not (self.left < self.right and self.top < self.bottom):
            raise ValueError(
                f"box on {self.image!r}: {self.corners} is empty; left must be below right, and top below bottom"
            )

    @property
    def corners(self) -> tuple[float, float, float, float]:
        """Left, top, right and bottom, in the box's frame."""
        return self.left, self.top, self.right, self.bottom


def convert(box: Box, frame: Frame, size: Size, resized: Size | None = None) -> Box:
    """Express a box in another frame; nothing is rounded.

    Args:
        box: the box to convert.
        frame: the frame that is wanted.
        size: width and height of the image as given, in pixels.
        resized: width and height of the image as the model reads it, in pixels (:meth:`kit.chat.Chat.resized`); needed
            only from or to the frame ``resized``.

    Raises:
        ValueError: the frame ``resized`` is asked for without its size, or the box reaches out of the image.
    """
    units = {"pixels": size, "resized": resized, "thousandths": (1000, 1000), "shares": (1, 1)}
    before, after = units[box.frame], units[frame]
    if before is None or after is None:
        raise ValueError(f"box on {box.image!r}: its resized size is needed between {box.frame!r} and {frame!r}")
    if box.left < 0 or box.top < 0 or box.right > before[0] or box.bottom > before[1]:
        raise ValueError(
            f"box on {box.image!r}: {box.corners} reaches out of its {before[0]} × {before[1]} {box.frame}"
        )
    across, down = after[0] / before[0], after[1] / before[1]
    return Box(box.image, frame, box.left * across, box.top * down, box.right * across, box.bottom * down)


def box_iou(first: str, second: str) -> float:
    """Intersection over union of two boxes written ``[x1, y1, x2, y2].``; 0 if either is malformed."""
    a, b = _corners(first), _corners(second)
    w = max(0.0, min(a[2], b[2]) - max(a[0], b[0]))
    h = max(0.0, min(a[3], b[3]) - max(a[1], b[1]))
    union = (a[2] - a[0]) * (a[3] - a[1]) + (b[2] - b[0]) * (b[3] - b[1]) - w * h
    return w * h / union if union > 0 else 0.0


def _corners(text: str) -> list[float]:
    """Four numbers and a full stop at most; zeros for anything else."""
    try:
        found = json.loads(text.strip().removesuffix("."))
        good = isinstance(found, list) and len(found) == 4 and all(type(value) in (int, float) for value in found)
        return [float(value) for value in found] if good else [0.0] * 4
    except (ValueError, OverflowError, RecursionError):
        return [0.0] * 4

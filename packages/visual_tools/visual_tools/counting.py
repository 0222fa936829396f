"""Count things of one colour: groups of touching pixels that have it.

This file may run in agents' sandboxes as it stands, so of what isn't there it imports nothing.
"""

import numpy as np
from PIL import Image

from turn_sandbox.images import rgb

HUES = {"red": 0, "orange": 30, "yellow": 54, "green": 120, "blue": 218, "purple": 280}
"""Degrees on the circle of colours; what is grey has none of them."""
VIVID, LEAST = 90, 8
"""Saturation, of 255, from which a pixel has a colour; pixels of the smallest thing that counts."""


def count(image: Image.Image, colour: str) -> int:
    """Count the separate things of one colour; a pixel has the colour whose hue is nearest to its own.

    Raises:
        ValueError: a colour that isn't one of :data:`HUES`.
    """
    import cv2  # takes a while, and few sessions count

    if colour not in HUES:
        raise ValueError(f"count: no colour {colour!r}; known are {', '.join(HUES)}")
    hue, saturation, _ = np.moveaxis(np.asarray(rgb(image).convert("HSV"), dtype=np.float64), 2, 0)
    away = np.abs(hue[..., None] * 360 / 255 - list(HUES.values()))
    nearest = np.minimum(away, 360 - away).argmin(axis=2)
    mask = (nearest == list(HUES).index(colour)) & (saturation >= VIVID)
    _, _, groups, _ = cv2.connectedComponentsWithStats(mask.astype(np.uint8), connectivity=8)
    return int((groups[1:, cv2.CC_STAT_AREA] >= LEAST).sum())

"""Classical detection: things of one colour by hue, their shape by how they fill figures drawn around them.

==============  ==================================================================
shape           score, from 0 to 1
==============  ==================================================================
circle          pixels / area of the smallest circle around them
square          pixels / area of the smallest rectangle, if that is as wide as high
rectangle       the same, if it isn't
triangle        pixels / area of the smallest triangle
star            nearness of pixels / area of the convex hull to a star's, 0.5
==============  ==================================================================

What touches something of its own colour is one thing with it, and a thing in a colour of its surroundings isn't found.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import cv2
import numpy as np
from numpy.typing import NDArray
from PIL import Image

from visual_tools.counting import HUES, VIVID
from visual_tools.regions import Pixels

COLOURS = (*HUES, "white", "black", "grey")
SHAPES = ("circle", "square", "rectangle", "triangle", "star")
PALE, DARK = 215, 50
"""Brightness of 255 from which a pixel without colour is white, and up to which it is black."""
DULL = 45
"""Saturation of 255 below which a pixel has no colour."""
LEAST = 0.0005
"""Share of the image that the smallest thing covers."""
MOST = 0.4
"""Share that the largest covers: more is background."""
SQUARE = 1.12
"""How many times longer a square's side may look than the other."""
STAR = 0.5
"""Pixels of a five-pointed star as a share of its convex hull."""

Mask = NDArray[np.bool_]


@dataclass(frozen=True)
class Thing:
    """One thing of one colour: its colour, its likeliest shape and that shape's score, and its box in pixels."""

    colour: str
    shape: str
    score: float
    box: Pixels


def colour_mask(image: Image.Image, colour: str) -> Mask:
    """Mark where an RGB image has a colour, ``(height, width)``; a pixel has the colour whose hue is nearest."""
    hue, saturation, value = np.moveaxis(np.asarray(image.convert("HSV"), dtype=np.float64), 2, 0)
    dull = saturation < DULL
    if colour in HUES:
        away = np.abs(hue[..., None] * 360 / 255 - list(HUES.values()))
        nearest = np.minimum(away, 360 - away).argmin(axis=2)
        return (nearest == list(HUES).index(colour)) & (saturation >= VIVID) & (value > DARK)
    if colour == "black":
        return value <= DARK
    return dull & (value >= PALE) if colour == "white" else dull & (value > DARK) & (value < PALE)


def things(image: Image.Image, colour: str) -> Iterator[Thing]:
    """Find the things of one colour in an RGB image."""
    wanted = colour_mask(image, colour).astype(np.uint8)
    mask = cv2.morphologyEx(wanted, cv2.MORPH_OPEN, np.ones((3, 3), np.uint8))
    count, labels, stats, _ = cv2.connectedComponentsWithStats(mask, connectivity=8)
    for label in range(1, count):
        left, top, width, height, area = (int(v) for v in stats[label])
        if not LEAST <= area / mask.size <= MOST or min(width, height) < 4:
            continue
        part = (labels[top : top + height, left : left + width] == label).astype(np.uint8)
        shape, score = _shape(part)
        yield Thing(colour, shape, score, (left, top, left + width, top + height))


def _shape(part: NDArray[np.uint8]) -> tuple[str, float]:
    """The shape that fills its figure best, with that share."""
    outlines, _ = cv2.findContours(part, cv2.RETR_EXTERNAL, cv2.CHAIN_APPROX_NONE)
    outline = max(outlines, key=len)
    filled = np.zeros_like(part)
    cv2.drawContours(filled, [outline], -1, 1, cv2.FILLED)
    area = float(filled.sum())
    # An outline runs through the centres of pixels: figures around it are half a pixel too small on every side.
    hull = cv2.convexHull(outline)
    (_, (a, b), _) = cv2.minAreaRect(hull)
    a, b = a + 1, b + 1
    _, radius = cv2.minEnclosingCircle(hull)
    corners, _ = cv2.minEnclosingTriangle(hull.astype(np.float32))
    grown = (1 + 1 / max(1.0, min(a, b) - 1)) ** 2
    rectangle = "square" if max(a, b) <= SQUARE * min(a, b) else "rectangle"
    solid = area / max(1.0, float(cv2.contourArea(hull)) * grown)
    scores = {
        "circle": area / (np.pi * (radius + 0.5) ** 2),
        rectangle: area / (a * b),
        "triangle": area / max(1.0, float(corners or 0) * grown),
        "star": 1 - 2 * abs(solid - STAR),
    }
    best = max(scores, key=lambda name: scores[name])
    return best, min(1.0, scores[best])

"""The flat colours of a chart, the pixels that have each, and the connected parts of them.

Charts paint their marks in colours and all the rest (paper, grid, axes, letters) in greys. A mark that is grey is
not seen.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

Mask = NDArray[np.bool_]
"""``(H, W)``: which pixels have a colour."""

VIVID = 36
"""Difference between a colour's greatest and least channel, of 255, from which it isn't taken for a grey."""
NEAR = 40.0
"""Distance in RGB within which two colours are the same one."""
LEAST_SHARE = 0.00025
"""Share of an image's pixels that a colour needs: 120 of 800×600, a line of 1.5 pixels and 80 long."""


@dataclass(frozen=True)
class Part:
    """A connected group of pixels of one colour: its box (right and bottom excluded) and how many they are."""

    left: int
    top: int
    right: int
    bottom: int
    area: int

    @property
    def width(self) -> int:
        """Pixels across."""
        return self.right - self.left

    @property
    def height(self) -> int:
        """Pixels down."""
        return self.bottom - self.top

    @property
    def box(self) -> tuple[int, int, int, int]:
        """Left, top, right and bottom."""
        return self.left, self.top, self.right, self.bottom

    @property
    def x(self) -> float:
        """The middle, across."""
        return (self.left + self.right) / 2

    @property
    def y(self) -> float:
        """The middle, down."""
        return (self.top + self.bottom) / 2

    @property
    def fill(self) -> float:
        """Share of the box that has the colour: near 1 for a bar, small for a line that rises and falls."""
        return self.area / (self.width * self.height)


@dataclass(frozen=True)
class Colour:
    """One flat colour of a chart.

    Attributes:
        rgb: its three channels.
        mask: which pixels have it.
        parts: its connected parts, largest first.
    """

    rgb: tuple[int, int, int]
    mask: Mask
    parts: tuple[Part, ...]

    @property
    def hex(self) -> str:
        """The colour as SVG writes it: ``#1f77b4``."""
        return "#{:02x}{:02x}{:02x}".format(*self.rgb)


def colours(pixels: NDArray[np.uint8]) -> tuple[Colour, ...]:
    """Find a chart's flat colours, the most frequent first.

    Args:
        pixels: ``(H, W, 3)``.
    """
    import cv2

    vivid = np.ptp(pixels, axis=2) >= VIVID
    modes = _modes(pixels[vivid], pixels.shape[0] * pixels.shape[1])
    if not modes:
        return ()
    levels = pixels[vivid].astype(np.float32)
    distance = np.stack([np.linalg.norm(levels - mode, axis=1) for mode in modes])
    owner, apart = np.full(vivid.shape, -1), np.full(vivid.shape, np.inf)
    owner[vivid], apart[vivid] = distance.argmin(axis=0), distance.min(axis=0)
    solid = [(owner == i) & (apart <= NEAR / 2) for i in range(len(modes))]
    found = []
    for i, mode in enumerate(modes):
        others = np.any([mask for j, mask in enumerate(solid) if j != i] or [np.zeros_like(vivid)], axis=0)
        # The soft edge of a dark line may have the colour of a paler one.
        edge = cv2.dilate(others.astype(np.uint8), np.ones((3, 3), np.uint8)) > 0
        mask = solid[i] | ((owner == i) & (apart <= 1.5 * NEAR) & ~edge)
        r, g, b = (round(float(v)) for v in mode)
        found.append(Colour((r, g, b), mask, parts(mask)))
    return tuple(found)


def _modes(levels: NDArray[np.uint8], size: int) -> list[NDArray[np.float64]]:
    """Frequent colours that aren't another's blend with the paper, as at the edges of lines."""
    packed = (levels.astype(np.int64) // 8) @ np.array([1 << 10, 1 << 5, 1])
    bins, counts = np.unique(packed, return_counts=True)
    found: list[tuple[NDArray[np.float64], int]] = []
    for at in np.argsort(-counts, kind="stable"):
        if counts[at] < max(12, size * LEAST_SHARE / 4):
            break
        colour = np.median(levels[packed == bins[at]].astype(np.float64), axis=0)
        soft = any(_blend(colour, mode) for mode, many in found if counts[at] < 0.3 * many)
        if not soft and all(np.linalg.norm(colour - mode) > NEAR for mode, _ in found):
            found.append((colour, int(counts[at])))
    return [mode for mode, _ in found]


def _blend(colour: NDArray[np.float64], mode: NDArray[np.float64]) -> bool:
    """Whether a colour lies between another and white or black."""
    for end in (255.0, 0.0):
        way = end - mode
        share = float(np.clip((colour - mode) @ way / max(1.0, float(way @ way)), 0, 1))
        if np.linalg.norm(mode + share * way - colour) < 0.6 * NEAR:
            return True
    return False


def parts(mask: Mask, least: int = 6) -> tuple[Part, ...]:
    """The connected parts of a mask of at least so many pixels, largest first."""
    import cv2

    _, _, stats, _ = cv2.connectedComponentsWithStats(mask.astype(np.uint8), connectivity=8)
    found = [Part(int(x), int(y), int(x + w), int(y + h), int(area)) for x, y, w, h, area in stats[1:] if area >= least]
    return tuple(sorted(found, key=lambda part: (-part.area, part.left, part.top)))

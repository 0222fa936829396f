"""Distort images in six ways (those of MAT-Coding, arXiv:2505.14246, appendix B.2.2), and undo each.

===============  ==========================================  ======================  ================================
kind             what it does                                strength (ours)         undone by
===============  ==========================================  ======================  ================================
``rotate90``     turns the image by 90° clockwise            90                      turning it back: exact
``rotate180``    turns it upside down                        180                     the same: exact
``dark``         multiplies every pixel's brightness         0.12 to 0.3             dividing: up to rounding
``overexposed``  multiplies its distance from white          0.12 to 0.3             dividing: up to rounding
``blur``         Gaussian of this standard deviation         0.8 to 1.2 % of side    Wiener's filter: detail is lost
``noise``        adds Gaussian noise to every channel        20 to 45 of 255 levels  a median over 3×3: some is left
===============  ==========================================  ======================  ================================

The paper names the kinds and gives no strengths: these are ours, wide enough that a model can't know one by heart,
weak enough that the undone image can be read again. *Side* is the image's shorter one. A combination is a
sequence, applied in order and undone from its end.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

import numpy as np
from numpy.typing import NDArray
from PIL import Image, ImageFilter

from kit.images import rgb
from kit.tools.restoration import wiener

Kind = Literal["rotate90", "rotate180", "dark", "overexposed", "blur", "noise"]

STRENGTHS: dict[Kind, tuple[float, float]] = {
    "rotate90": (90.0, 90.0),
    "rotate180": (180.0, 180.0),
    "dark": (0.12, 0.3),
    "overexposed": (0.12, 0.3),
    "blur": (0.008, 0.012),
    "noise": (20.0, 45.0),
}
"""Smallest and largest strength of each kind; see the table above for what it means."""


TURNS: tuple[Kind, ...] = ("rotate90", "rotate180")
LIGHTS: tuple[Kind, ...] = ("dark", "overexposed")
DETAILS: tuple[Kind, ...] = ("blur", "noise")
GROUPS = {"detail": DETAILS, "turn": TURNS, "light": LIGHTS}
"""In the order in which a combination is done: noise that is added to what is dark already can't be told from it
afterwards, and what is undone first, the light, is seen best."""
NAMES: dict[Kind, str] = {
    "rotate90": "turned 90",
    "rotate180": "turned 180",
    "dark": "dark",
    "overexposed": "overexposed",
    "blur": "blurred",
    "noise": "noisy",
}
"""What an image is called that it happened to."""


@dataclass(frozen=True)
class Distortion:
    """One distortion, exactly as it was drawn.

    Attributes:
        kind: one of :data:`STRENGTHS`.
        strength: degrees, factor, share of the shorter side, or levels, as the kind has it.
        seed: of the noise.
    """

    kind: Kind
    strength: float
    seed: int = 0

    def __post_init__(self) -> None:
        if self.kind not in STRENGTHS:
            raise ValueError(f"Distortion.kind={self.kind!r}: known are {', '.join(STRENGTHS)}")
        low, high = STRENGTHS[self.kind]
        if not low <= self.strength <= high:
            raise ValueError(f"Distortion.strength={self.strength} of {self.kind!r}: needs {low:g} to {high:g}")


def draw(kind: Kind, rng: np.random.Generator) -> Distortion:
    """A distortion of this kind, its strength uniform over :data:`STRENGTHS`.

    Raises:
        ValueError: an unknown kind.
    """
    low, high = STRENGTHS.get(kind, (0.0, 0.0))  # Distortion names an unknown kind
    return Distortion(kind, round(float(rng.uniform(low, high)), 4), int(rng.integers(2**31)) if kind == "noise" else 0)


def distort(image: Image.Image, distortions: Sequence[Distortion]) -> Image.Image:
    """The image after these distortions, in RGB; none leaves its pixels as they are."""
    image = rgb(image)
    for one in distortions:
        image = _distorted(image, one)
    return image


def undo(image: Image.Image, distortions: Sequence[Distortion]) -> Image.Image:
    """The best that is known of the image before :func:`distort`."""
    image = rgb(image)
    for one in reversed(distortions):
        image = _undone(image, one)
    return image


def _distorted(image: Image.Image, one: Distortion) -> Image.Image:
    if one.kind == "rotate90":
        return image.transpose(Image.Transpose.ROTATE_270)  # PIL counts anticlockwise
    if one.kind == "rotate180":
        return image.transpose(Image.Transpose.ROTATE_180)
    if one.kind == "blur":
        return image.filter(ImageFilter.GaussianBlur(_sigma(image, one)))
    pixels = np.asarray(image, dtype=np.float64)
    if one.kind == "noise":
        return _image(pixels + np.random.default_rng(one.seed).normal(0.0, one.strength, pixels.shape))
    return _image(_scaled(pixels, one.kind, one.strength))


def _undone(image: Image.Image, one: Distortion) -> Image.Image:
    if one.kind == "rotate90":
        return image.transpose(Image.Transpose.ROTATE_90)
    if one.kind == "rotate180":
        return image.transpose(Image.Transpose.ROTATE_180)
    if one.kind == "noise":
        return image.filter(ImageFilter.MedianFilter(3))
    pixels = np.asarray(image, dtype=np.float64)
    if one.kind == "blur":
        return _image(wiener(pixels, _sigma(image, one)))
    return _image(_scaled(pixels, one.kind, 1 / one.strength))


def _scaled(pixels: NDArray[np.float64], kind: Kind, factor: float) -> NDArray[np.float64]:
    return pixels * factor if kind == "dark" else 255 - (255 - pixels) * factor


def _sigma(image: Image.Image, one: Distortion) -> float:
    """Pixels."""
    return one.strength * min(image.size)


def _image(pixels: NDArray[np.float64]) -> Image.Image:
    return Image.fromarray(np.clip(np.rint(pixels), 0, 255).astype(np.uint8))

"""Restore a distorted image without being told how strong the distortion was.

==============  ================================================================================
``rotate``      by degrees, clockwise; the picture grows with its corners
``brighten``    a dark picture: the brightest of its pixels become white
``darken``      an overexposed one: the darkest of its pixels become black
``sharpen``     a blurred one: Wiener's filter against a Gaussian
``denoise``     a noisy one: the median of every 3×3 pixels
==============  ================================================================================

This file runs in agents' sessions as it stands (:func:`kit.tools.code.module_source`), so it imports
nothing of the kit.
"""

import numpy as np
from PIL import Image, ImageFilter

from turn_sandbox.images import rgb

WIENER = 0.003
"""Noise-to-signal ratio that Wiener's filter assumes: 8-bit rounding and a little texture."""


def rotate(image: Image.Image, degrees: float) -> Image.Image:
    """The picture turned clockwise; what was outside it is white. Quarter turns are exact."""
    return rgb(image).rotate(-float(degrees), Image.Resampling.BICUBIC, expand=True, fillcolor="white")


def brighten(image: Image.Image) -> Image.Image:
    """Every pixel times the factor that makes white of the brightest hundredth."""
    pixels = np.asarray(rgb(image), dtype=np.float64)
    return _image(pixels * (255 / max(1.0, float(np.percentile(pixels, 99)))))


def darken(image: Image.Image) -> Image.Image:
    """Every pixel's distance from white times the factor that makes black of the darkest hundredth."""
    away = 255 - np.asarray(rgb(image), dtype=np.float64)
    return _image(255 - away * (255 / max(1.0, float(np.percentile(away, 99)))))


def sharpen(image: Image.Image, sigma: float = 0.0095) -> Image.Image:
    """A Gaussian blur of ``sigma``, as a share of the shorter side, taken back as far as it can be."""
    pixels = np.asarray(rgb(image), dtype=np.float64)
    return _image(wiener(pixels, float(sigma) * min(image.size)))


def denoise(image: Image.Image) -> Image.Image:
    """The median of every 3×3 pixels."""
    return rgb(image).filter(ImageFilter.MedianFilter(3))


def wiener(pixels: np.ndarray, sigma: float) -> np.ndarray:
    r"""Wiener's filter against a Gaussian: $\hat X = (1 + k) \overline{H} Y / (|H|^2 + k)$, its $H$ real and positive.

    ``pixels``: ``(height, width, channels)``; ``sigma`` in pixels. The picture is mirrored at its edges, as a
    transform goes round; the factor $1 + k$ leaves its mean as it is.
    """
    pad = int(np.ceil(4 * sigma))
    padded = np.pad(pixels, ((pad, pad), (pad, pad), (0, 0)), mode="symmetric")
    rows, columns = (np.fft.fftfreq(n) for n in padded.shape[:2])
    # The Fourier transform of a Gaussian of standard deviation sigma.
    h = np.exp(-2 * (np.pi * sigma) ** 2 * (rows[:, None] ** 2 + columns[None, :] ** 2))[..., None]
    restored = np.fft.ifft2(np.fft.fft2(padded, axes=(0, 1)) * h * (1 + WIENER) / (h**2 + WIENER), axes=(0, 1)).real
    return restored[pad : pad + pixels.shape[0], pad : pad + pixels.shape[1]]


def _image(pixels: np.ndarray) -> Image.Image:
    return Image.fromarray(np.clip(np.rint(pixels), 0, 255).astype(np.uint8))

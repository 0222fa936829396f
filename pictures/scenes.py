"""Procedural images: endless, licence-free scenes with the statistics of photographs.

A puzzle needs images whose edges tell where a piece belongs. Photographs do that with smooth
shading, texture at every scale, and objects that occlude one another. Two classic generators
give the same three things without a single photograph: noise whose amplitude falls as
$1/f^{\\alpha}$ (Field 1987) and dead leaves, discs and polygons with a power law of sizes that
cover one another (Lee, Mumford and Huang 2001). Baradad et al. (2021, "Learning to see by
looking at noise") found that what is learnt on them carries over to photographs.

Every function takes a numpy generator, so that a seed names an image.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray
from PIL import Image, ImageDraw, ImageFilter

Pixels = NDArray[np.uint8]

COLOURS: dict[str, tuple[int, int, int]] = {
    "red": (214, 39, 40),
    "green": (44, 160, 44),
    "blue": (31, 90, 200),
    "yellow": (240, 215, 40),
    "purple": (140, 60, 180),
    "orange": (255, 140, 20),
    "white": (245, 245, 245),
    "black": (20, 20, 20),
}
"""Named colours, far enough apart to be told apart after resizing."""


def colour_noise(rng: np.random.Generator, size: int, slope: float) -> NDArray[np.float64]:
    """One image of $1/f^{slope}$ noise in correlated colours: ``(size, size, 3)`` in 0..1.

    Args:
        rng: source of all randomness.
        size: side in pixels.
        slope: exponent of the spectrum: 0 is white noise, 2 is smooth.
    """
    fy, fx = np.meshgrid(np.fft.fftfreq(size), np.fft.rfftfreq(size), indexing="ij")
    radius = np.hypot(fy, fx)
    radius[0, 0] = 1.0
    shape = (3, *radius.shape)
    spectrum = (rng.normal(size=shape) + 1j * rng.normal(size=shape)) / radius**slope
    spectrum[:, 0, 0] = 0
    field = np.fft.irfft2(spectrum, s=(size, size))
    field /= field.std(axis=(1, 2), keepdims=True) + 1e-9
    # Channels of photographs are strongly correlated: mostly brightness, some colour.
    mix = np.eye(3) * rng.uniform(0.2, 0.8) + rng.uniform(0.2, 1.0)
    field = np.einsum("ij,jyx->yxi", mix / np.linalg.norm(mix, axis=1, keepdims=True), field)
    mean = rng.uniform(0.2, 0.8, size=3)
    return np.clip(mean + field * rng.uniform(0.05, 0.22), 0, 1)


def _leaf(rng: np.random.Generator, draw: ImageDraw.ImageDraw, size: int, least: float = 0.06) -> None:
    """Draw one leaf: a disc, a rotated polygon or a bar, of power-law size, ``least`` of the side or more."""
    radius = min(size * 0.6, size * least * rng.random() ** (-0.7))
    cx, cy = rng.uniform(-0.1, 1.1, size=2) * size
    fill = 255
    kind = rng.integers(3)
    if kind == 0:
        ratio = rng.uniform(0.5, 1.0)
        draw.ellipse((cx - radius, cy - radius * ratio, cx + radius, cy + radius * ratio), fill=fill)
        return
    corners = int(rng.integers(3, 7)) if kind == 1 else 4
    angles = np.sort(rng.uniform(0, 2 * np.pi, size=corners))
    stretch = (1.0, 1.0) if kind == 1 else (2.5, 0.3)
    turn = rng.uniform(0, np.pi)
    xs, ys = np.cos(angles) * radius * stretch[0], np.sin(angles) * radius * stretch[1]
    points = np.stack([cx + xs * np.cos(turn) - ys * np.sin(turn), cy + xs * np.sin(turn) + ys * np.cos(turn)], 1)
    draw.polygon([(float(x), float(y)) for x, y in points], fill=fill)


def colour_field(rng: np.random.Generator, size: int) -> NDArray[np.float64]:
    """Smooth random colours: a coarse grid, enlarged. ``(size, size, 3)`` in 0..1."""
    cells = int(rng.integers(2, 8))
    grid = Image.fromarray(rng.integers(0, 256, size=(cells, cells, 3)).astype(np.uint8))
    return np.asarray(grid.resize((size, size), Image.Resampling.BICUBIC), dtype=np.float64) / 255


def discs(rng: np.random.Generator, size: int = 168) -> Pixels:
    """Smooth colours and a few plain discs: the easiest images whose pieces still tell their place."""
    image = Image.fromarray((colour_field(rng, size) * 255).clip(0, 255).astype(np.uint8))
    draw = ImageDraw.Draw(image)
    for _ in range(int(rng.integers(0, 6))):
        radius = float(rng.uniform(8, 40))
        x, y = (float(v) for v in rng.uniform(0, size, size=2))
        red, green, blue = (int(v) for v in rng.integers(0, 256, size=3))
        draw.ellipse((x - radius, y - radius, x + radius, y + radius), fill=(red, green, blue))
    return np.asarray(image)


def grade(rng: np.random.Generator, canvas: NDArray[np.float64]) -> NDArray[np.float64]:
    """Random saturation, contrast (less than half to more than double) and brightness: photographs vary in all."""
    grey = canvas.mean(axis=2, keepdims=True)
    canvas = grey + (canvas - grey) * rng.uniform(0, 1.1)
    middle = canvas.mean(axis=(0, 1))
    return middle + rng.uniform(-0.2, 0.2) + (canvas - middle) * 2.0 ** rng.uniform(-1.3, 1.2)


SMOOTH = 0.5
"""Share of smooth scenes: at 28 pixels a token, shading tells more about an edge than grain does."""


def scene(rng: np.random.Generator, size: int = 168) -> Pixels:
    """One procedural scene: shaded background, occluding leaves, grain in some, graded. ``(size, size, 3)``."""
    smooth = rng.random() < SMOOTH
    canvas = colour_field(rng, size) if smooth else colour_noise(rng, size, slope=rng.uniform(1.4, 2.2))
    ramp = np.linspace(-1, 1, size)
    light = rng.normal(size=2) * 0.15
    canvas = canvas + (light[0] * ramp[:, None] + light[1] * ramp[None, :])[..., None]
    texture = np.zeros_like(canvas) if smooth else colour_noise(rng, size, slope=rng.uniform(0.8, 1.4)) - 0.5
    for _ in range(int(rng.integers(0, 12) if smooth else rng.integers(6, 70))):
        stencil = Image.new("L", (size, size))
        _leaf(rng, ImageDraw.Draw(stencil), size, 0.06 if smooth else 0.03)
        if rng.random() < 0.5:
            stencil = stencil.filter(ImageFilter.GaussianBlur(float(rng.uniform(0.3, 2.0))))
        slope = rng.normal(size=2) * 0.12
        shift = rng.integers(0, size, size=2)
        colour, grain = rng.uniform(0.05, 0.95, size=3), rng.uniform(0, 0.8)
        box = stencil.getbbox()
        if box is None:
            continue
        x, y = slice(box[0], box[2]), slice(box[1], box[3])  # the rest of the canvas stays as it is
        alpha = np.asarray(stencil.crop(box), dtype=np.float64)[..., None] / 255
        shade = (slope[0] * ramp[y, None] + slope[1] * ramp[None, x])[..., None]
        surface = colour + shade + np.roll(texture, shift, axis=(0, 1))[y, x] * grain
        under = canvas[y, x]
        under[:] = under * (1 - alpha) + surface * alpha
    return (np.clip(grade(rng, canvas), 0, 1) * 255).astype(np.uint8)


def random_view(rng: np.random.Generator, pixels: Pixels, size: int) -> Pixels:
    """A random crop of ``pixels`` at ``(size, size, 3)``, half of them mirrored, half in other colours.

    Args:
        rng: source of all randomness.
        pixels: image ``(height, width, 3)``, bytes.
        size: side of the view in pixels.
    """
    height, width = pixels.shape[:2]
    side = int(rng.integers(min(size, height, width), min(height, width) + 1))
    y, x = int(rng.integers(height - side + 1)), int(rng.integers(width - side + 1))
    view = pixels[y : y + side, x : x + side]
    if rng.random() < 0.5:
        view = view[:, :, rng.permutation(3)]
    if rng.random() < 0.5:
        view = view[:, ::-1]
    if side != size:
        view = np.asarray(Image.fromarray(np.ascontiguousarray(view)).resize((size, size), Image.Resampling.BICUBIC))
    return np.ascontiguousarray(view)

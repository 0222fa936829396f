"""Draw pages and labels: rows of words and numbers in print, as on invoices, forms and infographics."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from PIL import Image, ImageDraw, ImageFilter

from pictures.documents import FONTS, PANELS, Colour, font
from pictures.scenes import scene

SIZE = (560, 720)
"""Width and height of a page in pixels: letters of 22 pixels have two where the prompt shows it."""
LABEL = (600, 450)
"""Width and height of the photograph of a label."""


def shade(rng: np.random.Generator, low: int, high: int) -> Colour:
    """Choose any colour whose levels lie in a range.

    Args:
        rng: source of all randomness.
        low: least level of red, green and blue.
        high: one more than the greatest.
    """
    red, green, blue = (int(v) for v in rng.integers(low, high, 3))
    return red, green, blue


def page(
    rng: np.random.Generator,
    rows: Sequence[Sequence[str]],
    title: str = "",
    size: tuple[int, int] = SIZE,
    ruled: bool = False,
) -> Image.Image:
    """A page: a title, then rows whose first cell stands left and whose others stand in columns to the right.

    Args:
        rng: source of all randomness.
        rows: cells of each row.
        title: above them.
        size: width and height in pixels.
        ruled: lines between the rows.
    """
    image = Image.new("RGB", size, shade(rng, 236, 256))
    pen, ink = ImageDraw.Draw(image), shade(rng, 0, 80)
    name, letters = FONTS[int(rng.integers(len(FONTS)))], int(rng.integers(22, 29))
    face, margin = font(name, letters), int(rng.integers(36, 64))
    top = margin
    if title:
        pen.text((margin, top), title, font=font(name, letters + 8), fill=ink)
        top += 2 * letters + 8
    pitch = min(int(letters * rng.uniform(1.7, 2.3)), (size[1] - top - margin) // max(1, len(rows)))
    columns = max(map(len, rows)) - 1
    for k, row in enumerate(rows):
        y = top + k * pitch
        pen.text((margin, y), row[0], font=face, fill=ink)
        for c, cell in enumerate(row[1:]):
            right = size[0] - margin - (columns - 1 - c) * 110
            pen.text((right - face.getlength(cell), y), cell, font=face, fill=ink)
        if ruled:
            pen.line((margin, y + pitch - 6, size[0] - margin, y + pitch - 6), fill=(190, 190, 190))
    return image


def label(rng: np.random.Generator, lines: Sequence[str]) -> Image.Image:
    """A label before a scene, as somebody photographs it: askew, a little out of focus."""
    image = Image.fromarray(scene(rng, 160)).resize((LABEL[0],) * 2, Image.Resampling.BICUBIC).crop((0, 0, *LABEL))
    plate, ink = PANELS[int(rng.integers(len(PANELS)))]
    letters = int(rng.integers(30, 44))
    face = font(FONTS[int(rng.integers(len(FONTS)))], letters)
    wide = int(max(face.getlength(line) for line in lines)) + 2 * letters
    high = int(1.5 * letters * len(lines)) + letters
    plaque = Image.new("RGBA", (wide, high), (*plate, 255))
    for k, line in enumerate(lines):
        ImageDraw.Draw(plaque).text((letters, letters / 2 + 1.5 * letters * k), line, font=face, fill=ink)
    turned = plaque.rotate(float(rng.uniform(-5, 5)), resample=Image.Resampling.BICUBIC, expand=True)
    at = [int(rng.integers(0, max(1, whole - part))) for whole, part in zip(LABEL, turned.size, strict=True)]
    image.paste(turned, (at[0], at[1]), turned)
    return image.filter(ImageFilter.GaussianBlur(float(rng.uniform(0, 1.2))))

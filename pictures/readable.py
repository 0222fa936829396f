"""Decide without a model whether a restored sheet can be read: by comparing pixels with what else might stand there.

==============  ================================================================================================
writing         what is printed is drawn again in its place, and so is every word, or every number one digit off, that
                might be there instead; the image must correlate most with what is there
handwriting     each digit is compared with scikit-learn's 1,797: most of the five nearest must be the same digit
charts          the colour of each bar and its height in lines are counted
boards          the colour in each corner is that of the nearest frame
==============  ================================================================================================
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from functools import lru_cache

import numpy as np
from numpy.typing import NDArray
from PIL import Image, ImageDraw

from kit.images import rgb
from pictures.digits import handwritten
from pictures.documents import BARS, HANDWRITTEN, SIDE, WORDS, Print, Sheet, font
from pictures.scenes import COLOURS

PAD = 2
"""Pixels around a writing that are compared as well."""

NEAREST = 5


def is_readable(sheet: Sheet, image: Image.Image, answer: str) -> bool:
    """Decide whether ``answer``, which is about ``sheet``, can be read from an image of it, restored somehow.

    Args:
        sheet: the sheet as it was drawn.
        image: of the sheet, distorted or restored.
        answer: text on the sheet that has to be read.
    """
    grey = np.asarray(image.convert("L"), dtype=np.float64)
    if sheet.kind == "chart":
        return _bars(image) == sheet.rows
    if sheet.kind == "number":
        return _digits(grey, sheet.prints[0]) == answer
    labels, values = sheet.prints[::2], sheet.prints[1::2]
    about = [
        pair
        for pair, row in zip(zip(labels, values, strict=True), sheet.rows, strict=True)
        if answer in (row[1], " ".join(row))
    ]
    return any(all(_printed(grey, one) for one in pair) for pair in about)


def _printed(grey: NDArray[np.float64], one: Print) -> bool:
    """Check that nothing else that might be printed there looks more like it."""
    others = _others(one.text)
    x1, y1, x2, y2 = (round(v) for v in font(one.font, one.size).getbbox(one.text))
    left, top = one.xy[0] + x1 - PAD, one.xy[1] + y1 - PAD
    right = one.xy[0] + x2 + PAD + (0 if one.text.isdigit() else one.size // 2)  # else a word would hide a longer one
    box = (max(0, left), max(0, top), min(SIDE, right), min(SIDE, one.xy[1] + y2 + PAD))
    seen = grey[box[1] : box[3], box[0] : box[2]]
    # Light on dark or dark on light: only the pattern counts.
    likeness = [abs(_correlation(seen, _mask(text, one.font, one.size, one.xy, box))) for text in (one.text, *others)]
    return likeness[0] > max(likeness[1:])


def _others(text: str) -> tuple[str, ...]:
    """Every other word, or every number that differs in one digit."""
    if not text.isdigit():
        return tuple(word for word in WORDS if word != text)
    return tuple(
        text[:k] + digit + text[k + 1 :] for k in range(len(text)) for digit in "0123456789" if digit != text[k]
    )


@lru_cache(maxsize=4096)
def _mask(text: str, name: str, size: int, xy: tuple[int, int], box: tuple[int, int, int, int]) -> NDArray[np.float64]:
    """A text drawn white on black, inside ``box``."""
    image = Image.new("L", (SIDE, SIDE))
    ImageDraw.Draw(image).text(xy, text, font=font(name, size), fill=255)
    return np.asarray(image.crop(box), dtype=np.float64)


def _correlation(first: NDArray[np.float64], second: NDArray[np.float64]) -> float:
    a, b = first - first.mean(), second - second.mean()
    norm = float(np.sqrt((a**2).sum() * (b**2).sum()))
    return float((a * b).sum()) / norm if norm else 0.0


def _digits(grey: NDArray[np.float64], one: Print) -> str:
    """Read handwritten digits."""
    assert one.font == HANDWRITTEN
    images, labels = handwritten()
    known = images.reshape(len(images), -1)
    read = ""
    for k in range(len(one.text)):
        x, y = one.xy[0] + k * one.size, one.xy[1]
        cell = Image.fromarray(grey[y : y + one.size, x : x + one.size]).resize((8, 8), Image.Resampling.BOX)
        dark = np.asarray(cell).max() - np.asarray(cell).ravel()
        likeness = _unit(known) @ _unit(dark[None])[0]
        nearest = labels[np.argsort(-likeness)[:NEAREST]]
        read += str(Counter(int(label) for label in nearest).most_common(1)[0][0])
    return read


def _unit(rows: NDArray[np.float64]) -> NDArray[np.float64]:
    centred = rows - rows.mean(1, keepdims=True)
    return centred / (np.linalg.norm(centred, axis=1, keepdims=True) + 1e-9)


def _bars(image: Image.Image) -> tuple[tuple[str, str], ...]:
    """A chart's rows: each bar's colour, by the median of its lowest line, and how many lines are of that colour."""
    pixels = np.asarray(rgb(image), dtype=np.float64)
    rows = []
    for i in range(3):
        column = np.median(pixels[:, 20 + i * 42 : 38 + i * 42], axis=1)
        dye = np.median(column[121:131], axis=0)
        name = min(BARS, key=lambda n: float(((np.array(COLOURS[n]) - dye) ** 2).sum()))
        paper = np.median(pixels[2:130, 1:5].reshape(-1, 3), axis=0)
        nearer = ((column - dye) ** 2).sum(1) < ((column - paper) ** 2).sum(1)
        rows.append((name, str(round(float(nearer[7:133].sum()) / 14))))
    return tuple(rows)


CORNER = 40
"""Pixels of a side to which a board is shrunk before the colours of its corners are read."""


def frames(image: Image.Image, colours: Sequence[str]) -> list[str]:
    """Name the colour of the frame in each corner of a board: the nearest of ``colours``."""
    pixels = np.asarray(rgb(image).resize((CORNER, CORNER), Image.Resampling.BOX), dtype=np.float64)
    dyes = np.array([COLOURS[name] for name in colours], dtype=np.float64)
    corners = (pixels[y, x] for y in (0, -1) for x in (0, -1))
    return [colours[int(((dyes - corner) ** 2).sum(axis=1).argmin())] for corner in corners]

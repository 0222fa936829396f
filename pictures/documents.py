"""Images to read from: receipts, signs, forms, charts, handwritten numbers, each drawn with its questions.

What a :class:`Sheet` holds is known, so its questions have certain answers; :class:`Print` keeps where each writing
stands and in which font, so that whether an image can still be read is a matter of comparing pixels. Letters are some
20 pixels high on a side of 140: a tiny model can see them, and a median over 3×3 pixels leaves them whole.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cache

import numpy as np
from PIL import Image, ImageDraw, ImageFont

from kit.data.split import Side
from pictures.digits import digits_of, handwritten
from pictures.scenes import COLOURS, Pixels, random_view

SIDE = 140
"""Of a sheet, in pixels: five tokens by five."""

FONTS = ("DejaVu Sans", "DejaVu Sans:bold", "DejaVu Sans Mono", "DejaVu Serif", "DejaVu Serif:bold")
"""Matplotlib's own."""

# fmt: off
GOODS = (
    "tea", "milk", "cake", "rice", "soup", "fish", "corn", "salt", "egg", "ham", "jam", "pie", "nut", "fig", "lime",
    "plum",
)
TOWNS = (
    "oslo", "rome", "lima", "bern", "baku", "cork", "york", "nice", "kiel", "riga", "lyon", "bonn", "pisa", "bari",
)
NAMES = ("ada", "bob", "eve", "ian", "kim", "leo", "mia", "max", "noa", "tom", "zoe", "liv")
FIELDS = ("name", "age", "room", "desk", "seat", "team")
# fmt: on
WORDS = (*GOODS, *TOWNS, *NAMES, *FIELDS, "total")
"""Every word that is ever printed."""

Colour = tuple[int, int, int]


HANDWRITTEN = "handwritten"
"""The font of :func:`number`; its size is a digit's side."""


@dataclass(frozen=True)
class Print:
    """One piece of writing: what, in which font and size, where its top left corner is, in which colour."""

    text: str
    font: str
    size: int
    xy: tuple[int, int]
    ink: Colour


@dataclass(frozen=True)
class Sheet:
    """A drawn image and what it says.

    Attributes:
        kind: a key of :data:`SHEETS`, or ``board``.
        image: RGB, :data:`SIDE` pixels square.
        rows: label and value of each row from the top; of a chart each bar's colour and height.
        questions: what can be asked of it, and the answers.
        prints: its writing, in the rows' order (a chart has none).
    """

    kind: str
    image: Image.Image
    rows: tuple[tuple[str, str], ...]
    questions: tuple[tuple[str, str], ...]
    prints: tuple[Print, ...] = ()

    @property
    def text(self) -> str:
        """All of it: ``tea 35, milk 8, total 43``."""
        return ", ".join(" ".join(part for part in row if part) for row in self.rows)


@cache
def font(name: str, size: int) -> ImageFont.FreeTypeFont:
    """One of :data:`FONTS`."""
    from matplotlib import font_manager

    family, _, weight = name.partition(":")
    found = font_manager.findfont(font_manager.FontProperties(family=family, weight=weight or "normal"))
    return ImageFont.truetype(found, size)


def _pick(rng: np.random.Generator, words: Sequence[str], n: int) -> list[str]:
    return [str(word) for word in rng.choice(words, size=n, replace=False)]


def _number(rng: np.random.Generator) -> str:
    """One to three digits, each length as likely."""
    return str(rng.integers(*((1, 10), (10, 100), (100, 1000))[int(rng.integers(3))]))


def _shade(rng: np.random.Generator, low: int, high: int) -> Colour:
    r, g, b = (int(v) for v in rng.integers(low, high, 3))
    return r, g, b


def _print_rows(
    rng: np.random.Generator, image: Image.Image, rows: Sequence[tuple[str, str]], ink: Colour, margin: int
) -> tuple[Print, ...]:
    """Labels on the left, values on the right, one row under the other, as large as they fit up to 27 pixels."""
    draw = ImageDraw.Draw(image)
    name = FONTS[int(rng.integers(len(FONTS)))]
    width = SIDE - 2 * margin
    size = int(rng.integers(22, 28))
    while size > 15 and max(font(name, size).getlength(f"{label} {value}") for label, value in rows) > width:
        size -= 1
    pitch = width / len(rows)
    prints = []
    for number, (label, value) in enumerate(rows):
        y = round(margin + pitch * number + (pitch - size) / 2 - 2)
        right = SIDE - margin - round(font(name, size).getlength(value))
        for text, x in ((label, margin), (value, right)):
            prints.append(Print(text, name, size, (x, y), ink))
            draw.text((x, y), text, font=font(name, size), fill=ink)
    return tuple(prints)


def _line_questions(rows: Sequence[tuple[str, str]]) -> list[tuple[str, str]]:
    return [(f"What is in line {k}?", " ".join(row)) for k, row in enumerate(rows, 1)]


def receipt(rng: np.random.Generator, pool: Sequence[Pixels]) -> Sheet:
    """Two things bought and their total."""
    del pool
    image = Image.new("RGB", (SIDE, SIDE), _shade(rng, 222, 256))
    prices = [int(_number(rng)) % 500 + 1 for _ in range(2)]
    rows = [*zip(_pick(rng, GOODS, 2), map(str, prices), strict=True), ("total", str(sum(prices)))]
    prints = _print_rows(rng, image, rows, _shade(rng, 0, 90), 8)
    ImageDraw.Draw(image).line((8, SIDE * 2 // 3 - 3, SIDE - 8, SIDE * 2 // 3 - 3), fill=(120, 120, 120))
    asked = [(f"What does the {label} cost?", value) for label, value in rows[:2]]
    return Sheet(
        "receipt", image, tuple(rows), (*asked, ("What is the total?", rows[2][1]), *_line_questions(rows)), prints
    )


PANELS: tuple[tuple[Colour, Colour], ...] = (
    ((20, 110, 60), (250, 250, 250)),
    ((25, 70, 160), (250, 250, 250)),
    ((240, 205, 40), (15, 15, 15)),
    ((245, 245, 245), (15, 15, 15)),
    ((110, 65, 35), (250, 250, 250)),
)
"""Plates of road signs and what is written on them."""


def sign(rng: np.random.Generator, pool: Sequence[Pixels]) -> Sheet:
    """A road sign before a view of one of the pool's images: towns and how far they are."""
    image = Image.fromarray(random_view(rng, pool[int(rng.integers(len(pool)))], SIDE)) if pool else None
    image = image or Image.new("RGB", (SIDE, SIDE), _shade(rng, 60, 200))
    plate, ink = PANELS[int(rng.integers(len(PANELS)))]
    n = int(rng.integers(2, 4))
    inset = int(rng.integers(3, 7))
    box = (inset, inset, SIDE - inset, SIDE - inset)
    ImageDraw.Draw(image).rounded_rectangle(box, radius=10, fill=plate, outline=ink, width=2)
    rows = [(town, _number(rng)) for town in _pick(rng, TOWNS, n)]
    prints = _print_rows(rng, image, rows, ink, inset + 6)
    asked = [(f"How far is {label}?", value) for label, value in rows]
    return Sheet("sign", image, tuple(rows), (*asked, *_line_questions(rows)), prints)


def form(rng: np.random.Generator, pool: Sequence[Pixels]) -> Sheet:
    """A form that was filled in: fields and, in boxes, what was written."""
    del pool
    image = Image.new("RGB", (SIDE, SIDE), _shade(rng, 205, 256))
    n = int(rng.integers(2, 4))
    fields = _pick(rng, FIELDS, n)
    words = {"name": NAMES, "team": TOWNS}
    rows = [(f, str(rng.choice(words[f])) if f in words else _number(rng)) for f in fields]
    prints = _print_rows(rng, image, rows, _shade(rng, 0, 100), 9)
    draw = ImageDraw.Draw(image)
    for written in prints[1::2]:
        x1, y1, x2, y2 = draw.textbbox(written.xy, written.text, font=font(written.font, written.size))
        draw.rectangle((x1 - 4, y1 - 4, x2 + 4, y2 + 4), outline=(150, 150, 150))
    asked = [(f"What is the {label}?", value) for label, value in rows]
    return Sheet("form", image, tuple(rows), (*asked, *_line_questions(rows)), prints)


BARS = tuple(name for name in COLOURS if name != "white")


def chart(rng: np.random.Generator, pool: Sequence[Pixels]) -> Sheet:
    """Three coloured bars, 1 to 9 lines high."""
    del pool
    image = Image.new("RGB", (SIDE, SIDE), (250, 250, 250))
    draw = ImageDraw.Draw(image)
    names = _pick(rng, BARS, 3)
    heights = [int(h) for h in rng.choice(np.arange(1, 10), size=3, replace=False)]
    for line in range(10):
        draw.line((6, 133 - line * 14, 134, 133 - line * 14), fill=(205, 205, 205) if line else (0, 0, 0))
    for i, (name, height) in enumerate(zip(names, heights, strict=True)):
        draw.rectangle((16 + i * 42, 133 - height * 14, 42 + i * 42, 133), fill=COLOURS[name])
    rows = tuple(zip(names, map(str, heights), strict=True))
    asked = [(f"How high is the {name} bar?", height) for name, height in rows]
    first, last = names[int(np.argmax(heights))], names[int(np.argmin(heights))]
    reading = ", ".join(" ".join(row) for row in rows)
    return Sheet(
        "chart",
        image,
        rows,
        (*asked, ("Which bar is highest?", first), ("Which bar is lowest?", last), ("Read the bars.", reading)),
    )


def number(rng: np.random.Generator, pool: Sequence[Pixels], side: Side = "train") -> Sheet:
    """Two or three handwritten digits, on one line.

    Args:
        rng: source of all randomness.
        pool: not used.
        side: whose digits (:func:`pictures.digits.digits_of`).
    """
    del pool
    images, labels = handwritten()
    picked = rng.choice(digits_of(side), size=int(rng.integers(2, 4)))
    paper, ink = _shade(rng, 215, 256), _shade(rng, 0, 100)
    canvas = np.tile(np.array(paper, dtype=np.float64), (SIDE, SIDE, 1))
    high = 42
    left, top = (SIDE - high * len(picked)) // 2, int(rng.integers(10, SIDE - high - 10))
    for k, which in enumerate(picked):
        small = Image.fromarray((images[which] * 255).astype(np.uint8))
        cover = np.asarray(small.resize((high, high), Image.Resampling.BICUBIC))[..., None] / 255
        x = left + k * high
        canvas[top : top + high, x : x + high] += cover * (np.array(ink) - canvas[top : top + high, x : x + high])
    says = "".join(str(labels[which]) for which in picked)
    image = Image.fromarray(np.clip(canvas, 0, 255).astype(np.uint8))
    prints = (Print(says, HANDWRITTEN, high, (left, top), ink),)
    return Sheet("number", image, (("", says),), (("Which number is it?", says),), prints)


Draw = Callable[[np.random.Generator, Sequence[Pixels]], Sheet]

SHEETS: dict[str, Draw] = {f.__name__: f for f in (receipt, sign, form, chart, number)}
"""How each kind of sheet is drawn, given images to put a sign before."""


def sheet(
    rng: np.random.Generator, pool: Sequence[Pixels], kinds: Sequence[str] = tuple(SHEETS), side: Side = "train"
) -> Sheet:
    """A sheet of one of these kinds.

    Args:
        rng: source of all randomness.
        pool: images to take views of, ``(height, width, 3)`` bytes each.
        kinds: names of the kinds to choose from, keys of :data:`SHEETS`.
        side: whose handwritten digits may be on it.
    """
    kind = kinds[int(rng.integers(len(kinds)))]
    return number(rng, pool, side) if kind == number.__name__ else SHEETS[kind](rng, pool)


FRAME = 4
"""Width of a card's frame on a board, in pixels."""
CORNERS = ("top left", "top right", "bottom left", "bottom right")
FRAMES = ("red", "green", "blue", "yellow", "purple", "orange", "black")
CARDS = ("receipt", "sign", "form", "number")
"""What lies on a board; a chart's bars would be mistaken for frames."""


@dataclass(frozen=True)
class Card:
    """A sheet on a board: its frame's colour, and its corner's box as shares of the board's sides."""

    colour: str
    corner: str
    box: tuple[float, float, float, float]
    sheet: Sheet

    @property
    def inner(self) -> tuple[float, float, float, float]:
        """The box without the frame."""
        x1, y1, x2, y2 = self.box
        edge = FRAME / SIDE
        return x1 + edge, y1 + edge, x2 - edge, y2 - edge


def board(
    rng: np.random.Generator, pool: Sequence[Pixels], side: Side = "train"
) -> tuple[Image.Image, tuple[Card, ...]]:
    """Four sheets, half as large, each in a frame of its own colour: only one of them matters to a question.

    Args:
        rng: source of all randomness.
        pool: images to take views of, ``(height, width, 3)`` bytes each.
        side: whose handwritten digits may be on it.
    """
    image = Image.new("RGB", (SIDE, SIDE), (255, 255, 255))
    half = SIDE // 2
    cards = []
    for place, (colour, corner) in enumerate(zip(_pick(rng, FRAMES, 4), CORNERS, strict=True)):
        x, y = place % 2, place // 2
        one = sheet(rng, pool, CARDS, side)
        image.paste(COLOURS[colour], (x * half, y * half, (x + 1) * half, (y + 1) * half))
        inner = half - 2 * FRAME
        small = one.image.resize((inner, inner), Image.Resampling.LANCZOS)
        image.paste(small, (x * half + FRAME, y * half + FRAME))
        cards.append(Card(colour, corner, (x / 2, y / 2, x / 2 + 0.5, y / 2 + 0.5), one))
    return image, tuple(cards)

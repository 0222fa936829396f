"""Maps and infographics: MapQA and InfographicVQA, drawn with known regions, marks and numbers.

===============  ==========================================  =================================================
set              asks                                        by
===============  ==========================================  =================================================
MapQA            the number of a region                      easyocr.read: what stands right of its name
                 how many towns of a colour are marked       groundingdino.detect, task count
                 which share of the map a lake covers        sam.segment, task area: ``14.8 %``
InfographicVQA   a number beside a word                      easyocr.read
                 how many icons of a kind there are          groundingdino.detect, task count
===============  ==========================================  =================================================
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from PIL import Image, ImageDraw

from papers.vista_gym.drawn import Drawn, call, one_of, several
from papers.vista_gym.families.pages import page, shade
from papers.vista_gym.families.things import DYES, SHAPES, Box, Thing, scatter, told
from pictures import documents
from pictures.documents import GOODS, TOWNS, font

SIZE, ACROSS, DOWN = (640, 480), 3, 2
"""Pixels of a map, and its regions."""
FONT, LETTERS = "DejaVu Sans", 24
WATER = (120, 170, 215)


@dataclass(frozen=True)
class Map:
    """A map: its image, the number of each region, the marks of towns, a lake's middle and its share of the pixels."""

    image: Image.Image
    numbers: dict[str, str]
    towns: tuple[Thing, ...]
    lake: tuple[int, int]
    share: float

    @property
    def key(self) -> str:
        """Numbers, towns and lake: the map's whole content."""
        return f"map {self.numbers} {told(self.towns)} {self.lake} {self.share}"


def drawn_map(rng: np.random.Generator) -> Map:
    """Six pale regions with crooked borders, names and numbers in them; a lake in the last, which has none."""
    image = Image.new("RGB", SIZE, "white")
    pen, wide, high = ImageDraw.Draw(image), SIZE[0] // ACROSS, SIZE[1] // DOWN
    inner = {(c, r): rng.integers(-22, 23, 2) for c in range(1, ACROSS) for r in range(1, DOWN)}
    corner = {
        (c, r): (c * wide + int(inner.get((c, r), (0, 0))[0]), r * high + int(inner.get((c, r), (0, 0))[1]))
        for c in range(ACROSS + 1)
        for r in range(DOWN + 1)
    }
    cells = [(c, r) for r in range(DOWN) for c in range(ACROSS)]
    for c, r in cells:
        around = [corner[c, r], corner[c + 1, r], corner[c + 1, r + 1], corner[c, r + 1]]
        pen.polygon(around, fill=shade(rng, 215, 245), outline=(120, 120, 120), width=2)
    numbers: dict[str, str] = {}
    written: list[Box] = []
    wet, *dry = several(rng, cells, len(cells))
    for (c, r), name in zip(dry, several(rng, TOWNS, len(dry)), strict=True):
        numbers[name] = str(rng.integers(2, 100))
        x, y = c * wide + int(rng.integers(34, 60)), r * high + int(rng.integers(40, 150))
        pen.text((x, y), f"{name} {numbers[name]}", font=font(FONT, LETTERS), fill=(20, 20, 20))
        written.append((x - 6, y - 4, x + 130, y + 36))
    lake, share = _lake(rng, image, (wet[0] * wide, wet[1] * high, (wet[0] + 1) * wide, (wet[1] + 1) * high))
    free = [*written, (wet[0] * wide, wet[1] * high, (wet[0] + 1) * wide, (wet[1] + 1) * high)]
    wanted = [(dye, "circle") for dye in several(rng, ("red", "green", "purple", "orange"), 2)]
    marks = [one_of(rng, wanted) for _ in range(int(rng.integers(5, 12)))]
    return Map(image, numbers, tuple(scatter(rng, image, marks, None, (18, 27), free)), lake, share)


def _lake(rng: np.random.Generator, image: Image.Image, room: Box) -> tuple[tuple[int, int], float]:
    """Draw a lake; its middle, and its share of the map in per cent."""
    x, y = (room[0] + room[2]) // 2, (room[1] + room[3]) // 2
    a, b = int(rng.integers(45, 85)), int(rng.integers(45, 95))
    ImageDraw.Draw(image).ellipse((x - a, y - b, x + a, y + b), fill=WATER)
    return (x, y), round(100 * float((np.asarray(image) == WATER).all(axis=2).mean()), 1)


def number(rng: np.random.Generator) -> Drawn:
    """Ask for a region's number."""
    one = drawn_map(rng)
    name, answer = one_of(rng, list(one.numbers.items()))
    question = one_of(rng, ("Which number has {0}?", "What is written beside {0}?", "What is the value of {0}?"))
    wrong = call("groundingdino.detect", caption=name)
    return Drawn(one.image, question.format(name), answer, one.key, (call("easyocr.read", after=name),), wrong)


def marks(rng: np.random.Generator) -> Drawn:
    """Ask how many towns of a colour are marked."""
    one = drawn_map(rng)
    colour = one_of(rng, one.towns).colour
    n = sum(town.colour == colour for town in one.towns)
    question = one_of(rng, ("How many {0} dots are on the map?", "How many towns have a {0} dot?")).format(colour)
    right = call("groundingdino.detect", "count", caption=f"{colour} circle")
    return Drawn(one.image, question, str(n), one.key, (right,), call("easyocr.read", after=colour))


def lake(rng: np.random.Generator) -> Drawn:
    """Ask which share of the map a lake covers."""
    one = drawn_map(rng)
    question = f"What per cent of the map does the lake at {list(one.lake)} cover?"
    right = call("sam.segment", "area", point_prompts=[list(one.lake)])
    wrong = call("groundingdino.detect", "count", caption="blue thing")
    return Drawn(one.image, question, str(one.share), one.key, (right,), wrong, "share")


def mapqa(rng: np.random.Generator) -> Drawn:
    """Any of these."""
    return one_of(rng, (number, number, marks, marks, lake))(rng)


def infographicvqa(rng: np.random.Generator) -> Drawn:
    """Ask for a number beside a word, or how many icons of a kind there are."""
    rows = [(name, f"{rng.integers(2, 100)} %") for name in several(rng, GOODS, int(rng.integers(3, 5)))]
    image = page(rng, rows, one_of(rng, ("What we eat", "Our year", "In short")), size=(560, 640))
    kinds = [(dye, one_of(rng, SHAPES)) for dye in several(rng, DYES, 3)]
    icons = scatter(rng, image, [one_of(rng, kinds) for _ in range(int(rng.integers(6, 13)))], (30, 440, 530, 620))
    key = f"infographic {rows} {told(icons)}"
    if rng.random() < 0.5:
        name, told_ = one_of(rng, rows)
        question = one_of(rng, ("What per cent is {0}?", "Which share has {0}?")).format(name)
        wrong = call("unichart.to_table", of=name)
        return Drawn(image, question, told_.split()[0], key, (call("easyocr.read", after=name),), wrong)
    one = one_of(rng, icons)
    n = sum((icon.colour, icon.shape) == (one.colour, one.shape) for icon in icons)
    right = call("groundingdino.detect", "count", caption=f"{one.colour} {one.shape}")
    question = f"How many {one.colour} {one.shape}s are there?"
    return Drawn(image, question, str(n), key, (right,), call("easyocr.read", after=one.colour))


def at_sight(rng: np.random.Generator) -> Drawn:
    """Ask for a distance on a road sign whose letters are large."""
    one = documents.sign(rng, ())
    question, answer = one_of(rng, [pair for pair in one.questions if " in line " not in pair[0]])
    return Drawn(one.image, question, answer, f"sheet sign {one.text}")

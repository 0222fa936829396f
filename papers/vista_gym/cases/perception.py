"""Cases of detection, segmentation and reading: drawn scenes, receipts, signs, forms and boards of them."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np
from PIL import Image, ImageDraw

from papers.vista_gym.cases.case import Case, MakeCase
from papers.vista_gym.cases.charts import Box, found, iou
from pictures.documents import SIDE, board, sheet
from pictures.scenes import COLOURS, scene

WIDTH, HEIGHT = 800, 600
INKS = tuple(name for name in COLOURS if name not in ("white", "black"))
SHAPES = ("circle", "square", "triangle", "star")
PRINTED = ("receipt", "sign", "form")


@dataclass(frozen=True)
class Thing:
    """One thing of a scene: colour, shape, its box in pixels, and how many pixels it covers."""

    colour: str
    shape: str
    box: Box
    pixels: int


def drawn_scene(rng: np.random.Generator) -> tuple[Image.Image, list[Thing]]:
    """One to six things, each in a cell of its own, on a faint view of a procedural scene; some colours come twice."""
    faint = scene(rng, 168) * rng.uniform(0, 0.35) + rng.uniform(60, 160)
    image = Image.fromarray(faint.astype(np.uint8)).resize((WIDTH, HEIGHT))
    things = []
    for cell in rng.permutation(6)[: int(rng.integers(1, 7))]:
        colour, shape = str(rng.choice(INKS)), str(rng.choice(SHAPES))
        side = int(rng.integers(50, 190))
        left = int(cell % 3) * 266 + int(rng.integers(10, 250 - side))
        top = int(cell // 3) * 300 + int(rng.integers(10, 290 - side))
        stencil = Image.new("L", image.size)
        _outline(ImageDraw.Draw(stencil), shape, (left, top, left + side, top + side))
        image.paste(COLOURS[colour], mask=stencil)
        box = stencil.getbbox() or (0, 0, 0, 0)
        things.append(Thing(colour, shape, box, int(np.count_nonzero(np.asarray(stencil)))))
    return image, things


def _outline(draw: ImageDraw.ImageDraw, shape: str, box: tuple[int, int, int, int]) -> None:
    left, top, right, bottom = box
    if shape == "circle":
        draw.ellipse(box, fill=255)
    elif shape == "square":
        draw.rectangle(box, fill=255)
    elif shape == "triangle":
        draw.polygon([((left + right) / 2, top), (left, bottom), (right, bottom)], fill=255)
    else:
        angle = np.arange(10) * np.pi / 5 - np.pi / 2
        radius = np.where(np.arange(10) % 2 == 0, 0.5, 0.225) * (right - left)
        xs, ys = (left + right) / 2 + np.cos(angle) * radius, (top + bottom) / 2 + np.sin(angle) * radius
        draw.polygon([(float(x), float(y)) for x, y in zip(xs, ys, strict=True)], fill=255)


def _boxes(said: str) -> list[Box]:
    fours = re.findall(r"\[(\d+), (\d+), (\d+), (\d+)\]", said)
    return [(float(a), float(b), float(c), float(d)) for a, b, c, d in fours]


def detection(rng: np.random.Generator) -> Case:
    """Boxes of a colour and shape, or how many there are; one caption in six names what isn't there."""
    image, things = drawn_scene(rng)
    one = things[int(rng.integers(len(things)))]
    kinds = {(thing.colour, thing.shape) for thing in things}
    absent = [(colour, shape) for colour in INKS for shape in SHAPES if (colour, shape) not in kinds]
    colour, shape = absent[int(rng.integers(len(absent)))] if rng.random() < 1 / 6 else (one.colour, one.shape)
    right = [thing.box for thing in things if (thing.colour, thing.shape) == (colour, shape)]
    if rng.random() < 0.5:
        return Case(
            lambda said: float(said == str(len(right))), {"caption": f"{colour} {shape}", "task": "count"}, image
        )

    def score(said: str) -> float:
        return found(_boxes(said), right) if right else float(said.startswith("No "))

    return Case(score, {"caption": f"{colour} {shape}"}, image)


def segmentation(rng: np.random.Generator) -> Case:
    """A thing by a point on it or a box around it: its box overlaps by 0.8, its size is right within a tenth."""
    image, things = drawn_scene(rng)
    one = things[int(rng.integers(len(things)))]
    left, top, right, bottom = one.box
    # A triangle's middle and a star's lie lower than their box's.
    middle = [round((left + right) / 2), round(top + (bottom - top) * 0.6)]
    slack = int(rng.integers(4, 16))
    around = [max(0, left - slack), max(0, top - slack), min(WIDTH, right + slack), min(HEIGHT, bottom + slack)]
    asked = {"point_prompts": [middle]} if rng.random() < 0.5 else {"box_prompt": around}

    def score(said: str) -> float:
        told = re.search(r"\], (\d+) pixels", said)
        boxes = _boxes(said)
        if told is None or not boxes:
            return 0.0
        return float(iou(boxes[0], one.box) >= 0.8 and abs(int(told[1]) - one.pixels) <= 0.1 * one.pixels)

    return Case(score, asked, image)


def _plain(text: str) -> str:
    return re.sub(r"\W", "", text).casefold()


def _words(said: str, due: list[str]) -> float:
    """Share of words that are read; one too many counts as one that isn't."""
    told = [_plain(word) for word in re.split(r"[;\s|]+", said) if _plain(word)]
    left, hits = list(told), 0
    for word in due:
        if _plain(word) in left:
            left.remove(_plain(word))
            hits += 1
    return hits / max(len(due), len(told))


def reading(rng: np.random.Generator) -> Case:
    """Of a sheet what stands after a word, or all of it; of a board what one printed card says, at half the size."""
    pool = [scene(rng, SIDE)]
    kind = int(rng.integers(4))
    if kind == 3:
        image, cards = board(rng, pool)
        printed = [card for card in cards if card.sheet.kind in PRINTED]
        if not printed:
            return reading(rng)
        card = printed[int(rng.integers(len(printed)))]
        due = [part for row in card.sheet.rows for part in row if part]
        region = [round(share * SIDE) for share in card.inner]
        return Case(lambda said: _words(said, due), {"task": "extract_by_region", "region": region}, image)
    one = sheet(rng, pool, PRINTED)
    if kind == 2:
        due = [part for row in one.rows for part in row if part]
        return Case(lambda said: _words(said, due), {"task": "recognize_only"}, one.image)
    label, value = one.rows[int(rng.integers(len(one.rows)))]
    return Case(lambda said: float(_plain(said) == _plain(value)), {"after": label}, one.image)


CASES: Mapping[str, MakeCase] = {
    "groundingdino.detect": detection,
    "sam.segment": segmentation,
    "easyocr.read": reading,
}
"""Tool's name → what draws one of its cases."""

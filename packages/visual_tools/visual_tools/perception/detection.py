"""Detection by words: boxes of what a caption names, by GroundingDINO or by classical detectors.

Offline, a caption may name things by colour and shape (``red circle. blue thing``), and what OpenCV and the reader
find: ``person`` (histograms of gradients), ``face``, ``eye``, ``cat`` (cascades), ``text``.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from types import MappingProxyType
from typing import Any, ClassVar

import cv2
import numpy as np
from PIL import Image, ImageDraw

from visual_tools.perception.shapes import COLOURS, SHAPES, things
from visual_tools.perception.text import read_lines
from visual_tools.regions import Pixels
from visual_tools.tool import Arguments, Golden, PureTool, Served

BOX, TEXT, OVERLAP = 0.35, 0.25, 0.8
"""Thresholds of box and text, and the overlap from which two boxes are one thing (released code)."""

CASCADES = {
    "face": "haarcascade_frontalface_default.xml",
    "eye": "haarcascade_eye.xml",
    "cat": "haarcascade_frontalcatface.xml",
}
ANYTHING = ("thing", "object", "shape", "item")
SAME = {"gray": "grey", "ball": "circle", "disc": "circle", "box": "square", "people": "person", "word": "text"}
"""Words → those that a detector has for them."""
FILLERS = frozenset(("a", "an", "the", "all", "every", "of", "and"))


@dataclass(frozen=True)
class Found:
    """One detection: the phrase that names it, its box in pixels, and a score from 0 to 1."""

    phrase: str
    box: Pixels
    score: float


def phrases(caption: str) -> list[str]:
    """The phrases of a caption, which full stops, commas or semicolons part."""
    return [words for part in re.split(r"[.,;\n]", caption.lower()) if (words := " ".join(part.split()))]


def _known(word: str) -> str:
    """A word as detectors know it: singular, and by its commoner name."""
    for form in (word, word.removesuffix("s"), word.removesuffix("es")):
        form = SAME.get(form, form)
        if form in (*COLOURS, *SHAPES, *ANYTHING, *CASCADES, "person", "text"):
            return form
    return ""


def detect(image: Image.Image, phrase: str) -> Iterator[Found]:
    """Find what one phrase names in an RGB image.

    Raises:
        ValueError: it names something that no detector knows.
    """
    words = [word for word in phrase.split() if word not in FILLERS]
    known = [_known(word) for word in words]
    if not known or not all(known):
        unknown = next((word for word, name in zip(words, known, strict=True) if not name), phrase)
        raise ValueError(
            f"no detector knows {unknown!r:.60}; name colours ({', '.join(COLOURS)}) and shapes "
            f"({', '.join((*SHAPES, 'thing'))}), or {', '.join((*CASCADES, 'person', 'text'))}"
        )
    for name in known:
        if name in CASCADES:
            yield from _cascade(image, name, phrase)
        elif name == "person":
            yield from _people(image, phrase)
        elif name == "text":
            yield from (Found(phrase, line.box, line.confidence) for line in read_lines(image))
    colours = [name for name in known if name in COLOURS]
    shapes = [name for name in known if name in SHAPES]
    if colours or shapes or set(known) & set(ANYTHING):
        for colour in colours or COLOURS:
            for thing in things(image, colour):
                if not shapes or thing.shape in shapes:
                    yield Found(phrase, thing.box, thing.score)


def _cascade(image: Image.Image, name: str, phrase: str) -> Iterator[Found]:
    # Made anew each time (some milliseconds): one that several threads use at once mixes up their images.
    classifier = cv2.CascadeClassifier(f"{cv2.data.haarcascades}{CASCADES[name]}")  # type: ignore[attr-defined]
    grey = np.asarray(image.convert("L"))
    boxes, _, weights = classifier.detectMultiScale3(grey, 1.1, 5, outputRejectLevels=True)
    yield from _weighed(boxes, weights, phrase)


def _people(image: Image.Image, phrase: str) -> Iterator[Found]:
    hog = cv2.HOGDescriptor()
    hog.setSVMDetector(np.array(cv2.HOGDescriptor.getDefaultPeopleDetector()))
    if image.width < 64 or image.height < 128:  # its window
        return
    boxes, weights = hog.detectMultiScale(np.asarray(image), winStride=(8, 8), scale=1.1)
    yield from _weighed(boxes, weights, phrase)


def _weighed(boxes: Any, weights: Any, phrase: str) -> Iterator[Found]:
    """Detections with their margins as scores: a margin of 1 is 0.5."""
    for (x, y, w, h), weight in zip(boxes, np.ravel(weights), strict=True):
        margin = max(0.0, float(weight))
        yield Found(phrase, (int(x), int(y), int(x + w), int(y + h)), margin / (margin + 1))


def distinct(found: list[Found], overlap: float = OVERLAP) -> tuple[Found, ...]:
    """The best of detections that overlap, best first."""
    kept: list[Found] = []
    for one in sorted(found, key=lambda each: (-each.score, each.box)):
        if all(iou(one.box, other.box) < overlap for other in kept):
            kept.append(one)
    return tuple(kept)


def iou(a: Pixels, b: Pixels) -> float:
    """Intersection over union of two boxes."""
    w, h = min(a[2], b[2]) - max(a[0], b[0]), min(a[3], b[3]) - max(a[1], b[1])
    both = max(0.0, w) * max(0.0, h)
    return both / ((a[2] - a[0]) * (a[3] - a[1]) + (b[2] - b[0]) * (b[3] - b[1]) - both)


def _two_squares() -> Image.Image:
    """A red square at (10, 20) and a blue one at (80, 50), both 40 pixels wide."""
    image = Image.new("RGB", (160, 120), (235, 235, 225))
    for left, top, ink in ((10, 20, (214, 39, 40)), (80, 50, (31, 90, 200))):
        ImageDraw.Draw(image).rectangle((left, top, left + 39, top + 39), fill=ink)
    return image


class Detect(PureTool):
    """Finds what a caption names: boxes [left, top, right, bottom] in pixels with scores, or how many there are."""

    name, family = "groundingdino.detect", "perception"
    algorithm = (
        "Things by hue and shape, text by the OCR, faces, eyes, cats and people by OpenCV's cascades and gradients; "
        "of other words it says that it doesn't know them."
    )
    properties: ClassVar[Mapping[str, Any]] = MappingProxyType(
        {
            "task": {"enum": ["detect", "count"]},
            "caption": {"type": "string", "minLength": 1, "maxLength": 500},
            "box_threshold": {"type": "number", "minimum": 0, "maximum": 1},
            "text_threshold": {"type": "number", "minimum": 0, "maximum": 1},
        }
    )
    required = ("caption",)
    goldens = (
        Golden({"caption": "red square"}, "red square [10, 20, 50, 60] 1.00", _two_squares),
        Golden({"caption": "squares", "task": "count"}, "2", _two_squares),
        Golden({"caption": "green square"}, "No green square was found.", _two_squares),
    )
    served = Served("IDEA-Research/grounding-dino-tiny", "Apache-2.0", "visual_tools.perception.served:grounding_dino")

    def look(self, image: Image.Image, arguments: Arguments) -> tuple[Found, ...]:
        """Detections of every phrase, best first."""
        least = arguments.get("box_threshold", BOX)
        found = [one for phrase in phrases(arguments["caption"]) for one in detect(image, phrase)]
        return distinct([one for one in found if one.score >= least])

    def answer(self, seen: tuple[Found, ...], arguments: Arguments) -> str:
        """Boxes with their scores, or their number."""
        if arguments.get("task") == "count":
            return str(len(seen))
        told = "; ".join(f"{one.phrase} [{', '.join(f'{v:.0f}' for v in one.box)}] {one.score:.2f}" for one in seen)
        return told or f"No {' or '.join(phrases(arguments['caption'])) or 'such thing'} was found."

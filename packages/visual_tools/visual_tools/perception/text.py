"""Reading: lines of text with their boxes, by PP-OCRv6 (RapidOCR; its weights come with the package)."""

from __future__ import annotations

import re
import threading
from collections import OrderedDict
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from types import MappingProxyType
from typing import Any, ClassVar

import numpy as np
from PIL import Image, ImageDraw, ImageFont, ImageOps

from turn_sandbox.images import content_hash
from visual_tools.regions import Pixels, inside
from visual_tools.tool import Arguments, Golden, PureTool

KEPT = 1024
"""Images whose lines a process remembers: the tools of one episode read the same one again and again, and so do the
trajectories of a group. Lines are short: all of them take some megabytes."""
SMALLEST, SLIM = 8, 6
"""Pixels of a side below which no letter fits; how many times longer than the other a side may be before it is padded.
"""
ROOM = 0.6
"""Share of a line's height by which another line may be off and still stand in the same row."""


_LETTER = "[A-Za-z\u00c0-\u024f\u0370-\u052f]"
"""Letters of scripts that part words by spaces."""
_LEADERS = re.compile(r"^(?:[\s:=|]|\.{2,}|[.,](?!\d))+")
"""What may stand between a word and what is right of it: signs and dots, but no decimal point."""


@dataclass(frozen=True)
class Line:
    """One piece of writing: its text, its box in pixels (left, top, right, bottom), and how sure the reader is."""

    text: str
    box: Pixels
    confidence: float


@cache
def _reader() -> Any:
    from rapidocr import RapidOCR

    threads = {f"EngineConfig.onnxruntime.{kind}_op_num_threads": 1 for kind in ("intra", "inter")}
    # Upright text only: a page that is turned is for the agent to notice.
    return RapidOCR(params={"Global.use_cls": False, "Global.log_level": "critical", **threads})


_LOCK = threading.Lock()
_READ: OrderedDict[str, tuple[Line, ...]] = OrderedDict()


def read_lines(image: Image.Image) -> tuple[Line, ...]:
    """Read all lines of an RGB image, in reading order; none if nothing is written there. Takes a second or two."""
    name = content_hash(image)
    with _LOCK:  # one at a time: the reader keeps a state of its own
        if name not in _READ:
            _READ[name] = _read(image)
            if len(_READ) > KEPT:
                _READ.popitem(last=False)
        _READ.move_to_end(name)
        return _READ[name]


def _read(image: Image.Image) -> tuple[Line, ...]:
    if min(image.size) < SMALLEST:
        return ()
    # The reader enlarges until the shorter side has 736 pixels: of a strip of 3,000 x 10 it would make 160 million.
    floor = max(image.size) // SLIM
    image = ImageOps.expand(image, (0, 0, max(0, floor - image.width), max(0, floor - image.height)), "white")
    found = _reader()(np.asarray(image)[:, :, ::-1])  # it reads BGR
    if found.boxes is None:
        return ()
    lines = [
        Line(text.strip(), (*map(float, corners.min(0)), *map(float, corners.max(0))), float(score))  # type: ignore[arg-type]
        for corners, text, score in zip(found.boxes, found.txts, found.scores, strict=True)
        if text.strip()
    ]
    return in_reading_order(lines)


def in_reading_order(lines: list[Line]) -> tuple[Line, ...]:
    """Order lines by rows from the top, and in a row from the left."""
    ordered: list[Line] = []
    for row in rows(lines):
        ordered += row
    return tuple(ordered)


def rows(lines: list[Line] | tuple[Line, ...]) -> list[list[Line]]:
    """Lines that stand beside each other, row by row from the top, each from the left."""
    found: list[list[Line]] = []
    for line in sorted(lines, key=lambda one: one.box[1] + one.box[3]):
        middle, height = (line.box[1] + line.box[3]) / 2, line.box[3] - line.box[1]
        last = found[-1][-1] if found else None
        if last is not None and abs(middle - (last.box[1] + last.box[3]) / 2) < ROOM * height:
            found[-1].append(line)
        else:
            found.append([line])
    return [sorted(row, key=lambda one: one.box[0]) for row in found]


def _whole(word: str) -> re.Pattern[str]:
    """A pattern of a word that isn't part of another: tea isn't in steak, nor Total in Subtotal, nor 1 in 11 or 1.5."""
    before = f"(?<!{_LETTER})" if re.match(_LETTER, word) else r"(?<!\d)(?<!\d[.,])" if word[:1].isdigit() else ""
    after = f"(?!{_LETTER})" if re.search(f"{_LETTER}$", word) else r"(?!\d|[.,]\d)" if word[-1:].isdigit() else ""
    return re.compile(f"{before}{re.escape(word)}{after}", re.IGNORECASE)


def _page() -> Image.Image:
    """Two rows, of which the second holds two pieces."""
    image = Image.new("RGB", (320, 120), "white")
    draw, font = ImageDraw.Draw(image), ImageFont.load_default(28)
    for place, words in (((20, 12), "Receipt"), ((20, 70), "milk"), ((200, 70), "515")):
        draw.text(place, words, fill="black", font=font)
    return image


class ReadText(PureTool):
    """Reads what is written in an image; `after` picks what stands right of a word, `region` a part of the image."""

    name, family = "easyocr.read", "perception"
    algorithm = "PP-OCRv6 small by RapidOCR, a served model whose weights come with the package."
    properties: ClassVar[Mapping[str, Any]] = MappingProxyType(
        {
            "task": {"enum": ["detect_and_recognize", "recognize_only", "extract_table", "extract_by_region"]},
            "after": {"type": "string", "minLength": 1},
            "min_confidence": {"type": "number", "minimum": 0, "maximum": 1},
            "region": {"type": "array", "items": {"type": "number"}, "minItems": 4, "maxItems": 4},
        }
    )
    goldens = (
        Golden({"task": "recognize_only"}, "Receipt; milk; 515", _page),
        Golden({"after": "milk"}, "515", _page),
        Golden({"task": "extract_table"}, "Receipt\nmilk | 515", _page),
        Golden({"task": "extract_by_region", "region": [0, 60, 160, 120]}, "milk", _page),
    )

    def look(self, image: Image.Image, arguments: Arguments) -> tuple[Line, ...]:
        """All lines of the image, or of the asked region, their boxes in pixels of the whole image."""
        if "region" not in arguments:
            return read_lines(image)
        left, top, right, bottom = inside(self.name, arguments["region"], image.size)
        part = image.crop((left, top, right, bottom))
        return tuple(
            Line(
                line.text,
                (line.box[0] + left, line.box[1] + top, line.box[2] + left, line.box[3] + top),
                line.confidence,
            )
            for line in read_lines(part)
        )

    def answer(self, seen: tuple[Line, ...], arguments: Arguments) -> str:
        """The words asked for; with boxes if detection is asked for, in rows if a table is."""
        least = arguments.get("min_confidence", 0.5)
        lines = [line for line in seen if line.confidence >= least]
        if not lines:
            return "Nothing can be read there."
        if "after" in arguments:
            return self._after(lines, arguments["after"])
        task = arguments.get("task", "recognize_only")
        if task == "extract_table":
            return "\n".join(" | ".join(line.text for line in row) for row in rows(lines))
        if task == "detect_and_recognize":
            return "; ".join(f"{line.text} [{', '.join(f'{v:.0f}' for v in line.box)}]" for line in lines)
        return "; ".join(line.text for line in lines)

    def _after(self, lines: list[Line], word: str) -> str:
        """What stands right of a word, in its line or beside it; of a word, not of its letters within another."""
        wanted = _whole(word.strip())
        for row in rows(lines):
            said = " ".join(line.text for line in row)
            for found in wanted.finditer(said):
                if rest := _LEADERS.sub("", said[found.end() :]).rstrip(" :=.,|"):
                    return rest
        there = "; ".join(line.text for line in lines)
        raise ValueError(f"{self.name}: nothing stands right of {word!r:.60}; there is {there:.120}")

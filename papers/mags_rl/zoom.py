"""Read boxes from a policy's text, check each, and magnify the parts of the image that may be.

``[[0.5, 0.0, 1.0, 0.5], [0.6, 0.4, 0.2, 0.9]]`` asks for two parts; the second has its sides reversed. The first comes
back as the image ``zoom_1``, and of the second the agent is told why not. A box has to be

==============  =====================================================================================================
four numbers    not words, not NaN, not three of them
in order        x1 below x2, y1 below y2: an empty box isn't
inside          of the image
small           less than 40 % of the image's area (prompt, appendix A.1)
large enough    8 pixels a side of the image that is opened (ours)
something new   not the same, to 70 % of their union, as a box before it (ours)
==============  =====================================================================================================

A single box without the list around it is no list of boxes. Where the numbers can only be in another unit, or reach out
of the image, the unit is told.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from math import isfinite
from types import MappingProxyType
from typing import Any, Literal

from kit.episode import NamedImage, Observation, Task
from kit.tools.base import Images
from kit.tools.boxes import Box, Frame, Size, convert
from visual_tools.super_resolution import SuperResolution

LARGEST = 0.4
"""Share of the image's area that a box has to stay below."""

MOST = 8
"""Boxes of a round that are looked at (ours: more would fill the context with images)."""

SMALLEST_SIDE, ALIKE = 8, 0.7
"""Pixels of a crop's side, at least; intersection over union from which two boxes are the same."""

OUT = "reaches out of the image"

NOTES, NOTE_CHARS = 4, 60
"""Boxes whose faults are told, and characters of each that are repeated."""

Numbers = tuple[float, float, float, float]
"""A box as it was written."""


def read(text: str) -> list[Numbers | None] | None:
    """Read a list of boxes; None in the place of what isn't four numbers, None for what isn't a list of lists.

    >>> read("[[0.5, 0.0, 1.0, 0.5], ['a', 1, 2, 3]]"), read('[["a", 1, 2, 3]]'), read("[0.5, 0.0, 1.0, 0.5]")
    (None, [None], None)
    """
    try:
        found = json.loads(text)
    except (ValueError, RecursionError):
        return None
    if not isinstance(found, list) or (found and not any(isinstance(one, list) for one in found)):
        return None
    return [_numbers(one) for one in found]


def _numbers(one: Any) -> Numbers | None:
    if not isinstance(one, list) or len(one) != 4 or any(type(value) not in (int, float) for value in one):
        return None
    try:
        x1, y1, x2, y2 = map(float, one)
    except OverflowError:
        return None
    return (x1, y1, x2, y2) if all(map(isfinite, (x1, y1, x2, y2))) else None


@dataclass(frozen=True)
class Checked:
    """A list of boxes after they were checked.

    Attributes:
        asked: number of boxes.
        boxes: number of a box in the list, from 1 → the box, in shares; the valid ones.
        told: what is wrong with the others, in words for the agent.
    """

    asked: int
    boxes: Mapping[int, Box]
    told: tuple[str, ...]


def check(text: str, image: NamedImage, opened: Size, frame: Frame = "shares", resized: Size | None = None) -> Checked:
    """Check a list of boxes. Total: any text can be one.

    Args:
        text: the list as the policy wrote it.
        image: the image as the policy sees it.
        opened: width and height of the image that is cropped.
        frame: the unit that the policy speaks in.
        resized: size of the image as the model reads it, for the frame ``resized``.
    """
    entries = read(text)
    if entries is None:
        return Checked(0, {}, (f"{text[:NOTE_CHARS]!r} isn't a list of boxes: write [[x1, y1, x2, y2], …]",))
    boxes: dict[int, Box] = {}
    told: list[str] = []
    other_unit = False
    for number, entry in enumerate(entries[:MOST], 1):
        found = "needs four numbers" if entry is None else _box(entry, image, frame, resized)
        why = found if isinstance(found, str) else _fault(found, opened, boxes)
        if isinstance(found, Box) and not why:
            boxes[number] = found
        else:
            told.append(f"box {number} {why}")
            other_unit |= entry is not None and _is_in_another_unit(entry, frame, found == OUT)
    if len(told) > NOTES:
        told = [*told[:NOTES], f"and {len(told) - NOTES} more"]
    if other_unit:
        told.append(f"numbers are {_unit(frame, resized if frame == 'resized' else image.image.size)}")
    if len(entries) > MOST:
        told.append(f"only the first {MOST} of {len(entries)} boxes are looked at")
    return Checked(len(entries), boxes, tuple(told))


def _box(entry: Numbers, image: NamedImage, frame: Frame, resized: Size | None) -> Box | str:
    """A box in shares, or why it is none."""
    x1, y1, x2, y2 = entry
    if not (x1 < x2 and y1 < y2):
        return "is empty or reversed: x1 must be below x2, and y1 below y2"
    try:
        return convert(Box(image.name, frame, *entry), "shares", image.image.size, resized)
    except ValueError:
        return OUT


def _is_in_another_unit(entry: Numbers, frame: Frame, out: bool) -> bool:
    """Whether what is no box here may be one in another unit: far out where shares are meant; out, or shares."""
    return out and max(map(abs, entry)) >= 2 if frame == "shares" else out or max(entry) <= 1


def _unit(frame: Frame, size: Size | None) -> str:
    """The unit of boxes, in words."""
    if frame in ("pixels", "resized") and size is not None:
        return f"pixels of the image, which is {size[0]} x {size[1]}"
    return f"{frame} of the image's width and height, from 0 to {1 if frame == 'shares' else 1000}"


def _fault(box: Box, opened: Size, before: Mapping[int, Box]) -> str:
    """Why a box inside the image can't be magnified; empty: it can."""
    if (box.right - box.left) * (box.bottom - box.top) > LARGEST - 1e-9:  # 0.8 × 0.5 isn't below, however it is rounded
        return f"must be smaller than {LARGEST:.0%} of the image"
    left, top, right, bottom = pixels(box, opened)
    if min(right - left, bottom - top) < SMALLEST_SIDE:
        return f"is {right - left} x {bottom - top} pixels: each side needs {SMALLEST_SIDE}"
    same = next((number for number, other in before.items() if overlap(box, other) >= ALIKE), None)
    return "" if same is None else f"shows the same as box {same}"


def pixels(box: Box, size: Size) -> tuple[int, int, int, int]:
    """A box in shares as whole pixels of an image of this size."""
    (width, height), (x1, y1, x2, y2) = size, box.corners
    return round(x1 * width), round(y1 * height), round(x2 * width), round(y2 * height)


def intersection(a: Sequence[float], b: Sequence[float]) -> float:
    """Area that two boxes have in common."""
    width, height = min(a[2], b[2]) - max(a[0], b[0]), min(a[3], b[3]) - max(a[1], b[1])
    return max(0.0, width) * max(0.0, height)


def area(box: Sequence[float]) -> float:
    """Area of a box."""
    return (box[2] - box[0]) * (box[3] - box[1])


def overlap(a: Box, b: Box) -> float:
    """Intersection over union of two boxes."""
    both = intersection(a.corners, b.corners)
    return both / (area(a.corners) + area(b.corners) - both)


@dataclass(frozen=True)
class Magnifier:
    """A network that enlarges, and how large the model sees an image; shared by all environments.

    Attributes:
        network: enlarges what was cropped.
        resized: width and height to which the model's processor resizes an image (:meth:`kit.chat.Chat.resized`);
            needed if boxes are in the frame ``resized``.
    """

    network: SuperResolution
    resized: Callable[[NamedImage], Size] | None = None


class ZoomTool:
    """Crops the boxes of a round from a task's image and magnifies them.

    Args:
        task: the task; its first image is looked at.
        magnifier: the network.
        frame: the unit of boxes.
        after: what is said after the crops.

    Attributes:
        checked: the boxes of the last call.
    """

    name = "zoom"
    description = "Magnifies parts of the image, each a box [x1, y1, x2, y2]."
    parameters: Mapping[str, Any] = MappingProxyType(
        {"type": "object", "properties": {"boxes": {"type": "string"}}, "required": ["boxes"]}
    )
    on_error: Literal["tell", "raise"] = (
        "raise"  # whatever the boxes are, it is told below; else the network is at fault
    )

    def __init__(self, task: Task, magnifier: Magnifier, frame: Frame, after: str) -> None:
        self.task, self.magnifier, self.frame, self.after = task, magnifier, frame, after
        self.checked = Checked(0, {}, ())

    def call(self, arguments: Mapping[str, Any], images: Images) -> Observation:
        """Magnify the boxes that may be, and tell of the others."""
        del images
        shown, opened = self.task.images[0], self.task.tool_images[0].image
        resized = self.magnifier.resized(shown) if self.magnifier.resized else None
        found = self.checked = check(arguments["boxes"], shown, opened.size, self.frame, resized)
        crops = self.magnifier.network.enlarge([opened.crop(pixels(box, opened.size)) for box in found.boxes.values()])
        named = (NamedImage(f"zoom_{number}", crop) for number, crop in zip(found.boxes, crops, strict=True))
        told = "".join(f"Error: {line}\n" for line in found.told)
        return Observation(told, tuple(named), "error" if told and not crops else "ok", self.after)

    def close(self) -> None:
        """Hold nothing."""

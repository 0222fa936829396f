"""Segmentation by a point or a box: SAM 2's masks, or GrabCut's on a first guess of superpixels (SLIC)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from types import MappingProxyType
from typing import Any, ClassVar

import cv2
import numpy as np
from numpy.typing import NDArray
from PIL import Image, ImageDraw

from turn_sandbox.images import within_pixels
from visual_tools.regions import Region, inside, on_image
from visual_tools.tool import Arguments, Golden, PureTool, Served

WORKED = 160_000
"""Pixels on which GrabCut works: larger images are shrunk, and their mask is enlarged again."""
SUPERPIXELS = 200
NEAR = 24.0
"""Distance in Lab up to which a superpixel may belong to the one that a point lies on."""
ITERATIONS = 3

Mask = NDArray[np.bool_]


@dataclass(frozen=True)
class Segmented:
    """One mask of an image, ``(height, width)``, and how sure it is: its overlap with the mask of a pass before."""

    mask: Mask
    score: float


def segment(image: Image.Image, points: Sequence[tuple[int, int, bool]], box: Region | None) -> Segmented:
    """Cut the thing out that is in a box, or under points.

    Args:
        image: an RGB image.
        points: each with its place in pixels, and whether it lies on the thing or beside it.
        box: around the thing; None: anywhere.
    """
    small = within_pixels(image, WORKED)
    scale = small.width / image.width, small.height / image.height
    spots = [(int(x * scale[0]), int(y * scale[1]), on) for x, y, on in points]
    pixels = np.asarray(small)[:, :, ::-1].copy()
    guess = _guess(pixels, spots)
    if box is not None:
        left, top, right, bottom = (round(v * s) for v, s in zip(box, scale * 2, strict=True))
        within = np.zeros(guess.shape, bool)
        within[top : max(bottom, top + 1), left : max(right, left + 1)] = True
        guess[within & (guess == cv2.GC_PR_BGD) & (not any(on for *_, on in spots))] = cv2.GC_PR_FGD
        guess[~within] = cv2.GC_BGD
    before, mask = _cut(pixels, guess)
    whole = np.asarray(Image.fromarray(mask).resize(image.size, Image.Resampling.NEAREST))
    union = float((before | mask).sum())
    return Segmented(whole, float((before & mask).sum()) / union if union else 0.0)


def _guess(pixels: NDArray[np.uint8], spots: Sequence[tuple[int, int, bool]]) -> NDArray[np.uint8]:
    """What GrabCut begins with: what looks like the points' superpixels and hangs together with them."""
    from skimage.segmentation import slic

    guess = np.full(pixels.shape[:2], cv2.GC_PR_BGD, np.uint8)
    if not spots:
        return guess
    labels = slic(pixels[:, :, ::-1], n_segments=SUPERPIXELS, compactness=10, start_label=0)
    lab = cv2.cvtColor(pixels.astype(np.float32) / 255, cv2.COLOR_BGR2LAB)
    sums = np.stack([np.bincount(labels.ravel(), lab[..., k].ravel()) for k in range(3)], 1)
    means = sums / np.bincount(labels.ravel())[:, None]
    for x, y, on in spots:
        if on:
            alike = np.linalg.norm(means - means[labels[y, x]], axis=1) < NEAR
            _, connected = cv2.connectedComponents(alike[labels].astype(np.uint8))
            guess[connected == connected[y, x]] = cv2.GC_PR_FGD
    for x, y, on in spots:
        cv2.circle(guess, (x, y), 2, cv2.GC_FGD if on else cv2.GC_BGD, cv2.FILLED)
    return guess


def _cut(pixels: NDArray[np.uint8], guess: NDArray[np.uint8]) -> tuple[Mask, Mask]:
    """GrabCut's mask after its passes, and the one a pass before."""
    masks = []
    cv2.setRNGSeed(0)  # it starts from clusters at random
    back, front = np.zeros((1, 65)), np.zeros((1, 65))
    known = np.isin(guess, (cv2.GC_FGD, cv2.GC_PR_FGD))
    if known.all() or not known.any():
        return known, known
    for k in range(ITERATIONS):
        mode = cv2.GC_INIT_WITH_MASK if k == 0 else cv2.GC_EVAL
        cv2.grabCut(pixels, guess, None, back, front, 1, mode)  # type: ignore[call-overload]
        masks.append(np.isin(guess, (cv2.GC_FGD, cv2.GC_PR_FGD)))
    return masks[-2], masks[-1]


def _disc() -> Image.Image:
    """An orange square of 40 pixels on a dark ground."""
    image = Image.new("RGB", (120, 90), (40, 60, 70))
    ImageDraw.Draw(image).rectangle((30, 20, 69, 59), fill=(255, 140, 20))
    return image


class Segment(PureTool):
    """Cuts out the thing under a point or in a box: its box in pixels, its size, or where its middle is."""

    name, family = "sam.segment", "perception"
    algorithm = "GrabCut; under a point it begins with the superpixels (SLIC) that look like the one there."
    properties: ClassVar[Mapping[str, Any]] = MappingProxyType(
        {
            "task": {"enum": ["segment", "area", "middle"]},
            "point_prompts": {
                "type": "array",
                "items": {"type": "array", "items": {"type": "number"}, "minItems": 2, "maxItems": 2},
                "minItems": 1,
                "maxItems": 20,
            },
            "point_labels": {"type": "array", "items": {"enum": [0, 1]}},
            "box_prompt": {"type": "array", "items": {"type": "number"}, "minItems": 4, "maxItems": 4},
        }
    )
    goldens = (
        Golden({"point_prompts": [[50, 40]]}, "[30, 20, 70, 60], 1600 pixels", _disc),
        Golden({"box_prompt": [20, 10, 80, 70], "task": "area"}, "14.8 %", _disc),
        Golden({"box_prompt": [20, 10, 80, 70], "task": "middle"}, "[50, 40]", _disc),
    )
    served = Served("facebook/sam2.1-hiera-tiny", "Apache-2.0", "visual_tools.perception.served:sam2")

    def look(self, image: Image.Image, arguments: Arguments) -> Segmented:
        """The mask of what the prompts point at."""
        return segment(image, *self.prompts(image.size, arguments))

    @classmethod
    def prompts(cls, size: tuple[int, int], arguments: Arguments) -> tuple[list[tuple[int, int, bool]], Region | None]:
        """Points, each with whether it lies on the thing, and the box.

        Raises:
            ValueError: there is neither, or one of them isn't on the image.
        """
        points, labels = arguments.get("point_prompts", []), arguments.get("point_labels")
        if labels is not None and len(labels) != len(points):
            raise ValueError(
                f"{cls.name}: {len(labels)} point_labels for {len(points)} point_prompts; give one of each"
            )
        if not points and "box_prompt" not in arguments:
            raise ValueError(f"{cls.name}: give point_prompts [[x, y], …] or box_prompt [left, top, right, bottom]")
        box = inside(cls.name, arguments["box_prompt"], size) if "box_prompt" in arguments else None
        on = labels if labels is not None else [1] * len(points)
        if not box and 1 not in on:
            raise ValueError(f"{cls.name}: no point lies on the thing; give one the label 1")
        places = on_image(cls.name, points, size)
        return [(x, y, label == 1) for (x, y), label in zip(places, on, strict=True)], box

    def answer(self, seen: Segmented, arguments: Arguments) -> str:
        """Box and size of the mask, its share of the image, or its middle."""
        ys, xs = np.nonzero(seen.mask)
        if not len(xs):
            raise ValueError(f"{self.name}: nothing stands out there; give another point, or a box around the thing")
        task = arguments.get("task", "segment")
        if task == "area":
            return f"{100 * seen.mask.mean():.1f} %"
        if task == "middle":
            return f"[{xs.mean() + 0.5:.0f}, {ys.mean() + 0.5:.0f}]"
        return f"[{xs.min()}, {ys.min()}, {xs.max() + 1}, {ys.max() + 1}], {len(xs)} pixels"

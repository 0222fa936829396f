"""Images of a turn: what it showed, bound to public names, saved, plotted; failing all that, what it edited."""

from __future__ import annotations

import os
import warnings
from collections.abc import Mapping
from dataclasses import dataclass, field
from math import ceil
from typing import Any

from PIL import Image

from turn_sandbox.convert import is_figure, looks_like_image
from turn_sandbox.images import rgb, upright_rgb
from turn_sandbox.limits import Limits
from turn_sandbox.shown import Shown, images_of, public

# Kept before any code of a turn runs: it may patch these names.
_tobytes, _resize, _open, _Image = Image.Image.tobytes, Image.Image.resize, Image.open, Image.Image
NAME_CHARS = 64


@dataclass
class Captured:
    """Images ready to travel: name, width, height, RGB bytes; and what to tell about them."""

    images: list[tuple[str, int, int, bytes]] = field(default_factory=list)
    warnings: list[str] = field(default_factory=list)


def capture(namespace: Mapping[str, Any], shown: Shown) -> Captured:
    """Shown images in order, newly bound names, written files, figures; if there are none, images edited in place.

    Args:
        namespace: names and values when the turn has ended.
        shown: what the turn showed, saved and edited.
    """
    wanted = _wanted(namespace, shown)
    limits = shown.limits
    copies = [image for _, image in wanted if isinstance(image, _Image)]
    taken = wanted + shown.figures.left_open(limits.images - len(wanted), copies)
    if not taken:
        edited = {id(image): (name, image) for name, image in images_of(namespace).items() if shown.edited(image)}
        taken = list(edited.values())
    found, room = Captured(), limits.image_px**2
    extra = len(taken) - limits.images + shown.extra
    if extra > 0:
        found.warnings.append(f"{extra} pictures left out: a turn returns at most {limits.images}")
    for name, image in taken[: limits.images]:
        try:
            seen = _open(image) if isinstance(image, str) else image
            if wrong := _unfit(seen.width, seen.height, room, limits):
                found.warnings.append(f"picture {name[:NAME_CHARS]} left out: {wrong}")
                continue
            with warnings.catch_warnings(record=True) as told:
                warnings.simplefilter("always")
                pixels = _enlarged(upright_rgb(seen) if isinstance(image, str) else rgb(seen), limits)
            found.warnings += [f"picture {name[:NAME_CHARS]}: {note.message}" for note in told]
            found.images.append((_clean(name), *pixels.size, _tobytes(pixels)))
        except Exception as error:  # an image of a class of its own, or one whose file is gone or broken
            found.warnings.append(f"picture {str(name)[:NAME_CHARS]} left out: {type(error).__name__}")
            continue
        room -= pixels.width * pixels.height
    if not taken and (hint := _hint(namespace, shown)):
        found.warnings.append(hint)
    return found


def _wanted(namespace: Mapping[str, Any], shown: Shown) -> list[tuple[str, Any]]:
    """Names with images, or paths of image files."""
    now, named = images_of(namespace), public(namespace)
    wanted: list[tuple[str, Any]] = []
    for number, (name, original, copy) in enumerate(shown.items, 1):
        own = next((key for key, value in named.items() if value is original), f"shown_{number}")
        wanted.append((own if name is None else name, copy))
    seen = {id(original) for _, original, _ in shown.items}
    bound = {name: image for name, image in now.items() if shown.had.get(name) is not image}
    wanted += [(name, image) for name, image in bound.items() if id(image) not in seen]
    return wanted + [(os.path.basename(path), path) for path in shown.written()]


def _hint(namespace: Mapping[str, Any], shown: Shown) -> str:
    """Say how to show the last new value that holds an image, if one does."""
    new = [(name, value) for name, value in public(namespace).items() if shown.others.get(name) != id(value)]
    for name, value in reversed(new):
        if looks_like_image(value):
            return f"no image is shown: {name} is an array; show({name}) shows it, its channels taken as RGB"
        if is_figure(value):
            return f"no image is shown: {name} is a figure; show({name}) shows it"
        items = list(value.values()) if type(value) is dict else value if type(value) in (list, tuple) else ()
        if any(isinstance(item, _Image) or looks_like_image(item) for item in items[:1]):
            return f"no image is shown: {name} holds images; show(image) shows one of them"
    return ""


def _unfit(width: int, height: int, room: int, limits: Limits) -> str:
    """Why an image of this size isn't returned, or nothing."""
    short, long = sorted((width, height))
    if long > limits.image_px or width * height > room:
        return f"{width} x {height} pixels; at most {limits.image_px} a side are returned, and its square in all"
    if short < limits.image_min_px:
        return f"{width} x {height} pixels; a side needs {limits.image_min_px}"
    if long > limits.image_aspect * short:
        return f"{width} x {height} pixels; a side may be {limits.image_aspect:g} times the other"
    return ""


def _enlarged(image: Any, limits: Limits) -> Any:
    """The image, enlarged if it is too small to be read by a model."""
    width, height = image.size
    if min(width, height) >= limits.image_enlarge_below or limits.image_enlarge_to <= min(width, height):
        return image
    factor = min(limits.image_enlarge_to / min(width, height), limits.image_px / max(width, height))
    wide, high = round(width * factor), round(height * factor)
    least = ceil(max(wide, high) / limits.image_aspect)  # rounding must not make it longer than allowed
    return _resize(image, (max(wide, least), max(high, least)), Image.Resampling.BICUBIC)


def _clean(name: str) -> str:
    """A name that can stand in a text: printable, short."""
    return "".join(c if c.isprintable() else "?" for c in name[:NAME_CHARS]) or "picture"

"""Images of a turn: what it bound to public names, what it showed, what it plotted."""

from __future__ import annotations

import os
import sys
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from PIL import Image

from kit.images import rgb
from kit.sandbox.limits import Limits

# Kept before any code of a turn runs: it may patch these names.
_tobytes, _copy, _Image = Image.Image.tobytes, Image.Image.copy, Image.Image
_resize, _save = Image.Image.resize, Image.Image.save
NAME_CHARS = 64


@dataclass
class Captured:
    """Images ready to travel: name, width, height, RGB bytes."""

    images: list[tuple[str, int, int, bytes]] = field(default_factory=list)
    left_out: list[str] = field(default_factory=list)


class Shown:
    """Images given to ``show``, ``image.show()`` and ``image.save(path)``: copies, in order.

    Attributes:
        limits: the episode's, once there is one.
    """

    limits: Limits

    def __init__(self) -> None:
        self.begin()

    def begin(self) -> None:
        """Forget what the last turn showed."""
        self.items: list[tuple[str | None, Any, Any]] = []
        self.extra = 0

    def show(self, image: Image.Image, name: str | None = None) -> None:
        """Return ``image`` with this turn's result, as it is now.

        Raises:
            TypeError: it is no PIL image.
        """
        if not isinstance(image, _Image):
            raise TypeError(f"show: needs a PIL image, not {type(image).__name__}")
        if len(self.items) < self.limits.images:
            self.items.append((None if name is None else str(name), image, _copy(image)))
        else:
            self.extra += 1

    def watch(self) -> None:
        """Have PIL's own ways to show and to save an image remembered too, for good."""

        def show_image(image: Image.Image, title: str | None = None, **_: Any) -> None:
            self.show(image, title)

        def save_image(image: Image.Image, fp: Any, format: str | None = None, **params: Any) -> None:
            _save(image, fp, format, **params)
            if isinstance(fp, str | bytes | os.PathLike):
                self.show(image, os.path.basename(os.fsdecode(fp)))

        Image.Image.show, Image.Image.save = show_image, save_image  # type: ignore


def images_of(namespace: Mapping[str, Any]) -> dict[str, Any]:
    """Public names bound to images."""
    return {
        name: value
        for name, value in list(namespace.items())
        if isinstance(name, str) and not name.startswith("_") and isinstance(value, _Image)
    }


def capture(before: Mapping[str, Any], namespace: Mapping[str, Any], shown: Shown) -> Captured:
    """Shown images in order, then newly bound names in order, then figures.

    Args:
        before: :func:`images_of` the namespace when the turn began.
        namespace: names and values when the turn has ended.
        shown: what the turn showed.
    """
    now = images_of(namespace)
    bound = {name: image for name, image in now.items() if before.get(name) is not image}
    seen = {id(original) for _, original, _ in shown.items}
    wanted: list[tuple[str, Any]] = []
    for number, (name, original, copy) in enumerate(shown.items, 1):
        own = next((key for key, image in now.items() if image is original), f"shown_{number}")
        wanted.append((own if name is None else name, copy))
    wanted += [(name, image) for name, image in bound.items() if id(image) not in seen]
    limits = shown.limits
    found, room = Captured(), limits.image_px**2
    taken = wanted + _figures(limits.images - len(wanted), limits.figure_dpi, [copy for _, copy in wanted])
    extra = len(taken) - limits.images + shown.extra
    if extra > 0:
        found.left_out.append(f"{extra} pictures left out: a turn returns at most {limits.images}")
    for name, image in taken[: limits.images]:
        try:
            if wrong := _unfit(image.width, image.height, room, limits):
                found.left_out.append(f"picture {name[:NAME_CHARS]} left out: {wrong}")
                continue
            image = _enlarged(image, limits)
            width, height = image.size
            data = _tobytes(rgb(image))
        except Exception as error:  # an image of a class of its own, or one whose file is gone or broken
            found.left_out.append(f"picture {str(name)[:NAME_CHARS]} left out: {type(error).__name__}")
            continue
        room -= width * height
        found.images.append((_clean(name), width, height, data))
    return found


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
    return _resize(image, (round(width * factor), round(height * factor)), Image.Resampling.BICUBIC)


def _clean(name: str) -> str:
    """A name that can stand in a text: printable, short."""
    return "".join(c if c.isprintable() else "?" for c in name[:NAME_CHARS]) or "picture"


def _figures(room: int, dpi: int, saved: list[Any]) -> list[tuple[str, Any]]:
    """Matplotlib's open figures as images, at most one more than there is room for; they are closed.

    One that was just saved as it is comes only once.
    """
    pyplot: Any = sys.modules.get("matplotlib.pyplot")
    if pyplot is None:
        return []
    found = []
    for number in pyplot.get_fignums()[: max(room, 0) + 1]:
        figure = pyplot.figure(number)
        image = _drawn(figure)
        if any(other.size == image.size and _tobytes(other) == _tobytes(image) for other in saved):
            continue
        if dpi and dpi != figure.get_dpi():
            figure.set_dpi(dpi)
            image = _drawn(figure)
        found.append((f"figure_{number}", image))
    pyplot.close("all")
    return found


def _drawn(figure: Any) -> Any:
    figure.canvas.draw()
    return Image.frombytes("RGBA", figure.canvas.get_width_height(), bytes(figure.canvas.buffer_rgba()))

"""Pictures of a turn: what it bound to public names, what it showed, what it plotted."""

from __future__ import annotations

import sys
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from PIL import Image

from kit.sandbox.limits import Limits

# Kept before any code of a turn runs: it may patch these names.
_convert, _tobytes, _copy, _Image = Image.Image.convert, Image.Image.tobytes, Image.Image.copy, Image.Image
NAME_CHARS = 64


@dataclass
class Captured:
    """Pictures ready to travel: name, width, height, RGB bytes."""

    pictures: list[tuple[str, int, int, bytes]] = field(default_factory=list)
    left_out: list[str] = field(default_factory=list)


class Shown:
    """The builtin ``show``: remembers a copy of what it is given, in order."""

    def __init__(self, limits: Limits) -> None:
        self._limits = limits
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
        if len(self.items) < self._limits.pictures:
            self.items.append((None if name is None else str(name), image, _copy(image)))
        else:
            self.extra += 1


def images_of(namespace: Mapping[str, Any]) -> dict[str, Any]:
    """Public names bound to images."""
    return {
        name: value
        for name, value in list(namespace.items())
        if isinstance(name, str) and not name.startswith("_") and isinstance(value, _Image)
    }


def capture(before: Mapping[str, Any], namespace: Mapping[str, Any], shown: Shown, limits: Limits) -> Captured:
    """Shown pictures in order, then newly bound names in order, then figures.

    Args:
        before: :func:`images_of` the namespace when the turn began.
    """
    bound = {name: image for name, image in images_of(namespace).items() if before.get(name) is not image}
    seen = {id(original) for _, original, _ in shown.items}
    wanted: list[tuple[str, Any]] = []
    for number, (name, original, copy) in enumerate(shown.items, 1):
        own = next((key for key, image in images_of(namespace).items() if image is original), f"shown_{number}")
        wanted.append((own if name is None else name, copy))
    wanted += [(name, image) for name, image in bound.items() if id(image) not in seen]
    found, room = Captured(), limits.picture_px**2
    taken = wanted + _figures(limits.pictures - len(wanted))
    extra = len(taken) - limits.pictures + shown.extra
    if extra > 0:
        found.left_out.append(f"{extra} pictures left out: a turn returns at most {limits.pictures}")
    for name, image in taken[: limits.pictures]:
        try:
            width, height = image.size
            if max(width, height) > limits.picture_px or width * height > room or not width * height:
                found.left_out.append(
                    f"picture {name[:NAME_CHARS]} left out: {width} x {height} pixels; at most {limits.picture_px} "
                    "a side are returned, and its square in all"
                )
                continue
            data = _tobytes(_convert(image, "RGB"))
        except Exception as error:  # an image of a class of its own, or one whose file is gone or broken
            found.left_out.append(f"picture {str(name)[:NAME_CHARS]} left out: {type(error).__name__}")
            continue
        room -= width * height
        found.pictures.append((_clean(name), width, height, data))
    return found


def _clean(name: str) -> str:
    """A name that can stand in a text: printable, short."""
    return "".join(c if c.isprintable() else "?" for c in name[:NAME_CHARS]) or "picture"


def _figures(room: int) -> list[tuple[str, Any]]:
    """Matplotlib's open figures as images, at most one more than there is room for; they are closed."""
    pyplot: Any = sys.modules.get("matplotlib.pyplot")
    if pyplot is None:
        return []
    found = []
    for number in pyplot.get_fignums()[: max(room, 0) + 1]:
        canvas = pyplot.figure(number).canvas
        canvas.draw()
        width, height = canvas.get_width_height()
        found.append((f"figure_{number}", Image.frombuffer("RGBA", (width, height), canvas.buffer_rgba())))
    pyplot.close("all")
    return found

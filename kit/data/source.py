"""Source images: where one comes from, its side of a split, and how it is opened.

A split is made by *image*, never by crop: two crops of one photograph share most of their pixels,
so one of them in training makes the other a memory test.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field, replace
from functools import lru_cache
from pathlib import Path
from typing import Literal

from PIL import ExifTags, Image, UnidentifiedImageError

from kit.episode import Task
from kit.images import upright_rgb, within_pixels

Split = Literal["train", "development", "test", "held-out"]
"""A side of a split. ``held-out``: the packaged photographs that are never trained on; too few to be split again, so
they are a quick look, and choices are made on other sets' development images."""
Kind = Literal["colour", "gray", "scene", "user", "hub"]


class ImageError(ValueError):
    """An image, or a folder of them, cannot be used; the message names the file and the way out."""


@dataclass(frozen=True)
class SourceImage:
    """An image puzzles are cut from, opened when needed.

    Attributes:
        id: short name; goes into ``Task.meta["source"]`` and error messages.
        split: its side.
        kind: where it is from.
        licence: under which terms it may be used.
        load: opens it as an upright RGB image.
    """

    id: str
    split: Split
    kind: Kind
    licence: str
    load: Callable[[], Image.Image] = field(repr=False, compare=False)

    @property
    def image(self) -> Image.Image:
        """The image, upright, RGB."""
        return self.load()


def open_upright(path: Path, longest: int = 1024) -> Image.Image:
    """An upright RGB image whose longer side has at most ``longest`` pixels.

    Raises:
        ImageError: missing, unreadable or truncated; names the file.
    """
    try:
        stat = path.stat()
    except OSError as error:
        raise ImageError(f"picture {path}: {error.strerror or error}") from None
    return _read(path, longest, stat.st_mtime_ns, stat.st_size)  # a changed file is read again


def size_of(path: Path) -> tuple[int, int]:
    """Width and height in pixels of an image file that can be read, upright; nothing is decoded."""
    with Image.open(path) as image:
        turned = image.getexif().get(ExifTags.Base.Orientation, 1) >= 5
        return image.size[::-1] if turned else image.size


@lru_cache(maxsize=32)
def _read(path: Path, longest: int, mtime: int, size: int) -> Image.Image:
    try:
        with Image.open(path) as image:
            image.draft("RGB", (longest, longest))  # a JPEG can be decoded smaller at once
            upright = upright_rgb(image)
    except (UnidentifiedImageError, OSError, SyntaxError, ValueError, Image.DecompressionBombError) as error:
        raise ImageError(f"picture {path}: cannot be read ({error}); replace or remove it") from error
    upright.thumbnail((longest, longest), Image.Resampling.LANCZOS)
    return upright


def as_shown(task: Task, max_pixels: int) -> Task:
    """A task whose prompt shows its images shrunk to ``max_pixels`` each; tools open them as they are."""
    shown = tuple(replace(image, image=within_pixels(image.image, max_pixels)) for image in task.images)
    return replace(task, images=shown, originals=task.images if shown != task.images else ())

"""The paper's own benchmark, read from a downloaded copy of MAT (laolao77/MAT, folder MAT-Benchmark)."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from PIL import Image

from kit.data.cells import CellError, LeftOut, image_of, readable, texts
from kit.data.folder import SUFFIXES
from kit.data.hub import HubError
from kit.episode import NamedImage, Task
from kit.images import within_pixels

MAX_PIXELS = 401_408
"""Pixels of an image, at most (released scripts)."""

BENCHMARK = ("MAT-Coding.json", "MAT-Search.json")
"""Files of coding and of search tasks; each has its images in a folder beside it, ``MAT-Coding-image``."""


SIMPLE = 75
"""MAT-Search's rows name no difficulty: its first 75 are Simple (public evaluation code), the other 75 are Hard."""

KIND = "mat"
"""The kind of its tasks; the category of a coding task is this and its distortions."""


def benchmark(folder: Path, max_pixels: int = MAX_PIXELS) -> tuple[list[Task], list[Task]]:
    """The paper's own test sets from a downloaded copy of MAT: coding and search tasks.

    How strong its distortions are isn't known, so whether one was undone can't be told; answers can. Where an image is
    to be cropped, the whole one is shown; the processed one beside it is the part that was cut out.

    Args:
        folder: the copy.
        max_pixels: pixels of an image, at most: larger ones are shrunk; 0: no limit.

    Raises:
        HubError: a file is missing, or none of its rows can be used; others are left out, counted and named.
    """
    images = _images(folder)
    coding, search = (
        _tasks(_listing(folder, name), task, images, max_pixels)
        for name, task in zip(BENCHMARK, (_coding, _search), strict=True)
    )
    return coding, search


def benchmark_images(folder: Path) -> Iterator[tuple[str, Image.Image]]:
    """Name and image of everything in a copy of MAT, distorted or not: nothing like it may be trained on."""
    left = LeftOut(f"images of {folder}")
    for path in _images(folder):
        left.row()
        try:
            image = image_of(path, _file)
        except CellError as error:
            left.add(f"{path.name}: {error}")
        else:
            yield path.name, image
    left.tell()


def _images(folder: Path) -> list[Path]:
    found = [path for path in sorted(folder.rglob("*")) if path.suffix.lower() in SUFFIXES]
    return [path for path in found if not path.name.startswith(".")]


def _listing(folder: Path, name: str) -> Path:
    found = sorted(folder.rglob(name))
    if not found:
        raise HubError(f"{folder}: no {name} in it; give the folder that the data set MAT was downloaded to")
    return found[0]


@dataclass(frozen=True)
class _Row:
    """A row of a listing, and what its images are looked for in."""

    fields: Mapping[str, Any]
    number: int
    listing: Path
    images: Sequence[Path]
    max_pixels: int

    def field(self, *names: str) -> Any:
        for name in names:
            if name in self.fields:
                return self.fields[name]
        raise CellError(f"MAT row: none of the fields {', '.join(names)}; it has {', '.join(self.fields)}")

    def golds(self, *names: str) -> tuple[str, ...]:
        if not (found := texts(self.field(*names))):
            raise CellError(f"no gold answer ({names[0]}={self.field(*names)!r})")
        return found

    @property
    def question(self) -> str:
        asked = self.field("question")
        if not isinstance(asked, str) or not asked.strip():
            raise CellError(f"no question (question={asked!r:.40})")
        return asked

    def picture(self, name: str) -> tuple[NamedImage, ...]:
        image = image_of(_found(str(name), self.listing, self.images), _file)
        return (NamedImage("image", readable(within_pixels(image, self.max_pixels), image.size)),)


def _tasks(listing: Path, task: Callable[[_Row, Any], Task], images: Sequence[Path], max_pixels: int) -> list[Task]:
    """The tasks of one listing."""
    try:
        rows = json.loads(listing.read_text(encoding="utf-8-sig"))
    except ValueError as error:
        raise HubError(f"{listing}: not JSON ({error}); download it again") from error
    if not isinstance(rows, list):
        raise HubError(f"{listing}: {type(rows).__name__} where a list of rows is expected; download it again")
    left, made = LeftOut(str(listing)), []
    for fields in rows:
        number = left.row()
        try:
            if not isinstance(fields, dict):
                raise CellError(f"{type(fields).__name__} {fields!r:.40} where an object is expected")
            made.append(task(_Row(fields, number, listing, images, max_pixels), fields.get("id", number)))
        except CellError as error:
            left.add(error)
    if not made:
        raise HubError(left.nothing())
    left.tell()
    return made


def _file(path: str) -> bytes:
    try:
        return Path(path).read_bytes()
    except OSError as error:
        raise CellError(str(error)) from error


def _found(name: str, listing: Path, images: Sequence[Path]) -> Path:
    """The image that a listing names: at its path, or by as much of its path as there is; then its own folder's."""
    wanted = Path(name)
    some = [path for path in images if path.name == wanted.name]
    if not some:
        raise CellError(f"MAT picture {name}: it isn't among the {len(images)} downloaded; download its folder, too")
    if listing.parent / wanted in some:
        return listing.parent / wanted
    most = max(_alike(path, wanted) for path in some)
    some = [path for path in some if _alike(path, wanted) == most]
    some = [path for path in some if listing.parent / f"{listing.stem}-image" in path.parents] or some
    if len({path.read_bytes() for path in some}) > 1:
        raise CellError(f"MAT picture {name}: it might be any of {', '.join(map(str, some))}")
    return some[0]


def _alike(path: Path, wanted: Path) -> int:
    """Count the last parts that two paths have in common."""
    pairs = list(zip(reversed(path.parts), reversed(wanted.parts), strict=False))
    return next((k for k, (one, other) in enumerate(pairs) if one != other), len(pairs))


def _coding(row: _Row, number: Any) -> Task:
    kinds: Sequence[str] = texts(row.field("type"))
    meta = {
        "tools": ["code"],
        "category": f"{KIND}:{'+'.join(kinds)}",
        "difficulty": str(row.field("split")),
        "kind": KIND,
        "source": f"mat-coding-{number}",
    }
    image = row.picture(row.field("ori_image_path" if "crop" in kinds else "processed_image_path"))
    return Task(f"mat-coding-{number}", image, row.question, row.golds("answers", "answer"), meta)


def _search(row: _Row, number: Any) -> Task:
    meta = {
        "tools": ["search"],
        "difficulty": str(row.fields.get("split", "simple" if row.number < SIMPLE else "hard")),
        "queries": [],
        "kind": KIND,
        "source": f"mat-search-{number}",
    }
    image = row.picture(row.field("image_path"))
    return Task(f"mat-search-{number}", image, row.question, row.golds("answer", "answers"), meta)

"""Small copies of AGILE's data sets in the hub's own layout: several rows a picture, bad rows among them."""

from __future__ import annotations

import io
from collections.abc import Iterable
from pathlib import Path
from typing import Any

import datasets
import numpy as np
from PIL import Image

from kit.data.hub import HubSource
from pictures.scenes import scene


def picture(seed: int) -> Image.Image:
    """An oblong scene: whole pictures are not square."""
    return Image.fromarray(scene(np.random.default_rng(seed), 120)).crop((0, 0, 120, 90))


def png(image: Image.Image) -> bytes:
    """Its PNG file."""
    file = io.BytesIO()
    image.save(file, "PNG")
    return file.getvalue()


def make_copies(root: Path, sources: Iterable[HubSource], pictures: int, first: int = 0) -> None:
    """A copy of each data set that isn't a benchmark: ``pictures`` different images, one to six rows each.

    Among the rows are one without an image, one whose bytes are no image and one too small; every second image is
    there smaller as well, which only a look at the pixels finds. ``first`` is the seed of the first image.
    """
    numbers = iter(range(first, 100_000))
    for source in sources:
        if source.benchmark:
            continue
        cells: list[Any] = [
            None,
            {"bytes": b"oops", "path": None},
            {"bytes": png(picture(0).resize((20, 20))), "path": None},
        ]
        for k in range(pictures):
            image = picture(next(numbers))
            copies = [image, image, image.resize((100, 75)), image, image, image]
            cells += [{"bytes": png(copy), "path": None} for copy in copies[: 1 + k % 6]]
        lists = source.column == "images"
        feature: Any = datasets.List(datasets.Image()) if lists else datasets.Image()
        held = {source.column: [[cell] if lists and cell else (cell or ([] if lists else None)) for cell in cells]}
        file = root / source.id / (source.data_files or f"data/{source.split}-00000-of-00001.parquet")
        file.parent.mkdir(parents=True, exist_ok=True)
        features = datasets.Features({source.column: feature})
        datasets.Dataset.from_dict(held, features=features).to_parquet(file)

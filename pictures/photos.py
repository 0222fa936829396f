"""Images to cut into puzzles: photographs that ship in packages, procedural scenes (a user's: :mod:`kit.data.folder`).

A split is made by *image*, never by crop: two crops of one photograph share most of their pixels,
so one of them in training makes the other a memory test.

The photographs come with scikit-image, scikit-learn and matplotlib and are read from those packages'
files; nothing is downloaded and none of the packages is imported. :data:`PHOTOS` is the whole table.
Left out of it after looking at their crops: ``motorcycle_right`` (the same scene as the left one);
``hubble_deep_field``, ``brick``, ``moon`` and ``cell`` (stars, a regular pattern or nearly nothing:
even an exhaustive comparison of pixels across the cuts, which restores 97–100 % of the held-out
photographs' 2×2 puzzles, restores only 46–70 % of theirs, or they have next to no usable crop);
``clock_motion`` (a blur); and drawings, masks and volumes.
"""

from __future__ import annotations

import importlib.util
from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache, partial
from pathlib import Path

import numpy as np
from PIL import Image

from kit.data.source import ImageError, Kind, SourceImage, Split, open_upright
from pictures.scenes import scene


@dataclass(frozen=True)
class Photo:
    """One row of :data:`PHOTOS`: a file of an installed package."""

    id: str
    package: str
    module: str
    file: str
    split: Split
    kind: Kind
    licence: str


_SKIMAGE = ("scikit-image", "skimage")
_SKLEARN = ("scikit-learn", "sklearn")
_CC0 = "CC0 1.0"
_PUBLIC = "public domain"
_FREE = "no known copyright restrictions"
_BY = "CC BY 2.0"

PHOTOS = (
    # id, package, module, file, split, kind, licence (as the package states it)
    Photo("china", *_SKLEARN, "datasets/images/china.jpg", "held-out", "colour", f"{_BY}, danielbuechele (Flickr)"),
    Photo("coffee", *_SKIMAGE, "data/coffee.png", "held-out", "colour", f"{_CC0}, Rachel Michetti"),
    Photo("chelsea", *_SKIMAGE, "data/chelsea.png", "held-out", "colour", f"{_CC0}, Stefan van der Walt"),
    Photo("astronaut", *_SKIMAGE, "data/astronaut.png", "held-out", "colour", f"{_PUBLIC}, NASA"),
    Photo(
        "motorcycle", *_SKIMAGE, "data/motorcycle_left.png", "held-out", "colour", "Middlebury 2014 stereo benchmark"
    ),
    Photo("rocket", *_SKIMAGE, "data/rocket.jpg", "held-out", "colour", f"{_PUBLIC}, SpaceX"),
    Photo("camera", *_SKIMAGE, "data/camera.png", "held-out", "gray", f"{_CC0}, Lav Varshney"),
    Photo(
        id="grace_hopper",
        package="matplotlib",
        module="matplotlib",
        file="mpl-data/sample_data/grace_hopper.jpg",
        split="held-out",
        kind="colour",
        licence=f"{_PUBLIC}, US Navy (Wikimedia Commons, named in the file)",
    ),
    Photo("flower", *_SKLEARN, "datasets/images/flower.jpg", "train", "colour", f"{_BY}, vultilion (Flickr)"),
    Photo("retina", *_SKIMAGE, "data/retina.jpg", "train", "colour", f"{_CC0}, Häggström 2014"),
    Photo("ihc", *_SKIMAGE, "data/ihc.png", "train", "colour", f"{_FREE}, CMMI"),
    Photo("coins", *_SKIMAGE, "data/coins.png", "train", "gray", f"{_FREE}, Brooklyn Museum"),
    Photo("page", *_SKIMAGE, "data/page.png", "train", "gray", "BSD-3-Clause, as scikit-image"),
    Photo("text", *_SKIMAGE, "data/text.png", "train", "gray", f"{_PUBLIC}, Wikipedia"),
    Photo("grass", *_SKIMAGE, "data/grass.png", "train", "gray", f"{_CC0}, linolafett (DeviantArt)"),
    Photo("gravel", *_SKIMAGE, "data/gravel.png", "train", "gray", f"{_CC0}, CC0Textures"),
)
"""Every photograph used, and on which side of the split it stands."""


def photo_path(photo: Photo) -> Path:
    """Find the file of ``photo`` on this machine.

    Raises:
        ImageError: its package isn't installed, or no longer ships the file.
    """
    spec = importlib.util.find_spec(photo.module)  # top level only: finds the package without importing it
    if spec is None or spec.origin is None:
        raise ImageError(f"photograph {photo.id}: package {photo.package} is not installed; pip install it")
    path = Path(spec.origin).parent / photo.file
    if not path.is_file():
        raise ImageError(
            f"photograph {photo.id}: {photo.package} ships no {photo.file} any more; install the version in locks/"
        )
    return path


def photos(split: Split) -> list[SourceImage]:
    """The packages' photographs of one split, in the table's order."""
    return [
        SourceImage(p.id, p.split, p.kind, p.licence, partial(open_upright, photo_path(p)))
        for p in PHOTOS
        if p.split == split
    ]


def scenes(n: int, seed: int, size: int = 168) -> list[SourceImage]:
    """``n`` procedural scenes for training; scene k of a seed is the same for every ``n``.

    Args:
        n: number of scenes.
        seed: fixes everything that is random.
        size: side of a scene in pixels.
    """
    return [
        SourceImage(f"scene-{seed}-{k}", "train", "scene", "generated", partial(_scene, seed, k, size))
        for k in range(n)
    ]


@lru_cache(maxsize=32)
def _scene(seed: int, k: int, size: int) -> Image.Image:
    return Image.fromarray(scene(np.random.default_rng([seed, k]), size))


SMALLEST_CROP = 0.6
"""A crop's side as a share of the image's shorter side."""
FLAT = 4.0
"""Brightness deviation (of 255) under which a piece counts as uniform. At 4, of its random crops the plainest
held-out photograph (china, half of it sky) keeps 97 % at 2×2 and 28 % at 3×3, the others at least 90 %."""


def flatness(image: Image.Image, m: int) -> float:
    """The smallest standard deviation of brightness (0..255) among the m×m pieces of ``image``."""
    gray = np.asarray(image.convert("L").resize((32 * m, 32 * m), Image.Resampling.BOX), dtype=np.float64)
    return float(min(piece.std() for row in np.split(gray, m) for piece in np.split(row, m, axis=1)))


def random_crop(rng: np.random.Generator, image: Image.Image, m: int, tries: int = 60) -> Image.Image | None:
    """A random square crop of which no m×m piece is uniform, or None if ``tries`` crops were all refused.

    A puzzle with a uniform piece may have no unique answer.

    Args:
        rng: source of all randomness.
        image: the photograph.
        m: pieces a side of the puzzle to be cut.
        tries: crops to look at before giving up.
    """
    shorter = min(image.size)
    for _ in range(tries):
        side = int(rng.integers(int(np.ceil(SMALLEST_CROP * shorter)), shorter + 1))
        x = int(rng.integers(image.width - side + 1))
        y = int(rng.integers(image.height - side + 1))
        crop = image.crop((x, y, x + side, y + side))
        if flatness(crop, m) >= FLAT:
            return crop
    return None


def table(images: Sequence[SourceImage]) -> str:
    """Id, split, kind and licence of each image, one a line."""
    return "\n".join(f"{p.id:24s} {p.split:9s} {p.kind:7s} {p.licence}" for p in images)

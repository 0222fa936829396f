"""Leak check: does an image of one side of a split show up again on another, a training image in evaluation?

Released training files may share names with the benchmarks a model is evaluated on; names prove
little either way, so pixels are compared. An image's fingerprint is a pair of perceptual hashes
(signs of the lowest frequencies of its brightness; 64 and 256 bits) of the whole image and of
nine windows of 90 % of its sides, and of their mirror images. Two images are held to be the same
if a view of one is within :data:`LIMIT` of 64 bits of the whole of the other, and some view within
:data:`CONFIRM` of 256 bits: the short hash is quick, the long one tells apart the smooth images
that the short one confuses.

What that catches, measured on the 16 photographs of :mod:`pictures.photos`: every copy resized, in gray,
with exchanged colour channels, mirrored, or recompressed at JPEG quality 10; of random crops of
95 % of the sides 98 %, of 90 % 99 %, of 85 % 73 %. What it doesn't: crops of 80 % (6 %) or less
(0 %), rotations, an image pasted into another. Of 210,000 pairs of unrelated puzzle images none
was refused. Documents of one layout look the same to it: of 300 drawn sheets (44,850 pairs) it
refuses 193 pairs, 106 of them receipts. So crops must come from images that are already split; this
check guards the split.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import combinations

import imagehash
import numpy as np
from numpy.typing import NDArray
from PIL import Image, ImageOps

from kit.data.source import SourceImage
from kit.episode import Task, content_hash

LIMIT = 10
"""Largest distance, in bits of 64, at which two images may be the same."""
CONFIRM = 80
"""Largest distance, in bits of 256, at which they are."""

_WINDOW = 0.9
Named = Iterable[tuple[str, Image.Image]]
"""Names and images; read once, so a generator over a large set will do."""
Prints = tuple[list[str], NDArray[np.uint64]]
"""Names and fingerprints."""


@dataclass(frozen=True)
class Pair:
    """Images of two sides that look the same; of development and test ``train`` holds the development image."""

    train: str
    evaluation: str
    distance: int

    def __str__(self) -> str:
        return f"{self.train} ~ {self.evaluation} ({self.distance} of 64 bits)"


class LeakError(ValueError):
    """Two sides of a split share images. ``pairs`` lists all of them, the closest first."""

    def __init__(self, pairs: Sequence[Pair]) -> None:
        self.pairs = tuple(pairs)
        shown = "\n  ".join(str(pair) for pair in self.pairs[:20])
        more = f"\n  … and {len(self.pairs) - 20} more" if len(self.pairs) > 20 else ""
        super().__init__(
            f"{len(self.pairs)} pairs of pictures on two sides of the split look the same; "
            f"remove one of each pair:\n  {shown}{more}"
        )


def _words(image: Image.Image, size: int) -> list[int]:
    """The perceptual hash of ``size``² bits, as words of 64."""
    bits = imagehash.phash(image, hash_size=size).hash.reshape(-1, 64)
    return [int("".join("1" if bit else "0" for bit in row), 2) for row in bits]


def fingerprint(image: Image.Image) -> NDArray[np.uint64]:
    """Hashes of the whole image, its mirror image, nine windows and theirs: ``(views, 5)`` words.

    The first word is the 64-bit hash, the other four are the 256-bit one.
    """
    gray = image.convert("L")
    width, height = gray.size
    w, h = max(1, round(width * _WINDOW)), max(1, round(height * _WINDOW))
    views = [gray]
    for x in (0, (width - w) // 2, width - w):
        views += [gray.crop((x, y, x + w, y + h)) for y in (0, (height - h) // 2, height - h)]
    views = [view for v in views for view in (v, ImageOps.mirror(v))]
    return np.array([_words(view, 8) + _words(view, 16) for view in views], dtype=np.uint64)


def _closest(views: NDArray[np.uint64], wholes: NDArray[np.uint64]) -> NDArray[np.uint8]:
    """Of 64 bits, between each whole ``(n,)`` and the closest of each image's views ``(m, views)``: ``(m, n)``."""
    closest = np.full((len(views), len(wholes)), 64, dtype=np.uint8)
    for view in views.T:
        np.minimum(closest, np.bitwise_count(view[:, None] ^ wholes[None, :]), out=closest)
    return closest


def _confirmed(one: NDArray[np.uint64], other: NDArray[np.uint64]) -> bool:
    """Check that a view of one and the whole of the other are within ``CONFIRM`` of 256 bits, either way round."""
    return any(
        int(np.bitwise_count(views[:, 1:] ^ whole[0, 1:]).sum(axis=1).min()) <= CONFIRM
        for views, whole in ((one, other), (other, one))
    )


def leaked_pairs(train: Named, evaluation: Named) -> list[Pair]:
    """Every pair that looks the same, the closest first."""
    return _pairs(_fingerprints(train), _fingerprints(evaluation))


def _pairs(some: Prints, others: Prints) -> list[Pair]:
    """:func:`leaked_pairs` of images whose fingerprints are known."""
    (names, prints), (other_names, other_prints) = some, others
    if not names or not other_names:
        return []
    pairs = []
    for at in range(0, len(names), 1024):
        rows = prints[at : at + 1024]
        near = _closest(rows[:, :, 0], other_prints[:, 0, 0])
        near = np.minimum(near, _closest(other_prints[:, :, 0], rows[:, 0, 0]).T)
        for i, j in np.argwhere(near <= LIMIT):
            if _confirmed(rows[i], other_prints[j]):
                pairs.append(Pair(names[at + i], other_names[j], int(near[i, j])))
    return sorted(pairs, key=lambda pair: pair.distance)


def look_alikes(images: Named) -> list[int]:
    """Group images that look the same: the number of each image's group, in order, counted from 0.

    An image that looks like two others joins their groups, so no group looks like part of another.
    """
    names, prints = _fingerprints(images)
    group = list(range(len(names)))

    def root(i: int) -> int:
        while group[i] != i:
            group[i] = group[group[i]]
            i = group[i]
        return i

    for at in range(0, len(names), 1024):
        rows = prints[at : at + 1024]
        near = np.minimum(_closest(rows[:, :, 0], prints[:, 0, 0]), _closest(prints[:, :, 0], rows[:, 0, 0]).T)
        for i, j in np.argwhere(near <= LIMIT):
            one, other = root(at + int(i)), root(int(j))
            if one != other and _confirmed(rows[i], prints[j]):
                group[max(one, other)] = min(one, other)
    numbers: dict[int, int] = {}
    return [numbers.setdefault(root(i), len(numbers)) for i in range(len(names))]


_KNOWN: dict[str, NDArray[np.uint64]] = {}
"""Fingerprints by content hash, under a kilobyte each: a folder is split, checked and cut in one process, and a large
image takes a third of a second."""


def _fingerprints(images: Named) -> Prints:
    names, rows = [], []
    for name, image in images:
        names.append(name)
        digest = content_hash(image)
        if digest not in _KNOWN:
            _KNOWN[digest] = fingerprint(image)
        rows.append(_KNOWN[digest])
    return names, np.array(rows, dtype=np.uint64)


def check_leak(*sides: Named) -> None:
    """Refuse sets of which two share an image: training and evaluation, or training, development and test.

    Raises:
        LeakError: naming every pair and its distance.
    """
    prints = [_fingerprints(side) for side in sides]  # of each image once, for all pairs of sides
    pairs = [pair for one, other in combinations(prints, 2) for pair in _pairs(one, other)]
    if pairs:
        raise LeakError(sorted(pairs, key=lambda pair: pair.distance))


def check_sources(*sides: Sequence[SourceImage]) -> None:
    """:func:`check_leak` on the images that puzzles are cut from."""
    check_leak(*(((p.id, p.image) for p in side) for side in sides))


def solved(task: Task) -> Image.Image:
    """A jigsaw's image, put together from its pieces in the right order."""
    m = int(task.meta["m"])
    pieces = {piece.name: piece.image for piece in task.tool_images}
    width, height = task.tool_images[0].image.size
    canvas = Image.new("RGB", (m * width, m * height))
    for place, label in enumerate(task.target):
        canvas.paste(pieces[label], (place % m * width, place // m * height))
    return canvas


def check_tasks(*sides: Sequence[Task]) -> None:
    """:func:`check_leak` on the puzzles themselves, whatever their records say about their source."""
    check_leak(*map(_solved_once, sides))


def _solved_once(tasks: Sequence[Task]) -> Iterator[tuple[str, Image.Image]]:
    """Each image once, though it may be there at eleven levels."""
    seen = set()
    for task in tasks:
        image = solved(task)
        digest = content_hash(image)
        if digest not in seen:
            seen.add(digest)
            yield f"{task.id} (from {task.meta.get('source', '?')})", image

"""Puzzle sets: from images to :class:`~kit.episode.Task` lists, split and leak-checked.

Section 3.2 and 4.1: training puzzles are 2×2 with every piece misplaced; evaluation has 2×2 at
L0–L2 and 3×3 at L0–L7 (N pieces in place at the start), the same images at every level.

How sets are stored is in :mod:`kit.data.store`, where images come from in :mod:`kit.data.photos`, and what
may not be in both sets in :mod:`kit.data.leak`.

Departures
- The paper's 15.6K training images need a hub (``data_scripts/agile.py --hub``). The default is a
  mixture of procedural scenes and a few photographs, and crops of other photographs to evaluate on.
- Trained on misplaced pieces alone, the tiny model learns that no piece is ever in its place, and gets worse at
  L1 and L2 by it; notebook 11 lets it train on all three levels (``node`` keeps the paper's L0).
- With eight held-out photographs many evaluation puzzles share one: intervals should resample
  ``meta["source"]``, not puzzles.
"""

from __future__ import annotations

import warnings
from collections.abc import Sequence

import numpy as np
from PIL import Image

from kit.data.leak import check_sources, check_tasks
from kit.data.photos import ImageError, SourceImage, photos, random_crop, scenes
from kit.data.scenes import random_view
from kit.episode import Task
from kit.papers.agile.puzzle import make_task

LEVELS: dict[int, tuple[int, ...]] = {2: (0, 1, 2), 3: (0, 1, 2, 3, 4, 5, 6, 7)}
"""The paper's levels for 2×2 and 3×3 (Tables 1 and 2)."""

# Streams of random numbers that must not depend on each other.
_ORDER, _CROP, _SHUFFLE, _MIX = range(4)


def _views(sources: Sequence[SourceImage], n: int, m: int, seed: int) -> list[tuple[str, Image.Image]]:
    """``n`` crops, as even over the sources as possible; the first k are the same for every n ≥ k."""
    order = np.random.default_rng([seed, _ORDER]).permutation(len(sources))
    usable = [sources[int(i)] for i in order]
    views: list[tuple[str, Image.Image]] = []
    while len(views) < n:
        if not usable:
            raise ImageError(
                f"none of the {len(sources)} pictures has a crop whose {m}×{m} pieces all differ from a plain surface; "
                "give pictures with more in them, or fewer pieces"
            )
        for source in list(usable):
            rng = np.random.default_rng([seed, _CROP, len(views)])
            crop = random_crop(rng, source.image, m)
            if crop is None:
                if source.kind != "scene":  # there is always another scene
                    warnings.warn(f"picture {source.id}: too plain for {m}×{m} pieces; left out", stacklevel=4)
                usable.remove(source)
                continue
            if source.split == "train":  # flips and exchanged colour channels; evaluation gets crops only
                crop = Image.fromarray(random_view(rng, np.asarray(crop), crop.width))
            views.append((source.id, crop))
            if len(views) == n:
                break
    return views


def make_puzzles(
    sources: Sequence[SourceImage],
    n: int,
    m: int,
    levels: Sequence[int],
    seed: int,
    piece_px: int | None = 56,
    in_turn: bool = False,
) -> list[Task]:
    """``n`` puzzles for each of ``levels``: the same ``n`` crops, shuffled anew at each level.

    Everything is fixed by ``seed``, and puzzle k doesn't depend on ``n``: 20 puzzles are the first
    20 of 200.

    Args:
        sources: images to crop, taken in turn.
        n: puzzles a level.
        m: pieces a side.
        levels: how many pieces start in place.
        seed: fixes crops and shuffles.
        piece_px: side of a piece in pixels (56 is four tokens of 28 pixels); None keeps the crop's own size.
        in_turn: each crop at one level only, ``levels`` in turn: ``n`` puzzles in all.

    Raises:
        ImageError: no image has a usable crop.
        ValueError: no sources, or a level that ``m`` doesn't have.
    """
    if not sources or n < 1:
        raise ValueError(f"make_puzzles: {len(sources)} pictures and n={n}; need at least one of each")
    tasks = []
    for k, (source, crop) in enumerate(_views(sources, n, m, seed)):
        for level in (levels[k % len(levels)],) if in_turn else levels:
            rng = np.random.default_rng([seed, _SHUFFLE, m, level, k])
            task_id = f"{source}-{m}x{m}-L{level}-s{seed}-{k:05d}"
            tasks.append(make_task(crop, m, level, rng, task_id, source, piece_px))
    # Level by level, so that a prefix is not all levels of a few images.
    return sorted(tasks, key=lambda task: task.meta["level"])


def training_set(
    n: int,
    seed: int,
    m: int = 2,
    levels: Sequence[int] = (0,),
    photo_share: float = 0.25,
    sources: Sequence[SourceImage] | None = None,
    piece_px: int | None = 56,
) -> list[Task]:
    """Puzzles to train on: procedural scenes and training photographs; the paper's are all misplaced (section 4.1).

    Args:
        n: puzzles in all.
        seed: fixes everything that is random.
        m: pieces a side.
        levels: how many pieces start in place, puzzle by puzzle in turn.
        photo_share: share of the puzzles cut from photographs; the rest are scenes, each its own.
        sources: images instead of the packages' training photographs (then all puzzles are cut from them).
        piece_px: side of a piece in pixels; None keeps the crop's own size.
    """
    if not 0 <= photo_share <= 1:
        raise ValueError(f"photo_share={photo_share}: must be from 0 to 1")
    if sources is not None:
        return make_puzzles([s for s in sources if s.split == "train"], n, m, levels, seed, piece_px, in_turn=True)
    from_photos = round(n * photo_share)
    tasks = []
    if from_photos:
        tasks += make_puzzles(photos("train"), from_photos, m, levels, seed, piece_px, in_turn=True)
    if n > from_photos:
        drawn = scenes(n - from_photos, seed)
        tasks += make_puzzles(drawn, n - from_photos, m, levels, seed, piece_px, in_turn=True)
    order = np.random.default_rng([seed, _MIX]).permutation(len(tasks))
    return [tasks[int(i)] for i in order]


def evaluation_set(
    n: int,
    seed: int,
    m: int = 2,
    levels: Sequence[int] | None = None,
    sources: Sequence[SourceImage] | None = None,
    piece_px: int | None = 56,
) -> list[Task]:
    """``n`` held-out puzzles a level (the paper: 300), at all of the paper's levels for ``m`` unless told otherwise.

    Args:
        n: puzzles a level.
        seed: fixes everything that is random.
        m: pieces a side.
        levels: how many pieces start in place; None: all of the paper's levels.
        sources: images to cut instead of the packages' held-out photographs.
        piece_px: side of a piece in pixels; None keeps the crop's own size.
    """
    if levels is None:
        if m not in LEVELS:
            raise ValueError(f"m={m}: the paper has levels for m=2 and 3 only; give levels")
        levels = LEVELS[m]
    held_out = photos("held-out") if sources is None else [s for s in sources if s.split == "held-out"]
    return make_puzzles(held_out, n, m, levels, seed, piece_px)


def check_split(
    train: Sequence[Task], evaluation: Sequence[Task], sources: Sequence[SourceImage] | None = None
) -> None:
    """Refuse a training and an evaluation set that share an image: by name, by source image, by puzzle.

    Args:
        train: the training set.
        evaluation: the evaluation set.
        sources: images that evaluation puzzles may be cut from; None: the packages' held-out photographs.

    Raises:
        LeakError: naming the pairs.
    """
    both = [*photos("train"), *photos("held-out")] if sources is None else list(sources)
    check_sources([s for s in both if s.split == "train"], [s for s in both if s.split == "held-out"])
    check_tasks(train, evaluation)

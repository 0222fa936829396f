"""Make puzzle sets: from images to :class:`~kit.episode.Task` lists, split and leak-checked.

Section 3.2 and 4.1: training puzzles are 2×2 with every piece misplaced; evaluation has 2×2 at
L0–L2 and 3×3 at L0–L7 (N pieces in place at the start), the same images at every level.

How sets are stored is in :mod:`kit.data.store`, where images come from in :mod:`pictures.photos`, and what
may not be in both sets in :mod:`kit.data.leak`.

Section 3.1: a picture is resized so that both its sides divide by m and cut. Pictures of a hub or a user can be cut so,
whole (``whole``); a packaged photograph gives many puzzles, each a square crop of it.

Departures
- [agile-offline-pictures] Paper: 15.6K pictures of a mixture of data sets, each trained on once. Here: on a laptop
  scenes that a program draws and square crops of eight photographs, flipped and with exchanged colour channels. Why:
  the paper's pictures need a hub and a GPU. May change: what the model learns to look at, and how far it carries over.
- [agile-evaluation-crops] Paper: 300 whole pictures a level. Here: on a laptop square crops of eight photographs, many
  puzzles sharing one. Why: these photographs need no download. May change: most figures rest on eight
  pictures (A1, A2 and A4 on 61), so intervals count pictures (``meta["source"]``) and stay wide.
- [agile-training-levels] Paper: every piece misplaced in training. Here: a laptop trains on L0, L1 and L2 by turns.
  Why: trained on misplaced pieces alone, the tiny model learns that no piece is ever in its place. May change: L1 and
  L2 come out higher than they would, so the trend over levels is not the paper's.
- [agile-hub-mixture] Paper: V*, HRBench, InfographicVQA and RealWorldQA are in the training mixture. Here: they are
  left out unless asked for (``--with-benchmarks``), and other pictures of the same part take their places. Why: models
  are evaluated on them. May change: the share of very large pictures and of infographics in training.
- [agile-held-out-pictures] Paper: doesn't say where its 300 test pictures come from. Here: 300 for the test and 300 to
  make choices on are drawn from the same mixture, on top of the 15.6K, and look like none of them. Why: the paper
  lists none of them. May change: test pictures are of the kinds trained on.
- [agile-max-pixels] Paper: 401,408 pixels an image at most (Table 4, for the cold start; RL names no limit). Here: a
  picture is shrunk before it is cut, in both stages, so that neither a piece nor the picture put together, with its
  gaps, has more; a picture that the agent zooms may. Why: pieces and observations keep one scale. May change: pieces
  have a quarter of the pixels that the limit would allow each.
- [agile-plain-pictures] Paper: doesn't say whether plain pictures are left out. Here: whole pictures are all taken, a
  crop with a uniform piece is not. Why: a uniform piece may leave no unique answer, and there is always another crop.
  May change: some whole pictures have puzzles that can't be solved for sure.
"""

from __future__ import annotations

import warnings
from collections.abc import Iterator, Sequence

import numpy as np
from PIL import Image

from kit.data.leak import check_sources, check_tasks, leaked_pairs, solved
from kit.data.source import ImageError, SourceImage, Split
from kit.episode import Task
from kit.images import within_pixels
from papers.agile.env import GAP
from papers.agile.puzzle import make_task, piece_size
from pictures.photos import photos, random_crop, scenes
from pictures.scenes import random_view

LEVELS: dict[int, tuple[int, ...]] = {2: (0, 1, 2), 3: (0, 1, 2, 3, 4, 5, 6, 7)}
"""The paper's levels for 2×2 and 3×3 (Tables 1 and 2)."""

# Streams of random numbers that must not depend on each other.
_ORDER, _CROP, _SHUFFLE, _MIX = range(4)


KITS = ("colour", "gray", "scene")
"""Kinds of image that are the kit's own: few, so training crops of them are varied; a user's and a hub's are not."""


def _views(sources: Sequence[SourceImage], n: int, m: int, seed: int) -> Iterator[tuple[str, Image.Image]]:
    """``n`` crops, as even over the sources as possible; the first k are the same for every n ≥ k."""
    order = np.random.default_rng([seed, _ORDER]).permutation(len(sources))
    usable = [sources[int(i)] for i in order]
    made = 0
    while made < n:
        if not usable:
            raise ImageError(
                f"none of the {len(sources)} pictures has a crop whose {m}×{m} pieces all differ from a plain surface; "
                "give pictures with more in them, or fewer pieces"
            )
        for source in list(usable):
            rng = np.random.default_rng([seed, _CROP, made])
            crop = random_crop(rng, source.image, m)
            if crop is None:
                if source.kind != "scene":  # there is always another scene
                    warnings.warn(f"picture {source.id}: too plain for {m}×{m} pieces; left out", stacklevel=4)
                usable.remove(source)
                continue
            if source.split == "train" and source.kind in KITS:  # flips, exchanged colour channels; evaluation has none
                crop = Image.fromarray(random_view(rng, np.asarray(crop), crop.width))
            yield source.id, crop
            made += 1
            if made == n:
                break


def shown_pixels(size: tuple[int, int], m: int) -> int:
    """Pixels of an image of ``size`` once it is cut and put together again, with the gaps that the agent sees."""
    width, height = piece_size(size, m)
    gap = max(1, round(GAP * m * max(width, height)))
    return (m * width + (m - 1) * gap) * (m * height + (m - 1) * gap)


def _fitted(image: Image.Image, m: int, max_pixels: int) -> Image.Image:
    """Shrink an image so that it has ``max_pixels`` at most once it is put together again; 0: no limit."""
    if not max_pixels or (shown := shown_pixels(image.size, m)) <= max_pixels:
        return image
    allowed = max_pixels * image.width * image.height // shown
    while shown_pixels((smaller := within_pixels(image, allowed)).size, m) > max_pixels:
        allowed = allowed * 99 // 100  # sides are rounded to whole pieces, which may have been up
    return smaller


def _whole(sources: Sequence[SourceImage], n: int, seed: int) -> Iterator[tuple[str, Image.Image]]:
    """``n`` whole images, each once before any comes twice; the first k are the same for every n ≥ k."""
    order = np.random.default_rng([seed, _ORDER]).permutation(len(sources))
    for k in range(n):
        source = sources[int(order[k % len(order)])]
        yield source.id, source.image


def make_puzzles(
    sources: Sequence[SourceImage],
    n: int,
    m: int,
    levels: Sequence[int],
    seed: int,
    piece_px: int | None = 56,
    in_turn: bool = False,
    whole: bool = False,
    max_pixels: int = 0,
) -> list[Task]:
    """``n`` puzzles for each of ``levels``: the same ``n`` crops or images, shuffled anew at each level.

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
        whole: cut whole images, as the paper does, instead of square crops.
        max_pixels: of a crop or image as it is shown put together, with gaps, at most (Table 4); 0: no limit.

    Raises:
        ImageError: no image has a usable crop.
        ValueError: no sources, a level that ``m`` doesn't have, or options that exclude each other.
    """
    if not sources or n < 1:
        raise ValueError(f"make_puzzles: {len(sources)} pictures and n={n}; need at least one of each")
    if piece_px and (whole or max_pixels):
        raise ValueError(
            f"whole={whole}, piece_px={piece_px}, max_pixels={max_pixels}: square pieces of a fixed size neither keep "
            "a whole picture's shape nor need a limit; give piece_px=None (0 in a notebook)"
        )
    tasks = []
    images = _whole(sources, n, seed) if whole else _views(sources, n, m, seed)
    for k, (source, crop) in enumerate(images):
        for level in (levels[k % len(levels)],) if in_turn else levels:
            rng = np.random.default_rng([seed, _SHUFFLE, m, level, k])
            task_id = f"{source}-{m}x{m}-L{level}-s{seed}-{k:05d}"
            tasks.append(make_task(_fitted(crop, m, max_pixels), m, level, rng, task_id, source, piece_px))
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
    whole: bool = False,
    max_pixels: int = 0,
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
        whole: cut whole ``sources``, see :func:`make_puzzles`.
        max_pixels: of a crop or image put together, at most; 0: no limit.
    """
    if whole and sources is None:
        raise ValueError("whole=True: packaged photographs and scenes are cropped; give sources to cut whole")
    if not 0 <= photo_share <= 1:
        raise ValueError(f"photo_share={photo_share}: must be from 0 to 1")
    if sources is not None:
        seen = [s for s in sources if s.split == "train"]
        return make_puzzles(seen, n, m, levels, seed, piece_px, in_turn=True, whole=whole, max_pixels=max_pixels)
    from_photos = round(n * photo_share)
    tasks = []
    for kits, count in ((photos("train"), from_photos), (scenes(n - from_photos, seed), n - from_photos)):
        if count:
            tasks += make_puzzles(kits, count, m, levels, seed, piece_px, in_turn=True, max_pixels=max_pixels)
    order = np.random.default_rng([seed, _MIX]).permutation(len(tasks))
    return [tasks[int(i)] for i in order]


def evaluation_set(
    n: int,
    seed: int,
    m: int = 2,
    levels: Sequence[int] | None = None,
    sources: Sequence[SourceImage] | None = None,
    piece_px: int | None = 56,
    side: Split | None = None,
    whole: bool = False,
    max_pixels: int = 0,
) -> list[Task]:
    """``n`` puzzles a level (the paper: 300) of pictures not trained on, at all of the paper's levels for ``m``.

    Args:
        n: puzzles a level.
        seed: fixes everything that is random.
        m: pieces a side.
        levels: how many pieces start in place; None: all of the paper's levels.
        sources: images to cut instead of the packages' held-out photographs; those to train on are passed over.
        piece_px: side of a piece in pixels; None keeps the crop's own size.
        side: ``test`` or ``development``, if ``sources`` has both; ``held-out`` for the packages' photographs.
        whole: cut whole images, see :func:`make_puzzles`.
        max_pixels: of a crop or image put together, at most; 0: no limit.

    Raises:
        ValueError: no levels known for ``m``, or sources of two sides and no ``side``.
    """
    if levels is None:
        if m not in LEVELS:
            raise ValueError(f"m={m}: the paper has levels for m=2 and 3 only; give levels")
        levels = LEVELS[m]
    unseen = [
        s for s in (photos("held-out") if sources is None else sources) if s.split in ((side,) if side else UNSEEN)
    ]
    if len(sides := sorted({s.split for s in unseen})) > 1:
        raise ValueError(f"evaluation_set: pictures of {' and '.join(sides)}; choose one: side='test' or 'development'")
    return make_puzzles(unseen, n, m, levels, seed, piece_px, whole=whole, max_pixels=max_pixels)


def apart(tasks: Sequence[Task], others: Sequence[Task]) -> list[Task]:
    """Leave out puzzles of drawn scenes that happen to look like one of another side; there are always more scenes.

    Args:
        tasks: puzzles to train on.
        others: puzzles of other sides.

    Raises:
        LeakError: an image that nobody drew looks like one of another side.
    """
    drawn = ((task.id, solved(task)) for task in tasks if is_scene(task))
    alike = {pair.train for pair in leaked_pairs(drawn, ((task.id, solved(task)) for task in others))}
    kept = [task for task in tasks if task.id not in alike]
    check_tasks(kept, others)
    return kept


def is_scene(task: Task) -> bool:
    """Check whether a program drew the image that a puzzle was cut from."""
    return str(task.meta["source"]).startswith("scene-")


UNSEEN = ("development", "test", "held-out")
"""Sides that are never trained on."""


def check_split(
    train: Sequence[Task],
    evaluation: Sequence[Task],
    sources: Sequence[SourceImage] | None = None,
    development: Sequence[Task] = (),
) -> None:
    """Refuse sets that share an image, or hold two that look the same: source images and puzzles, all pairs of sides.

    Args:
        train: the training set.
        evaluation: the test set, or the held-out one.
        sources: images of all sides; None: the packages' photographs.
        development: puzzles that choices are made on.

    Raises:
        LeakError: naming the pairs.
    """
    both = [*photos("train"), *photos("held-out")] if sources is None else list(sources)
    check_sources(*([s for s in both if s.split == side] for side in ("train", *UNSEEN)))
    check_tasks(train, development, evaluation)

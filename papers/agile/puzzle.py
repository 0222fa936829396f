"""Cut, shuffle and label an image: one jigsaw task (section 3.1, eq. 1–3).

Departures
- [agile-thumbnails] Paper: The prompt shows every piece as large as the picture gives (appendix B). Here: On a laptop
  it shows thumbnails of a few colours; only code sees the pieces. gpu and node show full pieces, as the paper does.
  Why: The tiny base reads the order off full pieces at once, so that its agent would have nothing to find out by
  acting. May change: What the agent has over the base that is asked from the same thumbnails is what looking recovers;
  the base asked from full pieces is the ceiling.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np
from PIL import Image

from kit.episode import NamedImage, Task
from kit.images import rgb

LABELS = "ABCDEFGHIJKLMNOPQRSTUVWXYZ"


def shuffle(n: int, n_fixed: int, rng: np.random.Generator) -> list[int]:
    """A uniformly random permutation of ``range(n)`` with exactly ``n_fixed`` fixed points.

    Args:
        n: number of pieces.
        n_fixed: pieces that stay in place.
        rng: source of all randomness.

    Raises:
        ValueError: no such permutation exists (``n_fixed`` = n−1, n or out of range).
    """
    if not 0 <= n_fixed <= n - 2:
        possible = f"0 … {n - 2}"
        raise ValueError(
            f"n_fixed={n_fixed}: no shuffle of {n} pieces leaves exactly {n_fixed} in place and is a puzzle; "
            f"possible: {possible}"
        )
    moving = rng.choice(n, size=n - n_fixed, replace=False)
    while True:  # a random permutation is a derangement with probability about 1/e
        image = rng.permutation(moving)
        if (image != moving).all():
            break
    order = list(range(n))
    for spot, piece in zip(moving, image, strict=True):
        order[int(spot)] = int(piece)
    return order


def piece_size(size: tuple[int, int], m: int) -> tuple[int, int]:
    """A piece of an image of ``size`` that is resized so that both sides divide by m; 8 pixels a side at least."""
    return max(8, round(size[0] / m)), max(8, round(size[1] / m))


THUMBNAIL_PX = 28
"""Side of a thumbnail in pixels: one image token of Qwen2.5-VL."""


def with_thumbnails(task: Task, colours: int) -> Task:
    """Show a puzzle small at first: the prompt has thumbnails, the tools have the pieces.

    Args:
        task: a puzzle.
        colours: colours a side of a thumbnail (each is the mean of its part of the piece); 0: the puzzle as it is.

    Raises:
        ValueError: ``colours`` below 0, or more than a thumbnail has pixels a side.
    """
    if not 0 <= colours <= THUMBNAIL_PX:
        raise ValueError(f"colours={colours}: a thumbnail has 1 to {THUMBNAIL_PX} colours a side; 0: no thumbnails")
    if not colours:
        return task
    side = (THUMBNAIL_PX, THUMBNAIL_PX)
    small = tuple(
        NamedImage(
            piece.name,
            piece.image.resize((colours, colours), Image.Resampling.BOX).resize(side, Image.Resampling.NEAREST),
        )
        for piece in task.tool_images
    )
    return replace(task, images=small, originals=task.tool_images)


def make_task(
    image: Image.Image,
    m: int,
    n_fixed: int,
    rng: np.random.Generator,
    id: str,
    source: str = "",
    piece_px: int | None = None,
) -> Task:
    """Cut, shuffle and label an image (eq. 1–3).

    Args:
        image: the image to cut.
        m: pieces a side.
        n_fixed: how many pieces start in place (the paper's level L0, L1, …).
        rng: source of all randomness.
        id: id of the task.
        source: name of the image, for splits and tables.
        piece_px: side of a square piece in pixels; None keeps the image's own size, resized so that both sides divide
            by m.
    """
    if not 2 <= m <= 5:
        raise ValueError(f"m={m}: a puzzle has 2 to 5 pieces a side (they are labelled A to Y)")
    order = shuffle(m * m, n_fixed, rng)  # spot k shows the piece whose place is order[k]
    width, height = (piece_px, piece_px) if piece_px else piece_size(image.size, m)
    picture = rgb(image)
    if picture.size != (width * m, height * m):
        picture = picture.resize((width * m, height * m), Image.Resampling.LANCZOS)
    pieces = []
    for spot, home in enumerate(order):
        x, y = home % m * width, home // m * height
        pieces.append(NamedImage(LABELS[spot], picture.crop((x, y, x + width, y + height))))
    target = [""] * (m * m)
    for spot, home in enumerate(order):
        target[home] = LABELS[spot]
    meta = {"m": m, "level": n_fixed, "source": source}
    return Task(id, tuple(pieces), "Please solve the jigsaw.", tuple(target), meta)

"""Cut, shuffle and label an image: one jigsaw task (section 3.1, eq. 1–3)."""

from __future__ import annotations

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

"""Make tasks: an image with one to four dots, and how many there are."""

from __future__ import annotations

import numpy as np
from kit.episode import NamedImage, Task
from PIL import Image, ImageDraw

PLACES = ("top left", "top right", "bottom left", "bottom right")
QUARTER = 56
"""Pixels of a quarter's side; the tiny model reads a quarter as 2 × 2 tokens."""


def make_task(rng: np.random.Generator, id: str) -> Task:
    """Draw dots in some of the four quarters; ``meta`` tells the expert in which."""
    side = 2 * QUARTER
    image = Image.fromarray(rng.integers(200, 256, (side, side, 3), dtype=np.uint8))
    dots = sorted(rng.permutation(4)[: rng.integers(1, 5)].tolist())
    for dot in dots:
        x, y = rng.integers(16, 40, 2) + QUARTER * np.array([dot % 2, dot // 2])
        radius, colour = rng.integers(8, 14), tuple(rng.integers(0, 150, 3).tolist())
        around = (x - radius, y - radius, x + radius, y + radius)
        ImageDraw.Draw(image).ellipse(around, fill=colour)
    target, meta = str(len(dots)), {"places": [PLACES[dot] for dot in dots]}
    return Task(id, (NamedImage("image", image),), "How many dots?", target, meta)


def make_tasks(n: int, seed: int, name: str) -> list[Task]:
    """Make ``n`` tasks, the same ones for the same seed."""
    rng = np.random.default_rng(seed)
    return [make_task(rng, f"{name}-{k:04d}") for k in range(n)]

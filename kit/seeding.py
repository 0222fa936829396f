"""Seeds that belong to a place: what is sampled there depends on no neighbour, and on no number of processes."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

Seed = int | Sequence[int]
"""Of a batch of episodes; or one for each of them, where the batch is a share of a larger one."""


def child_seed(seed: int, place: int) -> int:
    """The seed of one place (a step, an episode, a turn) under ``seed``: 32 bits, unlike its neighbours'."""
    return int(np.random.SeedSequence([seed, place]).generate_state(1)[0])


def seed_per_episode(seed: Seed, n: int) -> list[int]:
    """One seed for each of ``n`` episodes.

    Raises:
        ValueError: there are seeds for another number of them.
    """
    if isinstance(seed, int):
        return [child_seed(seed, place) for place in range(n)]
    if len(seed) != n:
        raise ValueError(f"{len(seed)} seeds for {n} episodes: give one seed, or one for each")
    return list(seed)

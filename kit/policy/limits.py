"""Limits of sampling by transformers, which the memory planner shares; nothing here needs torch."""

from __future__ import annotations

MAX_BATCH_SIZE = 64
"""Requests that decode together, at the most."""

CACHE_BYTES = 1 << 30
"""Bytes that may be remembered between turns."""


def batch_size_that_fits(most: int, free: float, token: int, length: int) -> int:
    """Choose how many contexts to decode together: at most ``most``, at least one, in half of the ``free`` bytes.

    Args:
        most: contexts, at most.
        free: bytes that are free.
        token: bytes that one token's keys and values take.
        length: tokens of the longest, what it is going to say included.
    """
    return max(1, min(most, int(free / 2 / (token * length))))

"""Load handwritten digits and split them three ways, so that none that is trained on stands on a test sheet."""

from __future__ import annotations

from functools import cache

import numpy as np
from numpy.typing import NDArray

from kit.data.split import Side, split_groups

HELD_OUT = {"test": 0.3, "development": 0.1}
"""Shares of the digits that are held out; the rest is trained on, in pretraining as well."""


@cache
def handwritten() -> tuple[NDArray[np.float64], NDArray[np.int64]]:
    """Scikit-learn's 1,797 handwritten digits: ``(n, 8, 8)`` from 0 to 1, and which each is."""
    from sklearn.datasets import load_digits

    digits = load_digits()
    return digits.images / 16, digits.target


@cache
def digits_of(side: Side) -> NDArray[np.int64]:
    """Places in :func:`handwritten` of one side's digits; two that are equal to the last pixel stand on one side."""
    images, _ = handwritten()
    first: dict[bytes, int] = {}
    same = [first.setdefault(image.tobytes(), k) for k, image in enumerate(images)]
    return np.flatnonzero(np.array(split_groups(same, HELD_OUT)) == side)

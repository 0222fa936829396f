"""The crossed analysis of variance and power: worked by hand, and by simulation where they make a promise."""

from __future__ import annotations

import math

import numpy as np
import pytest
from scipy import stats

from kit.evaluate.crossed import Crossed, Point, crossed, power
from kit.evaluate.intervals import contrast

VALUES = {0: (0.0, 1.0, 3.0, 4.0), 1: (0.0, 3.0, 5.0, 8.0)}
BY_HAND = [Point(seed, "abcd"[at], value) for seed, row in VALUES.items() for at, value in enumerate(row)]


def test_mean_squares_by_hand() -> None:
    """The values of ``test_contrast_by_hand``: S = 8, I = 40/3, R = 4/3."""
    found = crossed({"cell": BY_HAND}, {"cell": 1.0})
    assert found[:3] == (3.0, 2, 4) and found[3:] == pytest.approx((8, 40 / 3, 4 / 3, 0))
    assert (found.variance, found.freedom) == pytest.approx((20, 400 / (64 + 1616 / 27)))


def test_more_seeds_by_hand() -> None:
    """Six seeds instead of two: S and R stay; I = R + (40/3 − 4/3)·3 = 112/3, V = 8 + 112/3 − 4/3 = 44, of 24 values.

    44² / (8²/5 + (112/3)²/3 + (4/3)²/15) = 1936 / (12.8 + 464.5926 + .1185) = 4.0544, which the seeds' 5 bound.
    """
    found = crossed({"cell": BY_HAND}, {"cell": 1.0}).with_seeds(6)
    assert (found.by_seed, found.by_image, found.rest) == pytest.approx((8, 112 / 3, 4 / 3))
    assert (found.variance, found.freedom) == pytest.approx((44, 5))
    assert found.half() == pytest.approx(stats.t.ppf(0.975, 5) * math.sqrt(44 / 24))
    now = contrast({"cell": BY_HAND}, {"cell": 1.0})
    assert now.with_more is not None
    more = now.with_more(4)
    assert (more.value, more.n, more.high) == pytest.approx((3, 24, 3 + found.half()))


@pytest.mark.parametrize("seeds", [3, 10])
def test_of_as_many_seeds_nothing_changes(seeds: int) -> None:
    found = Crossed(0.1, seeds, 20, 0.3, 0.2, 0.25, 0.01)  # less over images than the rest: nothing of images in it
    assert found.with_seeds(seeds) == found
    assert found.with_seeds(2 * seeds).by_image == 0.2


def test_power_by_hand() -> None:
    """Five seeds, 100 images, no spread over seeds: S = R = .25, I = 5·.04 + .25 = .45, V = .45, of 500 values.

    The error is √(.45/500) = .03, a margin of .06 two errors. Degrees of freedom:
    .2025 / (.0625/4 + .2025/99 + .0625/396) = .2025 / .0178283 = 11.3583.
    """
    freedom = 0.45**2 / (0.25**2 / 4 + 0.45**2 / 99 + 0.25**2 / 396)
    assert freedom == pytest.approx(11.3583, abs=1e-4)
    expected = stats.nct.sf(stats.t.ppf(0.975, freedom), freedom, 2.0)
    assert power(0.06, 0.0, 0.2, 0.5, 5, 100) == pytest.approx(expected, abs=1e-9)
    two_sided = 2 * stats.nct.sf(stats.t.ppf(0.95, freedom), freedom, 4.0) - 1
    assert power(0.12, 0.0, 0.2, 0.5, 5, 100, equal=True) == pytest.approx(two_sided, abs=1e-9)
    assert power(1.0, 0.0, 0.2, 0.5, 5, 100) == pytest.approx(1.0)


def _drawn(rng: np.random.Generator, true: float, spreads: tuple[float, ...], shape: tuple[int, int]) -> Crossed:
    (k, p), (seed, image, rest) = shape, spreads
    y = true + rng.normal(0, seed, (k, 1)) + rng.normal(0, image, p) + rng.normal(0, rest, shape)
    left = y - y.mean(1, keepdims=True) - y.mean(0) + y.mean()
    squares = p * y.mean(1).var(ddof=1), k * y.mean(0).var(ddof=1), (left**2).sum() / ((k - 1) * (p - 1))
    return Crossed(float(y.mean()), k, p, *map(float, squares))


@pytest.mark.parametrize(("spreads", "seeds"), [((0.05, 0.4, 0.3), 5), ((0.0, 0.4, 0.3), 3), ((0.1, 0.1, 0.3), 10)])
def test_power_is_what_a_simulation_finds(spreads: tuple[float, float, float], seeds: int) -> None:
    """Of 3000 simulated comparisons on 60 images, which tell to ±2 %."""
    rng, margin = np.random.default_rng(0), 0.15
    there, absent = ([_drawn(rng, true, spreads, (seeds, 60)) for _ in range(3000)] for true in (margin, 0.0))
    shown = np.mean([found.value > found.half() for found in there])
    equal = np.mean([abs(found.value) + found.half(0.9) < margin for found in absent])
    assert power(margin, *spreads, seeds, 60) == pytest.approx(shown, abs=0.04)
    assert power(margin, *spreads, seeds, 60, equal=True) == pytest.approx(equal, abs=0.04)


@pytest.mark.parametrize(
    "bad",
    [(0.0, 0, 0, 1, 5, 9), (0.1, 0, 0, 0, 5, 9), (0.1, -1, 0, 1, 5, 9), (0.1, 0, 0, 1, 1, 9), (0.1, 0, 0, 1, 5, 1)],
)
def test_power_of_nothing_is_refused(bad: tuple[float, float, float, float, int, int]) -> None:
    with pytest.raises(ValueError, match=f"power of margin {bad[0]}"):
        power(*bad)

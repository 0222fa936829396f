"""The crossed analysis of variance, worked by hand, and beside a mixed model of a statistics library."""

from __future__ import annotations

import math

import numpy as np
import pytest
from scipy import stats

from kit.evaluate.crossed import Crossed, Point, crossed
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


# statsmodels 0.15.0, of the data that _made draws, balanced, so that REML is the analysis of variance but for the
# optimizer's precision: mixedlm("y ~ 1", groups=1, re_formula="0", vc_formula={"image": "0+C(image)", "seed":
# "0+C(seed)"}).fit(reml=True, method="powell"). (Of the second one lbfgs stops at a lower likelihood.)
MIXED = {
    (1, 5, 30, 0.1, 0.4, 0.3): (0.1030220366, 0.0986348015, 0.0164566049, 0.1795803268, 0.0677238264),
    (2, 3, 40, 0.2, 0.3, 0.3): (0.0615676660, 0.0706831930, 0.0065208792, 0.0856546365, 0.0817345775),
    (3, 10, 20, 0.05, 0.4, 0.3): (0.1559476767, 0.0768966425, 0.0088604796, 0.0914313299, 0.0910958340),
}
"""Seed of the numbers, seeds, images, spreads over seeds and images and of the rest → value, its standard error, and
the variances of seeds, images and the rest."""


def _made(seed: int, seeds: int, images: int, by_seed: float, by_image: float, rest: float) -> list[Point]:
    rng = np.random.default_rng(seed)
    values = 0.1 + rng.normal(0, by_seed, (seeds, 1)) + rng.normal(0, by_image, images)
    values = values + rng.normal(0, rest, (seeds, images))
    return [Point(k, str(p), float(value)) for k, row in enumerate(values) for p, value in enumerate(row)]


@pytest.mark.parametrize("made", MIXED)
def test_a_mixed_model_of_a_statistics_library_agrees(made: tuple[int, int, int, float, float, float]) -> None:
    found, (value, error, by_seed, by_image, rest) = crossed({"x": _made(*made)}, {"x": 1.0}), MIXED[made]
    assert found.value == pytest.approx(value, abs=1e-9)
    assert math.sqrt(found.variance / (found.seeds * found.images)) == pytest.approx(error, rel=1e-3)
    parts = (found.by_seed - found.rest) / found.images, (found.by_image - found.rest) / found.seeds, found.rest
    assert parts == pytest.approx((by_seed, by_image, rest), rel=1e-3)

"""Intervals: worked by hand where a formula has a value, by simulation where it makes a promise."""

from __future__ import annotations

import math

import numpy as np
import pytest
from scipy import stats

from benchmarks.coverage import RELATED, SHARES, coverage
from kit.evaluate.intervals import (
    Interval,
    Point,
    clopper_pearson,
    clustered_mean,
    contrast,
    mean_over_seeds,
    proportion,
    proportion_over_seeds,
)

WHOLE = {"cell": 1.0}


def test_clopper_pearson_by_hand() -> None:
    # None of 8: (1 - u)⁸ = .025, u = 1 - e^(ln(.025)/8) = 1 - e^(-.461110) = .369417. One of 2: P(≥ 1) = 1 - (1-p)² is
    # .025 at p = 1 - √.975 = .012579, and by symmetry the other bound is .987421.
    assert clopper_pearson(0, 8) == (0.0, pytest.approx(0.369417, abs=1e-6))
    assert clopper_pearson(8, 8) == (pytest.approx(1 - 0.369417, abs=1e-6), 1.0)
    assert clopper_pearson(1, 2) == pytest.approx((0.012579, 0.987421), abs=1e-6)


@pytest.mark.parametrize(("successes", "n"), [(1, 0), (-1, 5), (6, 5)])
def test_clopper_pearson_refuses_what_is_no_share(successes: int, n: int) -> None:
    with pytest.raises(ValueError, match="successes between 0 and n"):
        clopper_pearson(successes, n)


def test_proportion_of_single_puzzles_is_exact() -> None:
    right = [True] * 8 + [False] * 2
    assert proportion(right, range(10)) == Interval(0.8, *clopper_pearson(8, 10), 10)


def test_proportion_counts_copies_of_a_puzzle_once() -> None:
    """Three copies of ten puzzles say what ten puzzles say, but for the corrections k/(k-1), (n-1)/n and t."""
    right = [True] * 21 + [False] * 9
    found = proportion(right, [i // 3 for i in range(30)])
    # Between: 10/9 · Σ(3·(x - .7))²/900, Σ = 9·(7·.09 + 3·.49) = 18.9; t: 2.045230 of 29 degrees, 2.262157 of 9.
    design = (10 / 9 * 18.9 / 900) / (0.21 / 29)
    effective = 30 / design * (2.045230 / 2.262157) ** 2
    assert (found.low, found.high) == pytest.approx(clopper_pearson(0.7 * effective, effective), abs=1e-6)
    assert 7 < effective < 9 and found.n == 30


def test_where_nearly_all_agree_pictures_count_not_puzzles() -> None:
    """None right of 288 about eight pictures, or some about two of them: nothing tells how they go together."""
    pictures = [i // 36 for i in range(288)]
    none, all_ = proportion([0] * 288, pictures), proportion([1] * 288, pictures)
    assert (none.low, none.high) == clopper_pearson(0, 8) and (all_.low, all_.high) == clopper_pearson(8, 8)
    two = proportion([1] * 72 + [0] * 216, pictures)
    assert (two.low, two.high) == clopper_pearson(2, 8)
    assert proportion([True] * 5, ["the only picture"] * 5).low == clopper_pearson(1, 1)[0]


def test_proportion_refuses_what_is_no_share() -> None:
    with pytest.raises(ValueError, match=r"1\.5 is no share"):
        proportion([0.5, 1.5], ["a", "b"])


def test_clustered_mean_by_hand() -> None:
    """Clusters (0, 2) and (4, 6): mean 3, deviations of the sums ±4; √(2/1 · 32)/4 = 2, t of one degree 12.7062."""
    found = clustered_mean([0, 2, 4, 6], ["a", "a", "b", "b"])
    assert (found.value, found.n) == (3.0, 4)
    assert found.high - 3 == pytest.approx(25.4124, abs=1e-4)
    assert clustered_mean([1.0, 2.0], ["a", "a"]).high == math.inf


def test_clustered_mean_counts_clusters_not_values() -> None:
    values = np.repeat(np.random.default_rng(1).random(40), 5)
    related = clustered_mean(values, np.repeat(np.arange(40), 5).tolist())
    unrelated = clustered_mean(values, list(range(200)))
    ratio = (related.high - related.low) / (unrelated.high - unrelated.low)
    assert ratio == pytest.approx(math.sqrt(5), rel=0.1)


def test_agreeing_clusters_leave_the_rule_of_three() -> None:
    pictures = [i // 3 for i in range(30)]
    assert clustered_mean([1.0] * 30, pictures, span=1.0).low == pytest.approx(0.7)
    assert clustered_mean([0.0] + [1.0] * 29, pictures, span=1.0).low == pytest.approx(29 / 30 - 0.3)
    assert clustered_mean([1.0] * 30, pictures).low == 1.0
    with pytest.raises(ValueError, match="at least one"):
        clustered_mean([], [])


def test_mean_over_three_seeds_by_hand() -> None:
    # mean 2, s = 1, t(.975, 2 degrees) = 4.30265: half-width 4.30265/√3 = 2.48414
    found = mean_over_seeds([1.0, 2.0, 3.0], 0.1)
    assert (found.low, found.high) == pytest.approx((2 - 2.48414, 2 + 2.48414), abs=1e-5)
    assert mean_over_seeds([1.0], 0.1).high == math.inf


def test_seeds_that_agree_leave_the_rule_of_three() -> None:
    found = mean_over_seeds([2.0] * 6, unit=0.1)
    assert (found.low, found.high) == pytest.approx((1.95, 2.05))


@pytest.mark.parametrize("pictures", [8, 40])
@pytest.mark.parametrize("share", SHARES)
def test_intervals_of_shares_cover_the_truth(share: float, pictures: int) -> None:
    """Whether puzzles of a picture go together or not, in the share of cases that the interval promises, or nearly."""
    for related in RELATED:
        for seeds in (1, 4):
            covered, width = coverage(share, pictures, related, seeds, repetitions=300)
            assert covered >= 0.93, (related, seeds)
            assert width < 1, (related, seeds)


def test_contrast_by_hand() -> None:
    """Two seeds, four pictures, one cell.

    Seeds have means 2 and 4: θ = 3 and S = 4·(1 + 1)/1 = 8. Pictures have 0, 2, 4, 6: I = 2·(9 + 1 + 1 + 9)/3 = 40/3.
    What is left is ±1 on two pictures of each seed: R = 4/3. V = 8 + 40/3 − 4/3 = 20, with
    400/(64/1 + (40/3)²/3 + (4/3)²/3) = 400/(64 + 1616/27) = 3.230 degrees of freedom; half = t·√(20/8).
    """
    values = {0: (0.0, 1.0, 3.0, 4.0), 1: (0.0, 3.0, 5.0, 8.0)}
    found = contrast({"cell": [Point(k, "abcd"[p], v) for k, row in values.items() for p, v in enumerate(row)]}, WHOLE)
    assert found.value == 3
    freedom, error = 400 / (64 + 1616 / 27), math.sqrt(20 / 8)
    assert found.high - found.value == pytest.approx(stats.t.ppf(0.975, freedom) * error)
    assert (found.low90, found.high90) == pytest.approx(
        [3 + sign * stats.t.ppf(0.95, freedom) * error for sign in (-1, 1)]
    )


def test_contrast_of_few_pictures_by_hand() -> None:
    """Two seeds, two pictures: .5 and 1, 1 and .5.

    S = I = R = .25, so V = .25; 1/3 degree of freedom is raised to the seeds' 1, t = 12.7062: 12.7062²·.25/4 = 10.0905.
    Two pictures are too few to tell how they differ, which leaves a range of 1 open: half = √11.0905 = 3.33024.
    """
    points = [Point(0, "a", 1), Point(0, "b", 0), Point(1, "a", 1), Point(1, "b", 1)]
    found = contrast({"cell": points}, WHOLE)
    assert found.value == 0.75
    assert found.high - found.value == pytest.approx(3.33024, abs=1e-5)


def test_contrast_pairs_images() -> None:
    """A difference between two stages that share their pictures is known better than one between strangers."""
    rng = np.random.default_rng(0)
    hard = rng.random(60)
    before = [Point(k, f"p{i}", hard[i] + rng.normal(0, 0.05)) for k in range(3) for i in range(60)]
    after = [Point(k, f"p{i}", hard[i] + 0.1 + rng.normal(0, 0.05)) for k in range(3) for i in range(60)]
    strangers = [Point(p.seed, "other-" + p.image, p.value) for p in after]
    weights = {"before": -1.0, "after": 1.0}
    paired = contrast({"before": before, "after": after}, weights)
    unpaired = contrast({"before": before, "after": strangers}, weights)
    assert paired.value == pytest.approx(unpaired.value)
    assert (unpaired.high - unpaired.low) > 2 * (paired.high - paired.low)


@pytest.mark.parametrize(("by_seed", "by_picture"), [(0.1, 0.3), (0.0, 0.3), (0.2, 0.0)])
def test_contrast_covers_the_truth(by_seed: float, by_picture: float) -> None:
    """Three seeds, thirty pictures: the true mean is inside in 95 % of repetitions, of which 600 tell to ±1.8 %."""
    rng = np.random.default_rng(0)
    inside = 0
    for _ in range(600):
        values = rng.normal(0, by_seed, (3, 1)) + rng.normal(0, by_picture, 30) + rng.normal(0, 0.3, (3, 30))
        found = contrast({"cell": [Point(k, str(i), values[k, i]) for k in range(3) for i in range(30)]}, {"cell": 1.0})
        inside += found.low <= 0 <= found.high
    assert 0.92 <= inside / 600 < 0.98


def test_contrast_without_variation_keeps_the_rule_of_three() -> None:
    """Thirty pictures leave 3/30 open, however many seeds and puzzles; two such cells, independently of each other."""
    points = [Point(k, str(i), 1.0) for k in range(3) for i in range(30)]
    assert contrast({"cell": points}, {"cell": 2.0}) == Interval(2.0, 1.8, 2.2, 90, 1.8, 2.2)
    pair = contrast({"a": points, "b": points}, {"a": -1.0, "b": 1.0})
    assert (pair.value, pair.high) == (0.0, pytest.approx(math.sqrt(2) / 10))


@pytest.mark.parametrize(("better", "half"), [(0, 0.15), (1, 0.18290), (2, 0.20797), (3, 0.17146)])
def test_stages_that_tie_on_nearly_every_picture_keep_the_rule_of_three(better: int, half: float) -> None:
    """Of twenty pictures half are right in both stages, for every seed, and some more in the second one.

    With q = better/20, I = 3·20·q(1 − q)/19, S = R = 0, so 19 degrees of freedom: t²·I/60 = 4.38075·q(1 − q)/19 is 0,
    .010952, .020751, .029397. Up to two leave (3/20)² = .0225 open: √.033452 = .18290, √.043251 = .20797; three don't.
    """
    before = [Point(k, str(i), float(i % 2)) for k in range(3) for i in range(20)]
    after = [p._replace(value=1.0) if int(p.image) in range(0, 2 * better, 2) else p for p in before]
    found = contrast({"before": before, "after": after}, {"before": -1.0, "after": 1.0})
    assert found.value == pytest.approx(better / 20)
    assert found.high - found.value == pytest.approx(half, abs=1e-5)


def test_contrast_of_one_seed_knows_nothing_of_others() -> None:
    found = contrast({"cell": [Point(0, "a", 1), Point(0, "b", 0)]}, {"cell": 1.0})
    assert (found.low, found.high) == (-math.inf, math.inf)
    assert "no interval" in str(found)
    assert Interval.of(found.record()) == found


def test_contrast_refuses_cells_of_different_seeds() -> None:
    with pytest.raises(ValueError, match="cell 'y' has no measurement for seed 1"):
        contrast({"x": [Point(0, "a", 1), Point(1, "a", 1)], "y": [Point(0, "a", 1)]}, {"x": 1.0, "y": 1.0})


@pytest.mark.parametrize("right", [1, 2, 3])
def test_one_share_of_every_image_in_every_seed_is_as_wide_as_so_many_images(right: int) -> None:
    points = [Point(seed, str(i), float(k < right)) for seed in range(3) for i in range(20) for k in range(4)]
    found = proportion_over_seeds(points)
    assert (found.value, found.low, found.high) == (right / 4, *clopper_pearson(right * 5, 20))


def test_the_narrow_bounds_are_told_where_they_were_computed_and_the_wide_ones_where_not() -> None:
    known, old = Interval(1.0, 0.0, 2.0, 9, 0.2, 1.8), {"value": 1.0, "low": 0.0, "high": None, "n": 9}
    assert known.narrow == (0.2, 1.8) and Interval.of(known.record()) == known
    assert Interval.of(old).narrow == (0.0, math.inf) and Interval.of(old).record() == old


def test_mean_over_seeds_has_narrow_bounds_and_tells_of_more_seeds() -> None:
    """s = 1: t(.95, 2) = 2.91999 over √3 is 1.68586; of six seeds t(.975, 5) = 2.57058 over √6 is 1.04943."""
    found = mean_over_seeds([1.0, 2.0, 3.0], 0.1)
    assert found.narrow == pytest.approx((2 - 1.68586, 2 + 1.68586), abs=1e-5)
    assert found.with_more is not None
    assert found.with_more(3).high == pytest.approx(3.04943, abs=1e-5) and found.with_more(3).n == 6


def test_an_interval_stays_within_what_can_be_and_the_unknown_unknown() -> None:
    wide = Interval(0.302, -3.537, 4.141, 9)
    assert str(wide.within(0.0)) == "0.302 [0.000, 4.141]"
    assert str(wide.within(0.0, 1.0)) == "0.302 [0.000, 1.000]"
    assert str(wide.within(-1.0, 1.0)) == "0.302 [-1.000, 1.000]"
    assert Interval(0.302, -math.inf, math.inf, 9).within(0.0, 1.0).record()["low"] is None

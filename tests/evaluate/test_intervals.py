"""Intervals: worked by hand where a formula has a value, by simulation where it makes a promise."""

from __future__ import annotations

import math

import numpy as np
import pytest

from kit.evaluate.intervals import Interval, Point, bootstrap_mean, contrast, mean_over_seeds, proportion, wilson


def test_wilson_eight_of_ten_by_hand() -> None:
    # (.8 + 3.84146/20 ± 1.95996·√(.8·.2/10 + 3.84146/400)) / (1 + .384146) = (.992073 ± .313613) / 1.384146
    low, high = wilson(8, 10)
    assert (round(low, 3), round(high, 3)) == (0.490, 0.943)
    assert (low + high) / 2 == pytest.approx(0.716740, abs=2e-6)


def test_wilson_at_the_ends_is_open_on_one_side_only() -> None:
    assert wilson(0, 20) == (0.0, pytest.approx(3.841459 / 23.841459, abs=1e-6))  # z² / (n + z²)
    assert wilson(20, 20) == (pytest.approx(20 / 23.841459, abs=1e-6), 1.0)


@pytest.mark.parametrize(("successes", "n"), [(1, 0), (-1, 5), (6, 5)])
def test_wilson_refuses_what_is_no_share(successes: int, n: int) -> None:
    with pytest.raises(ValueError, match="successes between 0 and n"):
        wilson(successes, n)


def test_proportion_of_single_puzzles_is_wilson() -> None:
    right = [True] * 8 + [False] * 2
    found = proportion(right, range(10))
    assert (found.low, found.high) == pytest.approx(wilson(8, 10))
    assert found == Interval(0.8, found.low, found.high, 10)


def test_proportion_counts_copies_of_a_puzzle_once() -> None:
    """Three copies of ten puzzles say what ten puzzles say, but for the corrections k/(k-1) and (n-1)/n."""
    right = [True] * 24 + [False] * 6
    found = proportion(right, [i // 3 for i in range(30)])
    effective = 30 / (10 / 9 * 0.16 * 90 / 900 / (0.16 / 29))
    assert (found.low, found.high) == pytest.approx(wilson(0.8 * effective, effective))
    assert 9 < effective < 10
    assert found.n == 30


def test_proportion_has_no_jump_where_nothing_is_right() -> None:
    """One right of thirty, or none: either way puzzles of a picture show no sign of going together."""
    pictures = [i // 3 for i in range(30)]
    none, one = proportion([False] * 30, pictures), proportion([True] + [False] * 29, pictures)
    assert (none.low, none.high) == wilson(0, 30)
    assert (one.low, one.high) == pytest.approx(wilson(1, 30), abs=0.01)
    assert proportion([True] * 5, ["the only picture"] * 5).low == wilson(1, 1)[0]


def test_bootstrap_of_two_clusters_by_hand() -> None:
    """Clusters (0, 0) and (1, 1): a resample's mean is 0, .5 or 1 in 1/4, 1/2, 1/4 of cases."""
    found = bootstrap_mean([0, 0, 1, 1], ["a", "a", "b", "b"])
    assert found == Interval(0.5, 0.0, 1.0, 4)


def test_bootstrap_resamples_clusters_not_values() -> None:
    rng = np.random.default_rng(1)
    values = np.repeat(rng.random(40), 5)
    related = bootstrap_mean(values, np.repeat(np.arange(40), 5).tolist())
    unrelated = bootstrap_mean(values, list(range(200)))
    ratio = (related.high - related.low) / (unrelated.high - unrelated.low)
    assert ratio == pytest.approx(math.sqrt(5), rel=0.15)


def test_bootstrap_is_repeatable_and_agreeing_clusters_leave_the_rule_of_three() -> None:
    values = np.random.default_rng(0).random(30).tolist()
    assert bootstrap_mean(values, range(30)) == bootstrap_mean(values, range(30))
    assert bootstrap_mean([1.0] * 30, range(30), span=1.0).low == pytest.approx(0.9)
    assert bootstrap_mean([1.0] * 30, range(30)).low == 1.0


def test_bootstrap_refuses_nothing() -> None:
    with pytest.raises(ValueError, match="at least one"):
        bootstrap_mean([], [])


def test_mean_over_three_seeds_by_hand() -> None:
    # mean 2, s = 1, t(.975, 2 degrees) = 4.30265: half-width 4.30265/√3 = 2.48414
    found = mean_over_seeds([1.0, 2.0, 3.0])
    assert (found.low, found.high) == pytest.approx((2 - 2.48414, 2 + 2.48414), abs=1e-5)
    assert mean_over_seeds([1.0]).high == math.inf


def test_contrast_by_hand() -> None:
    """Two seeds, two pictures, one cell.

    Means: seed 0 has .5, seed 1 has 1; θ = .75. By seeds: s² = .125, /2 = .0625. By pictures: a is right twice,
    b once; u_a = (.5 + 0)/4 = -u_b; 2/1 · 2 · .015625 = .0625. Both with one degree of freedom, t = 12.7062:
    half = 12.7062·√.125 = 4.49232, more than the floor 3/2.
    """
    points = [Point(0, "a", 1), Point(0, "b", 0), Point(1, "a", 1), Point(1, "b", 1)]
    found = contrast({"cell": points}, {"cell": 1.0})
    assert found.value == 0.75
    assert found.high - found.value == pytest.approx(4.49232, abs=1e-5)


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
    """Three seeds, thirty pictures: the true mean is inside in at least 95 % of repetitions, and not in all."""
    rng = np.random.default_rng(0)
    inside = 0
    for _ in range(300):
        values = rng.normal(0, by_seed, (3, 1)) + rng.normal(0, by_picture, 30) + rng.normal(0, 0.3, (3, 30))
        found = contrast({"cell": [Point(k, str(i), values[k, i]) for k in range(3) for i in range(30)]}, {"cell": 1.0})
        inside += found.low <= 0 <= found.high
    assert 0.95 <= inside / 300 < 1


def test_contrast_without_variation_keeps_the_rule_of_three() -> None:
    points = [Point(k, str(i), 1.0) for k in range(3) for i in range(30)]
    assert contrast({"cell": points}, {"cell": 2.0}) == Interval(2.0, 1.8, 2.2, 90)


def test_contrast_of_one_seed_knows_nothing_of_others() -> None:
    found = contrast({"cell": [Point(0, "a", 1), Point(0, "b", 0)]}, {"cell": 1.0})
    assert (found.low, found.high) == (-math.inf, math.inf)
    assert "no interval" in str(found)
    assert Interval.of(found.record()) == found


def test_contrast_refuses_cells_of_different_seeds() -> None:
    with pytest.raises(ValueError, match="cell 'y' has no measurement for seed 1"):
        contrast({"x": [Point(0, "a", 1), Point(1, "a", 1)], "y": [Point(0, "a", 1)]}, {"x": 1.0, "y": 1.0})

"""Power and the bootstrap: worked by hand, and by simulation where they make a promise."""

from __future__ import annotations

import numpy as np
import pytest
from scipy import stats

from kit.evaluate.crossed import Crossed, Point
from kit.evaluate.intervals import contrast
from papers.samples import bootstrap, power


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


PAIR = {"before": -1.0, "after": 1.0}


def _stages(rng: np.random.Generator, seeds: int, images: int, by_seed: float) -> dict[str, list[Point]]:
    hard = rng.normal(0, 0.4, images)
    found = {}
    for stage, more in (("before", 0.0), ("after", 0.1)):
        each = more + rng.normal(0, by_seed, (seeds, 1)) + hard + rng.normal(0, 0.3, (seeds, images))
        found[stage] = [Point(k, f"p{p}", value) for k, row in enumerate(each) for p, value in enumerate(row)]
    return found


def test_a_bootstrap_is_about_as_wide_as_the_interval_and_the_same_again() -> None:
    cells = _stages(np.random.default_rng(1), 10, 200, 0.05)
    kinds = {f"p{p}": "easy" if p % 3 else "hard" for p in range(200)}
    found, known = bootstrap(cells, PAIR, kinds), contrast(cells, PAIR)
    assert found == bootstrap(cells, PAIR, kinds) != bootstrap(cells, PAIR, kinds, seed=1)
    assert (found.value, found.n) == (known.value, known.n)
    assert found.low < found.narrow[0] < found.value < found.narrow[1] < found.high
    assert 0.7 < (found.high - found.low) / (known.high - known.low) < 1.3


def test_strata_keep_what_differs_between_kinds_out_of_the_draws() -> None:
    """Easy images add 1, hard ones nothing, for every seed: how many of each a draw has is all that could vary."""
    points = [Point(k, f"p{p}", float(p % 2)) for k in range(5) for p in range(40)]
    kinds = {f"p{p}": "easy" if p % 2 else "hard" for p in range(40)}
    found = bootstrap({"x": points}, {"x": 2.0}, kinds)
    assert (found.low, found.value, found.high) == pytest.approx((1.0, 1.0, 1.0))
    loose = bootstrap({"x": points}, {"x": 2.0}, dict.fromkeys(kinds, ""))
    assert loose.high - loose.low == pytest.approx(2 * 2 * 1.96 * 0.5 / np.sqrt(40), rel=0.1)


def test_a_bootstrap_that_says_nothing_is_refused() -> None:
    points = [Point(k, image, 1.0) for k in range(5) for image in "abc"]
    with pytest.raises(ValueError, match="over 4 seeds: it takes 5"):
        bootstrap({"x": [p for p in points if p.seed < 4]}, {"x": 1.0}, dict.fromkeys("abc", ""))
    with pytest.raises(ValueError, match="image 'c' has no stratum"):
        bootstrap({"x": points}, {"x": 1.0}, {"a": "", "b": ""})
    cells = {"x": points, "y": [p for p in points if p.image == "c"]}
    with pytest.raises(ValueError, match="cell 'y' has no image in some draws"):
        bootstrap(cells, {"x": 1.0, "y": 1.0}, dict.fromkeys("abc", ""))
    assert bootstrap(cells, {"x": 1.0, "y": 1.0}, {"a": "1", "b": "1", "c": "2"}).value == 2.0

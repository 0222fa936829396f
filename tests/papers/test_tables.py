"""A paper's tables beside ours: cells, their text, and a mean over sets of different sizes."""

from __future__ import annotations

import pytest
from made_outcomes import made

from kit.evaluate.intervals import Interval
from kit.evaluate.outcomes import Metric, Outcome
from papers.tables import NOT_RUN, MeanOverSets, beside, told

ACC = MeanOverSets("acc", "correct", "binary", "reason")
"""Of outcomes whose set stands, for once, in ``reason``."""


def outcomes(seed: int = 0, **right: list[bool]) -> list[Outcome]:
    return [
        made(Outcome, correct, name, image=f"{name}{k}", seed=seed)
        for name, some in right.items()
        for k, correct in enumerate(some)
    ]


def test_a_cell_is_filled_or_not_run() -> None:
    table = beside({"a": {"x": 0.5, "y": 0.25}, "b": {"x": 1.0}}, {"a": {"x": Interval(0.4, 0.3, 0.5, 9)}, "c": {}})
    assert table["a"]["x"] == {"paper": 0.5, "here": {"value": 0.4, "low": 0.3, "high": 0.5, "n": 9}}
    assert table["a"]["y"] == {"paper": 0.25, "here": NOT_RUN} and table["b"] == {"x": {"paper": 1.0, "here": NOT_RUN}}
    assert told({**table, "c": {"y": {"paper": NOT_RUN, "here": {"value": 1.0}}}}, "%", 1).splitlines() == [
        "%               a                b      c",
        "x     40.0 (50.0)  not run (100.0)",
        "y  not run (25.0)                   100.0",
    ]


def test_each_set_counts_as_much_as_any_other_by_hand() -> None:
    """½ of one set's two and all of another's three: ¾, where 4 of 5 are right."""
    some = outcomes(one=[True, False], other=[True, True, True])
    found = ACC.interval(some)
    assert found.value == pytest.approx(0.75) and found.low < 0.75 < found.high and found.n == 5
    several = [*some, *outcomes(1, one=[False, False], other=[True, True, True])]
    assert ACC.interval(several).value == pytest.approx((0.75 + 0.5) / 2)


def test_of_sets_of_one_size_it_is_the_mean_over_outcomes() -> None:
    for some in (outcomes(one=[True, False]), outcomes(one=[True, False], other=[True, True])):
        assert ACC.interval(some) == Metric("acc", "correct", "binary").interval(some)


@pytest.mark.parametrize("seeds", [1, 3])
@pytest.mark.parametrize(("small", "large"), [(1, 2), (3, 100), (5, 10)])
def test_sets_that_are_all_wrong_or_all_right_leave_something_open(seeds: int, small: int, large: int) -> None:
    """What a set of three leaves open is a lot, however large the other one is; a share stays one."""
    for right in (False, True):
        some = [o for k in range(seeds) for o in outcomes(k, one=[right] * small, other=[right] * large)]
        found = ACC.interval(some)
        assert found.value == pytest.approx(float(right))
        assert 0 <= found.low <= found.high <= 1 and found.high - found.low > 0.5 * min(1, 3 / small)


def test_one_seed_is_as_wide_as_its_images_by_hand() -> None:
    """Halves of 6 and of 12: influences of ±1/24 and ±1/48, and t of 17 degrees of freedom."""
    found = ACC.interval(outcomes(one=[True, False] * 3, other=[True, False] * 6))
    half = 2.109816 * (18 / 17 * (6 / 24**2 + 12 / 48**2)) ** 0.5
    assert (found.value, found.high - 0.5, 0.5 - found.low) == pytest.approx((0.5, half, half), rel=1e-5)

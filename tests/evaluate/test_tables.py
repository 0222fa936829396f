"""A paper's tables beside ours: cells, their text, and a mean over sets of different sizes."""

from __future__ import annotations

import pytest
from made_outcomes import made

from kit.evaluate.intervals import Interval
from kit.evaluate.outcomes import Metric, Outcome
from kit.evaluate.tables import NOT_RUN, MeanOverSets, beside, even_points, told

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
    assert [p.value for p in even_points(some, "correct", "reason")] == pytest.approx([5 / 4, 0, *[5 / 6] * 3])
    several = [*some, *outcomes(1, one=[False, False], other=[True, True, True])]
    assert ACC.interval(several).value == pytest.approx((0.75 + 0.5) / 2)


def test_of_sets_of_one_size_it_is_the_mean_over_outcomes() -> None:
    for some in (outcomes(one=[True, False]), outcomes(one=[True, False], other=[True, True])):
        assert ACC.interval(some) == Metric("acc", "correct", "binary").interval(some)

"""Verdicts follow from intervals alone, and a claim's from its checks."""

from __future__ import annotations

import pytest

from kit.evaluate.claims import Check, Claim, table
from kit.evaluate.intervals import Interval


@pytest.mark.parametrize(
    ("low", "high", "above", "below"),
    [(0.1, 0.3, "holds", "doesn't"), (-0.3, -0.1, "doesn't", "holds"), (-0.1, 0.1, "undecided", "undecided")],
)
def test_check_reads_the_interval_only(low: float, high: float, above: str, below: str) -> None:
    interval = Interval((low + high) / 2, low, high, 9)
    assert Check("x", interval, 0.0).verdict == above
    assert Check("x", interval, 0.0, "below").verdict == below


def test_a_claim_is_as_good_as_its_weakest_check() -> None:
    yes, no, open_ = (Check("x", Interval(v, v - 1, v + 1, 9), 0.0) for v in (2.0, -2.0, 0.0))
    assert Claim("A", "s", (yes, yes)).verdict == "holds"
    assert Claim("A", "s", (yes, open_)).verdict == "undecided"
    assert Claim("A", "s", (open_, no)).verdict == "doesn't"
    assert Claim("A", "s", ()).verdict == "undecided"


def test_table_names_claim_and_verdict() -> None:
    claim = Claim("A4", "accuracy rises", (Check("slope", Interval(2.0, 1.0, 3.0, 9), 0.0),))
    assert table([claim]) == "A4  holds      accuracy rises\n    slope 2.000 [1.000, 3.000], must be above 0.000"

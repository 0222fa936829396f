"""Verdicts follow from intervals alone, and a claim's from its checks."""

from __future__ import annotations

import pytest

from kit.evaluate.claims import VERDICTS, Check, Claim, as_stated, table
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


SURE = Interval(2.0, 1.0, 3.0, 9)


def test_a_check_that_can_come_out_one_way_only_is_not_tested_by_its_interval() -> None:
    assert Check("x", SURE, 0.0).verdict == "holds"
    mute = Check("x", SURE, 0.0, untestable="the baseline has 0 of 9")
    assert mute.verdict == "not testable here"
    assert str(mute) == "x 2.000 [1.000, 3.000], must be above 0.000 (not testable here)"


def test_order_of_precedence_of_verdicts() -> None:
    """doesn't, then not testable here, then undecided and holds; a reason for the whole claim comes before all."""
    yes, no, open_ = (Check("x", Interval(v, v - 1, v + 1, 9), 0.0) for v in (2.0, -2.0, 0.0))
    mute = Check("y", SURE, 0.0, untestable="ceiling")
    assert Claim("A", "s", (yes, mute)).verdict == "not testable here"
    assert Claim("A", "s", (open_, mute)).verdict == "not testable here"
    assert Claim("A", "s", (no, mute)).verdict == "doesn't"
    assert Claim("A", "s", (no, yes), untestable="no data at this scale").verdict == "not testable here"
    assert Claim("A", "s", (), untestable="no data at this scale").verdict == "not testable here"
    assert {Claim("A", "s", c).verdict for c in [(yes,), (no,), (open_,), (mute,)]} == set(VERDICTS)


def test_the_reason_is_recorded_once() -> None:
    mute = Check("y", SURE, 0.0, untestable="ceiling")
    record = Claim("A", "s", (mute, mute, Check("x", SURE, 0.0)), "4 seeds").record()
    assert (record["verdict"], record["reason"]) == ("not testable here", "ceiling")
    assert [c.get("reason") for c in record["checks"]] == ["ceiling", "ceiling", None]
    assert "reason" not in Claim("A", "s", (Check("x", SURE, 0.0),)).record()
    assert Claim("A", "s", (mute, mute)).evidence.count("ceiling") == 1
    assert Claim("A", "s", (), "4 seeds", "no data").evidence == "not testable here: no data; 4 seeds"


def test_table_names_claim_and_verdict() -> None:
    claim = Claim("A4", "accuracy rises", (Check("slope", Interval(2.0, 1.0, 3.0, 9), 0.0),))
    assert (
        table([claim]) == "A4  holds              accuracy rises\n    slope 2.000 [1.000, 3.000], must be above 0.000"
    )


def test_a_verdict_on_another_statement_decides_nothing_and_keeps_its_figures() -> None:
    measured = Claim("A", "more than others", (Check("x", SURE, 0.0),)).record()
    assert as_stated({"A": measured}, {"A": "more than others"}) == {"A": measured}
    found = as_stated({"A": measured, "B": measured}, {"A": "more than the base"})
    assert (found["A"]["verdict"], found["A"]["statement"], found["A"]["checks"]) == (
        "undecided",
        "more than the base",
        [],
    )
    for part in ('not run: "more than the base"', '"more than others"', "holds", measured["evidence"]):
        assert part in found["A"]["evidence"]
    assert found["B"] == measured, "one that isn't stated any more stays as it was"

"""Verdicts follow from intervals alone, and a claim's from its checks."""

from __future__ import annotations

import math

import numpy as np
import pytest

from kit.evaluate.intervals import Interval, Point, contrast
from papers.claims import VERDICTS, Check, Claim, as_stated, table


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
    none = Check("z", Interval(0.0, -0.1, 0.1, 9), margin=0.2)
    same = Check("z", none.interval, 0.2, "within")
    assert Claim("A", "s", (none, mute)).verdict == Claim("A", "s", (open_, none, same)).verdict == "equal"
    assert Claim("A", "s", (none, no)).verdict == "doesn't"
    assert Claim("A", "s", (same, mute)).verdict == "not testable here"
    assert [Claim("A", "s", c).verdict for c in [(same, same), (yes, same), (open_, same)]] == [
        "equal",
        "holds",
        "undecided",
    ]
    assert {Claim("A", "s", c).verdict for c in [(yes,), (no,), (open_,), (mute,), (none,)]} == set(VERDICTS)


@pytest.mark.parametrize(
    ("wide", "narrow", "more", "no_less", "within"),
    [
        (
            (-0.04, 0.06),
            (-0.03, 0.045),
            "equal",
            "holds",
            "equal",
        ),  # two one-sided tests pass, the 95 % interval doesn't
        (
            (-0.04, 0.06),
            None,
            "undecided",
            "holds",
            "undecided",
        ),  # nobody computed the narrow bounds: the wide ones count
        ((-0.06, 0.03), (-0.049, 0.02), "equal", "undecided", "equal"),
        ((-0.06, 0.03), (-0.05, 0.02), "undecided", "undecided", "undecided"),  # on the margin isn't inside
        ((0.01, 0.04), (0.015, 0.035), "holds", "holds", "equal"),  # there, and smaller than is worth having
        ((-0.04, 0.0), (-0.035, -0.005), "doesn't", "holds", "equal"),
        ((0.05, 0.2), (0.06, 0.19), "holds", "holds", "doesn't"),
        ((-0.3, -0.05), (-0.28, -0.06), "doesn't", "doesn't", "doesn't"),
    ],
)
def test_kinds_of_checks(
    wide: tuple[float, float], narrow: tuple[float, float] | None, more: str, no_less: str, within: str
) -> None:
    """More, no less by .05, equal within .05; and mirrored, what is claimed to be less."""
    found = Interval(sum(wide) / 2, *wide, 9, *(narrow or ()))
    assert Check("x", found, margin=0.05).verdict == more
    assert Check("x", found, -0.05).verdict == no_less
    assert Check("x", found, 0.05, "within").verdict == within
    mirrored = Interval(-found.value, -wide[1], -wide[0], 9, *((-narrow[1], -narrow[0]) if narrow else ()))
    assert Check("x", mirrored, 0.0, "below", margin=0.05).verdict == more
    assert Check("x", mirrored, 0.05, "within").verdict == within


@pytest.mark.parametrize(
    ("limit", "side", "margin"), [(0.0, "within", 0.0), (0.1, "within", 0.1), (0.0, "above", -0.1)]
)
def test_a_margin_that_means_nothing_is_refused(limit: float, side: str, margin: float) -> None:
    with pytest.raises(ValueError, match=r"calls: .*margin="):
        Check("calls", SURE, limit, side, margin=margin)  # type: ignore[arg-type]


def test_what_it_is_equal_within_is_told_and_recorded() -> None:
    none = Check("calls", Interval(0.0, -0.1, 0.1, 9, -0.08, 0.08), margin=0.2)
    same = Check("accuracy", Interval(0.0, -0.1, 0.1, 9), 0.3, "within")
    assert Claim("A", "s", (none, same)).told == "equal within 0.2", "the effect that was claimed is what is absent"
    assert Claim("A", "s", (same,)).told == "equal within 0.3"
    record = Claim("A", "s", (none, same)).record()
    assert (record["within"], [c.get("margin") for c in record["checks"]]) == (0.2, [0.2, None])
    assert (record["checks"][0]["low90"], "low90" in record["checks"][1]) == (-0.08, False)
    assert str(none) == "calls 0.000 [-0.100, 0.100], at 90 % [-0.080, 0.080], must be above 0.000 (equal within 0.2)"
    assert str(same) == "accuracy 0.000 [-0.100, 0.100], must be within ±0.300"


def _seeds(value: float, by_seed: float, by_image: float = 1e-6, seeds: int = 3) -> Interval:
    """A difference around ``value`` over ``seeds`` × 4 images, of which the variances are known."""
    values = [[value + s + i for i in by_image * IMAGES] for s in by_seed * SEEDS[:seeds]]
    return contrast({"x": [Point(k, str(p), v) for k, row in enumerate(values) for p, v in enumerate(row)]}, {"x": 1.0})


SEEDS, IMAGES = np.array([-1.0, 1.0, 0.0]), np.array([-3.0, -1.0, 1.0, 3.0])


def test_how_many_more_seeds_would_decide() -> None:
    """Seeds 1 − 1, 1 + 1, 1: half is t/√K, below 1 from seven seeds on: …, 2.571/√6 = 1.049, 2.447/√7 = .925."""
    claim = Claim("A", "s", (Check("x", _seeds(1.0, 1.0)),))
    assert (claim.more_seeds, claim.told) == (4, "undecided (4 more seeds)")
    assert (claim.record()["more_seeds"], claim.record()["verdict"]) == (4, "undecided")
    assert Claim("A", "s", (Check("x", _seeds(1.2, 1.0)),)).told == "undecided (3 more seeds)"
    assert Claim("A", "s", (Check("x", _seeds(-1.0, 1.0)),)).more_seeds == 4, "it would be decided against it"
    assert Claim("A", "s", (Check("x", _seeds(2.48, 1.0)),)).told == "undecided (1 more seed)"


def test_where_one_check_decides_the_others_need_not() -> None:
    fails, open_ = Check("x", _seeds(-1.0, 1.0)), Check("y", _seeds(0.2, 1.0))
    assert Claim("A", "s", (fails, open_)).more_seeds == 4
    assert Claim("A", "s", (Check("x", _seeds(1.0, 1.0)), open_)).more_seeds == math.inf


def test_where_seeds_alone_would_not_decide_it_takes_tasks() -> None:
    images = Claim("A", "s", (Check("x", _seeds(1.0, 0.0, 1.0)),))  # half is 3.18·√(20/3/4) > 1 for any number of seeds
    assert (images.more_seeds, images.told, images.record()["more_tasks"]) == (math.inf, "undecided (more tasks)", True)
    none = Claim("A", "s", (Check("x", Interval(0.0, -1.0, 1.0, 9)),))
    assert (none.more_seeds, none.told) == (None, "undecided"), "nobody knows how it varies"
    assert Claim("A", "s", ()).told == "undecided" and Claim("A", "s", (Check("x", SURE),)).told == "holds"


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
    assert (found["A"]["measured"], found["A"]["came_out"]) == ("more than others", "holds")
    assert found["B"] == measured, "one that isn't stated any more stays as it was"

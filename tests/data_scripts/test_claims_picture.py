"""The picture of all claims shows each claim's deciding check on one axis, and is of the figures that are published."""

from __future__ import annotations

from typing import Any

import pytest
from claims_picture import (
    PICTURE,
    claims_hash,
    claims_picture,
    decisive,
    stated,
    with_margins,
)
from PIL import Image

from kit.view.plots import FARTHEST, in_units
from papers.registered import Stated, StatedCheck


def check(low: float | None, value: float, high: float | None, verdict: str, **own: Any) -> dict[str, Any]:
    return {"low": low, "value": value, "high": high, "verdict": verdict, "limit": 0.0, "side": "above", **own}


HOLDS = check(0.1, 0.3, 0.5, "holds", margin=0.1)
OPEN = check(-0.1, 0.1, 0.3, "undecided", margin=0.1)
CLAIMS = {
    "X1": {"verdict": "undecided", "more_seeds": 4, "statement": "it helps", "checks": [HOLDS, OPEN]},
    "X2": {"verdict": "not testable here", "statement": "it calls", "checks": []},
}


def test_the_check_that_decides_is_shown() -> None:
    assert decisive(CLAIMS["X1"]) is OPEN
    assert decisive({"verdict": "doesn't", "checks": [OPEN]}) is OPEN, "none has its verdict: the first"
    assert decisive({"verdict": "undecided", "checks": [check(None, 1.0, None, "undecided")]}) is None


@pytest.mark.parametrize(
    ("one", "units"),
    [
        (HOLDS, (3.0, 1.0, 5.0)),
        (check(-0.07, -0.02, 0.03, "undecided", limit=-0.05, margin=0.05), (0.6, -0.4, 1.6)),  # no less by .05
        (check(-0.02, 0.01, 0.04, "equal", limit=0.05, side="within", margin=0.05), (0.2, -0.4, 0.8)),
        (
            check(0.0, 0.1, 0.3, "holds", limit=0.4, side="below", margin=0.1),
            (3.0, 1.0, 4.0),
        ),  # the claimed side is right
    ],
)
def test_units_are_those_of_the_smallest_effect_worth_having(
    one: dict[str, Any], units: tuple[float, float, float]
) -> None:
    assert in_units(one) == pytest.approx(units)


def test_margins_are_those_of_the_registered_check_that_was_measured() -> None:
    """Whatever the record has: by its name and its limit; a check that nobody registered so has none."""
    more = StatedCheck("gain", "more", ("a", "b"), 0.2)
    alike = StatedCheck("difference", "no_less", ("a", "b"), 0.05)
    claimed = Stated("X1", "it helps", "Table 1", 3, 40, "drawn", {"more": more, "alike": alike})
    measured = [
        check(0.2, 0.6, 1.0, "holds", name="gain", margin=0.1),
        check(-0.1, 0.0, 0.1, "undecided", name="difference", limit=-0.05),
        check(-0.1, 0.0, 0.1, "undecided", name="difference", limit=-0.1, margin=0.1),
        check(-0.1, 0.0, 0.1, "undecided", name="loss", margin=0.1),
    ]
    measured = [{"n": 40, **one} for one in measured]
    found = with_margins({"verdict": "undecided", "checks": measured}, claimed)["checks"]
    assert [one.get("margin") for one in found] == [0.2, 0.05, None, None]
    assert in_units(found[0]) == pytest.approx((3.0, 1.0, 5.0))
    drawn = claims_picture({"Paper": {"X1": {**CLAIMS["X1"], "checks": [found[2]]}}}).axes[0]
    assert [line.get_marker() for line in drawn.lines if line.get_marker() == "D"] == [], "nothing to draw it in"


def test_what_lies_beyond_ends_in_an_arrow_and_every_verdict_stands_there_in_words() -> None:
    axis = claims_picture({"Paper": CLAIMS | {"X3": {**CLAIMS["X1"], "verdict": "holds", "checks": [HOLDS]}}}).axes[0]
    words = [label.get_text() for label in axis.child_axes[0].get_yticklabels()]
    assert words[1:3] == ["undecided (4 more seeds): it helps", "not testable here: it calls"]
    assert [line.get_marker() for line in axis.lines].count(">") == 1, "5 of X3's interval lies beyond 4"
    assert max(float(x) for line in axis.lines for x in line.get_xdata()) == FARTHEST


def test_no_claim_is_no_picture() -> None:
    with pytest.raises(ValueError, match="no claim to draw"):
        claims_picture({"Paper": {}})


def test_the_committed_picture_is_of_the_published_claims() -> None:
    """``python data_scripts/claims_picture.py`` draws it anew, as ``kit results`` does."""
    with Image.open(PICTURE) as image:
        assert image.info["results"] == claims_hash(stated())

"""Mags-RL's claims on made-up outcomes whose truth is known: each verdict is reached."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from made_outcomes import made

from papers.mags_rl.claims import m1, m2, m3, m4, m5
from papers.mags_rl.metrics import DIFFICULTIES, Outcome


def stage(share: float, seeds: int = 3, noise: int = 0, n: int = 40, **more: Any) -> list[Outcome]:
    """``n`` questions a difficulty and seed, of which the given share is right."""
    fields = {"boxes": 1, "valid": 1.0, "right": 1.0, "recall": 0.5, "kind": "count", "judged": 0.0, "included": False}
    order = np.random.default_rng(noise).permutation(n)
    return [
        made(
            Outcome,
            bool(order[k] < n * share),
            **{"task": f"{level}{k}", "image": f"{level}{k}", "seed": s, "difficulty": level, **fields, **more},
        )
        for s in range(seeds)
        for level in DIFFICULTIES
        for k in range(n)
    ]


def test_m1_is_about_every_baseline_at_each_difficulty() -> None:
    low, high = stage(0.2, seeds=1), stage(0.5)
    claim = m1(stage(0.9), {"direct": low, "grit": high})
    assert claim.verdict == "holds" and [c.interval.value for c in claim.checks] == pytest.approx([0.4] * 3)
    assert "hard, by itself: holds, beside grit (direct 0.200, grit 0.500, the agent 0.900)" in claim.note
    strong = [o for o in stage(1.0, seeds=1) if o.difficulty == "easy"] + [o for o in low if o.difficulty != "easy"]
    claim = m1(stage(0.6), {"direct": strong, "grit": stage(0.3)})
    assert claim.verdict == "doesn't", "one difficulty is enough to refute it"
    assert claim.note.startswith(
        "easy, by itself: doesn't, beside direct (direct 1.000, grit 0.300, the agent 0.600); medium, by itself: holds"
    )
    assert "easy: expected not to hold" in claim.note
    near, unsure = stage(0.85), [o for s in range(2) for o in stage(0.2 + 0.6 * s, seeds=s + 1) if o.seed == s]
    easy = m1(stage(0.9), {"near": near, "unsure": unsure}).checks[0].interval
    apart = m1(stage(0.9), {"unsure": unsure}).checks[0].interval
    assert easy.value == apart.value and easy.with_more and apart.with_more, "the lead that is least sure is shown"
    assert easy.with_more(40).value < 0.06 < apart.with_more(40).value, "of more seeds the smaller one"
    with pytest.raises(ValueError, match="direct: no easy question among 80"):
        m1(stage(0.9), {"direct": [o for o in low if o.difficulty != "easy"]})


def test_m2_is_about_equality_at_every_size() -> None:
    sharp, blurred = {"span": stage(0.9), "bicubic": stage(0.4)}, {"span": stage(0.3), "bicubic": stage(0.6)}
    alike = {"span": stage(0.5, n=100), "bicubic": stage(0.5, n=100)}
    assert m2({"large": alike, "small": alike}, "span").verdict == "equal"
    assert m2({"large": alike, "small": sharp}, "span").verdict == "doesn't", "one size is enough, this way"
    assert m2({"large": blurred, "small": alike}, "span").verdict == "doesn't", "or that way"
    claim = m2({"small": sharp}, "span")
    assert claim.note == "small: span 0.900, bicubic 0.400; where boxes are drawn: not run, plain_runs"
    one = {name: [o for o in some if o.seed == 0] for name, some in alike.items()}
    assert m2({"small": one}, "span").verdict == "undecided"


def test_m2_compares_boxes_where_an_agent_was_trained_plainly() -> None:
    """Boxes that show what decides: more with the network, as many, or fewer."""
    alike = {size: {"span": stage(0.5, n=100), "bicubic": stage(0.5, n=100)} for size in ("large", "small")}
    better, worse = stage(0.5, right=0.9, n=100), stage(0.5, right=0.4, n=100)
    assert m2(alike, "span", {"plain": worse, "grpo": better}).verdict == "holds"
    assert m2(alike, "span", {"plain": better, "grpo": worse}).verdict == "doesn't"
    assert m2(alike, "span", {"plain": worse, "grpo": worse}).verdict == "equal"
    assert m2(alike, "span", {"plain": worse, "grpo": better}).checks[-1].interval.value == pytest.approx(0.5)


def test_m2_says_that_there_is_no_network() -> None:
    plain = m2({"large": {"bicubic": stage(0.5), "none": stage(0.1)}}, "bicubic")
    assert plain.verdict == "not testable here" and "network='bicubic' is none" in plain.reason


def test_m3_compares_on_the_seeds_that_both_have() -> None:
    claim = m3([*stage(0.75, seeds=2), *[o for o in stage(0.1) if o.seed == 2]], stage(0.5, seeds=2))
    assert claim.checks[0].interval.value == pytest.approx(0.25) and claim.verdict == "doesn't", "better isn't equal"
    assert m3(stage(0.5), stage(0.9)).verdict == "doesn't"
    assert m3(stage(0.5), stage(0.5)).verdict == "equal", "a tie on 120 leaves 3/120 open"
    assert m3(stage(0.5, seeds=1), stage(0.5, seeds=1)).verdict == "undecided"


def test_m1_and_m3_can_be_told_by_the_judge_as_the_papers_tables_are() -> None:
    """All answers wrong by the exact rule; a judge gives the agent 0.75 and its rivals 0.25."""
    agent, rival = stage(0.0, judged=0.75), stage(0.0, judged=0.25)
    assert [c.interval.value for c in m1(agent, {"cot": rival}, "judged").checks] == [0.5] * 3
    assert "beside cot (cot 0.250, the agent 0.750)" in m1(agent, {"cot": rival}, "judged").note
    assert m3(agent, rival, "judged").checks[0].interval.value == 0.5
    assert m3(agent, rival).checks[0].interval.value == 0.0


def test_m4_allows_for_five_hundredths() -> None:
    assert m4(stage(0.5), stage(0.45)).verdict == "holds"
    assert m4(stage(0.5), stage(0.5)).verdict == "holds", "as many right: 3/120 is left open"
    assert m4(stage(0.5), stage(0.9)).verdict == "doesn't"
    assert m4(stage(0.5, seeds=1), stage(0.5, seeds=1)).verdict == "undecided"
    claim = m4(stage(0.5), stage(0.6), "40 samples beside 400")
    assert claim.checks[0].interval.value == pytest.approx(-0.1) and claim.note == "40 samples beside 400"


def test_m5_wants_few_safe_boxes_then_more_that_find_more() -> None:
    few, many = stage(0.5, recall=0.25), stage(0.5, boxes=3, recall=0.75)
    claim = m5(few, many)
    assert claim.verdict == "holds" and claim.note == "stage 1: 1.00 boxes a question, stage 2: 3.00 boxes a question"
    assert [c.interval.value for c in claim.checks] == pytest.approx([1.0, 2.0, 0.5])
    assert m5(many, few).verdict == "doesn't"
    assert m5(stage(0.5, valid=0.5, recall=0.25), many).verdict == "doesn't", "half of stage 1's boxes are refused"
    none = m5(stage(0.5, boxes=0, valid=None), many)
    assert none.verdict == "not testable here" and none.reason == "0 of 360 episodes after stage 1 ask for a box"
    unknown = stage(0.5, recall=None, right=None)
    with pytest.raises(ValueError, match="no question among 0 outcomes"):
        m5(unknown, unknown)
    with pytest.raises(ValueError, match="no counting question"):
        m5(stage(0.5, kind="gqa"), many)

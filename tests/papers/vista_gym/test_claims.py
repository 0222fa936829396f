"""VISTA-Gym's claims on outcomes made up so that each verdict is known."""

from __future__ import annotations

from dataclasses import replace

import pytest

from papers.claims import as_stated
from papers.registered import RegisteredError
from papers.vista_gym.claims import (
    CLAIMS,
    better,
    called_share,
    error_share,
    macro_average,
    misdirected_share,
    no_call_share,
    v1,
    v2,
    v3,
    v6,
    v8,
)
from papers.vista_gym.metrics import Outcome


def made(right: int, of: int = 40, seeds: int = 3, errors: str = "E4", **own: object) -> list[Outcome]:
    """So many outcomes a seed, of which the first ones are right."""
    fields = {"reason": "wrong", "turns": 2, "tool_calls": 1, "tokens": 9, "family": "charts", "distribution": "in"}
    fields |= {"ran": 1.0}
    return [
        Outcome(
            task=f"t{k}",
            image=f"i{k}",
            correct=k < right,
            seed=seed,
            errors=errors,
            **{**fields, **own},  # type: ignore[arg-type]
        )
        for seed in range(seeds)
        for k in range(of)
    ]


BASE = made(8, seeds=1)


def test_the_macro_average_counts_each_family_once() -> None:
    """Three of four charts and one of four maps: ½, though of all 44 questions 31 are right."""
    both = made(30) + made(1, of=4, family="maps")
    assert macro_average(grpo=both).value == pytest.approx(0.5)
    before = made(10) + made(1, of=4, family="maps")
    assert macro_average(sft=before, grpo=both).value == pytest.approx(0.25), "½ of charts' gain, 20 of 40"
    base = made(10, seeds=1) + made(0, of=4, seeds=1, family="maps")
    assert macro_average(direct=base, grpo=both).value == pytest.approx((0.5 + 0.25) / 2)
    with pytest.raises(ValueError, match="maps"):
        macro_average(sft=made(10), grpo=both)


def test_v1_tools_cost_accuracy_where_the_base_answers_at_all() -> None:
    assert v1(made(30, seeds=1), BASE).verdict == "holds"
    assert v1(BASE, made(30, seeds=1)).verdict == "doesn't"
    mute = v1(BASE, made(0, seeds=1, reason="format"))
    assert mute.verdict == "not testable here" and "0 of 40 untrained episodes" in mute.evidence


def test_v1_is_equal_where_tools_cost_nothing_worth_having() -> None:
    alike = made(20, of=200, seeds=1)
    assert v1(alike, alike).verdict == "equal" and v1(BASE, BASE).verdict == "undecided"


def test_v2_is_the_order_of_the_policies_and_cloning_where_the_expert_is_decided() -> None:
    assert v2(BASE, made(8), made(36), made(24)).verdict == "holds", "the clone that gives up needn't gain"
    assert v2(BASE, made(38), made(28), made(24)).verdict == "doesn't", "reinforcement loses"
    assert v2(made(38, seeds=1), made(8), made(20), made(39)).verdict == "doesn't", "the base is above it"
    assert v2(BASE, made(8), made(36), made(2)).verdict == "doesn't", "a decided expert's clone loses"
    assert v2(BASE, made(8), made(36, seeds=1), made(24)).verdict == "undecided"
    found = v2(BASE, made(14), made(36), made(24))
    assert [round(check.interval.value, 3) for check in found.checks] == [0.55, 0.7, 0.4]
    assert found.note.startswith("cloning the expert that gives up gains 0.150 [")
    assert "not run: decided_runs" in v2(BASE, made(14), made(36)).evidence


def test_v3_each_above_the_next() -> None:
    assert v3(made(36), made(24), made(12)).verdict == "holds"
    assert v3(made(36), made(12), made(24)).verdict == "doesn't"


def test_v3_by_the_untrained_model_counts_for_every_seed_and_needs_one_that_answers() -> None:
    assert v3(made(36), made(24), BASE).verdict == "holds"
    mute = v3(made(36), made(24), made(0, seeds=1, reason="format"))
    assert mute.verdict == "not testable here" and "0 of 40 untrained episodes" in mute.evidence
    assert [check.verdict for check in mute.checks] == ["holds", "not testable here"]


@pytest.mark.parametrize(("claim", "rival"), [("V5", "dense"), ("V5", "sparse"), ("V7", "grpo"), ("V9", "grpo")])
def test_a_training_that_has_to_beat_its_rivals(claim: str, rival: str) -> None:
    assert better(claim, made(36), **{rival: made(20)}).verdict == "holds"
    assert better(claim, made(22), **{rival: made(36)}).verdict == "doesn't"
    assert better(claim, made(22), **{rival: made(22)}).verdict == "undecided", "a tie on 40 leaves 3/40 open"
    assert better(claim, made(80, of=200), **{rival: made(80, of=200)}).verdict == "equal", "3/200 is less than counts"


def test_v4_is_no_less_than_dapo() -> None:
    tie = {"dapo": made(80, of=200)}
    assert better("V4", made(80, of=200), **tie).verdict == "holds", "3/200 is less than counts"
    assert better("V4", made(60, of=200), **tie).verdict == "doesn't"
    assert better("V4", made(22), dapo=made(22)).verdict == "undecided", "a tie on 40 leaves 3/40 open"


def test_one_of_two_rivals_is_enough_to_lose_and_only_those_that_are_stated_count() -> None:
    assert better("V5", made(22), dense=made(20), sparse=made(36)).verdict == "doesn't"
    with pytest.raises(RegisteredError, match="V5: check 'dapo' wasn't stated; there are dense, sparse"):
        better("V5", made(22), dapo=made(20))


def test_v6_looks_where_the_single_family_and_the_single_tool_are_no_help() -> None:
    own = {"family": "spatial"}
    single = [*made(39), *made(4, **own)]
    mixed = [*made(20), *made(36, **own)]
    assert v6(mixed, single, single, "charts", "easyocr.read").verdict == "holds"
    other = [*made(4), *made(36, **own)]
    found = v6(mixed, single, other, "charts", "easyocr.read")
    assert [check.verdict for check in found.checks] == ["holds", "undecided"], (
        "as good with one tool where it is foreign"
    )
    assert v6(mixed, single, other, "charts", "groundingdino.detect").checks[1].verdict == "holds", (
        "charts, not spatial"
    )
    chart_tools = v6(mixed, single, other, "charts", "chartmoe.to_table, chartmoe.answer")
    assert chart_tools.checks[1].verdict == "undecided", "spatial, not charts"
    with pytest.raises(ValueError, match=r"no question where groundingdino\.detect,easyocr\.read doesn't help"):
        v6(mixed, single, other, "charts", "groundingdino.detect,easyocr.read")
    with pytest.raises(ValueError, match=r"'chart': choose a family of charts, geometry"):
        v6(mixed, single, other, "chart", "easyocr.read")
    with pytest.raises(ValueError, match="no question outside of charts"):
        v6(made(20), made(20), made(20), "charts", "easyocr.read")
    with pytest.raises(ValueError, match=r"no question where easyocr\.read doesn't help"):
        v6(mixed, single, made(20), "charts", "easyocr.read")


def test_v8_halves_the_errors_of_form() -> None:
    """Before, 32 of 40 fail with E1: after, fewer than 16 have to. A failure without an error doesn't count."""
    before = made(8, seeds=1, errors="E1 E6", ran=None)
    assert v8(before, made(36, errors="E3 E6")).verdict == "holds"
    assert v8(before, made(12, errors="E2 E6")).verdict == "doesn't"
    assert v8(before, made(12, errors="")).verdict == "holds"
    assert [check.interval.value for check in v8(before, made(8, errors="E3")).checks] == pytest.approx([0.4 - 0.8])
    grown = v8(before, made(8, errors="E4 E5 E6"))
    assert grown.verdict == "holds" and "E4 0.000 [" in grown.note and "0.800 [" in grown.note
    assert grown.note.startswith("a tool answered in 0.000 of the untrained episodes; deciding nothing: E4")


@pytest.mark.parametrize("kind", ["E4", "E6"])
def test_v8_counts_what_only_a_caller_can_do_where_the_untrained_agent_calls(kind: str) -> None:
    """Before, all fail with E1 and the kind, and a tool answers: after, half of either have to be gone."""
    before = made(8, seeds=1, errors=f"E1 {kind}")
    gone, left = v8(before, made(12, errors="")), v8(before, made(12, errors=kind))
    assert gone.verdict == "holds" and len(gone.checks) == 2
    assert [check.verdict for check in left.checks] == ["holds", "doesn't"] and left.verdict == "doesn't"
    assert [check.interval.value for check in left.checks] == pytest.approx([0.4, 0.4 - 0.7])
    seldom = [*before[:37], *made(8, seeds=1, errors=f"E1 {kind}", ran=0.0)[37:]]
    assert len(v8(seldom, made(12, errors=kind)).checks) == 2, "37 of 40 episodes reach a tool"
    never = [replace(o, ran=None) for o in before]
    assert v8([*before[:3], *never[3:]], made(12, errors=kind)).verdict == "holds", "3 of 40 is too few"


def test_v8_cannot_tell_of_forms_that_the_untrained_agent_never_gets_wrong() -> None:
    found = v8(made(0, seeds=1, errors="E6"), made(36))
    assert [check.verdict for check in found.checks] == ["not testable here", "holds"]
    assert found.verdict == "not testable here" and "0 of 40 untrained episodes failed by E1 to E3" in found.evidence


def test_v8_cannot_tell_of_forms_where_the_untrained_agent_asks_for_no_tool() -> None:
    """Each of its turns without a call is E1, which any imitation of the form ends: 4 of 40 that call are enough."""
    silent, calling = (made(0, seeds=1, errors="E1", ran=None, tool_calls=calls) for calls in (0, 1))
    found = v8(silent, made(36))
    assert found.verdict == "not testable here" and "0 of 40 untrained episodes ask for a tool" in found.reason
    assert v8([*calling[:3], *silent[3:]], made(36)).verdict == "not testable here"
    assert v8([*calling[:4], *silent[4:]], made(36)).verdict == "holds"


def test_v8_cannot_tell_of_forms_where_the_trained_agent_asks_for_no_tool() -> None:
    """Silent, it makes no error of form; what can't be read is a call that was tried."""
    before, silent = made(0, seeds=1, errors="E1", ran=None), {"tool_calls": 0, "ran": None}
    found = v8(before, made(8, errors="", **silent))
    assert found.verdict == "not testable here" and "0 of 120 trained episodes ask for a tool" in found.reason
    assert v8(before, made(8, errors="E1", **silent)).verdict == "doesn't"
    assert v8(before, [*made(8, seeds=3, errors="", **silent)[:60], *made(8)[60:]]).verdict == "holds"


def test_shares_of_failures_by_kind_and_without_a_call() -> None:
    assert error_share(BASE, "E4").value == pytest.approx(0.8) and error_share(BASE, "E1").value == 0
    silent = made(8, seeds=1, errors="", tool_calls=0)
    assert no_call_share(silent).value == pytest.approx(0.8) and no_call_share(BASE).value == 0


def test_whoever_asks_a_tool_has_called_however_it_ends() -> None:
    """Of ten, two are right at once, one can't be read, three ask for the right thing, four (one is right) don't."""
    silent = made(2, of=2, seeds=1, errors="", tool_calls=0) + made(0, of=1, seeds=1, errors="E1", tool_calls=0)
    some = [*silent, *made(3, of=3, seeds=1, errors=""), *made(1, of=4, seeds=1, errors="E4 E6")]
    assert called_share(some).value == pytest.approx(0.7) and no_call_share(some).value == 0
    found = misdirected_share(some)
    assert found is not None and found.value == pytest.approx(4 / 7) and found.n == 7
    assert misdirected_share(silent) is None, "nobody called"


def test_seeds_that_differ_and_nothing_at_all_are_refused() -> None:
    other = [replace(o, seed=o.seed + 9) for o in made(20)]
    with pytest.raises(ValueError, match="no seed in common"):
        better("V5", made(20), dense=other)
    with pytest.raises(ValueError, match="no question among 0 outcomes"):
        v1(BASE, [])
    with pytest.raises(ValueError, match="no question in common among 0 asked directly and 40 with tools"):
        v1([], BASE)


def test_verdicts_on_half_a_dapo_and_on_all_errors_together_decide_nothing_now() -> None:
    """As older results files state V4 and V8."""
    before = {"V4": "GRPO is more accurate than DAPO", "V8": "training removes most errors of calls and of reasoning"}
    old = {name: {"verdict": "holds", "evidence": "0.1", "statement": told} for name, told in before.items()}
    for name, claim in as_stated(old, CLAIMS).items():
        assert claim["verdict"] == "undecided" and claim["evidence"].startswith(f'not run: "{CLAIMS[name]}"')
        assert "measured was another statement" in claim["evidence"]


def test_every_claim_of_the_paper_is_stated() -> None:
    assert list(CLAIMS) == [f"V{k}" for k in range(1, 10)]

"""Visual-ARFT's claims on made-up outcomes whose truth is known: each verdict is reached."""

from __future__ import annotations

import re
from dataclasses import replace

import numpy as np
import pytest
from made_outcomes import made

from papers.visual_arft.claims import r1, r2, r3, r4, r5
from papers.visual_arft.metrics import Outcome


def stage(
    f1: float,
    setting: str = "coding",
    label: str = "hard",
    seeds: int = 3,
    em: float | None = None,
    images: int = 20,
) -> list[Outcome]:
    """A task a seed and picture, twenty of them, with the given mean F1 and a little noise, each mean's its own."""
    rng = np.random.default_rng(round(1000 * f1))
    return [
        made(
            Outcome,
            k < images * (em or 0),
            **{"task": f"t{k}", "image": f"p{k}", "setting": setting, "label": label, "category": "x", "seed": s},
            f1=f1 + 0.02 * rng.normal(),
            restored=None,
        )
        for s in range(seeds)
        for k in range(images)
    ]


def both(simple: float, hard: float, seeds: int = 3) -> list[Outcome]:
    return stage(simple, label="simple", seeds=seeds) + stage(hard, label="hard", seeds=seeds)


def test_r1_needs_a_gain_and_most_of_it_on_hard() -> None:
    direct, untrained, sft = both(0.3, 0.1, seeds=1), both(0.2, 0.2, seeds=1), both(0.3, 0.3)
    assert r1(direct, untrained, sft, both(0.4, 0.5)).verdict == "holds"
    assert r1(direct, untrained, sft, both(0.7, 0.2)).verdict == "doesn't"  # a gain, but most of it on Simple
    tools_alone = both(0.8, 1.0, seeds=1)
    assert r1(direct, tools_alone, sft, both(0.4, 0.5)).verdict == "doesn't"
    assert r1(direct, untrained, sft, both(0.3, 0.1)).verdict in ("undecided", "doesn't")
    gain = r1(direct, untrained, sft, both(0.4, 0.5)).checks
    assert [check.name for check in gain] == [
        "F1 minus direct answering's",
        "F1 minus the untrained agent's",
        "F1 after GRPO minus after SFT",
        "lead over direct answering, on Hard minus on Simple",
    ]
    means = [check.interval.value for check in gain]
    # The means of .1 and .4; of .2 and .3; of .1 and .2; and .4 minus .1.
    assert means == pytest.approx([0.25, 0.25, 0.15, 0.3], abs=0.02)
    # Of these leads the cold start had what it has on both, .3: reinforcement's own part is .1 and .2.
    note = r1(direct, untrained, sft, both(0.4, 0.5)).note
    parts = [float(found) for found in re.findall(r"(?:Simple|Hard|Simple's) (-?\d\.\d+) \[", note)]
    assert parts == pytest.approx([0.1, 0.2, 0.1], abs=0.02), note


def test_demonstrations_that_do_it_all_are_no_gain_of_reinforcement() -> None:
    direct, untrained, sft = both(0.3, 0.1, seeds=1), both(0.2, 0.2, seeds=1), both(0.4, 0.5)
    claim = r1(direct, untrained, sft, sft)
    assert [check.verdict for check in claim.checks] == ["holds", "holds", "undecided", "holds"]
    assert claim.verdict == "undecided"
    many = [stage(f, label=label, images=200) for f in (0.3, 0.5) for label in ("simple", "hard")]
    low, high = many[0] + many[1], many[2] + many[3]
    assert r1(low, low, high, [replace(o, f1=o.f1 + 0.01 * (o.label == "hard")) for o in high]).told == (
        "equal within 0.1"
    ), "what GRPO adds is less than counts, and so is what Hard gains more"
    without = r1(direct, untrained, [], sft)
    assert (without.verdict, len(without.checks)) == ("holds", 3)
    assert without.note.startswith("no cold start in these runs")


@pytest.mark.parametrize(("claim", "setting"), [(r2, "search"), (r5, "text")])
def test_r2_and_r5_need_a_gain(claim, setting: str) -> None:
    low, high, sft = stage(0.1, setting, seeds=1), stage(0.9, setting, seeds=1), stage(0.2, setting)
    assert claim(low, low, sft, stage(0.5, setting)).verdict == "holds"
    assert claim(high, low, sft, stage(0.5, setting)).verdict == "doesn't"
    assert claim(low, high, sft, stage(0.5, setting)).verdict == "doesn't"
    assert claim(low, low, stage(0.7, setting), stage(0.5, setting)).verdict == "doesn't"
    assert claim(low, low, stage(0.5, setting), stage(0.5, setting)).verdict == "undecided"
    few = [stage(f, setting, images=100) for f in (0.1, 0.5, 0.51)]
    assert claim(few[0], few[0], few[1], few[2]).verdict == "holds", "a gain of .01 that is certain"
    assert claim(few[0], few[0], few[1], few[1]).verdict == "equal"
    with pytest.raises(ValueError, match="untrained: no any"):
        claim(low, stage(0.1, "coding", seeds=1), sft, stage(0.5, setting))


def mute(setting: str = "search") -> list[Outcome]:
    return [replace(o, f1=0.0) for o in stage(0.0, setting, seeds=1)]


@pytest.mark.parametrize(("claim", "setting"), [(r2, "search"), (r5, "text")])
def test_a_baseline_that_cant_answer_decides_nothing_about_training(claim, setting: str) -> None:
    sft, grpo = stage(0.4, setting), stage(0.5, setting)
    gains = claim(mute(setting), mute(setting), sft, grpo)
    assert [check.name for check in gains.checks] == ["F1 minus the untrained agent's", "F1 after GRPO minus after SFT"]
    assert gains.verdict == "holds"
    assert "which decides nothing: direct answering has F1 0 in 20 of 20 tasks" in gains.note
    assert claim(mute(setting), mute(setting), grpo, grpo).verdict == "undecided"
    answers_one = [*mute(setting)[1:], replace(mute(setting)[0], f1=0.2)]
    assert len(claim(answers_one, mute(setting), sft, grpo).checks) == 3


def test_r3_needs_both_measures_to_be_alike() -> None:
    """Right are .2 of 100 pictures and .21 or .3 of them, each seed the same ones."""
    em = stage(0.4, em=0.2, images=100)
    assert r3(em, stage(0.41, em=0.2, images=100)).told == "equal within 0.05"
    assert r3(em, stage(0.6, em=0.2, images=100)).verdict == "doesn't"
    assert r3(em, stage(0.41, em=0.4, images=100)).verdict == "doesn't"
    assert r3(stage(0.4, em=0.2), stage(0.4, em=0.2)).verdict == "undecided", "of 20 pictures"
    assert r3(stage(0.4, em=0.2, seeds=5, images=100), stage(0.41, em=0.2, images=100)).told == "equal within 0.05"
    with pytest.raises(ValueError, match="no seed in common"):
        r3([replace(o, seed=7) for o in em], em)


def test_r4_needs_to_beat_both() -> None:
    cot, rag, sft, agent = (stage(f, "search", seeds=n) for f, n in ((0.1, 1), (0.3, 1), (0.4, 3), (0.5, 3)))
    assert r4(cot, rag, [], sft, agent).verdict == "holds"
    assert r4(cot, stage(0.8, "search", seeds=1), [], sft, agent).verdict == "doesn't"
    assert r4(cot, rag, [], agent, agent).verdict == "undecided"  # the demonstrations did it
    assert len(r4(cot, rag, [], [], agent).checks) == 2


def test_r4_is_about_the_stronger_retrieval() -> None:
    cot, weak, strong, sft, agent = (
        stage(f, "search", seeds=n) for f, n in ((0.1, 1), (0.2, 1), (0.3, 1), (0.4, 3), (0.5, 3))
    )
    claim = r4(cot, weak, strong, sft, agent)
    assert claim.checks[1].name == "F1 of the trained agent minus the better retrieval's"
    assert claim.note.endswith("the better is retrieval by the model's description")
    assert claim.checks[1].interval.value == pytest.approx(0.2, abs=0.02)
    assert r4(cot, strong, weak, sft, agent).note.endswith("the better is plain retrieval")


def test_r4_is_not_testable_against_baselines_that_cant_answer() -> None:
    sft, agent = stage(0.4, "search"), stage(0.5, "search")
    claim = r4(mute(), mute(), mute(), sft, agent)
    assert claim.verdict == "not testable here"
    assert claim.reason == "chain of thought has F1 0 in 20 of 20 tasks; plain retrieval has F1 0 in 20 of 20 tasks"
    assert [check.verdict for check in claim.checks] == ["not testable here", "not testable here", "holds"]
    worse = r4(mute(), mute(), mute(), stage(0.7, "search"), agent)
    assert worse.verdict == "doesn't"  # reinforcement made it worse: that part can be told


def test_a_baseline_that_is_right_in_less_than_would_count_cant_be_compared_with() -> None:
    """1 of 400 right: the interval of .0025 ends near .014, below the .05 that R4 asks for."""
    sft, agent = stage(0.4, "search", images=400), stage(0.5, "search", images=400)
    hardly = [
        replace(o, f1=float(k == 0), correct=k == 0) for k, o in enumerate(stage(0.4, "search", images=400)[:400])
    ]
    reason = r4(hardly, hardly, [], sft, agent).reason
    assert "chain of thought has F1 0.00" in reason and "less than the 0.05 that would count" in reason

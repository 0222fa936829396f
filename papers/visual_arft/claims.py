"""Test Visual-ARFT's claims R1–R5 on outcomes of several seeds; :mod:`papers.claims` explains the verdicts.

Limits and margins stand in ``claims.toml``. The untrained model has no training seed; measured once, it
stands for every seed.

Which part of a gain is reinforcement's? A claim that credits the training has the check *F1 after GRPO minus after
SFT*; the paper has no cold start, so nothing to subtract. Where a run has none either (no demonstrations were shown),
that check is left out, and the note says so.

What a comparison with a baseline says depends on whether it can answer: one that is right in nothing, or whose F1 can't
be as much as the smallest difference worth having (its interval ends below the margin), loses to whoever gets a few
right. In R4, which is about such baselines, that comparison is not testable here. In the claims about training it
decides nothing, and the note says so: the training's checks remain.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np

from kit.evaluate.intervals import Interval, Point, contrast, proportion
from papers.claims import Check, Claim
from papers.contrasts import chosen, gained, on_every_seed, points, shared_seeds
from papers.registered import Stated, registered
from papers.visual_arft.metrics import LABELS, SETTINGS, Outcome

STATED = registered("visual_arft")
"""What the claims say, with margins: ``claims.toml``."""

CLAIMS = STATED.statements
"""Id of a claim → its statement."""

UNSEEDED = frozenset(("untrained", "direct", "cot", "rag", "rag-described"))
"""Stages without a training seed: the untrained model and the single-turn baselines."""


def _some(name: str, outcomes: Sequence[Outcome], setting: str, label: str = "") -> list[Outcome]:
    what = f"{label or 'any'} {SETTINGS[setting]} task"
    return chosen(name, outcomes, what, lambda o: o.setting == setting and label in ("", o.label))


def _cells(
    stages: Mapping[str, Sequence[Outcome]], setting: str, metric: str = "f1", labels: Sequence[str] = ("",)
) -> dict[str, list[Point]]:
    """Cells of :func:`kit.evaluate.intervals.contrast`, one for each stage and label."""
    return {
        f"{name} {label}".strip(): points(_some(name, outcomes, setting, label), metric)
        for name, outcomes in on_every_seed(stages, UNSEEDED).items()
        for label in labels
    }


def _gain(before: str, after: str, stages: Mapping[str, Sequence[Outcome]], setting: str, metric: str) -> Interval:
    """How much higher a metric is in stage ``after`` than in ``before``."""
    cells = _cells({stage: stages[stage] for stage in (before, after)}, setting, metric)
    return gained(cells[before], cells[after])


def _mute(called: str, outcomes: Sequence[Outcome], setting: str, margin: float) -> str:
    """Why a baseline can't be compared with: it is right in nothing, or its F1 ends below the margin; empty: it can."""
    some = _some(called, outcomes, setting)
    f1 = proportion([o.f1 for o in some], [o.image for o in some])
    if not f1.value:
        return f"{called} has F1 0 in {f1.n} of {f1.n} tasks"
    return "" if f1.high >= margin else f"{called} has F1 {f1}, less than the {margin:g} that would count"


def _by_training(
    stated: Stated, sft: Sequence[Outcome], grpo: Sequence[Outcome], setting: str
) -> tuple[tuple[Check, ...], list[str]]:
    """The check that tells reinforcement's part from the demonstrations', and notes; no check without a cold start."""
    if not sft:
        return (), ["no cold start in these runs: nothing to compare GRPO with but the untrained agent"]
    return (stated.check("sft", _gain("sft", "grpo", {"sft": sft, "grpo": grpo}, setting, "f1")),), []


def _gains(
    stated: Stated,
    direct: Sequence[Outcome],
    untrained: Sequence[Outcome],
    sft: Sequence[Outcome],
    grpo: Sequence[Outcome],
    setting: str,
) -> tuple[tuple[Check, ...], str]:
    """F1 after training above direct answers (the paper's baseline), the untrained agent's and SFT's; and a note."""
    stages = {"direct": direct, "untrained": untrained, "grpo": grpo}
    against, agent = (
        stated.check(name, _gain(name, "grpo", stages, setting, "f1")) for name in ("direct", "untrained")
    )
    mute = _mute("direct answering", direct, setting, against.margin)
    trained, notes = _by_training(stated, sft, grpo, setting)
    arms = {"direct": direct, "untrained": untrained, "after SFT": sft, "after GRPO": grpo}
    found = {name: _some(name, some, setting) for name, some in arms.items() if some}
    notes.append(f"F1: {', '.join(f'{name} {np.mean([o.f1 for o in some]):.3f}' for name, some in found.items())}")
    if mute:
        notes.append(f"{against.name} {against.interval}, which decides nothing: {mute}")
        return (agent, *trained), "; ".join(notes)
    return (against, agent, *trained), "; ".join(notes)


def r1(
    direct: Sequence[Outcome], untrained: Sequence[Outcome], sft: Sequence[Outcome], grpo: Sequence[Outcome]
) -> Claim:
    """R1: training lifts coding, most on Hard (Table 1: F1 55.2 → 60.1 on Simple, 19.7 → 45.6 on Hard).

    The paper compares with the model asked directly (appendix A.2); an agent that has the tools and wasn't trained
    tells the training's part from the tools', the agent after SFT reinforcement's from the demonstrations'. Statistics,
    per seed and paired by image: the gain in F1 over each, and Hard's gain minus Simple's, over direct answers.
    Rule: all above 0. How much of Hard's and Simple's lead is reinforcement's stands in the note.

    Args:
        direct: outcomes of direct answering, without tools.
        untrained: outcomes of the untrained agent.
        sft: outcomes after the cold start, of each seed; none where there was no cold start.
        grpo: outcomes of the trained agent, of each seed.

    Raises:
        ValueError: one of them has no Simple or no Hard coding task.
    """
    cells = _cells({"direct": direct, "grpo": grpo}, "coding", labels=LABELS)
    weights = {"direct simple": 1.0, "grpo simple": -1.0, "direct hard": -1.0, "grpo hard": 1.0}
    more = STATED["R1"].check("hard", contrast(cells, weights))
    checks, note = _gains(STATED["R1"], direct, untrained, sft, grpo, "coding")
    if sft:
        since = _cells({"sft": sft, "grpo": grpo}, "coding", labels=LABELS)
        gains = {label: gained(since[f"sft {label}"], since[f"grpo {label}"]) for label in LABELS}
        apart = contrast(since, {"sft simple": 1.0, "grpo simple": -1.0, "sft hard": -1.0, "grpo hard": 1.0})
        told = ", ".join(f"{label.capitalize()} {gain}" for label, gain in gains.items())
        note += f"; of the leads reinforcement's own part: {told}, Hard's minus Simple's {apart}"
    return STATED["R1"].claim(*checks, more, note=note)


def r2(
    direct: Sequence[Outcome], untrained: Sequence[Outcome], sft: Sequence[Outcome], grpo: Sequence[Outcome]
) -> Claim:
    """R2: training lifts search (Table 1: F1 53.5 → 63.8). Statistics as in :func:`r1`. Rule: all gains above 0.

    Args:
        direct: outcomes of direct answering, without tools.
        untrained: outcomes of the untrained agent.
        sft: outcomes after the cold start, of each seed; none where there was no cold start.
        grpo: outcomes of the trained agent, of each seed.

    Raises:
        ValueError: one of them has no search task.
    """
    checks, note = _gains(STATED["R2"], direct, untrained, sft, grpo, "search")
    return STATED["R2"].claim(*checks, note=note)


def r3(em_reward: Sequence[Outcome], f1_reward: Sequence[Outcome], setting: str = "coding") -> Claim:
    """R3: F1 and EM as rewards end alike, in either measure (Table 3, coding: F1 46.7 and 50.7, EM 31.5 and 34.5).

    Statistics, per seed and paired by image: F1 with the F1 reward minus with the EM reward, and EM. Rule: both equal
    within the margin.

    Args:
        em_reward: outcomes after training with the EM reward, of each seed.
        f1_reward: outcomes after training with the F1 reward; seeds that one of the two lacks are left out.
        setting: a key of :data:`papers.visual_arft.metrics.SETTINGS`.

    Raises:
        ValueError: one of them has no task of the setting, or they have no seed in common.
    """
    stages, stated = shared_seeds({"em": em_reward, "f1": f1_reward}), STATED["R3"]
    pairs = (("f1", "f1"), ("em", "correct"))
    return stated.claim(*(stated.check(key, _gain("em", "f1", stages, setting, metric)) for key, metric in pairs))


def r4(
    cot: Sequence[Outcome],
    rag: Sequence[Outcome],
    described: Sequence[Outcome],
    sft: Sequence[Outcome],
    grpo: Sequence[Outcome],
) -> Claim:
    """R4: the trained agent beats chain of thought and plain retrieval (Table 4: F1 63.8 against 52.1 and 50.8).

    Statistics: its F1 on search minus each of theirs, paired by image, and after GRPO minus after SFT, since the
    claim is about the *trained* agent. Retrieval is by the question or by the model's own description of the image:
    whichever has the higher F1 is compared with. Rule: all above 0. A comparison isn't testable where the baseline's
    F1 can't be as much as the margin.

    Args:
        cot: outcomes of chain-of-thought answering.
        rag: outcomes of answering with what a search for the question finds.
        described: the same, with a search for the model's description of the image; none if not played.
        sft: outcomes after the cold start, of each seed; none where there was no cold start.
        grpo: outcomes of the trained agent, of each seed.

    Raises:
        ValueError: one of them has no search task.
    """
    found = {"rag": _some("rag", rag, "search")}
    if described:
        found["rag-described"] = _some("rag-described", described, "search")
    means = {name: sum(o.f1 for o in some) / len(some) for name, some in found.items()}
    best = max(means, key=lambda name: means[name])
    called = {"rag": "plain retrieval", "rag-described": "retrieval by the model's description"}[best]
    stated = STATED["R4"]

    def beats(key: str, name: str, outcomes: Sequence[Outcome], text: str) -> Check:
        found = _gain(name, "grpo", {name: outcomes, "grpo": grpo}, "search", "f1")
        return stated.check(key, found, _mute(text, outcomes, "search", stated.checks[key].margin))

    checks = (beats("cot", "cot", cot, "chain of thought"), beats("retrieval", best, found[best], called))
    trained, notes = _by_training(stated, sft, grpo, "search")
    told = ", ".join(f"{name} {mean:.3f}" for name, mean in means.items())
    notes.append(f"F1 of retrieval: {told}; the better is {called}")
    return stated.claim(*checks, *trained, note="; ".join(notes))


def r5(
    direct: Sequence[Outcome], untrained: Sequence[Outcome], sft: Sequence[Outcome], grpo: Sequence[Outcome]
) -> Claim:
    """R5: twenty search examples carry over to text-only multi-hop questions (Table 2: F1 19.2 → 48.5).

    Statistics as in :func:`r1`, on questions over two facts without images. None was trained on; the
    demonstrations had text questions about one fact, on invented countries. Rule: all gains above 0.

    Args:
        direct: outcomes of direct answering, without tools.
        untrained: outcomes of the untrained agent.
        sft: outcomes after the cold start, of each seed; none where there was no cold start.
        grpo: outcomes of the trained agent, of each seed.

    Raises:
        ValueError: one of them has no text-only task.
    """
    checks, note = _gains(STATED["R5"], direct, untrained, sft, grpo, "text")
    return STATED["R5"].claim(*checks, note=note)

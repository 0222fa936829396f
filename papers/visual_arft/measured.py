"""Visual-ARFT's figures and verdicts, from outcomes, curves and a few numbers of each run alone: no model is asked."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

from kit.evaluate.accuracy import accuracy
from kit.evaluate.outcomes import Metrics
from papers.claims import Claim
from papers.played import Curves, Numbers, five_of, once, tested
from papers.tables import Table
from papers.visual_arft import claims, tables
from papers.visual_arft.metrics import EVALUATION, Outcome

STAGES = ("direct", "cot", "rag", "rag-described", "untrained", "sft", "grpo")
"""Stages of the main runs that have figures of their own; then ``em-reward``, which is the arm ``em``."""

STARTS = ("decided-sft", "decided", "half-sft", "half")
"""More decided cold starts, each before and after reinforcement."""

EM = "em-reward"
"""Under this name tables have the agent that was trained with the EM reward."""


def measured(
    stages: Mapping[str, Sequence[Outcome]], curves: Curves, numbers: Numbers | None = None
) -> tuple[dict[str, Metrics], list[Claim]]:
    """Measure all of ``results/visual_arft.json``: stage → metric → value with its interval, and the claims.

    Args:
        stages: flat name (:func:`papers.played.flat`) → outcomes of all seeds.
        curves: flat name of a training → seed → its rows; where ``sft`` has none there was no cold start.
        numbers: flat name of an arm → seed → what is known of its run besides: of ``grpo`` calls and change of weights
            (:func:`kit.evaluate.five.answers.own_numbers`).

    Raises:
        ValueError: two stages that a claim compares have other seeds.
    """
    played = of_tables(stages)
    starts = {name: stages[name] for name in STARTS if stages.get(name)}
    metrics = {name: EVALUATION.evaluate_outcomes(some) for name, some in {**played, **starts}.items()}
    for name, found in five_of(EVALUATION, stages, curves.get("grpo", {}), (numbers or {}).get("grpo", {})).items():
        metrics[name] |= found
    if "direct" in metrics:
        metrics["direct"]["accuracy"] = accuracy(played["direct"])
    return metrics, _claims(played, bool(curves.get("sft")))


def paper_tables(stages: Mapping[str, Sequence[Outcome]]) -> dict[str, Table]:
    """Tables 1 to 4, the paper's numbers beside ours; ``stages`` as of :func:`measured`."""
    return tables.paper_tables(of_tables(stages))


def of_tables(stages: Mapping[str, Sequence[Outcome]]) -> dict[str, list[Outcome]]:
    """The stages that have figures, under the names that tables give them; one without a seed of training once."""
    known = {**stages, EM: stages.get("em", ())}
    return once({name: known[name] for name in (*STAGES, EM) if known.get(name)}, claims.UNSEEDED)


def _claims(played: Mapping[str, Sequence[Outcome]], cold_start: bool) -> list[Claim]:
    """The claims in their order; one whose stages aren't there says so."""
    # Without demonstrations the stage sft is the untrained agent once more.
    sft = played.get("sft", ()) if cold_start else ()
    before = ("direct", "untrained", "grpo", *(("sft",) if cold_start else ()))

    def gains(claim: Callable[..., Claim]) -> Callable[..., Claim]:
        return lambda direct, untrained, grpo, *_: claim(direct, untrained, sft, grpo)

    def r4(cot: Sequence[Outcome], rag: Sequence[Outcome], grpo: Sequence[Outcome], *_: object) -> Claim:
        return claims.r4(cot, rag, played.get("rag-described", ()), sft, grpo)

    stated = claims.STATED
    return [
        tested(stated["R1"], played, before, gains(claims.r1)),
        tested(stated["R2"], played, before, gains(claims.r2)),
        tested(stated["R3"], played, (EM, "grpo"), claims.r3, "em_runs"),
        tested(stated["R4"], played, ("cot", "rag", *before[2:]), r4),
        tested(stated["R5"], played, before, gains(claims.r5)),
    ]

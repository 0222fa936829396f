"""VISTA-Gym's figures and verdicts, from outcomes and curves alone: no model is asked."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from kit.evaluate.accuracy import accuracy
from kit.evaluate.outcomes import Metrics
from papers.claims import Claim
from papers.played import Curves, Numbers, five_of, flat, once, tested
from papers.vista_gym import claims
from papers.vista_gym import tables as benchmarks
from papers.vista_gym.errors import ERRORS
from papers.vista_gym.metrics import EVALUATION, Outcome
from papers.vista_gym.reported import BACKBONE

MAIN = (*claims.UNSEEDED, "sft", "grpo", "patch")
"""Stages of the main runs."""

ARMS = ("no_tools_reasoning", "dense", "sparse", "dapo", "one_family", "one_tool", "long")
"""Other trainings."""

STARTS = ("decided-sft", "decided", "half-sft", "half")
"""More decided cold starts, each after cloning and after reinforcement."""

HOW = (
    {"patch": "notebook 54 with patch_steps above 0, or no question was hard"}
    | {
        stage: f"python -m kit run vista_gym --until 54 --name vista_gym-{name} --set {value}, then {name}_runs"
        for stage, name, value in (
            ("decided-sft", "decided", "gives_up=0"),
            ("long", "long", "rationale=long"),
            ("no_tools_reasoning", "no_tools_reasoning", "prompt=brief-alone"),
        )
    }
    | {
        name: f"python -m kit run 54 --tag {name} --set {value}, then {name}_runs"
        for name, value in (
            ("dense", "reward=dense"),
            ("sparse", "reward=sparse"),
            ("dapo", "loss_type=dapo"),
            ("one_family", "only=FAMILY"),
            ("one_tool", "only=TOOLS"),
        )
    }
)
"""Stage → how it is made, for a claim that lacks it."""

Stages = Mapping[str, Sequence[Outcome]]


def measured(
    stages: Stages,
    curves: Curves,
    numbers: Numbers | None = None,
    *,
    single_family: str = "maps",
    single_tools: str = "easyocr.read",
) -> tuple[dict[str, Metrics], list[Claim]]:
    """Measure all of ``results/vista_gym.json``: stage → metric → value with its interval, and the claims.

    Args:
        stages: flat name (:func:`papers.played.flat`) → outcomes of all seeds.
        curves: flat name of a training → seed → its rows.
        numbers: flat name of an arm → seed → what is known of its run besides: of ``grpo`` calls and the weights'
            change.
        single_family: that ``one_family`` was trained on.
        single_tools: that ``one_tool`` was trained with.

    Raises:
        ValueError: two stages that a claim compares have no seed in common.
    """
    played, numbers = once(stages, claims.UNSEEDED), numbers or {}
    shown = [name for name in (*MAIN, *ARMS, *STARTS) if played.get(name)]
    metrics = {name: EVALUATION.evaluate_outcomes(played[name]) for name in shown}
    for stage in (name for name in MAIN if name in metrics):
        metrics[stage]["macro"] = claims.macro_average(**{stage: played[stage]})
    for stage in ("sft", "direct"):
        if {stage, "grpo"} <= metrics.keys():
            pair = {name: played[name] for name in (stage, "grpo")}
            metrics["grpo"][f"macro_gain_over_{stage}"] = claims.macro_average(**pair)
    for stage, found in five_of(EVALUATION, stages, curves.get("grpo", {}), numbers.get("grpo", {})).items():
        metrics[stage] |= found
    if "direct" in metrics:
        metrics["direct"]["accuracy"] = accuracy(played["direct"])
    for stage in (name for name in ("untrained", "sft", "grpo") if name in metrics):
        metrics[stage] |= {f"errors_{kind}": claims.error_share(played[stage], kind) for kind in ERRORS}
        metrics[stage]["errors_no_call"] = claims.no_call_share(played[stage])
        metrics[stage]["called"] = claims.called_share(played[stage])
        if (misdirected := claims.misdirected_share(played[stage])) is not None:
            metrics[stage]["called_for_the_wrong_thing"] = misdirected
    return metrics, _claims(played, on_benchmarks(played), single_family, single_tools)


def on_benchmarks(played: Stages) -> dict[str, Sequence[Outcome]]:
    """Stage → its outcomes on the eleven benchmarks, of those that played them."""
    names = {name: f"bench-{name}" for name in MAIN} | {name: flat(name, "bench-grpo") for name in (*ARMS, "decided")}
    names["decided-sft"] = flat("decided", "bench-sft")
    return {name: played[saved] for name, saved in names.items() if played.get(saved)}


def paper_tables(stages: Stages, backbone: str = BACKBONE) -> dict[str, Any]:
    """Table 2, the paper's numbers beside ours.

    Args:
        stages: as of :func:`measured`.
        backbone: whose rows of the paper's table stand beside ours.

    Raises:
        ValueError: the paper has no rows of that model.
    """
    return {"Table 2": benchmarks.table_2(on_benchmarks(once(stages, claims.UNSEEDED)), backbone)}


def _claims(played: Stages, on: Stages, single_family: str, single_tools: str) -> list[Claim]:
    """The claims in their order; one whose runs aren't there says so, with how they are made."""

    def claim(name: str, needed: Sequence[str], test: Callable[..., Claim]) -> Claim:
        how = ", ".join(HOW.get(stage, stage) for stage in needed if not played.get(stage))
        there = dict(zip(needed, benchmarks.deciding(on, {s: played.get(s, ()) for s in needed}, *needed), strict=True))
        return tested(claims.STATED[name], there, needed, test, how)

    def better(name: str, ours: str) -> Claim:
        rivals = [*claims.STATED[name].checks]

        def test(some: Sequence[Outcome], *others: Sequence[Outcome]) -> Claim:
            return claims.better(name, some, **dict(zip(rivals, others, strict=True)))

        return claim(name, [ours, *rivals], test)

    def v6(end: Sequence[Outcome], one_family: Sequence[Outcome], one_tool: Sequence[Outcome]) -> Claim:
        return claims.v6(end, one_family, one_tool, single_family, single_tools)

    return [
        claim("V1", ("direct", "untrained"), claims.v1),
        claim("V2", ("direct", "sft", "grpo", "decided-sft"), claims.v2),
        claim("V3", ("grpo", "no_tools_reasoning", "no_reasoning"), claims.v3),
        better("V4", "grpo"),
        better("V5", "grpo"),
        claim("V6", ("grpo", "one_family", "one_tool"), v6),
        better("V7", "patch"),
        # Drawn questions alone: their right calls are known.
        tested(claims.STATED["V8"], played, ("untrained", "grpo"), claims.v8),
        better("V9", "long"),
    ]

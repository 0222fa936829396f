"""AGILE's figures and verdicts, from outcomes, curves and a few numbers of each run alone: no model is asked."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from kit.data.store import load_episodes, load_tasks
from kit.evaluate.accuracy import accuracy
from kit.evaluate.outcomes import Metrics
from kit.policy.hf import load_model_and_chat
from kit.train.metrics import Row
from papers.agile import claims, general, mixed, tables
from papers.agile.cold_starts import PLAYED, compare_outcomes
from papers.agile.experiment import turn_tokens
from papers.agile.general import GeneralOutcome
from papers.agile.metrics import EVALUATION, Outcome
from papers.agile.paper import PAPER
from papers.claims import Claim
from papers.contrasts import shared_seeds
from papers.played import Curves, Numbers, five_of, flat, tested
from papers.tables import Table

STAGES = ("direct", "untrained", "sft", "grpo", "direct_originals")
"""Stages of the main runs that have figures of their own, in the order of a training."""

OTHERS = ("deed", "decided-sft", "decided", "half-sft", "half")
"""Then trained otherwise: paid for the deed; and more decided cold starts, each before and after reinforcement."""

ASKED = ("direct", "direct_originals")

Stages = Mapping[str, Sequence[Outcome]]


def measured(
    stages: Stages, curves: Curves, numbers: Numbers | None = None, *, max_turns: int = 5, max_new_tokens: int = 80
) -> tuple[dict[str, Metrics], list[Claim]]:
    """Measure all of ``results/agile.json``: stage → metric → value with its interval, and claims A1 to A6.

    Args:
        stages: flat name (:func:`papers.played.flat`) → outcomes of all seeds.
        curves: flat name of a training → seed → its rows.
        numbers: flat name of an arm → seed → what is known of its run besides: of ``grpo`` calls and change of weights
            (:func:`kit.evaluate.five.answers.own_numbers`), and :func:`numbers`.
        max_turns: turns that an episode could have.
        max_new_tokens: tokens that a turn could have.

    Raises:
        ValueError: two stages that a claim compares have other seeds.
    """
    played, numbers = with_nine(stages), numbers or {}
    metrics = {name: EVALUATION.evaluate_outcomes(some) for name, some in played.items()}
    for name, found in metrics.items():
        if more := stages.get(f"{name}-photographs"):
            on_more = EVALUATION.evaluate_outcomes(more)
            found |= {f"{metric}_photographs": value for metric, value in on_more.items() if metric[-3:] == "2x2"}
    metrics |= {name: EVALUATION.evaluate_outcomes(stages[name]) for name in OTHERS if stages.get(name)}
    if "sft" in metrics:
        metrics["sft"] |= compare_outcomes(cold_starts(stages, numbers))
    for name, found in five_of(EVALUATION, stages, curves.get("grpo", {}), numbers.get("grpo", {})).items():
        metrics[name] |= found
    for name in set(ASKED) & metrics.keys():
        metrics[name]["accuracy"] = accuracy(played[name])
    return metrics, _claims(stages, curves, numbers, max_turns, max_new_tokens)


def with_nine(stages: Stages) -> dict[str, list[Outcome]]:
    """Stages that have figures of their own, with the puzzles of nine pieces that they played."""
    return {name: [*stages[name], *stages.get(f"{name}-3x3", ())] for name in STAGES if stages.get(name)}


def paper_tables(stages: Stages) -> dict[str, Table]:
    """Tables 1 and 2, the paper's numbers beside ours; ``stages`` as of :func:`measured`."""
    return tables.jigsaw({name: EVALUATION.evaluate_outcomes(some) for name, some in with_nine(stages).items()})


def numbers(run: Path) -> dict[str, Any]:
    """Read what figures need of a run besides outcomes, curves and what the five answers do.

    Args:
        run: the run's folder.

    Returns:
        ``guesses``: the share of its demonstrations that guess, in percent; and ``expert_tokens``: the fewest and the
        most of an expert's turn on puzzles of nine pieces.
    """
    shown, nine, model = run / "data" / "coldstart.jsonl", run / "data" / "eval-3x3.jsonl", run / "sft" / "model"
    found: dict[str, Any] = {}
    if shown.is_file():
        episodes = load_episodes(shown)
        found["guesses"] = round(100 * sum(not episode.calls for episode in episodes) / len(episodes))
    if nine.is_file() and model.is_dir():
        tokens = turn_tokens(load_model_and_chat(model)[1], load_tasks(nine))
        found["expert_tokens"] = [min(tokens), max(tokens)]
    return found


def cold_starts(stages: Stages, numbers: Numbers) -> dict[str, dict[str, Sequence[Outcome]]]:
    """Find what agents of other cold starts played, and these runs' own: name of the start → how → outcomes."""
    shares = sorted({found["guesses"] for found in numbers.get("grpo", {}).values() if "guesses" in found})
    others = [arm for arm in PAPER.published.runs if not arm.endswith("runs")] if PAPER.published else []
    names = [*((arm, arm) for arm in others), *((f"guesses_{share}", "") for share in shares[:1])]
    order = sorted(names, key=lambda pair: pair[0].partition("_")[0] != "guesses")
    return {
        name: {how: stages[flat(arm, stage)] for how, stage in PLAYED.items() if stages.get(flat(arm, stage))}
        for name, arm in order
    }


def budgets_of(stages: Stages) -> dict[int, Sequence[Outcome]]:
    """RL puzzles that A5 compares → what was played after so many; 0 is the model after SFT."""
    arms = ("sft", *claims.STATED["A5"].checks["slope"].arms)
    played = shared_seeds({arm: stages[arm] for arm in arms if stages.get(arm)})
    return {0 if arm == "sft" else int(arm.rpartition("-")[2]): some for arm, some in played.items()}


def _on_all(stages: Stages, *names: str) -> dict[str, list[Outcome]]:
    """What stages played on the kit's photographs, and on more of them where all of these stages did."""
    more = {name: stages.get(f"{name}-photographs", ()) for name in names}
    return {name: [*stages.get(name, ()), *(some if all(more.values()) else ())] for name, some in more.items()}


def _claims(stages: Stages, curves: Curves, numbers: Numbers, max_turns: int, max_new_tokens: int) -> list[Claim]:
    """The claims in their order; one whose stages aren't there says so."""
    stated, trained = claims.STATED, ("untrained", "sft", "grpo")
    asked = _on_all(stages, *(name for name in ASKED if stages.get(name)))
    nine = {name: stages.get(f"{name}-3x3", ()) for name in trained}
    tokens = [count for found in numbers.get("grpo", {}).values() for count in found.get("expert_tokens", ())]

    def a1(direct: Sequence[Outcome]) -> Claim:
        return claims.a1(direct, stages.get("untrained", ()), asked.get("direct_originals", ()))

    def a3(*before_and_after: Sequence[Outcome]) -> Claim:
        untrained, sft, grpo = before_and_after
        return claims.a3(untrained, sft, grpo, max_new_tokens, tokens)

    def a6(training: Mapping[int, Sequence[Row]]) -> Claim:
        found = claims.a6(training, max_turns)
        if not curves.get("deed"):
            return found
        return replace(found, note=f"{found.note}; paid for the deed: {claims.a6(curves['deed'], max_turns).evidence}")

    budgets = stated["A5"].checks["slope"].arms
    return [
        tested(stated["A1"], asked, ("direct",), a1),
        tested(stated["A2"], _on_all(stages, *trained), trained, claims.a2),
        tested(stated["A3"], nine, trained, a3, "3×3 puzzles"),
        tested(stated["A4"], _on_all(stages, "grpo"), ("grpo",), claims.a4),
        tested(stated["A5"], stages, budgets, lambda *_: claims.a5(budgets_of(stages)), "few_runs"),
        a6(curves.get("grpo", {})),
    ]


def measured_general(
    stages: Mapping[str, Sequence[GeneralOutcome]], curves: Curves | None = None, numbers: Numbers | None = None
) -> tuple[dict[str, Metrics], list[Claim]]:
    """Measure all of ``results/agile-general.json``: stage → metric → value with interval, and claims A7 and A8.

    Args:
        stages: ``untrained``, ``sft``, ``grpo``, ``qa`` and ``half`` → outcomes of all seeds.
        curves: not read; as for :func:`measured`.
        numbers: not read.

    Raises:
        ValueError: two stages that a claim compares have other seeds.
    """
    there = {name: stages[name] for name in ("untrained", "sft", "grpo", *mixed.ARMS) if stages.get(name)}
    metrics = {name: general.EVALUATION.evaluate_outcomes(some) for name, some in there.items()}
    return metrics, [
        tested(claims.STATED["A7"], there, mixed.ARMS, general.a7),
        tested(claims.STATED["A8"], there, ("untrained", "sft", "grpo"), general.a8),
    ]

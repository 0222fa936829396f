"""CodeDance's figures and verdicts, from outcomes and curves alone: no model is asked."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from pathlib import Path

from kit.data.store import load_episodes
from kit.evaluate.accuracy import accuracy
from kit.evaluate.outcomes import Metrics
from papers.claims import Claim
from papers.codedance import claims
from papers.codedance import tables as benchmarks
from papers.codedance.metrics import EVALUATION, Outcome
from papers.played import Curves, Numbers, five_of, once, tested

REWARDS = ("outcome", "bonus", "offset_0")
"""Arms whose agents have figures of their own, each trained under another reward."""

STARTS = ("decided-sft", "decided", "half-sft", "half")
"""More decided cold starts, each after its demonstrations and then under R_BAT."""

LEVELS = ("easy", "hard")

Stages = Mapping[str, Sequence[Outcome]]


def measured(
    stages: Stages, curves: Curves, numbers: Numbers | None = None, *, max_turns: int = 4
) -> tuple[dict[str, Metrics], list[Claim]]:
    """Measure all of ``results/codedance.json``: stage → metric → value with its interval, and the claims.

    Args:
        stages: flat name (:func:`papers.played.flat`) → outcomes of all seeds.
        curves: flat name of a training → seed → its rows.
        numbers: flat name of an arm → seed → what is known of its run besides: of ``grpo`` calls and the weights'
            change, of cold starts ``demonstrations``, how many they had.
        max_turns: turns that an episode might have in training.

    Raises:
        ValueError: two stages that a claim compares have no seed in common.
    """
    played, numbers = once(stages, claims.UNSEEDED), numbers or {}
    shown = [name for name in ("sft", "grpo", *claims.UNSEEDED, *REWARDS, *STARTS) if played.get(name)]
    metrics = {name: EVALUATION.evaluate_outcomes(played[name]) for name in shown}
    for stage, found in five_of(EVALUATION, stages, curves.get("grpo", {}), numbers.get("grpo", {})).items():
        metrics[stage] |= found
    if "direct" in metrics:
        metrics["direct"]["accuracy"] = accuracy(played["direct"])
    for name, found in calls_changed({name: curves[name] for name in ("grpo", *REWARDS) if name in curves}).items():
        metrics.setdefault(name, {}).update(found)
    budgets = by_budget(stages)
    if "grpo" in metrics:
        metrics["grpo"] |= {f"acc_turns_{n}": accuracy(some) for n, some in budgets.items()}
    for name in metrics:
        metrics[name] |= benchmarks.of_stage(played, name)
    return metrics, _claims(played, curves, numbers, budgets, max_turns)


def calls_changed(training: Curves) -> dict[str, Metrics]:
    """Measure how calls change over trainings: arm → ``calls_change_LEVEL``, of levels that any of them logged."""
    rows = [row for runs in training.values() for some in runs.values() for row in some]
    levels = [level for level in LEVELS if any(f"calls_{level}" in row for row in rows)]
    return {
        name: {f"calls_change_{level}": claims.calls_over_training([*runs.values()], level) for level in levels}
        for name, runs in training.items()
    }


def by_budget(stages: Stages) -> dict[int, Sequence[Outcome]]:
    """Most turns of an episode → what the trained agent did with them, on hard questions."""
    found = {name: re.fullmatch(r"grpo-turns-(\d+)", name) for name in stages}
    return dict(sorted((int(match[1]), stages[name]) for name, match in found.items() if match and stages[name]))


def by_size(stages: Stages, numbers: Numbers) -> dict[str, Sequence[Outcome]]:
    """Size of a cold start → outcomes after it, from the fewest demonstrations to the most.

    A size is called by its number of demonstrations; where nobody says it, or two have as many, all are called as their
    stages.
    """

    def told(stage: str) -> str:
        runs = numbers.get("grpo" if stage == "sft" else stage.removesuffix("-sft"), {})
        known = {str(found["demonstrations"]) for found in runs.values() if "demonstrations" in found}
        return known.pop() if len(known) == 1 else ""

    there = [stage for stage in claims.STATED["C4"].checks["slope"].arms if stages.get(stage)]
    names = [told(stage) for stage in there]
    apart = all(names) and len({*names}) == len(names)
    return {name: stages[stage] for name, stage in zip(names if apart else there, there, strict=True)}


def numbers(run: Path) -> dict[str, int]:
    """Read what C4's note needs of a run: how many demonstrations its cold start had.

    Args:
        run: the run's folder.
    """
    file = run / "sft" / "episodes.jsonl"
    return {"demonstrations": len(load_episodes(file))} if file.is_file() else {}


def _claims(
    played: Stages, curves: Curves, numbers: Numbers, budgets: Mapping[int, Sequence[Outcome]], max_turns: int
) -> list[Claim]:
    """The claims in their order; one whose runs aren't there says so."""
    stated = claims.STATED
    two = {name: played.get(name, ()) if name in curves else () for name in ("grpo", "no_turns")}

    def c2(*some: Sequence[Outcome]) -> Claim:
        return claims.c2(some[0], some[1], curves["grpo"], curves["no_turns"])

    found = [
        tested(stated["C1"], played, ("grpo", "outcome", "bonus"), claims.c1, "outcome_runs and bonus_runs"),
        tested(stated["C2"], two, ("grpo", "no_turns"), c2, "no_turns_runs"),
        tested(stated["C3"], played, ("grpo", "offset_0"), claims.c3, "offset_0_runs"),
        claims.c4(by_size(played, numbers)),
    ]
    if max_turns in budgets and max(budgets) > max_turns:
        found.append(claims.c5(budgets, max_turns))
    else:
        found.append(stated["C5"].claim(note=f"not run: budgets of {max_turns} turns, as in training, and of more"))
    return [*found, tested(stated["C6"], played, ("direct", "sft", "grpo"), claims.c6)]

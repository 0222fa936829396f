"""Mags-RL's figures and verdicts, from outcomes and curves alone: no model is asked."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from kit.data.store import load_tasks
from kit.evaluate.accuracy import accuracy
from kit.evaluate.five.answers import difference
from kit.evaluate.outcomes import Metrics
from papers.claims import Claim
from papers.mags_rl import claims, tables
from papers.mags_rl.metrics import EVALUATION, Outcome
from papers.played import Curves, Numbers, five_of, once, tested
from papers.tables import Table

BASELINES = claims.STATED["M1"].checks["hard"].arms[:-1]
"""Stages that M1 compares the agent with."""

SHOWN = (
    *("untrained", *BASELINES, "sft", "stage1", "grpo", "at_once", "more", "plain", "direct_training"),
    *("decided-sft", "decided", "half-sft", "half"),
)
"""Stages that have figures of their own; on the paper's sets each ends in ``-zoom``."""

Stages = Mapping[str, Sequence[Outcome]]


def measured(
    stages: Stages, curves: Curves, numbers: Numbers | None = None, *, prompts_per_batch: int = 10
) -> tuple[dict[str, Metrics], list[Claim]]:
    """Measure all of ``results/mags_rl.json``: stage → metric → value with its interval, and the claims.

    Args:
        stages: flat name (:func:`papers.played.flat`) → outcomes of all seeds.
        curves: flat name of a training → seed → its rows.
        numbers: flat name of an arm → seed → what is known of its run besides: of ``grpo`` calls and the weights'
            change, and :func:`numbers`.
        prompts_per_batch: questions a step of the trainings.

    Raises:
        ValueError: two stages that a claim compares have no seed in common.
    """
    played, numbers = once(stages, (*claims.UNSEEDED, "untrained")), numbers or {}
    names = [f"{name}{ending}" for name in SHOWN for ending in ("", "-zoom")]
    metrics = {name: EVALUATION.evaluate_outcomes(played[name]) for name in names if played.get(name)}
    first, second = (curves.get(name, {}) for name in ("stage1", "grpo"))
    training = {seed: [*first[seed], *rows] for seed, rows in second.items() if seed in first}
    for stage, found in five_of(EVALUATION, stages, training, numbers.get("grpo", {})).items():
        metrics[stage] |= found
    enlarged = by_enlarger(played)
    if "grpo" in metrics:
        metrics["grpo"] |= hard_gains(played)
        for size, ways in enlarged.items():
            metrics["grpo"] |= {f"accuracy_{size}_{name}": accuracy(some) for name, some in ways.items()}
        if played.get("own"):
            metrics["grpo"]["accuracy_on_its_own"] = accuracy(played["own"])
    return metrics, _claims(played, enlarged, met(numbers, curves, prompts_per_batch))


def paper_tables(stages: Stages) -> dict[str, Table]:
    """Tables 1 and 2, the paper's numbers beside ours on the paper's sets.

    Args:
        stages: as of :func:`measured`.
    """
    played = once(stages, claims.UNSEEDED)
    of = {name: played.get(f"{name}-zoom") for name in EVALUATION.reported}
    return tables.paper_tables({name: EVALUATION.evaluate_outcomes(some) if some else {} for name, some in of.items()})


def hard_gains(played: Stages) -> Metrics:
    """Measure what reinforcement added on hard questions, greedily and sampled, to answers and to boxes."""
    found: Metrics = {}
    for part, field in (("acc", "correct"), ("right", "right")):
        for ending in ("", "-sampled"):
            after, before = (
                [
                    o
                    for o in played.get(f"{stage}{ending}", ())
                    if o.difficulty == "hard" and getattr(o, field) is not None
                ]
                for stage in ("grpo", "sft")
            )
            if gain := difference(after, before, field):
                found[f"{part}_gain_over_sft_hard{ending.replace('-', '_')}"] = gain
    return found


def by_enlarger(played: Stages) -> dict[str, dict[str, Sequence[Outcome]]]:
    """Size of detail → what enlarged the trained agent's boxes → its outcomes; the network comes first."""
    found: dict[str, dict[str, Sequence[Outcome]]] = {}
    for name, some in sorted(played.items(), key=lambda item: item[0].endswith(claims.PLAIN)):
        if some and (match := re.fullmatch(r"(large|small)-(\w+)", name)):
            found.setdefault(match[1], {})[match[2]] = some
    return dict(sorted(found.items()))


def _claims(played: Stages, enlarged: Mapping[str, Mapping[str, Sequence[Outcome]]], told: str) -> list[Claim]:
    """The claims in their order; one whose runs aren't there says so."""
    stated, zoom = claims.STATED, bool(played.get("grpo-zoom"))
    there = {name: played.get(f"{name}-zoom" if zoom else name, ()) for name in SHOWN}  # what Tables 1 and 2 are of
    hardest = {name: [o for o in some if not zoom or o.difficulty == "hard"] for name, some in there.items()}
    by: Any = "judged" if zoom else "correct"  # both tables have the judge's accuracy

    def m1(agent: Sequence[Outcome], *rivals: Sequence[Outcome]) -> Claim:
        return claims.m1(agent, dict(zip(BASELINES, rivals, strict=True)), by)

    def m2() -> Claim:
        ways = list(next(iter(enlarged.values())))
        trained = {name: played[name] for name in ("plain", "grpo")} if played.get("plain") else None
        return claims.m2(enlarged, ways[0], trained)

    return [
        tested(stated["M1"], there, ("grpo", *BASELINES), m1),
        m2() if enlarged else stated["M2"].claim(note="not run: the same boxes, enlarged in several ways"),
        tested(stated["M3"], hardest, ("grpo", "at_once"), lambda end, some: claims.m3(end, some, by), "at_once_runs"),
        tested(stated["M4"], there, ("grpo", "more"), lambda few, many: claims.m4(few, many, told), "more_runs"),
        tested(stated["M5"], played, ("stage1", "grpo"), claims.m5),
    ]


def met(numbers: Numbers, curves: Curves, prompts_per_batch: int) -> str:
    """Tell how many samples M4's trainings had at hand and met; empty where nobody says.

    Args:
        numbers: as of :func:`measured`.
        curves: likewise; their steps tell how many samples were met.
        prompts_per_batch: questions a step.
    """
    sets = next((told["samples"] for told in numbers.get("grpo", {}).values() if "samples" in told), None)
    trained = [next(iter(curves.get(name, {}).values()), []) for name in ("more-stage1", "more")]
    if not (sets and all(trained)):
        return ""
    seen = sum(min(n, len(rows) * prompts_per_batch) for n, rows in zip(sets["more"], trained, strict=True))
    return f"{sum(sets['few'])} samples beside {sum(sets['more'])}, of which {seen} were met"


def numbers(run: Path) -> dict[str, Any]:
    """Read what M4's note needs of a run: samples of its two stages, ``few``, and of the larger sets, ``more``.

    Args:
        run: the run's folder.
    """
    sets = {"few": "", "more": "-more"}
    files = {name: [run / "data" / f"stage{k}{ending}.jsonl" for k in (1, 2)] for name, ending in sets.items()}
    if not all(file.is_file() for some in files.values() for file in some):
        return {}
    return {"samples": {name: [len(load_tasks(file)) for file in some] for name, some in files.items()}}

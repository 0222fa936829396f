"""Outcomes and curves of runs under flat names, of which a paper's ``measured`` makes its figures.

An arm is a training; its runs differ in their seed only. Of a paper's main runs a stage keeps its name; of another arm,
say ``bonus``, stage ``grpo`` is ``bonus``, ``grpo-own`` is ``bonus-own``, and any other, say ``sft``, ``bonus-sft``.
Curves are named as their trainings, by the same rule.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence
from pathlib import Path
from typing import Any, TypeVar

from kit.evaluate.five import STAGES
from kit.evaluate.five.answers import answered
from kit.evaluate.outcomes import Evaluation, Metrics, Outcome
from kit.files import read_json
from kit.train.metrics import Row, read_metrics
from papers.claims import Claim
from papers.registered import Stated

T = TypeVar("T", bound=Outcome)

Curves = Mapping[str, Mapping[int, Sequence[Row]]]
"""Training, by its flat name → seed → its rows of metrics."""

Numbers = Mapping[str, Mapping[int, Mapping[str, Any]]]
"""Arm, by its flat name → seed → what is known of its run besides (:func:`kit.evaluate.five.answers.own_numbers`)."""

MAIN = ("", "runs")
"""Names of a paper's main runs as an arm."""


def flat(arm: str, stage: str) -> str:
    """Name a stage, or a training, of an arm's runs.

    Args:
        arm: the parameter by which a claims notebook takes the runs, with or without its ``_runs``.
        stage: as it is saved in a run.
    """
    if arm in MAIN:
        return stage
    arm = arm.removesuffix("_runs")
    return arm if stage == "grpo" else f"{arm}-{stage.removeprefix('grpo-')}"


def stages_of(evaluation: Evaluation[T], arms: Mapping[str, Sequence[Path]]) -> dict[str, list[T]]:
    """All stages of a paper that runs have saved: flat name → the outcomes of those seeds that have it.

    Args:
        evaluation: the paper's.
        arms: arm → folders of its runs, by seed.
    """
    found: dict[str, list[T]] = {}
    for arm, folders in arms.items():
        for seed, folder in enumerate(folders):
            for file in sorted((folder / "stages").glob("*.json")):
                if (read_json(file) or {}).get("paper") == evaluation.paper:
                    some = evaluation.load_outcomes(folder, file.stem, seed)
                    found.setdefault(flat(arm, file.stem), []).extend(some)
    return found


def curves_of(arms: Mapping[str, Sequence[Path]]) -> dict[str, dict[int, list[Row]]]:
    """The curves of all trainings of runs: flat name → seed → rows; those without a row are left out.

    Args:
        arms: arm → folders of its runs, by seed.
    """
    found: dict[str, dict[int, list[Row]]] = {}
    for arm, folders in arms.items():
        for seed, folder in enumerate(folders):
            for file in sorted(folder.glob("*/metrics.jsonl")):
                if rows := read_metrics(file):
                    found.setdefault(flat(arm, file.parent.name), {})[seed] = rows
    return found


def once(stages: Mapping[str, Sequence[T]], unseeded: Collection[str]) -> dict[str, list[T]]:
    """Stages with those that no training made from one seed alone: a run's are another run's once more.

    Args:
        stages: flat name → outcomes.
        unseeded: names of the stages that no training made, be it on these questions or on others (``direct-zoom``).
    """

    def kept(name: str, some: Sequence[T]) -> list[T]:
        first = min((o.seed for o in some), default=0)
        seeded = not {name, name.partition("-")[0], name.removeprefix("bench-")} & {*unseeded}
        return [o for o in some if seeded or o.seed == first]

    return {name: kept(name, some) for name, some in stages.items()}


def opened(stages: Mapping[str, Sequence[Outcome]], made_on: Collection[str] = ()) -> str:
    """Say how often test tasks were played for the figures: once by each model in each of its stages.

    Args:
        stages: flat name → outcomes.
        made_on: endings of stages that were played on the tasks for making choices instead, such as ``sft-greedy``.
    """
    seeds = [len({o.seed for o in some}) for name, some in stages.items() if not name.endswith(tuple(made_on))]
    return f"test was opened {sum(seeds)} times: {len(seeds)} stages, each once a seed"


def five_of(
    evaluation: Evaluation[Any],
    stages: Mapping[str, Sequence[Any]],
    training: Mapping[int, Sequence[Row]],
    numbers: Mapping[int, Mapping[str, Any]],
) -> dict[str, Metrics]:
    """The five answers of the main runs; none where one of their stages, the training or the calls aren't there.

    Args:
        evaluation: the paper's.
        stages: flat name → outcomes.
        training: seed → the rows of its training.
        numbers: seed → what else is known of its run.
    """
    played = all(stages.get(name) for name in ("sft", "grpo", "direct", *STAGES))
    if not (training and numbers and played and all("calls" in found for found in numbers.values())):
        return {}
    tried: dict[tuple[int, str], int] = {}
    for o in stages[STAGES[-1]]:
        tried[o.seed, o.task] = tried.get((o.seed, o.task), 0) + 1
    return answered(evaluation, stages, training, numbers, min(tried.values()))


def tested(
    stated: Stated,
    stages: Mapping[str, Sequence[Any]],
    needed: Sequence[str],
    test: Callable[..., Claim],
    how: str = "",
) -> Claim:
    """A claim, or one without checks where a stage that it needs isn't there.

    Args:
        stated: the claim as it was registered.
        stages: flat name → outcomes.
        needed: names of the stages that it is made of.
        test: makes the claim of these stages' outcomes, in their order.
        how: where what is missing comes from; empty: its names.
    """
    if missing := [name for name in needed if not stages.get(name)]:
        return stated.claim(note=f"not run: {how or ', '.join(missing)}")
    return test(*(stages[name] for name in needed))

"""Answer the five questions from a run's stages and metrics: values with intervals, under the names of results files.

The measure of gains and gaps is the first metric of the paper's evaluation (a share of right answers, or F1); names
that speak of accuracy count answers that are right.

==================================  ==========================================================================
name                                meaning
==================================  ==========================================================================
``grpo/gain_over_sft``              after reinforcement minus before it, greedily, on the tasks both played
``sft/pass_at_1``, ``sft/pass_at_8``  what there is to elicit (:mod:`kit.evaluate.five.pass_at_k`)
``grpo/gain_over_direct``           the agent minus the same base asked directly
``direct/accuracy``                 the base asked directly
``grpo/observation_gap_swapped``    its own observations minus another episode's
``grpo/observation_gap_blank``      its own observations minus blank ones
``grpo/calls_per_episode``          calls of tools, however they end
``grpo/calls_of_…``                 calls of one tool an episode
``grpo/calls_that_succeed``         share of calls
``grpo/accuracy_own``               with its own observations, beside
``grpo/accuracy_without_tools``     with its tools switched off
``grpo/calls_at_first``, ``…_at_last``  calls an episode in the first and last tenth of the training
``grpo/zero_spread_groups``         share of groups whose rewards were all equal
``grpo/entropy_at_first``, ``…_at_last``  nats a token in the first and last tenth of the training
``grpo/weight_change``              norm of the weights' change over their norm
==================================  ==========================================================================

A subset's value has the subset's name at its end: ``grpo/gain_over_sft_hard``.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from itertools import chain
from pathlib import Path
from statistics import fmean
from typing import Any

from kit.evaluate.accuracy import accuracy
from kit.evaluate.five import BLANK, OWN, SAMPLES, STAGES, SWAPPED, TOOLLESS, TRIES
from kit.evaluate.five.pass_at_k import pass_interval
from kit.evaluate.intervals import Interval, Point, clustered_mean, contrast, mean_over_seeds, proportion_over_seeds
from kit.evaluate.outcomes import Evaluation, Metrics

UNITS = {"zero_spread_groups": 0.05, "entropy": 0.01, "calls": 0.1, "weight_change": 1e-4}
"""The smallest difference between seeds that counts, of what is one number a seed."""


def answers(
    evaluation: Evaluation[Any],
    runs: Sequence[str | Path],
    training: Sequence[Sequence[Mapping[str, Any]]],
    changes: Sequence[float] = (),
    tries: int = TRIES,
) -> dict[str, Metrics]:
    """Answer the five questions over runs that differ in their seed only: :func:`answered` of what they saved.

    Args:
        evaluation: the paper's.
        runs: folders of runs in which :func:`kit.evaluate.five.play.play_all` was called, one a seed.
        training: the rows of each run's ``metrics.jsonl``.
        changes: each run's change of weights; empty: not told.
        tries: how often each task was tried for pass@k.

    Raises:
        FileNotFoundError: a stage is missing; names it.
        ValueError: no training rows for each run, or stages without a task in common.
    """
    if len(training) != len(runs) or (changes and len(changes) != len(runs)):
        raise ValueError(f"{len(runs)} runs, {len(training)} trainings, {len(changes)} changes: one of each for a run")
    stages = {name: _load(evaluation, runs, name) for name in ("sft", "grpo", *STAGES)}
    asked = [run for run in runs if (Path(run) / "stages" / "direct.json").is_file()] or runs[:1]
    stages["direct"] = [o for run in asked for o in evaluation.load_outcomes(run, "direct", [*runs].index(run))]
    numbers = [own_numbers(evaluation, run, *changes[k : k + 1]) for k, run in enumerate(runs)]
    return answered(evaluation, stages, dict(enumerate(training)), dict(enumerate(numbers)), tries)


def own_numbers(evaluation: Evaluation[Any], run: str | Path, change: float | None = None) -> dict[str, Any]:
    """Read what the answers need of a run besides outcomes and its training's rows, as JSON.

    Args:
        evaluation: the paper's.
        run: the run's folder.
        change: of its weights by the training; None: not told.

    Returns:
        ``calls``: tool → how a call ended → the tasks of stage ``grpo-own`` it was called in, one for each call; and
        ``weight_change``.
    """
    made: dict[str, dict[str, list[str]]] = {}
    for outcome, calls in evaluation.load_calls(run, OWN):
        for call in calls:
            made.setdefault(call.tool, {}).setdefault(call.status, []).append(outcome.task)
    return {"calls": made} | ({} if change is None else {"weight_change": change})


def answered(
    evaluation: Evaluation[Any],
    stages: Mapping[str, Sequence[Any]],
    training: Mapping[int, Sequence[Mapping[str, Any]]],
    numbers: Mapping[int, Mapping[str, Any]],
    tries: int = TRIES,
) -> dict[str, Metrics]:
    """Answer the five questions from outcomes: stage → name → value with its interval.

    The base asked directly (stage ``direct``) has no training seed: of one seed, it stands for those that have none.

    Args:
        evaluation: the paper's.
        stages: stage → its outcomes: ``sft``, ``grpo``, ``direct`` and :data:`kit.evaluate.five.STAGES`.
        training: seed → the rows of its training's metrics.
        numbers: seed → :func:`own_numbers` of its run.
        tries: how often each task was tried for pass@k.

    Raises:
        ValueError: stages without a task in common.
    """
    asked = _for_every_seed(stages["direct"], sorted(training))
    grpo: Metrics = {}
    for name, after, before in (
        ("gain_over_sft", "grpo", stages["sft"]),
        ("gain_over_direct", "grpo", asked),
        ("observation_gap_swapped", OWN, stages[SWAPPED]),
        ("observation_gap_blank", OWN, stages[BLANK]),
    ):
        for ending, some in _subsets(evaluation, stages[after]):
            if (found := difference(some, before, evaluation.metrics[0].field)) is not None:
                grpo[name + ending] = found
        if name not in grpo:
            raise ValueError(f"{name}: the two stages have no task in common; play both on the same tasks")
    for name, stage in (("accuracy_own", OWN), ("accuracy_without_tools", TOOLLESS)):
        grpo |= {name + ending: accuracy(some) for ending, some in _subsets(evaluation, stages[stage])}
    grpo |= _calls(evaluation, stages[OWN], {seed: found["calls"] for seed, found in numbers.items()})
    changes = [found["weight_change"] for found in numbers.values() if "weight_change" in found]
    grpo |= _signal([*training.values()], changes)
    passed = {
        f"pass_at_{k}{ending}": pass_interval(some, k)
        for k in dict.fromkeys((1, tries))
        for ending, some in _subsets(evaluation, stages[SAMPLES])
    }
    return {"direct": {"accuracy": accuracy(asked)}, "sft": passed, "grpo": grpo}


def difference(after: Sequence[Any], before: Sequence[Any], field: str) -> Interval | None:
    """Mean of ``after`` minus ``before`` over the tasks that both have, paired; None if there is none.

    Args:
        after: outcomes of one policy, of any number of seeds.
        before: outcomes of the other, of the same seeds.
        field: the outcomes' attribute that is compared.
    """
    earlier = {(o.seed, o.task): float(getattr(o, field)) for o in before}
    points = [
        Point(o.seed, o.image, float(getattr(o, field)) - earlier[o.seed, o.task])
        for o in after
        if (o.seed, o.task) in earlier
    ]
    return _mean(points, 1.0) if points else None


def _mean(points: Sequence[Point], span: float | None) -> Interval:
    """A mean over images, and over seeds where there are several."""
    if len({point.seed for point in points}) > 1:
        return contrast({"mean": points}, {"mean": 1.0})
    return clustered_mean([point.value for point in points], [point.image for point in points], span)


def _subsets(evaluation: Evaluation[Any], outcomes: Sequence[Any]) -> Iterator[tuple[str, list[Any]]]:
    """Ending of the names and the outcomes it covers: all of them first, then the paper's slices."""
    yield "", list(outcomes)
    yield from ((f"_{ending}", some) for ending, some in evaluation.slices(outcomes) if ending != "all")


def _load(evaluation: Evaluation[Any], runs: Sequence[str | Path], stage: str) -> list[Any]:
    return [o for seed, run in enumerate(runs) for o in evaluation.load_outcomes(run, stage, seed)]


def _for_every_seed(asked: Sequence[Any], seeds: Sequence[int]) -> list[Any]:
    """The base's direct answers for every seed: its own, or the first's where it has none."""
    own = {seed: [o for o in asked if o.seed == seed] for seed in sorted({o.seed for o in asked})}
    first = next(iter(own.values()), [])
    return [o for seed in seeds for o in own.get(seed) or (replace(o, seed=seed) for o in first)]


def _calls(
    evaluation: Evaluation[Any], outcomes: Sequence[Any], calls: Mapping[int, Mapping[str, Mapping[str, Sequence[str]]]]
) -> Metrics:
    """Calls an episode, by subset and by tool, and the share that succeeds."""
    made = Counter(
        (seed, task, tool) for seed, of in calls.items() for tool, ends in of.items() for task in chain(*ends.values())
    )
    tools = sorted({tool for _, _, tool in made})

    def count(some: Sequence[Any], *of: str) -> Interval:
        values = [sum(made[o.seed, o.task, tool] for tool in of) for o in some]
        return _mean([Point(o.seed, o.image, value) for o, value in zip(some, values, strict=True)], None)

    found = {f"calls_per_episode{ending}": count(some, *tools) for ending, some in _subsets(evaluation, outcomes)}
    for tool in tools:
        found[f"calls_of_{re.sub('[^a-z0-9]+', '_', tool.lower())}"] = count(outcomes, tool)
    image = {o.task: o.image for o in outcomes}
    ended = [
        Point(seed, image[task], float(status == "ok"))
        for seed, of in calls.items()
        for ends in of.values()
        for status, tasks in ends.items()
        for task in tasks
    ]
    return found | ({"calls_that_succeed": proportion_over_seeds(ended)} if ended else {})


def _signal(training: Sequence[Sequence[Mapping[str, Any]]], changes: Sequence[float]) -> Metrics:
    """Whether there was something to learn from: one number a seed, so with several seeds an interval over them."""
    found: Metrics = {}
    flat = [fmean(row["frac_zero_std_groups"] for row in rows) for rows in training]
    found["zero_spread_groups"] = mean_over_seeds(flat, UNITS["zero_spread_groups"])
    for column in ("entropy", "calls"):
        if all(column in row for rows in training for row in rows):
            for name, last in ((f"{column}_at_first", False), (f"{column}_at_last", True)):
                found[name] = mean_over_seeds([_end(rows, column, last) for rows in training], UNITS[column])
    if changes:
        found["weight_change"] = mean_over_seeds(changes, UNITS["weight_change"])
    return found


def _end(rows: Sequence[Mapping[str, Any]], column: str, last: bool) -> float:
    """Mean of a column over the first or last tenth of the steps, at least one."""
    n = max(1, len(rows) // 10)
    return fmean(float(row[column]) for row in (rows[-n:] if last else rows[:n]))

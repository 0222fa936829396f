"""AGILE's metrics (section 4.2, Tables 1 and 2), each with a 95 % interval.

==========  ===================================================================================
metric      meaning
==========  ===================================================================================
``acc``     share of puzzles whose answer names every piece in its place (Acc, Table 1)
``score``   mean share of pieces in their place (Score, Table 2)
``turns``   mean turns of an episode, the answer included
``tokens``  mean tokens the policy sampled in an episode
==========  ===================================================================================

Names end in the grid, and in the level where there is one: ``acc_2x2``, ``acc_2x2_L0``.

Departure: an answer that isn't each label exactly once is malformed, and its Score is 0. The paper
doesn't say; without this rule ``A, A, A, A`` would earn a quarter for nothing.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from math import factorial
from typing import Any

from kit.episode import Episode
from kit.evaluate import outcomes as stages
from kit.evaluate.outcomes import Interval, Metrics
from kit.papers.agile.reported import AGILE
from kit.protocol import parse_labels

BESIDE = {"untrained": AGILE["base"], "sft": AGILE["sft"], "grpo": AGILE["grpo"]}
"""The columns of the tables, and the paper's figures for each."""

HEADLINES = {
    "acc_2x2": "2×2 solved",
    "score_2x2": "2×2 pieces in place",
    "acc_3x3": "3×3 solved",
    "score_3x3": "3×3 pieces in place",
}
"""Metrics that the README shows, and what to call them."""


@dataclass(frozen=True)
class Outcome:
    """What one played puzzle contributes to the tables.

    Attributes:
        task, picture: ids; puzzles of one picture are related.
        m, level: pieces a side; pieces in place at the start.
        right: whether every piece ended in its place.
        score: share of pieces in their place.
        reason: a key of :data:`kit.evaluate.outcomes.REASONS`.
        turns, tokens: turns played, tokens sampled.
        seed: of the training run that made the policy.
    """

    task: str
    picture: str
    m: int
    level: int
    right: bool
    score: float
    reason: str
    turns: int
    tokens: int
    seed: int = 0


def outcome(episode: Episode, seed: int = 0) -> Outcome:
    """The outcome of one finished jigsaw episode.

    Raises:
        ValueError: the episode is still running.
    """
    task, target = episode.task, tuple(episode.task.target)
    if episode.ended == "running":
        raise ValueError(f"episode {task.id} is still running: only ended episodes have an outcome")
    labels = parse_labels(episode.answer) if episode.answer is not None else None
    whole = labels is not None and sorted(labels) == sorted(target)
    placed = sum(a == b for a, b in zip(labels or (), target, strict=False)) if whole else 0
    right = placed == len(target)
    reason: str = episode.ended
    if episode.ended == "answer":
        reason = "solved" if right else "wrong" if whole else "malformed"
    return Outcome(
        task=task.id,
        picture=str(task.meta.get("source") or task.id),
        m=int(task.meta["m"]),
        level=int(task.meta["level"]),
        right=right,
        score=placed / len(target),
        reason=reason,
        turns=len(episode.turns),
        tokens=sum(len(turn.ids) for turn in episode.turns),
        seed=seed,
    )


def evaluate_outcomes(played: Sequence[Outcome]) -> Metrics:
    """The same from outcomes. One seed: intervals say what other pictures would change; several: other seeds too.

    Raises:
        ValueError: no outcomes.
    """
    if not played:
        raise ValueError("nothing to evaluate: 0 episodes; play at least one puzzle")
    metrics: Metrics = {}
    for name, some in _slices(played):
        for metric in ("acc", "score", "turns", "tokens"):
            metrics[f"{metric}_{name}"] = _interval(metric, some)
    return metrics


def _slices(played: Sequence[Outcome]) -> Iterator[tuple[str, list[Outcome]]]:
    for m in sorted({o.m for o in played}):
        grid = [o for o in played if o.m == m]
        yield f"{m}x{m}", grid
        for level in sorted({o.level for o in grid}):
            yield f"{m}x{m}_L{level}", [o for o in grid if o.level == level]


def _interval(metric: str, some: Sequence[Outcome]) -> Interval:
    values = [float(getattr(o, "right" if metric == "acc" else metric)) for o in some]
    return stages.interval(metric, values, some, share=metric in ("acc", "score"), right=metric == "acc")


def random_baseline(m: int) -> dict[str, float]:
    """Acc and Score of an arrangement drawn uniformly: 1/n! and 1/n for n = m² pieces, exactly.

    Every piece is in its place in (n−1)! of n! arrangements, so n pieces contribute 1/n each to a sum over n.
    """
    n = m * m
    return {"acc": 1 / factorial(n), "score": 1 / n}


def summary(metrics: Mapping[str, Interval], name: str = "acc_2x2") -> str:
    """One metric as a line of text: value, interval, number of episodes."""
    return stages.summary(metrics, name)


def table(results: Mapping[str, Any], metrics: Sequence[str] = ("acc", "score")) -> str:
    """Stages side by side with intervals, and beside each the paper's number (in brackets).

    Args:
        results: the content of a ``results.json``, or ``{"untrained": evaluate(…), "sft": …, "grpo": …}``.
    """
    note = "value [95 % interval] (the paper's, Qwen2.5-VL-7B: Tables 1 and 2); random: exact"
    return stages.table(results, BESIDE, metrics, note, ("random", _chance))


def _chance(name: str) -> str:
    """What a random arrangement has of a metric, if it has any."""
    metric, grid = name.split("_")[:2]
    return f"{random_baseline(int(grid[0]))[metric]:.3f}" if metric in ("acc", "score") else ""


_evaluation = stages.Evaluation("agile", Outcome, outcome, evaluate_outcomes)
outcomes, evaluate, failures = _evaluation.outcomes, _evaluation.evaluate, _evaluation.failures
write_stage, read_outcomes, read_stage = _evaluation.write_stage, _evaluation.read_outcomes, _evaluation.read_stage

"""The evaluation of a task whose answers are right or wrong; accuracy and answers of any paper's outcomes."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

from kit.episode import Episode
from kit.evaluate.intervals import Interval
from kit.evaluate.outcomes import Evaluation, Metric, Outcome, reason, source_image

ANSWERED = ("solved", "wrong", "malformed")
"""Keys of :data:`kit.evaluate.outcomes.REASONS`: the ways of ending with an answer."""


def answered(outcomes: Sequence[Outcome]) -> int:
    """Count the episodes that ended with an answer, right or not."""
    return sum(o.reason in ANSWERED for o in outcomes)


@dataclass(frozen=True)
class _Solved:
    image: str
    reason: str
    seed: int
    solved: bool


def accuracy(outcomes: Sequence[Outcome]) -> Interval:
    """Share of episodes that ended with the right answer: one name for every paper, ``accuracy`` in results files.

    Raises:
        ValueError: no outcomes.
    """
    if not outcomes:
        raise ValueError("accuracy of 0 episodes: play at least one task")
    some = [_Solved(o.image, o.reason, o.seed, o.reason == "solved") for o in outcomes]
    return Metric("accuracy", "solved", "binary").interval(some)


@dataclass(frozen=True)
class AccuracyOutcome:
    """The result of one episode that is right or wrong.

    Attributes:
        task: id of the task.
        image: :func:`kit.evaluate.outcomes.source_image` of the task.
        right: whether it ended with the right answer.
        reason: a key of :data:`kit.evaluate.outcomes.REASONS`.
        turns: turns played, the answer included.
        tools: actions other than the answer.
        seed: seed of the training run that made the policy.
    """

    task: str
    image: str
    right: bool
    reason: str
    turns: int
    tools: int
    seed: int = 0


def accuracy_evaluation(paper: str, is_right: Callable[[Episode, Any], bool]) -> Evaluation[AccuracyOutcome]:
    """Make the evaluation of a task whose answers are right or wrong: accuracy, turns and calls over all episodes.

    Args:
        paper: the paper's name in :mod:`kit.papers.registry`; empty: a notebook's own, which is no paper's.
        is_right: a finished episode and its task's target → whether it ended with the right answer.
    """

    def outcome(episode: Episode, seed: int = 0) -> AccuracyOutcome:
        task, right = episode.task, is_right(episode, episode.task.target)
        ended = reason(episode, right)
        return AccuracyOutcome(task.id, source_image(task), right, ended, len(episode.turns), episode.calls, seed)

    return Evaluation(
        paper,
        AccuracyOutcome,
        outcome,
        is_right,
        lambda outcomes: [("all", list(outcomes))],
        (Metric("acc", "right", "binary"), Metric("turns", "turns", "count"), Metric("tools", "tools", "count")),
        headlines={"acc_all": "accuracy"},
        tabled=("acc", "turns", "tools"),
    )

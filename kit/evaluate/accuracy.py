"""The evaluation of a task whose answers are right or wrong; accuracy and answers of any paper's outcomes."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from kit.episode import Episode
from kit.evaluate.intervals import Interval
from kit.evaluate.outcomes import Evaluation, Metric, Outcome, slices_by

ANSWERED = ("solved", "wrong", "malformed")
"""Keys of :data:`kit.evaluate.outcomes.REASONS`: the ways of ending with an answer."""


def answered(outcomes: Sequence[Outcome]) -> int:
    """Count the episodes that ended with an answer, right or not."""
    return sum(o.reason in ANSWERED for o in outcomes)


def accuracy(outcomes: Sequence[Outcome]) -> Interval:
    """Share of episodes that ended with the right answer: one name for every paper, ``accuracy`` in results files.

    Raises:
        ValueError: no outcomes.
    """
    if not outcomes:
        raise ValueError("accuracy of 0 episodes: play at least one task")
    return Metric("accuracy", "correct", "binary").interval(outcomes)


def accuracy_evaluation(paper: str, is_right: Callable[[Episode, Any], bool]) -> Evaluation[Outcome]:
    """Make the evaluation of a task whose answers are right or wrong: accuracy, turns and calls over all episodes.

    Args:
        paper: the paper's name in :mod:`papers.registry`; empty: a notebook's own, which is no paper's.
        is_right: a finished episode and its task's target → whether it ended with the right answer.
    """

    def outcome(episode: Episode, seed: int = 0) -> Outcome:
        return Outcome.of(episode, is_right(episode, episode.task.target), seed)

    return Evaluation(
        paper,
        Outcome,
        outcome,
        is_right,
        slices_by(everything="all"),
        (Metric("acc", "correct", "binary"), Metric("turns", "turns", "count"), Metric("tools", "tool_calls", "count")),
        headlines={"acc_all": "accuracy"},
        tabled=("acc", "turns", "tools"),
    )

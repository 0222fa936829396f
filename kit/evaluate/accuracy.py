"""The evaluation of a task whose answers are right or wrong."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from kit.episode import Episode
from kit.evaluate.outcomes import Evaluation, Metric


@dataclass(frozen=True)
class AccuracyOutcome:
    """The result of one episode that is right or wrong.

    Attributes:
        task: id of the task.
        image: id of its source image (``meta["source"]``, else the task's id); tasks about one image are related.
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
        paper: the paper's name in :mod:`kit.papers.registry`.
        is_right: a finished episode and its task's target → whether it ended with the right answer.
    """

    def outcome(episode: Episode, seed: int = 0) -> AccuracyOutcome:
        if episode.ended == "running":
            raise ValueError(f"episode {episode.task.id} is still running: only ended episodes have an outcome")
        right, source = is_right(episode, episode.task.target), episode.task.meta.get("source")
        reason = episode.ended if episode.ended != "answer" else "solved" if right else "wrong"
        name = episode.task.id
        return AccuracyOutcome(name, str(source or name), right, reason, len(episode.turns), episode.calls, seed)

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

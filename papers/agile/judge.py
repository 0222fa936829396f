"""Judge an answer of the general-vision experiment, whose tasks are questions and puzzles: each by its own rule."""

from __future__ import annotations

from collections.abc import Sequence

from kit.episode import Episode
from papers.agile import questions, reward


def is_right(episode: Episode, target: Sequence[str]) -> bool:
    """Check that a question's answer is right, or that a puzzle's names every piece in its place."""
    rule = questions.is_right if questions.is_question(episode.task) else reward.is_right
    return rule(episode, target)

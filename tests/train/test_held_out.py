"""Held-out tasks are judged by the reward."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest

from kit.data.store import save_tasks
from kit.episode import Episode, Score, Task
from kit.policy import Policy
from kit.rewards.base import per_episode
from kit.train.held_out import held_out_accuracy


def play(policy: Policy, tasks: Sequence[Task]) -> list[Episode]:
    return [Episode(task, (1,), ended="answer") for task in tasks]


def test_accuracy_is_the_share_that_the_reward_calls_correct(tmp_path: Path) -> None:
    """Four of eight tasks, evenly spaced: numbers 0, 2, 4, 6; the reward calls those below 5 correct, 3 of 4."""
    save_tasks(tmp_path / "test.jsonl", [Task(str(k), (), "?", k) for k in range(8)])
    reward = per_episode(lambda episode, target: Score(9.0, {}, correct=target < 5))
    watched = held_out_accuracy([str(tmp_path / "test.jsonl")], 4, play, reward)
    nobody: Any = None
    assert watched is not None and watched(nobody) == {"held_out_accuracy": 0.75}


def test_a_reward_that_calls_nothing_correct_or_wrong_is_named(tmp_path: Path) -> None:
    save_tasks(tmp_path / "test.jsonl", [Task("seven", (), "?", 7)])
    watched = held_out_accuracy([str(tmp_path / "test.jsonl")], 1, play, per_episode(lambda *_: Score(1.0, {})))
    nobody: Any = None
    with pytest.raises(ValueError, match=r"held-out task seven: .* Score.correct"):
        assert watched is not None and watched(nobody)

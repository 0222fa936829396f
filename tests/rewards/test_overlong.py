"""Overlong shaping: eq. 13 of DAPO by hand, on lengths and on episodes."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import pytest

from kit.episode import Ended, Episode, Score, Task, Turn
from kit.rewards.base import per_episode
from kit.rewards.overlong import OVERLONG, overlong, total_without_overlong, with_overlong
from kit.rollout import RolloutConfig


@pytest.mark.parametrize(
    ("length", "expected"),
    # L_max = 20,480 and L_cache = 4,096, as DAPO has them: up to 16,384 nothing, then 1/4,096 a token, at the end −1.
    [(0, 0.0), (16384, 0.0), (16385, -1 / 4096), (17408, -0.25), (18432, -0.5), (20480, -1.0), (20481, -1.0)],
)
def test_golden_punishments_at_the_paper_s_lengths(length: int, expected: float) -> None:
    assert overlong(length, longest=20480, buffer=4096) == expected


def episode(sampled: int, observed: int = 0, prompt: int = 5, ended: Ended = "answer") -> Episode:
    """An episode of two turns: ``sampled`` tokens of the policy's, ``observed`` of the environment's between them."""
    first, last = sampled // 2, sampled - sampled // 2
    turns = (
        Turn((1,) * first, (0.0,) * first, "", observation_ids=(2,) * observed),
        Turn((1,) * last, (0.0,) * last, ""),
    )
    return Episode(Task("t", (), "?", "A"), (0,) * prompt, turns, ended)


def right(episode: Episode, target: Any) -> Score:
    return Score(1.0, {"accuracy": 1.0}, (0.5, 0.5), correct=True)


def shaped(episodes: Sequence[Episode], config: RolloutConfig, buffer: int) -> list[Score]:
    return with_overlong(per_episode(right), config.most_tokens, buffer)(episodes, "A")


@pytest.mark.parametrize(
    "config",
    [
        RolloutConfig(max_new_tokens=10, max_episode_tokens=25),  # of which 5 are the prompt
        RolloutConfig(max_new_tokens=10, max_response_tokens=20),
    ],
)
def test_whatever_follows_the_prompt_counts_and_only_the_total_falls(config: RolloutConfig) -> None:
    episodes = [episode(16), episode(10, 7), episode(18), episode(12, 8), episode(6, ended="tokens")]
    scores = shaped(episodes, config, 4)
    assert [score.parts[OVERLONG] for score in scores] == [0.0, -0.25, -0.5, -1.0, -1.0]
    assert [score.total for score in scores] == [1.0, 0.75, 0.5, 0.0, 0.0]
    assert all(score.parts["accuracy"] == 1.0 and score.correct for score in scores)
    assert all(score.turns == (0.5, 0.5) and total_without_overlong(score) == 1.0 for score in scores)


def test_without_a_buffer_the_reward_is_the_same_object() -> None:
    reward = per_episode(right)
    assert with_overlong(reward, RolloutConfig().most_tokens, 0) is reward

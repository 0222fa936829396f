"""The contract of rewards: a whole group's episodes in, a score for each out.

Some rewards of an episode depend on its siblings (a difficulty that is the group's mean accuracy). So a trainer asks
for the scores of whole groups; a reward that looks at one episode alone is lifted by :func:`per_episode`.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from typing import Any

from kit.episode import Episode, Score

Reward = Callable[[Episode, Any], Score]
"""From one finished episode and its task's target to its score: pure, and total on any text."""

GroupReward = Callable[[Sequence[Episode], Any], list[Score]]
"""From all finished episodes of one task and its target to a score for each, in order."""


def per_episode(reward: Reward, workers: int = 1) -> GroupReward:
    """Lift a reward of one episode to a reward of a group: each episode is scored for itself.

    Args:
        reward: the reward.
        workers: episodes scored at once, in threads: for a reward that asks a judge or a service.
    """

    def scores(episodes: Sequence[Episode], target: Any) -> list[Score]:
        with ThreadPoolExecutor(workers) as pool:
            return list(pool.map(lambda episode: reward(episode, target), episodes))

    return scores

"""CodeDance's experiment, tied together: which questions, played how, under which reward."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass

from kit.episode import Task
from kit.papers.codedance.env import CodeDanceEnv
from kit.papers.codedance.reward import make_reward
from kit.rewards.base import GroupReward
from kit.rollout import Environment
from kit.sandbox import CONFINED, PLOTTING, Sandbox
from kit.sandbox.limits import READABLE_FIGURES
from kit.train.experiment import GRPOTraining, Rollouts
from kit.train.experiment import play_greedily as play_greedily

EVALUATION_TURNS = 10
"""Turns of an episode that is measured; one that is trained on has 6 (section 6.1, the release's configuration)."""


@dataclass(frozen=True)
class Play(Rollouts[Sandbox]):
    """Limits of an episode, and how questions are told. Defaults are the paper's: 6 turns in training, 10,240 tokens
    of prompt and as many of response, 2,048 tokens a turn (released evaluation).

    Attributes:
        prompt: ``brief`` or ``full`` (:data:`kit.papers.codedance.env.PROMPTS`; ours: brief for the tiny model).
    """

    max_turns: int = 6
    max_new_tokens: int = 2048
    max_episode_tokens: int = 20480
    prompt: str = "full"

    def environment(self, tools: Sandbox) -> Environment:
        """Make an environment whose code the sandbox runs."""
        return CodeDanceEnv(tools, self.prompt)


def sandbox(allow_unsafe: bool = False) -> Sandbox:
    """A sandbox with the paper's limits: 15 s a call, figures at 150 dots an inch, images of a size a model reads.

    Args:
        allow_unsafe: run code where nothing confines it.
    """
    return Sandbox(READABLE_FIGURES, preload=(*PLOTTING, "scipy.ndimage"), require=CONFINED, allow_unsafe=allow_unsafe)


@dataclass(frozen=True)
class Training(GRPOTraining):
    """GRPO on questions, told in plain values.

    Attributes:
        reward: name of the reward (:data:`kit.papers.codedance.reward.REWARDS`), with its advantage in ``settings``.
        sharpness: how sharply the price of a call turns.
        offset: how much calls cost in a group that knows.
    """

    play: Play
    reward: str = "adaptive"
    sharpness: float = 8.0
    offset: float = 0.2

    def group_reward(self) -> GroupReward:
        """The reward of that name, group by group."""
        return make_reward(self.reward, self.sharpness, self.offset)

    def held_out_reward(self) -> GroupReward:
        """The outcome alone: the others depend on a group, and held-out tasks are played once."""
        return make_reward("outcome")

    def subset(self, task: Task) -> str:
        """The level of a drawn task: on which questions an agent calls is what this paper is about."""
        return str(task.meta.get("level", ""))

    @contextmanager
    def tools(self) -> Iterator[Sandbox]:
        """Open a sandbox with the paper's limits."""
        with sandbox(self.allow_unsafe) as box:
            yield box

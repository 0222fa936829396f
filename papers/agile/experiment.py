"""AGILE's experiment, tied together: which puzzles, played how, by which model.

The notebooks 11–15 share what is here; each piece it ties (environment, loop, rewards, trainers,
evaluation) lives in its own module.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from kit.chat import Chat
from kit.environment import OnNoAction
from kit.episode import Episode, Score, Task
from kit.rewards.base import GroupReward, per_episode
from kit.rollout import Environment
from kit.train.checkpoint import trained_model
from kit.train.experiment import GRPOTraining, Rollouts
from kit.train.experiment import play_greedily as play_greedily
from papers.agile.env import JigsawEnv
from papers.agile.expert import ScriptedExpert
from papers.agile.reward import RewardConfig, score
from turn_sandbox import Sandbox


@dataclass(frozen=True)
class Play(Rollouts[Sandbox]):
    """Limits of an episode, and how puzzles are told. Defaults are the paper's (Table 5: 5 turns, 2,048 tokens each,
    8,192 tokens of prompt and 20,000 of response, 28,192 together).

    Attributes:
        prompt: ``brief`` or ``full`` (:data:`papers.agile.env.PROMPTS`; ours: brief for the tiny model).
        on_no_action: ``end`` or ``tell`` (:data:`kit.environment.OnNoAction`; ours: end, algorithm 1 tells).
        deed: pay a right answer only if the pieces lie so, too (:class:`papers.agile.reward.RewardConfig`; ours).
    """

    max_turns: int = 5
    max_new_tokens: int = 2048
    max_episode_tokens: int = 28192
    max_response_tokens: int = 20000
    prompt: str = "full"
    on_no_action: OnNoAction = "end"
    deed: bool = False

    def environment(self, tools: Sandbox) -> Environment:
        """Make an environment whose code the sandbox runs."""
        return JigsawEnv(tools, prompt=self.prompt, on_no_action=self.on_no_action)

    def score(self, episode: Episode, target: Sequence[str]) -> Score:
        """Eq. 6 for one episode; this budget of turns is eq. 5's step_max."""
        return score(episode, target, RewardConfig(step_max=self.max_turns, deed=self.deed))


@dataclass(frozen=True)
class Training(GRPOTraining):
    """GRPO on puzzles, told in plain values."""

    play: Play

    def group_reward(self) -> GroupReward:
        """Eq. 6, episode by episode."""
        return per_episode(self.play.score)


def turn_tokens(chat: Chat, tasks: Sequence[Task]) -> list[int]:
    """Count the tokens of each of the expert's turns on puzzles: where every piece is or belongs, and one action."""
    played = [ScriptedExpert(task, np.random.default_rng(0), 1) for task in tasks]
    return [len(chat.text(turn)) for expert in played for turn in expert.turns]


def trained(run: str | Path, stage: str) -> Path:
    """The model that a stage (``sft``, ``grpo``) of a run ended with.

    Raises:
        FileNotFoundError: the stage hasn't finished, with the command that runs it.
    """
    return trained_model(run, stage, {"sft": 12, "grpo": 13}[stage])


def first_per_level(tasks: Sequence[Task], n: int) -> list[Task]:
    """The first ``n`` tasks of each level of difficulty, easiest level last."""
    levels = sorted({task.meta["level"] for task in tasks})
    return [task for level in levels for task in [t for t in tasks if t.meta["level"] == level][:n]]

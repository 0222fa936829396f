"""AGILE's experiment, tied together: which puzzles, played how, by which model.

The notebooks 11–14 share what is here; each piece it ties (environment, loop, rewards, trainers,
evaluation) lives in its own module.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from kit import play
from kit.chat import Chat
from kit.envs.agile import JigsawEnv
from kit.episode import Episode, Task
from kit.play import Pace, load
from kit.policy import Policy
from kit.policy.hf import HFPolicy
from kit.sandbox import Sandbox
from kit.seeds import Seed

__all__ = ["Play", "first_per_level", "load", "play_greedily", "trained"]


@dataclass(frozen=True)
class Play(Pace):
    """How puzzles are played. Defaults are the paper's (Table 5: 8,192 tokens of prompt and 20,000 of response).

    Attributes:
        prompt: ``brief`` or ``full`` (:data:`kit.envs.agile.PROMPTS`; ours: brief for the tiny model).
    """

    prompt: str = "full"

    def __call__(
        self, policy: Policy, chat: Chat, box: Sandbox, tasks: Sequence[Task], temperature: float, seed: Seed = 0
    ) -> list[Episode]:
        """Play each task once."""
        return self.play(
            policy, chat, tasks, lambda: JigsawEnv(box, turns=self.turns, prompt=self.prompt), temperature, seed
        )


def play_greedily(model: Any, chat: Chat, box: Sandbox, tasks: Sequence[Task], how: Play) -> list[Episode]:
    """What a model does when it always says what it holds most likely: how results are measured."""
    return how(HFPolicy(model, chat), chat, box, tasks, temperature=0.0)


def trained(run: str | Path, stage: str) -> Path:
    """The model that a stage (``sft``, ``grpo``) of a run ended with.

    Raises:
        FileNotFoundError: the stage hasn't finished, with the command that runs it.
    """
    return play.trained(run, stage, {"sft": 12, "grpo": 13}[stage])


def first_per_level(tasks: Sequence[Task], n: int) -> list[Task]:
    """The first ``n`` tasks of each level of difficulty, easiest level last."""
    levels = sorted({task.meta["level"] for task in tasks})
    return [task for level in levels for task in [t for t in tasks if t.meta["level"] == level][:n]]

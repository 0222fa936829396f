"""AGILE's experiment, tied together: which puzzles, played how, by which model.

The notebooks 11–14 share what is here; each piece it ties (environment, loop, rewards, trainers,
evaluation) lives in its own module.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from kit.chat import Chat
from kit.envs.agile import PROTOCOL, JigsawEnv
from kit.episode import Episode, Task
from kit.policy import Params, Policy
from kit.policy.hf import HFPolicy
from kit.rollout import Budget, rollout
from kit.sandbox import Sandbox
from kit.tiny import load_model


@dataclass(frozen=True)
class Play:
    """How puzzles are played. Defaults are the paper's (Table 5) unless marked ours.

    Attributes:
        prompt: ``brief`` or ``full`` (:data:`kit.envs.agile.PROMPTS`; ours: brief for the tiny model).
        turns: turn budget, the answer included.
        max_new_tokens: of one turn.
        max_tokens: of an episode: 8,192 of prompt and 20,000 of response.
        workers: environments stepped at once (ours).
    """

    prompt: str = "full"
    turns: int = 5
    max_new_tokens: int = 2048
    max_tokens: int = 28192
    workers: int = 16

    def __call__(
        self, policy: Policy, chat: Chat, box: Sandbox, tasks: Sequence[Task], temperature: float, seed: int = 0
    ) -> list[Episode]:
        """Play each task once."""
        params = Params(PROTOCOL.stops, temperature, self.max_new_tokens, seed)

        def env() -> JigsawEnv:
            return JigsawEnv(box, turns=self.turns, prompt=self.prompt)

        return rollout(policy, chat, tasks, env, params, Budget(self.turns, self.max_tokens), self.workers)


def play_greedily(model: Any, chat: Chat, box: Sandbox, tasks: Sequence[Task], play: Play) -> list[Episode]:
    """What a model does when it always says what it holds most likely: how results are measured."""
    return play(HFPolicy(model, chat), chat, box, tasks, temperature=0.0)


def load(path: str | Path) -> tuple[Any, Chat]:
    """A model and its chat from one checkpoint folder or hub id.

    Raises:
        ValueError: the checkpoint is missing or of another family.
    """
    return load_model(path), Chat.from_pretrained(path)


def trained(run: str | Path, stage: str) -> Path:
    """The model that a stage (``sft``, ``grpo``) of a run ended with.

    Raises:
        FileNotFoundError: the stage hasn't finished, with the command that runs it.
    """
    folder = Path(run) / stage / "model"
    if not (folder / "config.json").is_file():
        number = {"sft": 12, "grpo": 13}[stage]
        raise FileNotFoundError(
            f"{folder}: stage {stage!r} of this run has not finished; "
            f"run notebook {number} first: python -m kit run {number} --name {Path(run).name}"
        )
    return folder


def first_per_level(tasks: Sequence[Task], n: int) -> list[Task]:
    """The first ``n`` tasks of each level of difficulty, easiest level last."""
    levels = sorted({task.meta["level"] for task in tasks})
    return [task for level in levels for task in [t for t in tasks if t.meta["level"] == level][:n]]

"""Playing tasks with a policy: what every paper's notebooks do with their own environment.

A paper's module in :mod:`kit.experiments` says which environment, with which defaults.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import torch

from kit.chat import Chat
from kit.envs.turns import ToolEnv
from kit.episode import Episode, Task
from kit.policy import Params, Policy
from kit.rollout import Budget, rollout
from kit.seeds import Seed
from kit.tiny import load_model


@dataclass(frozen=True)
class Pace:
    """How long episodes may be, and how many environments are stepped at once.

    Attributes:
        turns: turn budget, the answer included.
        max_new_tokens: of one turn.
        max_tokens: of an episode.
        workers: environments stepped at once.
    """

    turns: int = 5
    max_new_tokens: int = 2048
    max_tokens: int = 28192
    workers: int = 16

    def play(
        self,
        policy: Policy,
        chat: Chat,
        tasks: Sequence[Task],
        make_env: Callable[[], ToolEnv],
        temperature: float,
        seed: Seed = 0,
    ) -> list[Episode]:
        """Play each task once, each in an environment of its own."""
        params = Params(make_env().protocol.stops, temperature, self.max_new_tokens)
        return rollout(policy, chat, tasks, make_env, params, Budget(self.turns, self.max_tokens), self.workers, seed)


def load(path: str | Path) -> tuple[Any, Chat]:
    """A model to play with, and its chat, from one checkpoint folder or hub id: on a GPU, in bfloat16, if there is one.

    Raises:
        ValueError: the checkpoint is missing or of another family.
    """
    if not torch.cuda.is_available():
        return load_model(path), Chat.from_pretrained(path)
    model: Any = load_model(path, dtype=torch.bfloat16)
    return model.to("cuda"), Chat.from_pretrained(path)


def load_to_train(path: str | Path, lora_rank: int) -> tuple[Any, Chat]:
    """The same to train: weights that learn are float32; beside adapters, on a GPU, the others are bfloat16.

    The trainer moves them to where it computes.

    Raises:
        ValueError: the checkpoint is missing or of another family.
    """
    halved = lora_rank > 0 and torch.cuda.is_available()
    return load_model(path, dtype=torch.bfloat16 if halved else torch.float32), Chat.from_pretrained(path)


def trained(run: str | Path, stage: str, notebook: int) -> Path:
    """The model that a stage of a run ended with.

    Raises:
        FileNotFoundError: the stage hasn't finished, with the command that runs it.
    """
    folder = Path(run) / stage / "model"
    if not (folder / "config.json").is_file():
        raise FileNotFoundError(
            f"{folder}: stage {stage!r} of this run has not finished; "
            f"run notebook {notebook} first: python -m kit run {notebook} --name {Path(run).name}"
        )
    return folder

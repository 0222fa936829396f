"""AGILE's experiment, tied together: which puzzles, played how, by which model.

The notebooks 11–15 share what is here; each piece it ties (environment, loop, rewards, trainers,
evaluation) lives in its own module.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import torch

from kit.chat import Chat
from kit.data.store import load_tasks
from kit.environment import OnNoAction
from kit.episode import Episode, Score, Task
from kit.evaluate.five.shown import Around, as_it_is
from kit.papers.agile.env import JigsawEnv
from kit.papers.agile.expert import ScriptedExpert
from kit.papers.agile.reward import RewardConfig, is_right, score
from kit.policy import Policy
from kit.policy.hf import HFPolicy
from kit.rewards.base import per_episode
from kit.rollout import Environment, RolloutConfig, rollout
from kit.sandbox import CONFINED, Sandbox
from kit.seeding import Seed
from kit.train.checkpoint import load_for_training, trained_model
from kit.train.grpo import GRPOSettings, train_grpo
from kit.train.held_out import held_out_accuracy
from kit.train.progress import Watcher


@dataclass(frozen=True)
class Play(RolloutConfig):
    """Limits of an episode, and how puzzles are told. Defaults are the paper's (Table 5: 5 turns, 2,048 tokens each,
    8,192 tokens of prompt and 20,000 of response).

    Attributes:
        prompt: ``brief`` or ``full`` (:data:`kit.papers.agile.env.PROMPTS`; ours: brief for the tiny model).
        on_no_action: ``end`` or ``tell`` (:data:`kit.environment.OnNoAction`; ours: end, algorithm 1 tells).
    """

    max_turns: int = 5
    max_new_tokens: int = 2048
    max_episode_tokens: int = 28192
    prompt: str = "full"
    on_no_action: OnNoAction = "end"

    def __call__(
        self,
        policy: Policy,
        chat: Chat,
        box: Sandbox,
        tasks: Sequence[Task],
        temperature: float,
        seed: Seed = 0,
        around: Around = as_it_is,
    ) -> list[Episode]:
        """Play each task once.

        Args:
            policy: samples the turns.
            chat: its encoder.
            box: runs the code.
            tasks: the puzzles.
            temperature: of sampling; 0 is greedy.
            seed: of all that is sampled; or one an episode.
            around: changes what the policy is shown (:mod:`kit.evaluate.five.shown`).
        """

        def env() -> Environment:
            return around(JigsawEnv(box, prompt=self.prompt, on_no_action=self.on_no_action))

        return rollout(policy, chat, tasks, env, self, temperature, seed)

    def score(self, episode: Episode, target: Sequence[str]) -> Score:
        """Eq. 6 for one episode; this budget of turns is eq. 5's step_max."""
        return score(episode, target, RewardConfig(step_max=self.max_turns))


@dataclass(frozen=True)
class Training:
    """GRPO on puzzles, told in plain values: this process can do it, or others
    (:func:`kit.train.launch.launcher.launch`).

    Attributes:
        start: the checkpoint to start from.
        tasks: file of the puzzles.
        run_dir: gets what :func:`kit.train.grpo.train_grpo` writes.
        play: how puzzles are played.
        settings: of GRPO.
        held_out: files of held-out puzzles to look at on the way.
        held_out_tasks: puzzles of each, played before every step; 0: none.
        exports: steps after which the model so far is kept as well, as ``model-STEP``.
        threads: of each process.
        allow_unsafe: whether code may run where nothing confines it.
    """

    start: str
    tasks: str
    run_dir: str
    play: Play
    settings: GRPOSettings
    held_out: tuple[str, ...] = ()
    held_out_tasks: int = 0
    exports: tuple[int, ...] = ()
    threads: int = 1
    allow_unsafe: bool = False

    def sample(
        self, policy: Policy, chat: Chat, box: Sandbox, tasks: Sequence[Task], temperature: float, seed: Seed = 0
    ) -> list[Episode]:
        """Play each task once, as :class:`Play` does.

        Args:
            policy: samples the turns.
            chat: its encoder.
            box: runs the code.
            tasks: the tasks, in any order.
            temperature: of sampling; 0 is greedy.
            seed: of all that is sampled; or one an episode.
        """
        return self.play(policy, chat, box, tasks, temperature, seed)

    def score(self, episode: Episode, target: Any) -> Score:
        """Reward one episode."""
        return self.play.score(episode, target)

    def is_right(self, episode: Episode, target: Any) -> bool:
        """Check the answer of a held-out task's episode."""
        return is_right(episode, target)

    def __call__(self, watcher: Watcher | None = None) -> Path:
        """Train, or go on training; returns the folder of the trained model."""
        torch.set_num_threads(self.threads)
        vlm, chat = load_for_training(self.start, self.settings.lora_rank)
        tasks = load_tasks(self.tasks)
        with Sandbox(require=CONFINED, allow_unsafe=self.allow_unsafe) as box:

            def play(policy: Policy, tasks: Sequence[Task], *, seed: Sequence[int]) -> list[Episode]:
                return self.sample(policy, chat, box, tasks, self.settings.temperature, seed)

            def play_held_out(policy: Policy, tasks: Sequence[Task]) -> list[Episode]:
                return self.sample(policy, chat, box, tasks, temperature=0.0)

            return train_grpo(
                vlm,
                chat,
                tasks,
                play,
                per_episode(self.score),
                self.settings,
                self.run_dir,
                exports=self.exports,
                held_out=held_out_accuracy(self.held_out, self.held_out_tasks, play_held_out, self.is_right),
                watcher=watcher,
            )


def play_greedily(model: Any, chat: Chat, box: Sandbox, tasks: Sequence[Task], how: Play) -> list[Episode]:
    """Play tasks greedily (each token the likeliest): how results are measured.

    Args:
        model: a transformers model or its PEFT wrapper.
        chat: the model's chat encoder.
        box: the sandbox that runs its code.
        tasks: the tasks, each played once.
        how: limits of an episode and the prompt's name.
    """
    return how(HFPolicy(model, chat), chat, box, tasks, temperature=0.0)


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

"""Play a paper's tasks and train on them: what a paper's ``experiment.py`` fills in with its environment and reward.

A paper subclasses :class:`Rollouts` with the environment, and :class:`GRPOTraining` with the reward, whose
:attr:`kit.episode.Score.correct` says when an answer is right::

    @dataclass(frozen=True)
    class Play(Rollouts[Sandbox]):
        max_turns: int = 5

        def environment(self, tools: Sandbox) -> Environment:
            return CountingEnv(tools)
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, Generic, TypeVar

import torch

from kit.chat import Chat
from kit.data.store import load_tasks
from kit.episode import Episode, Task
from kit.evaluate.five.shown import Around, as_it_is
from kit.files import read_json, write_json
from kit.policy import Policy
from kit.policy.hf import HFPolicy
from kit.policy.vllm_evaluation import evaluator
from kit.rewards.base import GroupReward
from kit.rollout import Environment, RolloutConfig, rollout
from kit.seeding import Seed
from kit.train.checkpoint import load_for_training
from kit.train.grpo import GRPOSettings, train_grpo
from kit.train.held_out import held_out_accuracy
from kit.train.progress import Watcher
from kit.waiting import counted
from turn_sandbox import CONFINED, Sandbox

Tools = TypeVar("Tools")
"""What a paper's environments share: a sandbox, or a sandbox and a search engine."""


@dataclass(frozen=True)
class Rollouts(RolloutConfig, ABC, Generic[Tools]):
    """Limits of an episode and how tasks are told; called, it plays tasks in the paper's environment."""

    @abstractmethod
    def environment(self, tools: Tools) -> Environment:
        """Make an environment that uses these tools."""

    def idle(self) -> Any:
        """Make tools that are never called: with them values and first prompts are checked before a job begins.

        A sandbox that isn't started, unless a paper says otherwise.
        """
        return Sandbox()

    def __call__(
        self,
        policy: Policy,
        chat: Chat,
        tools: Tools,
        tasks: Sequence[Task],
        temperature: float | None = None,
        seed: Seed = 0,
        around: Around = as_it_is,
    ) -> list[Episode]:
        """Play each task once.

        Args:
            policy: samples the turns; a transformers model, by vLLM where that plays a run's evaluations
                (:func:`kit.policy.vllm_evaluation.evaluator`).
            chat: its encoder.
            tools: what the environments use.
            tasks: the tasks, in any order.
            temperature: another one than :attr:`temperature`; 0 is greedy.
            seed: of all that is sampled; or one an episode.
            around: changes what the policy is shown (:mod:`kit.evaluate.five.shown`).
        """
        config = self if temperature is None else replace(self, temperature=temperature)
        return rollout(evaluator(policy), chat, tasks, lambda: around(self.environment(tools)), config, seed)


def in_parts(
    tasks: Sequence[Task], play: Callable[[Sequence[Task]], Sequence[Episode]], at_once: int = 48
) -> list[Episode]:
    """Play many tasks, only some of them at once: so many sessions, images and cached keys fit into memory.

    Args:
        tasks: all of them.
        play: plays some; each part's samples begin with the seed that it is given.
        at_once: tasks of a part.
    """
    parts = [tasks[at : at + at_once] for at in range(0, len(tasks), at_once)]
    return [episode for some in counted(play, parts, f"parts of {len(tasks)} episodes") for episode in some]


def keep_values(play: object, names: Sequence[str], file: Path) -> None:
    """Write down how tasks are told, beside them: for all who play them later.

    Args:
        play: how they are played.
        names: of those of its fields that tasks depend on.
        file: where.
    """
    write_json(file, {name: getattr(play, name) for name in names})


def kept_values(file: Path, notebook: int) -> dict[str, Any]:
    """Read what :func:`keep_values` wrote, in a run's folder of data.

    Args:
        file: where it stands.
        notebook: number of the one that writes it.

    Raises:
        FileNotFoundError: it isn't there; says which notebook does it.
    """
    how: dict[str, Any] | None = read_json(file)
    if how is None:
        run = file.parent.parent.name
        raise FileNotFoundError(f"{file}: run notebook {notebook} first: python -m kit run {notebook} --name {run}")
    return how


def play_greedily(model: Any, chat: Chat, tools: Tools, tasks: Sequence[Task], how: Rollouts[Tools]) -> list[Episode]:
    """Play tasks greedily (each token the likeliest): how results are measured.

    Args:
        model: a transformers model or its PEFT wrapper.
        chat: the model's chat encoder.
        tools: what the environments use.
        tasks: the tasks, each played once.
        how: limits of an episode, and how tasks are told.
    """
    return how(HFPolicy(model, chat), chat, tools, tasks, temperature=0.0)


@dataclass(frozen=True)
class GRPOTraining(ABC):
    """GRPO on a paper's tasks, told in plain values: this process can do it, or others
    (:func:`kit.train.launch.launcher.launch`).

    Attributes:
        start: the checkpoint to start from.
        tasks: file of the tasks.
        run_dir: gets what :func:`kit.train.grpo.train_grpo` writes.
        play: limits and environment of all episodes, training and held-out ones alike.
        settings: of GRPO.
        held_out: files of held-out tasks to look at on the way.
        held_out_tasks: tasks of each, played before every step; 0: none.
        exports: steps after which the model so far is kept as well, as ``model-STEP``.
        threads: of each process.
        allow_unsafe: whether code may run where nothing confines it.
    """

    start: str
    tasks: str
    run_dir: str
    play: Rollouts[Any]
    settings: GRPOSettings
    held_out: tuple[str, ...] = ()
    held_out_tasks: int = 0
    exports: tuple[int, ...] = ()
    threads: int = 1
    allow_unsafe: bool = False

    @abstractmethod
    def group_reward(self) -> GroupReward:
        """Make the reward of a group of episodes."""

    def held_out_reward(self) -> GroupReward:
        """Make the reward that judges held-out tasks, of which each is played once."""
        return self.group_reward()

    def subset(self, task: Task) -> str:
        """Name the part of the tasks, such as ``hard``, whose accuracy and calls are logged apart; empty: none."""
        return ""

    @contextmanager
    def tools(self) -> Iterator[Any]:
        """Open what the environments use; a sandbox, unless a paper says otherwise."""
        with Sandbox(require=CONFINED, allow_unsafe=self.allow_unsafe) as box:
            yield box

    def __call__(self, watcher: Watcher | None = None) -> Path:
        """Train, or go on training; returns the folder of the trained model."""
        torch.set_num_threads(self.threads)
        vlm, chat = load_for_training(self.start, self.settings)
        tasks = load_tasks(self.tasks)
        with self.tools() as tools:

            def play_held_out(policy: Policy, tasks: Sequence[Task]) -> list[Episode]:
                return self.play(policy, chat, tools, tasks, temperature=0.0)

            return train_grpo(
                vlm,
                chat,
                tasks,
                lambda: self.play.environment(tools),
                self.play,
                self.group_reward(),
                self.settings,
                self.run_dir,
                exports=self.exports,
                held_out=held_out_accuracy(self.held_out, self.held_out_tasks, play_held_out, self.held_out_reward()),
                subset=self.subset,
                watcher=watcher,
            )

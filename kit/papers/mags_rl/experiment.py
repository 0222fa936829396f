"""Mags-RL's experiment, tied together: which questions, looked at through which glass, in which stage of the training.

The curriculum is two trainings, one after the other: :func:`train_in_stages`. Each starts from the model before it, and
with β above 0 that model is its reference (:mod:`kit.train.grpo`): the base for stage 1, stage 1's result for stage 2.

Departures
- [mags-greedy] Paper: evaluation samples at temperature 0.01, top-p 0.95. Here: greedily. Why: at 0.01 nearly every
  token is the likeliest one as well, and a greedy run can be repeated to the letter. May change: nearly nothing.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from pathlib import Path

from kit.chat import Chat
from kit.papers.mags_rl.env import MagsEnv, Stage
from kit.papers.mags_rl.judge import model_judge
from kit.papers.mags_rl.reward import make_reward
from kit.papers.mags_rl.zoom import Magnifier
from kit.rewards.base import GroupReward, per_episode
from kit.rollout import Environment
from kit.tools.boxes import Frame
from kit.tools.super_resolution import super_resolution
from kit.train.experiment import GRPOTraining, Rollouts
from kit.train.experiment import play_greedily as play_greedily
from kit.train.launch.launcher import launch
from kit.train.launch.topology import ProcessConfig
from kit.train.progress import Watcher

JUDGED_AT_ONCE = 8
"""Answers that a model judges at the same time."""


@dataclass(frozen=True)
class Play(Rollouts[Magnifier]):
    """Limits of an episode, and how questions are told. Two rounds are the paper's (section 3.1); the rest is ours.

    Attributes:
        stage: 1 asks for one box, 2 for several; evaluation is 2.
        prompt: ``brief`` or ``full`` (:data:`kit.papers.mags_rl.env.PROMPTS`).
        frame: the unit of boxes.
    """

    max_turns: int = 2
    max_new_tokens: int = 1024
    max_episode_tokens: int = 8192
    stage: Stage = 2
    prompt: str = "full"
    frame: Frame = "shares"

    def environment(self, tools: Magnifier) -> Environment:
        """Make an environment that looks through this magnifier."""
        return MagsEnv(tools, self.stage, self.prompt, self.frame)


def magnifier(name: str = "span", scale: int = 2, weights: str = "", chat: Chat | None = None) -> Magnifier:
    """Make what environments share.

    Args:
        name: of the network (:data:`kit.tools.super_resolution.NAMES`).
        scale: the factor.
        weights: file of SMFANet's weights.
        chat: of the model, where boxes are in the pixels that it sees.

    Raises:
        kit.tools.super_resolution.SuperResolutionError: the network's file is missing or damaged.
    """
    return Magnifier(super_resolution(name, scale, weights), chat.resized if chat else None)


@dataclass(frozen=True)
class Training(GRPOTraining):
    """One stage of GRPO on questions, told in plain values; its number is its play's.

    Attributes:
        network: name of what enlarges.
        scale: its factor.
        weights: file of SMFANet's weights.
        judge_url: endpoint of the model that judges answers; empty: the exact rule alone.
        judge_model: its name there (the paper: gpt-4o-mini).
    """

    play: Play
    network: str = "span"
    scale: int = 2
    weights: str = ""
    judge_url: str = ""
    judge_model: str = "gpt-4o-mini"

    def group_reward(self) -> GroupReward:
        """The stage's reward; a model's verdicts are kept beside the run's metrics."""
        if not self.judge_url:
            return per_episode(make_reward(self.play.stage))
        kept = Path(self.run_dir, "verdicts.sqlite")
        judge = model_judge(self.judge_url, self.judge_model, Chat.from_pretrained(self.start), kept)
        return per_episode(make_reward(self.play.stage, judge), JUDGED_AT_ONCE)

    def held_out_reward(self) -> GroupReward:
        """The same without a judge: whether an answer is right is a matter of the exact rule."""
        return per_episode(make_reward(self.play.stage))

    @contextmanager
    def tools(self) -> Iterator[Magnifier]:
        """Load the network."""
        chat = Chat.from_pretrained(self.start) if self.play.frame == "resized" else None
        yield magnifier(self.network, self.scale, self.weights, chat)


def train_in_stages(
    stages: Sequence[Training], processes: ProcessConfig | None = None, watcher: Watcher | None = None
) -> Path:
    """Train one stage after the other, each from the model of the one before; returns the folder of the last one's.

    The same call again resumes, and does nothing for stages that are done.

    Args:
        stages: in order; only the first one's ``start`` counts. Each has a folder of its own.
        processes: how many train together; None: this one.
        watcher: shown the progress; None: one that suits the place.

    Raises:
        ValueError: no stage, or two stages in one folder.
    """
    folders = [Path(stage.run_dir).resolve() for stage in stages]
    if not stages or len({*folders}) < len(folders):
        raise ValueError(
            f"train_in_stages of {[stage.run_dir for stage in stages]}: give each stage a folder of its own"
        )
    model = Path(stages[0].start)
    for stage in stages:
        model = launch(replace(stage, start=str(model)), processes or ProcessConfig(), watcher)
    return model

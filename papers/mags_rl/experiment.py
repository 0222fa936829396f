"""Mags-RL's experiment, tied together: which questions, looked at through which glass, in which stage of the training.

The curriculum is two trainings, one after the other: :func:`train_in_stages`. Each starts from the model before it, and
with β above 0 that model is its reference (:mod:`kit.train.grpo`): the base for stage 1, stage 1's result for stage 2.
What it is compared with is arranged of the same two (:func:`arranged`): all at once, or answers alone.

Departures
- [mags-greedy] Paper: evaluation samples at temperature 0.01, top-p 0.95. Here: greedily. Why: at 0.01 nearly every
  token is the likeliest one as well, and a greedy run can be repeated to the letter. May change: nearly nothing.
- [mags-undivided] Paper: GRPO, whose advantages it calls group-normalized; by what they are divided it doesn't write.
  Here: node divides by the group's deviation, as GRPO does; the laptop's aren't divided (Dr. GRPO). Why: where no
  attempt of a tiny model is right only counts of words differ, and divided they weigh as much as an answer. May
  change: how fast form is learnt, and how much is said.
- [mags-batch] Paper: a global batch of 64 and groups of 16; whether it counts questions or rollouts isn't told. Here:
  rollouts, so 4 questions a step. Why: trainers of its kind (TRL) count so, and 64 questions are more than the 20 that
  a stage has. May change: read the other way, a step would have sixteen times the rollouts.
- [mags-at-once] Paper: direct training keeps the training configuration and the data, without the curriculum; but its
  two stages differ in prompt, reward, rate, temperature and KL term, and which of them it keeps isn't told. Here: the
  samples of both stages, as many steps as both have; prompt and reward of the second, by which is measured; rate,
  temperature and KL term of the first, which starts from the base as well. On node: 525 steps at temperature 0.09. Why:
  a training from the base at the second stage's smaller rate moves little. The choice was made anew after a figure was
  seen: with the second stage's rate one seed of the laptop's lay 0.028 below two stages, with the first one's three
  seeds lie level. May change: M3, which rests on it.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, Literal, get_args

from kit.chat import Chat
from kit.data.store import load_tasks, save_tasks
from kit.evaluate.baselines import SingleTurnEnv
from kit.rewards.answers import answer_alone
from kit.rewards.base import GroupReward, per_episode
from kit.rollout import Environment
from kit.tools.boxes import Frame
from kit.train.experiment import GRPOTraining, Rollouts, keep_values, kept_values
from kit.train.experiment import play_greedily as play_greedily
from kit.train.launch.launcher import launch
from kit.train.launch.topology import ProcessConfig
from kit.train.progress import Watcher
from papers.mags_rl.env import MagsEnv, Stage
from papers.mags_rl.judge import judge_of
from papers.mags_rl.reward import make_reward
from papers.mags_rl.zoom import MOST, Magnifier
from visual_tools.super_resolution import check_network, super_resolution

JUDGED_AT_ONCE = 8
"""Answers that a model judges at the same time."""

HOW, KEPT = "how.json", ("prompt", "frame", "network", "scale", "weights")
"""File beside the tasks, and what it keeps of :class:`Play`: the same for all who play them."""

Way = Literal["two_stages", "more", "at_once", "direct"]
"""How the samples of both stages are trained on (:func:`arranged`)."""


@dataclass(frozen=True)
class Play(Rollouts[Magnifier]):
    """Limits of an episode, and how questions are told. Two rounds are the paper's (section 3.2); the rest is ours.

    An episode has room for eight crops (:data:`papers.mags_rl.zoom.MOST`) of a million pixels each, 1,338 tokens,
    beside the image, 1,280, and two rounds of 1,024.

    Attributes:
        stage: 1 asks for one box, 2 for several; evaluation is 2.
        prompt: ``brief`` or ``full`` (:data:`papers.mags_rl.env.PROMPTS`).
        frame: the unit of boxes.
        network: name of what enlarges.
        scale: its factor.
        weights: file of SMFANet's weights.
        direct: asked for the answer alone, in one turn, without a magnifier.

    Raises:
        ValueError: there is no such network, or none by this factor.
    """

    max_turns: int = 2
    max_new_tokens: int = 1024
    max_episode_tokens: int = 16384
    stage: Stage = 2
    prompt: str = "full"
    frame: Frame = "shares"
    network: str = "span"
    scale: int = 2
    weights: str = ""
    direct: bool = False

    def __post_init__(self) -> None:
        super().__post_init__()
        check_network(self.network, self.scale)

    @property
    def picture_tokens(self) -> int:
        """Image tokens to plan for: the image and the most crops, as large as they may be."""
        return 1280 + MOST * 1338

    def keep(self, data: Path) -> None:
        """Write down how questions are told and what enlarges, beside the tasks: for all who play them later."""
        keep_values(self, KEPT, data / HOW)

    @classmethod
    def kept(cls, data: Path, **more: Any) -> Play:
        """Load what was written down there, with ``more`` (``max_new_tokens``, …).

        Raises:
            FileNotFoundError: nothing was; says which notebook does it.
        """
        return cls(**{**kept_values(data / HOW, 41), **more})

    def glass(self, chat: Chat) -> Magnifier:
        """Make the magnifier that it is played with.

        Args:
            chat: of the model, for boxes in the pixels that it sees.

        Raises:
            visual_tools.super_resolution.SuperResolutionError: the network's file is missing or damaged.
        """
        return magnifier(self.network, self.scale, self.weights, chat if self.frame == "resized" else None)

    def environment(self, tools: Magnifier) -> Environment:
        """Make an environment that looks through this magnifier."""
        if self.direct:
            return SingleTurnEnv("direct", prompt=self.prompt)
        return MagsEnv(tools, self.stage, self.prompt, self.frame)

    def idle(self) -> Magnifier:
        """Make a magnifier that has loaded no network: with it values and first prompts are checked before a job."""
        return Magnifier(super_resolution("none"), lambda image: image.image.size)


def magnifier(name: str = "span", scale: int = 2, weights: str = "", chat: Chat | None = None) -> Magnifier:
    """Make what environments share.

    Args:
        name: of the network (:data:`visual_tools.super_resolution.NAMES`).
        scale: the factor.
        weights: file of SMFANet's weights.
        chat: of the model, where boxes are in the pixels that it sees.

    Raises:
        visual_tools.super_resolution.SuperResolutionError: the network's file is missing or damaged.
    """
    return Magnifier(super_resolution(name, scale, weights), chat.resized if chat else None)


@dataclass(frozen=True)
class Training(GRPOTraining):
    """One stage of GRPO on questions, told in plain values; its number is its play's.

    Attributes:
        judge: of answers that the exact rule calls wrong, as for :func:`papers.mags_rl.judge.judge_of`.
    """

    play: Play
    judge: str = ""

    def group_reward(self) -> GroupReward:
        """The stage's reward; a model's verdicts are kept beside the run's metrics."""
        if not self.judge or self.play.direct:
            return self.held_out_reward()
        judge = judge_of(self.judge, Chat.from_pretrained(self.start), Path(self.run_dir, "verdicts.sqlite"))
        return per_episode(make_reward(self.play.stage, judge), JUDGED_AT_ONCE)

    def held_out_reward(self) -> GroupReward:
        """Make the stage's reward without a judge: whether an answer is right is a matter of the exact rule."""
        return per_episode(answer_alone if self.play.direct else make_reward(self.play.stage))

    @contextmanager
    def tools(self) -> Iterator[Magnifier]:
        """Load the network."""
        yield self.play.glass(Chat.from_pretrained(self.start))


def check_way(way: str) -> None:
    """Refuse a way to train that isn't of :data:`Way`, before anything is trained.

    Raises:
        ValueError: naming it and those there are.
    """
    if way not in get_args(Way):
        raise ValueError(f"curriculum {way!r}: choose one of {', '.join(get_args(Way))}")


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


def arranged(way: Way, first: Training, second: Training, base: str) -> list[Training]:
    """Arrange the trainings of two stages: the paper's way, or what it is compared with.

    ==============  ==========================================================================================
    ``two_stages``  one after the other (the paper's)
    ``more``        the same, on the larger sets beside them (``stage1-more.jsonl``)
    ``at_once``     the paper's direct training (section 4.4), as [mags-at-once] reads it: one training on the samples
                    of both, for as many steps as both have together
    ``direct``      at once as well, but answers alone are asked for and paid, from the base, which never saw a box
    ==============  ==========================================================================================

    Args:
        way: which of them.
        first: stage 1.
        second: stage 2.
        base: checkpoint that direct answers start from.

    Raises:
        ValueError: an unknown way.
    """
    check_way(way)
    if way == "two_stages":
        return [first, second]
    if way == "more":
        return [replace(one, tasks=one.tasks.replace(".jsonl", "-more.jsonl")) for one in (first, second)]
    both = Path(second.run_dir, "tasks.jsonl")
    save_tasks(both, [*load_tasks(first.tasks), *load_tasks(second.tasks)])
    steps = first.settings.steps + second.settings.steps
    alone = replace(
        second,
        start=first.start,
        tasks=str(both),
        play=replace(second.play, temperature=first.play.temperature),
        settings=replace(first.settings, steps=steps),
    )
    return [alone] if way == "at_once" else [replace(alone, start=base, play=replace(alone.play, direct=True))]

"""CodeDance's experiment, tied together: which questions, played how, under which reward.

Departures
- [codedance-batch-of-questions] Paper: the global batch size of RL is 256; of questions or of rollouts isn't told.
  Here: 256 questions of 8 rollouts each, 2,048 episodes an update. Why: in verl, which it trains with, a batch counts
  prompts. May change: an epoch has 246 updates; read as rollouts it would have 1,969.
- [codedance-greedy] Paper: how answers are sampled in evaluation isn't told. Here: each question is played once,
  greedily. Why: a figure then depends on the model alone. May change: sampled answers would score a little lower.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, replace

from kit.episode import Task
from kit.rewards.base import GroupReward
from kit.rollout import Environment
from kit.train.experiment import GRPOTraining, Rollouts
from kit.train.experiment import play_greedily as play_greedily
from papers.codedance.env import CodeDanceEnv
from papers.codedance.reward import OFFSET, SHARPNESS, make_reward
from turn_sandbox import CONFINED, PLOTTING, Sandbox
from turn_sandbox.limits import READABLE_FIGURES


@dataclass(frozen=True)
class Play(Rollouts[Sandbox]):
    """Limits of an episode, and how questions are told. Defaults are the paper's: 6 turns in training and 10 in
    evaluation (section 4), 10,240 tokens of prompt and as many of response (released scripts), 2,048 tokens a turn
    (released evaluation).

    Attributes:
        evaluation_turns: turns of an episode that is measured (:meth:`measured`).
        prompt: ``brief`` or ``full`` (:data:`papers.codedance.env.PROMPTS`; ours: brief for the tiny model).

    Raises:
        ValueError: a limit that no episode can have.
    """

    max_turns: int = 6
    evaluation_turns: int = 10
    max_new_tokens: int = 2048
    max_episode_tokens: int = 20480
    max_response_tokens: int = 10240
    prompt: str = "full"

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.evaluation_turns < 1:
            raise ValueError(f"Play.evaluation_turns={self.evaluation_turns}: must be at least 1")

    def measured(self) -> Play:
        """The same, with the turns of an evaluation."""
        return replace(self, max_turns=self.evaluation_turns)

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
        reward: name of the reward (:data:`papers.codedance.reward.REWARDS`), with its advantage in ``settings``.
        sharpness: how sharply the price of a call turns.
        offset: how much calls cost in a group that knows.
    """

    play: Play
    reward: str = "adaptive"
    sharpness: float = SHARPNESS
    offset: float = OFFSET

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

r"""DAPO: GRPO with four changes (Yu et al. 2025, "DAPO: An Open-Source LLM Reinforcement Learning System at Scale").

=====================  =============================================================  ===========================
change                 what it is                                                     setting
=====================  =============================================================  ===========================
clip-higher (eq. 10)   a ratio may grow by more than it may shrink: between           ``epsilon_high``
                       $1 - \epsilon_{low}$ and $1 + \epsilon_{high}$
dynamic sampling       groups that can't teach give their places to further tasks     ``dynamic_sampling``
(eq. 11)
token-level loss       the mean over all tokens of a batch, so long episodes weigh    ``loss_type="dapo"``
(eq. 12)               more
overlong shaping       the reward falls before the longest length                     ``overlong_buffer``
(eq. 13)               (:mod:`kit.rewards.overlong`)
=====================  =============================================================  ===========================

There is no KL term (``beta`` 0, section 2.3). Together they are :data:`DAPO`. This module does the second:

$$\text{s.t.}\quad 0 < \left|\{y_i : y_i \text{ is right}\}\right| < G \tag{11}$$

Worked example of two groups of two, and tasks numbered from 0: a batch of the tasks 4 and 7 earns 1, 1 and 0, 1. The
first group is flat: a further task, say 2, is played in its place, and earns 0, 0. It is flat as well; the next, say 5,
earns 1, 0. After three rounds, the first one included, the batch is the tasks 5 and 7, and four tasks were played.

Worked example of the loss, that of :mod:`kit.train.grpo` with $\epsilon_{low}$ = 0.2 and $\epsilon_{high}$ = 0.28:
ratios 1.5 and 0.9 with advantage +1, and 0.5 with −1. The tokens get min(1.5, 1.28) = 1.28, 0.9 and min(−0.5, −0.8) =
−0.8. Clip-higher alone makes J = ((1.28 + 0.9)/2 − 0.8)/2 = **0.145** of 0.125; as the mean over all three tokens,
which is DAPO's, J = (1.28 + 0.9 − 0.8)/3 = **0.46**.

Departures
- [shared-dapo-groups] Paper: Dynamic sampling leaves out groups whose answers are all right or all wrong. Here: It
  leaves out groups whose rewards, before their length is looked at, are all alike. Why: Rewards here have more parts
  than the answer. May change: A group that is wrong in several ways stays, and teaches the form.
- [shared-dapo-rounds] Paper: Dynamic sampling goes on along the data until the batch is full. Here: In each of a
  limited number of rounds the flat groups' places go to further tasks, drawn by the step's seed; groups that are flat
  after the last stay in the batch, with advantage 0, and their tokens count in the mean. Why: A step ends also where
  nothing differs, and a run that resumes plays the same tasks. May change: Steps are smaller where few groups differ;
  the tasks' order is as without it, so a task may be met twice in a pass.
- [shared-dapo-length] Paper: A response's length is what the policy wrote, and one that is too long is cut. Here:
  Observations count, and an episode that another turn wouldn't fit into has all the punishment. Why: They count towards
  the limit, too. May change: Nothing where episodes stay short of the limit.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from types import MappingProxyType
from typing import TYPE_CHECKING, Any

from torch import Tensor

from kit.episode import Episode, Score
from kit.rewards.overlong import total_without_overlong
from kit.rollout import RolloutConfig
from kit.seeding import child_seed
from kit.train.advantage import FLAT
from kit.train.checkpoint import schedule
from kit.train.processes import world_size

if TYPE_CHECKING:
    from kit.train.grpo import GRPOSettings

DAPO: Mapping[str, Any] = MappingProxyType(
    {
        "loss_type": "dapo",  # section 3.3
        "beta": 0.0,  # section 2.3
        "epsilon": 0.2,  # section 4.1
        "epsilon_high": 0.28,  # section 4.1
        "dynamic_sampling": 9,  # the released recipe gives up after ten batches
        "overlong_buffer": 4096,  # section 4.1, of 20,480 tokens
    }
)
"""DAPO's own values, as settings of :class:`kit.train.grpo.GRPOSettings`."""


def objective_settings(loss_type: str) -> Mapping[str, Any]:
    """Settings that make an objective whole: ``GRPOSettings.of(globals(), **objective_settings(loss_type))``.

    Args:
        loss_type: of :class:`kit.train.grpo.GRPOSettings`; ``dapo`` brings all of :data:`DAPO`, another its name alone.
    """
    return DAPO if loss_type == "dapo" else {"loss_type": loss_type}


def check_dapo(settings: GRPOSettings) -> None:
    """Refuse settings of DAPO's parts that mean nothing.

    Raises:
        ValueError: naming the setting, its value and the way out.
    """
    for name in ("dynamic_sampling", "overlong_buffer"):
        if (value := getattr(settings, name)) < 0:
            raise ValueError(f"GRPOSettings.{name}={value}: must be above 0, or 0 for none")
    if settings.epsilon_high is not None and settings.epsilon_high < settings.epsilon:
        raise ValueError(
            f"GRPOSettings.epsilon_high={settings.epsilon_high}: the upper part of the clipping range is at least as "
            f"wide as the lower one, epsilon={settings.epsilon} (DAPO: 0.28 and 0.2); or None, for the same"
        )
    if settings.dynamic_sampling and settings.advantage != "group_relative":
        raise ValueError(
            f"GRPOSettings.dynamic_sampling={settings.dynamic_sampling}: with advantage={settings.advantage!r} a group "
            "of equal rewards teaches by its turns; set it to 0, or choose 'group_relative'"
        )


def check_fits(settings: GRPOSettings, config: RolloutConfig) -> None:
    """Refuse a buffer that is as long as a response, and groups that no process has whole.

    Raises:
        ValueError: naming the setting, its value and the way out.
    """
    longest = config.most_tokens(0)
    if settings.overlong_buffer >= longest:
        raise ValueError(
            f"GRPOSettings.overlong_buffer={settings.overlong_buffer}: a response has at most {longest} tokens "
            "(RolloutConfig), and the buffer is the last part of them; make it smaller (DAPO: a fifth), or 0 for none"
        )
    if settings.dynamic_sampling and settings.prompts_per_batch % world_size():
        raise ValueError(
            f"GRPOSettings.dynamic_sampling={settings.dynamic_sampling}: a group is replaced whole in one process, and "
            f"prompts_per_batch={settings.prompts_per_batch} can't be shared out evenly among {world_size()}: make it "
            "a multiple, or set dynamic_sampling to 0"
        )


def flat_groups(rewards: Tensor, group_size: int) -> Tensor:
    """Find the groups whose rewards are all alike: ``(groups,)``, True for those.

    Args:
        rewards: of the episodes ``(B,)``.
        group_size: episodes of one task, neighbours in the batch.
    """
    return rewards.view(-1, group_size).std(dim=1) < FLAT


def further_tasks(tasks: int, batch: Sequence[int], n: int, seed: int) -> list[int]:
    """Draw ``n`` tasks to play in the place of others, by their numbers; more of them begin with the same.

    First those that aren't in the batch, each once, then all of them again, in shuffled passes.

    Args:
        tasks: how many there are.
        batch: numbers of those in the batch.
        n: how many are wanted.
        seed: fixes the order.
    """
    taken = set(batch)
    others = [i for i in schedule(tasks, tasks, seed) if i not in taken]
    return [*others, *schedule(tasks, n, child_seed(seed, 0))][:n]


Play = Callable[[Sequence[int], Sequence[int]], tuple[list[Episode], list[Score]]]
"""Plays tasks, told by their numbers, each by the seed of its place; returns the episodes and their scores."""


@dataclass(frozen=True)
class Filled:
    """A process's share of a batch after dynamic sampling.

    Attributes:
        episodes: in groups; those that replace others are in their places.
        scores: of the episodes.
        rounds: rounds played, the batch's own the first.
        tasks: tasks played, by all processes.
        flat: share of the batch's groups that are flat, after all.
    """

    episodes: list[Episode]
    scores: list[Score]
    rounds: int
    tasks: int
    flat: float


def fill(
    episodes: Sequence[Episode],
    scores: Sequence[Score],
    group_size: int,
    further: Sequence[int],
    rounds: int,
    play: Play,
    gather: Callable[[list[float]], Tensor],
    process: int = 0,
) -> Filled:
    """Play further tasks in the place of flat groups, until none is flat or the rounds are over.

    Processes that train together call it at the same time. All see all rewards, so they agree on what is played; each
    plays the tasks of its own places, and takes part in a round in which it has none.

    Args:
        episodes: this process's share of the batch, whole groups, as first played.
        scores: their scores.
        group_size: episodes of one task, neighbours in the batch.
        further: numbers of tasks, played in this order; enough for all groups in every round.
        rounds: how often flat groups are replaced, at the most.
        play: plays tasks; places go on where those of the round before ended.
        gather: puts together the rewards of all processes, in their order.
        process: number of this process.
    """
    episodes, scores = list(episodes), list(scores)
    own = len(episodes) // group_size
    used = 0
    for done in range(rounds + 1):
        is_flat = flat_groups(gather([total_without_overlong(score) for score in scores]), group_size)
        flat = is_flat.nonzero()[:, 0].tolist()
        if not flat or done == rounds:
            break
        replaced = zip(flat, further[used : used + len(flat)], strict=True)
        used += len(flat)
        mine = {group - process * own: number for group, number in replaced if group // own == process}
        first = (done + 1) * len(is_flat) + process * own
        places = [(first + group) * group_size + k for group in mine for k in range(group_size)]
        new, earned = play([number for number in mine.values() for _ in range(group_size)], places)
        for k, group in enumerate(mine):
            there, at = slice(group * group_size, (group + 1) * group_size), k * group_size
            episodes[there], scores[there] = new[at : at + group_size], earned[at : at + group_size]
    return Filled(episodes, scores, done + 1, len(is_flat) + used, len(flat) / len(is_flat))

r"""Compute advantages: how much better than its group a rollout did.

Which of them a training uses is a setting, :data:`Advantage`, the same in all of its processes.

$$\hat{A}_i = \frac{r_i - \operatorname{mean}(r_1, \dots, r_G)}{\operatorname{std}(r_1, \dots, r_G) + \epsilon}$$

(GRPO, Shao et al. 2024: the $\hat{A}_{i,t}$ of its objective is this number on every sampled token.)

==============  ==================================================  =================
symbol          meaning                                             name here
==============  ==================================================  =================
$r_i$           total reward of rollout $i$                         ``rewards[i]``
$G$             rollouts of one task                                ``group_size``
$\hat{A}_i$     advantage of rollout $i$                            the result
$\epsilon$      keeps a nearly flat group finite                    ``EPS``
==============  ==================================================  =================

Worked example, a group of four rewards 0.90, −0.05, 0.65, −0.25: the mean is 0.3125, the
deviations are 0.5875, −0.3625, 0.3375, −0.5625; their squares add up to 0.906875, divided by G − 1 = 3
that is 0.302292, whose root is 0.549811. With ε = 1e-4: **1.0684, −0.6592, 0.6137, −1.0229**.

``scale="none"`` leaves the division out (Dr. GRPO): easy and hard tasks then weigh the same.

Departures
- [shared-sample-std] Paper: The deviation that rewards are divided by isn't defined. Here: It is the sample's, over G
  − 1. Why: TRL and verl, whose trainers the papers use, have it so. May change: Advantages differ by a factor of 0.94
  from the population's at G = 8.
- [shared-flat-groups] Paper: Groups of equal rewards aren't mentioned. Here: They get exactly 0. Why: By the formula,
  rounding in the mean would leave about 1e-8 / ε, a small push in a random direction. May change: Nothing but noise.
- [shared-turns-compared] Paper: Each step is trained apart, as one prompt with a group of its own. Here: An episode
  is played whole, and its turn k is compared with turn k of the group's other episodes. Why: What a model meets later
  depends on what it did before. May change: Turns of one group no longer answer the same context, so their advantages
  are noisier.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal, get_args

import torch
from torch import Tensor

from kit.episode import Episode

Scale = Literal["group", "none"]
"""Divide by the group's standard deviation, or don't."""

Advantage = Literal["group_relative", "per_turn", "sequence_plus_turn"]
"""One number an episode (:func:`group_advantages`), one a turn (:func:`turn_advantages`), or the sum of both
(:func:`sequence_plus_turn_advantages`)."""

Baseline = Literal["all_turns", "calls"]
"""Turns over which returns are normalised: all of the batch, or all but the last of each episode (its calls)."""

EPS = 1e-4
"""ε, TRL's value."""

FLAT = 1e-9
"""Rewards that deviate by less are alike: that much is rounding."""


@dataclass(frozen=True)
class AdvantageSettings:
    """The kind of advantages that a training uses, and their constants.

    Attributes:
        advantage: which (:data:`Advantage`).
        scale: divide by the group's standard deviation, or don't.
        discount: γ of the turns' returns; only ``sequence_plus_turn`` reads it and the following.
        weight: of the turn's part.
        baseline: turns over which returns are normalised.
    """

    advantage: Advantage = "group_relative"
    scale: Scale = "group"
    discount: float = 0.2
    weight: float = 0.2
    baseline: Baseline = "all_turns"

    def __post_init__(self) -> None:
        for name, kind in (("advantage", Advantage), ("scale", Scale), ("baseline", Baseline)):
            if getattr(self, name) not in (known := get_args(kind)):
                raise ValueError(f"{name}={getattr(self, name)!r}: choose one of {', '.join(known)}")


def group_advantages(rewards: Tensor, group_size: int, scale: Scale = "group") -> Tensor:
    """Group-relative advantages ``(B,)``.

    Args:
        rewards: of the episodes ``(B,)``.
        group_size: episodes of one task, neighbours in the batch.
        scale: whether deviations are divided by the group's standard deviation.

    Raises:
        ValueError: a group of fewer than 2, a batch that isn't whole groups, or a reward that is no number.
    """
    check_group_size("group_size", group_size)
    if scale not in ("group", "none"):
        raise ValueError(f"scale={scale!r}: must be 'group' or 'none'")
    if rewards.ndim != 1 or len(rewards) == 0 or len(rewards) % group_size:
        raise ValueError(f"rewards of shape {tuple(rewards.shape)} are not whole groups of group_size={group_size}")
    if not rewards.isfinite().all():
        worst = int((~rewards.isfinite()).nonzero()[0])
        raise ValueError(f"rewards[{worst}]={float(rewards[worst])}: a reward must be a finite number")
    # float64: in float32 the mean of equal rewards can differ from each of them.
    groups = rewards.double().view(-1, group_size)
    advantages = groups - groups.mean(dim=1, keepdim=True)
    if scale == "group":
        advantages = advantages / (groups.std(dim=1, keepdim=True) + EPS)
    flat = (groups == groups[:, :1]).all(dim=1, keepdim=True)
    return advantages.masked_fill(flat, 0.0).view(-1).float()


def check_group_size(name: str, group_size: int) -> None:
    """Refuse a group that has nothing to compare with.

    Raises:
        ValueError: naming the setting ``name`` and its value.
    """
    if group_size < 2:
        raise ValueError(f"{name}={group_size}: a group needs at least 2 rollouts to have an advantage")


def turn_advantages(
    rewards: Sequence[Sequence[float]], group_size: int, scale: Scale = "group"
) -> list[tuple[float, ...]]:
    r"""Advantages of turns that are rewarded each for itself: every episode's, one number a turn.

    $$\hat{A}_{i,k} = \frac{r_{i,k} - \operatorname{mean}_j(r_{j,k})}{\operatorname{std}_j(r_{j,k}) + \epsilon}$$

    over the episodes $j$ of the group that have a turn $k$. A turn that no other episode of the group reached gets 0.

    Worked example, rewards (1, 2), (0, 1) and (2) in a group of three: first turns mean 1, std 1: **0, −1, 1** (ε
    aside); second turns mean 1.5, std $\sqrt{0.5}$ = 0.7071: **0.7071, −0.7071**.

    Args:
        rewards: of each episode, one number a turn.
        group_size: episodes of one task, neighbours in the batch.
        scale: whether deviations are divided by their standard deviation.

    Raises:
        ValueError: a group of fewer than 2, a batch that isn't whole groups, or a reward that is no number.
    """
    check_group_size("group_size", group_size)
    if len(rewards) == 0 or len(rewards) % group_size:
        raise ValueError(f"turns' rewards of {len(rewards)} episodes are not whole groups of group_size={group_size}")
    found = [[0.0] * len(turns) for turns in rewards]
    for first in range(0, len(rewards), group_size):
        group = range(first, first + group_size)
        for k in range(max(len(rewards[i]) for i in group)):
            having = [i for i in group if len(rewards[i]) > k]
            if len(having) > 1:
                some = torch.tensor([rewards[i][k] for i in having], dtype=torch.float64)
                for i, value in zip(having, group_advantages(some, len(having), scale).tolist(), strict=True):
                    found[i][k] = value
    return [tuple(turns) for turns in found]


def turn_returns(rewards: Sequence[float], discount: float) -> list[float]:
    r"""Discounted returns of one episode's turns, $R_t = \sum_k \gamma^k r_{t+k}$.

    Worked example, rewards (−0.5, 0, −0.5, 0) with γ = 0.2: **−0.52, −0.1, −0.5, 0**.

    Args:
        rewards: one number a turn.
        discount: $\gamma$, 0 to 1.
    """
    found: list[float] = []
    for reward in reversed(rewards):
        found.insert(0, reward + discount * (found[0] if found else 0.0))
    return found


def sequence_plus_turn_advantages(
    totals: Tensor,
    rewards: Sequence[Sequence[float]],
    group_size: int,
    scale: Scale = "group",
    discount: float = 0.2,
    weight: float = 0.2,
    baseline: Baseline = "all_turns",
) -> list[tuple[float, ...]]:
    r"""Advantages of turns: the episode's group-relative one plus a weighted, normalised return of the turn.

    $$\hat{A}_{i,t} = \hat{A}_i + w\,\frac{R_{i,t} - \operatorname{mean}(R)}{\operatorname{std}(R)}$$

    with mean and standard deviation (of the population) over the turns of the whole batch that ``baseline`` names. With
    ``calls`` a last turn's part is 0. Mean and deviation are then those of calls alone: since only failures cost
    anything, every successful call is above the mean, which is a hidden bonus for calling.

    Worked example, ``calls``: rewards (−0.5, 0, 0) and (0, 0), γ = 0.2, have the returns −0.5, 0 and 0 before their
    last turns; mean −0.16667, deviation 0.23570; the turns' parts are **−1.41421, 0.70711, 0** and **0.70711, 0**.

    Args:
        totals: rewards of whole episodes ``(B,)``.
        rewards: of each episode, one number a turn.
        group_size: episodes of one task, neighbours in the batch.
        scale: whether the episode's part is divided by its group's standard deviation.
        discount: $\gamma$ of :func:`turn_returns`.
        weight: $w$ of the turn's part.
        baseline: turns over which returns are normalised.

    Raises:
        ValueError: a group of fewer than 2, a batch that isn't whole groups, a reward that is no number, or an unknown
            ``baseline``.
    """
    if baseline not in (known := get_args(Baseline)):
        raise ValueError(f"baseline={baseline!r}: choose one of {', '.join(known)}")
    sequence = group_advantages(totals, group_size, scale).tolist()
    returns = [turn_returns(turns, discount) for turns in rewards]
    last = 0 if baseline == "all_turns" else 1
    counted = torch.tensor([r for turns in returns for r in turns[: len(turns) - last]], dtype=torch.float64)
    # Alike to all but rounding, as in a flat group: 1e-17 over a deviation of 1e-17 would be a push of w.
    flat = len(counted) == 0 or float(counted.max() - counted.min()) < FLAT
    mean, deviation = (0.0, 0.0) if flat else (float(counted.mean()), float(counted.std(correction=0)))
    found = []
    for one, turns in zip(sequence, returns, strict=True):
        n = len(turns) - last
        parts = [(r - mean) / deviation if k < n and deviation > 0 else 0.0 for k, r in enumerate(turns)]
        found.append(tuple(one + weight * part for part in parts))
    return found


def broadcast_to_tokens(turns: Sequence[Sequence[float]], episodes: Sequence[Episode]) -> Tensor:
    """Per-turn advantages as ``(B, T)``, beside :attr:`kit.train.pack.Packed.completion_ids`.

    Every sampled token of a turn gets its turn's number; observations and padding get 0.

    Args:
        turns: for each episode, one number a turn.

    Raises:
        ValueError: an episode whose turns and numbers differ in count.
    """
    rows = []
    for episode, values in zip(episodes, turns, strict=True):
        if len(values) != len(episode.turns):
            raise ValueError(f"episode {episode.task.id}: {len(episode.turns)} turns but {len(values)} advantages")
        row: list[float] = []
        for turn, value in zip(episode.turns, values, strict=True):
            row += [value] * len(turn.ids) + [0.0] * len(turn.observation_ids)
        rows.append(torch.tensor(row))
    return torch.nn.utils.rnn.pad_sequence(rows, batch_first=True)

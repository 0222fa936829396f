r"""Advantages: how much better than its group a rollout did.

$$\hat{A}_i = \frac{r_i - \operatorname{mean}(r_1, \dots, r_G)}{\operatorname{std}(r_1, \dots, r_G) + \epsilon}$$

(GRPO; AGILE, section 3.3, takes it over: the $\hat{A}_{i,t}$ of eq. 4 is this number on every sampled token.)

==============  ==================================================  =================
symbol          meaning                                             name here
==============  ==================================================  =================
$r_i$           total reward of rollout $i$                         ``rewards[i]``
$G$             rollouts of one task                                ``group_size``
$\hat{A}_i$     advantage of rollout $i$                            the result
$\epsilon$      keeps a nearly flat group finite                    ``EPS``
==============  ==================================================  =================

Worked example, a group of AGILE's four golden rewards .90, −.05, .65, −.25: the mean is .3125, the
deviations are .5875, −.3625, .3375, −.5625; their squares add up to .906875, divided by G − 1 = 3
that is .302292, whose root is .549811. With ε = 1e-4: **1.0684, −.6592, .6137, −1.0229**.

Departures
- The papers leave std open. It is the sample's (G − 1), as in TRL and verl, whose trainers they use.
- A group whose rewards are all equal gets exactly 0. By the formula, rounding in the mean would
  leave it about 1e-8 / ε: a small push in a random direction.
- ``scale="none"`` leaves the division out (Dr. GRPO): easy and hard tasks then weigh the same.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Literal

import torch
from torch import Tensor

from kit.episode import Episode

Scale = Literal["group", "none"]
"""Divide by the group's standard deviation, or don't."""

EPS = 1e-4
"""ε, TRL's value."""


def group_advantages(rewards: Tensor, group_size: int, scale: Scale = "group") -> Tensor:
    """Advantages ``(B,)`` of rewards ``(B,)``; each ``group_size`` neighbours played the same task.

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

    over the episodes $j$ of the group that have a turn $k$. Visual-ARFT compares rollouts of one step that begin alike;
    here the k-th turns of episodes that are played through are compared, as near to that as whole episodes come. A
    turn that no other episode of the group has got to gets 0.

    Worked example, rewards (1, 2), (0, 1) and (2) in a group of three: first turns mean 1, std 1: **0, −1, 1** (ε
    aside); second turns mean 1.5, std $\sqrt{.5}$ = .7071: **.7071, −.7071**.

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

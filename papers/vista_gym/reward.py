r"""VISTA-R1's reward (section 5.2): sparse, and worth more than nothing only for what keeps to the form.

$$R(U) = R_{rep}(U) + R_{format}(U) + R_{correct}(U)$$

=================  ========================================================================  ======================
symbol             meaning                                                                   name here
=================  ========================================================================  ======================
$R_{rep}$          −3, −2, −1.5 or 0: extreme, severe, moderate, no repetition               ``repetition``
$R_{format}$       +1 if every turn conforms, else −1; only of text that doesn't repeat      ``format``
$R_{correct}$      1 if the answer is right, the form is kept and nothing repeats, else 0    ``accuracy``
=================  ========================================================================  ======================

Worked examples: clean and right is **2**, clean and wrong **1**, malformed and right **−1**, right but with a severe
repetition **−2**. Nothing lies between −1 and 1: an agent earns by its answer only what it says in the form.

What it is compared with, by name (:data:`REWARDS`), where F is ±1 and C is 1 for a right answer in its form, else 0:

===============  ===============================================  ===========================================
name             formula                                          clean and right, clean and wrong, malformed
===============  ===============================================  ===========================================
``dense``        −1 + 0.5 F + 0.5 C + F · C                       1, −0.5, −1.5
``sparse``       F · C                                            1, 0, 0
``difficulty``   R · w, w = 0.5 clamp(2 − D, 0, 1) + 0.5          a group whose mean D is 1.5: 1.5, 0.75, −0.75
===============  ===============================================  ===========================================

``difficulty`` halves what a group earns that has nothing left to learn (D = 2), and leaves one below D = 1 as it is.
Advantages that are divided by their group's deviation don't see such a factor; so it acts only with ``scale="none"``.

Departures
- [vista-direct-form] Paper: calls come first, then the answer. Here: an answer without a call conforms as well. Why:
  the agent is to find out when a call pays. May change: calls of an agent that sees the answer, downwards.
- [vista-rival-rewards] Paper: the rewards it is compared with have no term for repetition, and D is a mean over all
  rollouts. Here: what repeats is malformed to them; D is the mean over the group. Why: a policy that repeats itself
  must not be paid by a rival for that, and a group is what a reward is given. May change: nothing of clean text.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from types import MappingProxyType
from typing import Any

from kit.episode import Episode, Score
from kit.rewards.base import GroupReward
from papers.vista_gym.answers import is_right
from papers.vista_gym.env import PROTOCOL
from papers.vista_gym.repetition import Severity, severity

PENALTIES: Mapping[Severity, float] = MappingProxyType({"none": 0.0, "moderate": -1.5, "severe": -2.0, "extreme": -3.0})
"""R_rep by severity."""

REWARDS = ("format_aware", "dense", "sparse", "difficulty")
"""The paper's own reward, and its rivals (section 6.3, Figure 4c)."""


def conforms(episode: Episode) -> bool:
    """Check that every turn is a thought and then a call, the last one a thought and then the answer."""
    return episode.answer is not None and all(PROTOCOL.well_formed(turn.text) for turn in episode.turns)


def repetition(episode: Episode) -> float:
    """R_rep: what the worst repetition in any turn of the policy's costs."""
    return min((PENALTIES[severity(turn.text)] for turn in episode.turns), default=0.0)


def make_reward(name: str = "format_aware") -> GroupReward:
    """Make the reward of a group of episodes by its name.

    Args:
        name: one of :data:`REWARDS`.

    Raises:
        ValueError: an unknown name.
    """
    if name not in REWARDS:
        raise ValueError(f"reward={name!r}: choose one of {', '.join(REWARDS)}")

    def scores(episodes: Sequence[Episode], target: Any) -> list[Score]:
        found = [_parts(name, episode, is_right(episode.answer, target)) for episode in episodes]
        if name == "difficulty" and found:
            weight = difficulty_weight(sum(sum(parts.values()) for parts in found) / len(found))
            found = [{part: weight * value for part, value in parts.items()} for parts in found]
        right = (is_right(episode.answer, target) for episode in episodes)
        return [Score(sum(parts.values()), parts, correct=ok) for parts, ok in zip(found, right, strict=True)]

    return scores


def difficulty_weight(mean: float) -> float:
    """w of a group whose rewards have this mean D.

    >>> [difficulty_weight(mean) for mean in (2.0, 1.5, 1.0, -1.0)]
    [0.5, 0.75, 1.0, 1.0]
    """
    return min(max(2 - mean, 0.0), 1.0) * 0.5 + 0.5


def _parts(name: str, episode: Episode, right: bool) -> dict[str, float]:
    repeats = repetition(episode)
    form = 1.0 if conforms(episode) and not repeats else -1.0
    correct = 1.0 if right and form > 0 else 0.0
    if name == "dense":
        return {"base": -1.0, "format": 0.5 * form, "accuracy": 0.5 * correct + form * correct}
    if name == "sparse":
        return {"accuracy": form * correct}
    if repeats:
        return {"repetition": repeats, "format": 0.0, "accuracy": 0.0}
    return {"repetition": 0.0, "format": form, "accuracy": correct}

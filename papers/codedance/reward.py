r"""CodeDance's reward for balanced adaptive tool calls, R_BAT (section 3.1, appendix 8).

$$R = R_{acc} + w\,R_{format} + R_{seq} \qquad
R_{seq} = c\,\frac{n_{success}}{n_{calls}}\,d(\mu) \qquad
d(\mu) = \sigma\big(\gamma\,(0.5 - \mu)\big) - \delta$$

==================  =============================================================  =========================
symbol              meaning                                                        name here
==================  =============================================================  =========================
$R_{acc}$           1 if the answer is right (1.2 in mathematics), else 0          ``accuracy``
$R_{format}$        −1 if a turn breaks the form, or none answers                  ``format`` is $w$
$c$                 1.5 of a right answer, 0.5 of a wrong one (mathematics 2, 1)   ``call_right``, ``call_wrong``
$\mu$               share of the group's episodes that are right                   ``mu``
$\gamma$            how sharply the price of a call turns                          ``sharpness``, 8
$\delta$            how far it falls below 0                                       ``offset``, 0.2
==================  =============================================================  =========================

So calls that succeed are paid for while the group mostly fails, and cost something once it mostly knows: d is 0.782 at
μ = 0, turns at μ = 0.673 and is −0.182 at μ = 1. An episode without calls has R_seq = 0.

Worked example: a right answer after two calls that both succeeded, in a group where a quarter is right:
d = σ(2) − 0.2 = 0.68080, so R = 1 + 1.5 · 0.68080 = **2.02120**.

Each turn has a reward of its own: −0.5 if its code failed, else 0. ``GRPOSettings(advantage="sequence_plus_turn")``
adds its discounted, normalised return to the episode's advantage (:mod:`kit.train.advantage`, γ = 0.2, weight 0.2).

What it is compared with, by name (:data:`REWARDS`): the answer and form alone (``outcome``); a bonus for any call that
succeeds when the answer is right, as in DeepEyes (``bonus``); δ = 0, so that no call ever costs (``offset_0``).

Departures
- [codedance-logistic] Paper: d is a logistic function with lost symbols; its release has (1 + tanh(4 (0.5 − μ)))/2 −
  0.2. Here: the release's, which is σ(8 (0.5 − μ)) − 0.2. Why: with σ(4 (0.5 − μ)) calls would cost only above μ =
  0.847. May change: how easy a question must be before calls are discouraged.
- [codedance-strict-format] Paper: a format error costs w; its release counts tags of the whole response. Here: every
  turn is one ``think`` block, then one ``code`` or ``answer`` block, nothing outside, and the last one answers. Why:
  text outside the tags can't be acted upon. May change: a policy that is careless about tags loses 0.2 more often.
- [codedance-rule-judged] Paper: its release has a 72B model judge answers, and math_verify for mathematics. Here: one
  rule (:mod:`.answers`), by which math_verify compares formulas and nothing else. Why: gold answers here are numbers,
  formulas and single words. May change: nothing on drawn tasks; on the hub's sets, answers in other words count as
  wrong.
- [codedance-mathematics] Paper: its text names no constants of mathematics; the release's reward has them for two
  sources of its questions. Here: for these two (the column ``data_source`` of the released questions), and for drawn
  geometry and arithmetic. Why: a drawn question has no source. May change: nothing on the released questions.
- [codedance-turns-compared] Paper: turn returns are normalised over the batch, which turns aren't told; its release
  takes those before the last, of episodes that called, and section 8.1 draws no signal on a turn without code. Here:
  all turns (``turn_baseline="all_turns"``), so a turn that answers has a part as well: +0.1 beside [fails, succeeds,
  answers] and [succeeds, answers]. The release's is ``"calls"``. Why: by its rule the mean is below 0 and every call
  that succeeds is paid for, which R_seq is there to decide; so, a call that succeeds and an answer stand alike. May
  change: how fast calls grow at the start; answers are made a little likelier where much code fails.
- [codedance-bonus] Paper: DeepEyes' reward, in words. Here: the bonus is 1.5 if the answer is right and a call
  succeeded, however many did. Why: it is what R_BAT pays at most for a right answer before d. May change: how much
  faster calls grow than under R_BAT.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from math import exp
from typing import Any

from kit.episode import Episode, Score, Turn
from kit.rewards.base import GroupReward
from kit.train.advantage import Advantage
from papers.codedance.answers import LONGEST, is_right
from papers.codedance.env import PROTOCOL


@dataclass(frozen=True)
class RewardConfig:
    """Constants of the reward; the release's values for all but mathematics.

    Attributes:
        accuracy: of a right answer.
        format: what a break of the form costs.
        call_right: c of a right answer.
        call_wrong: c of a wrong one.
        failed_turn: reward of a turn whose code failed.
    """

    accuracy: float = 1.0
    format: float = 0.2
    call_right: float = 1.5
    call_wrong: float = 0.5
    failed_turn: float = -0.5


GENERAL = RewardConfig()
MATHEMATICS = RewardConfig(accuracy=1.2, format=0.4, call_right=2.0, call_wrong=1.0)
"""The release's values for mathematics: tasks whose ``meta["kind"]`` is one of :data:`MATH_KINDS`."""
MATH_KINDS = frozenset(("geometry", "arithmetic", "math", "thinklite_eureka", "xince"))
"""Drawn kinds, the benchmarks' group, and the two sources of the released questions that its reward names."""
SHARPNESS, OFFSET = 8.0, 0.2
"""γ and δ of d, the release's values, where a training doesn't say its own."""


def difficulty(accuracy: float, sharpness: float = SHARPNESS, offset: float = OFFSET) -> float:
    """d(μ): what a call that succeeds is worth to a group.

    Args:
        accuracy: μ, the share of the group's episodes that are right.
        sharpness: how sharply d turns.
        offset: how far d falls below 0.

    >>> round(difficulty(0.25), 5)
    0.6808
    """
    return 1 / (1 + exp(-sharpness * (0.5 - accuracy))) - offset


def is_well_formed(episode: Episode) -> bool:
    """Check that every turn keeps to the tags, and that the last one answers, in fewer than 1,000 characters."""
    return (
        episode.answer is not None
        and len(episode.answer) < LONGEST
        and all(turn.action is not None and PROTOCOL.well_formed(turn.text) for turn in episode.turns)
    )


def is_call(turn: Turn) -> bool:
    """Check whether a turn ran code."""
    return turn.action is not None and turn.observation is not None


def failed(turn: Turn) -> bool:
    """Check whether a turn's code failed, by the sandbox's own status."""
    return is_call(turn) and turn.observation.status != "ok"  # type: ignore[union-attr]


REWARDS: dict[str, Advantage] = {
    "adaptive": "sequence_plus_turn",
    "outcome": "group_relative",
    "bonus": "group_relative",
    "offset_0": "sequence_plus_turn",
}
"""Name of a reward → the advantage that goes with it."""


def make_reward(name: str = "adaptive", sharpness: float = SHARPNESS, offset: float = OFFSET) -> GroupReward:
    """Make the reward of a group of episodes by its name.

    Args:
        name: one of :data:`REWARDS`.
        sharpness: of d; ``outcome`` and ``bonus`` don't read it, nor the offset.
        offset: of d; ``offset_0`` has 0.

    Raises:
        ValueError: an unknown name; what is returned raises one where it is given a group of one and needs μ.
    """
    if name not in REWARDS:
        raise ValueError(f"reward={name!r}: choose one of {', '.join(REWARDS)}")
    offset = 0.0 if name == "offset_0" else offset

    def scores(episodes: Sequence[Episode], target: Any) -> list[Score]:
        if name in ("adaptive", "offset_0") and len(episodes) < 2:
            raise ValueError(
                f"reward={name!r} of {len(episodes)} episode: it depends on the accuracy of a group; give at least 2 "
                "episodes of a task, or choose 'outcome'"
            )
        right = [is_right(episode.answer, target) for episode in episodes]
        mu = sum(right) / len(right) if right else 0.0
        worth = difficulty(mu, sharpness, offset)
        return [_score(name, *one, worth) for one in zip(episodes, right, strict=True)]

    return scores


def _score(name: str, episode: Episode, right: bool, d: float) -> Score:
    rule = MATHEMATICS if episode.task.meta.get("kind") in MATH_KINDS else GENERAL
    calls = [turn for turn in episode.turns if is_call(turn)]
    share = sum(not failed(turn) for turn in calls) / max(1, len(calls))
    parts = {
        "accuracy": rule.accuracy if right else 0.0,
        "format_error": 0.0 if is_well_formed(episode) else -rule.format,
        "calls": _worth(name, right, share, d, rule),
    }
    turns = tuple(rule.failed_turn if failed(turn) else 0.0 for turn in episode.turns)
    return Score(sum(parts.values()), parts, turns, correct=right)


def _worth(name: str, right: bool, share: float, d: float, rule: RewardConfig) -> float:
    """What an episode's calls are worth, given the share of them that succeeded (0 if there is none)."""
    if name == "outcome":
        return 0.0
    if name == "bonus":
        return rule.call_right if right and share else 0.0
    return (rule.call_right if right else rule.call_wrong) * share * d

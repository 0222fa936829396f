r"""Shape rewards by length: an episode that gets too long is told so softly (DAPO, Yu et al. 2025, section 3.4).

$$R_{length}(y) = \begin{cases}
0, & |y| \le L_{max} - L_{cache} \\
\frac{(L_{max} - L_{cache}) - |y|}{L_{cache}}, & L_{max} - L_{cache} < |y| \le L_{max} \\
-1, & L_{max} < |y|
\end{cases} \tag{13}$$

=============  ===================================================================  ============
symbol         meaning                                                              name here
=============  ===================================================================  ============
$|y|$          tokens of the response                                               ``length``
$L_{max}$      tokens that it may have                                              ``longest``
$L_{cache}$    the last of them, over which the reward falls                        ``buffer``
=============  ===================================================================  ============

Worked example, 20 tokens of which the last 4 are the buffer: a response of 16 loses nothing, one of 17 loses 1/4 =
**0.25**, one of 18 loses **0.5**, one of 20 loses **1**, and so does a longer one.

What is lost is added to the reward, as a part named :data:`OVERLONG`.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Any

from kit.episode import Episode, Score
from kit.rewards.base import GroupReward

OVERLONG = "overlong"
"""Name of the part of a score that is lost by length."""


def overlong(length: int, longest: int, buffer: int) -> float:
    """Punish a response of ``length`` tokens for its length: −1 to 0 (eq. 13).

    >>> [overlong(length, longest=20, buffer=4) for length in (16, 17, 18, 20, 21)]
    [0.0, -0.25, -0.5, -1.0, -1.0]

    Args:
        length: its tokens.
        longest: those that it may have.
        buffer: the last of them, in which the reward falls; above 0.
    """
    return -min(max(length - (longest - buffer), 0) / buffer, 1.0) + 0.0  # -0.0 would be printed


def with_overlong(reward: GroupReward, most_tokens: Callable[[int], int], buffer: int) -> GroupReward:
    """Lower a reward by what episodes lose by their length.

    A response is all that follows the prompt, observations too: they count towards its limit. One that was ended
    because another turn wouldn't have fitted is longer than it may be: it loses all.

    Args:
        reward: the reward without it.
        most_tokens: tokens that an episode may have, by those of its prompt
            (:meth:`kit.rollout.RolloutConfig.most_tokens`).
        buffer: tokens before that, in which the reward falls; 0: none, the reward as it is.
    """
    if buffer == 0:
        return reward

    def shaped(episodes: Sequence[Episode], target: Any) -> list[Score]:
        scores = reward(episodes, target)
        return [_shaped(score, _length(e, most_tokens, buffer)) for e, score in zip(episodes, scores, strict=True)]

    return shaped


def _length(episode: Episode, most_tokens: Callable[[int], int], buffer: int) -> float:
    prompt = len(episode.prompt_ids)
    longest = most_tokens(prompt) - prompt
    return overlong(longest if episode.ended == "tokens" else len(episode.ids) - prompt, longest, buffer)


def _shaped(score: Score, lost: float) -> Score:
    return replace(score, total=score.total + lost, parts={**score.parts, OVERLONG: lost})


def total_without_overlong(score: Score) -> float:
    """Tell the reward as it was before an episode's length was looked at."""
    return score.total - score.parts.get(OVERLONG, 0.0)

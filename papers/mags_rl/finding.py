"""Mags-RL's own finding in a sentence: whether the agent's boxes lie where the answer is decided."""

from __future__ import annotations

from collections.abc import Mapping

from kit.evaluate.outcomes import Metrics
from papers.differences import moved, of, sign

LEARNT = {
    1: "it has learnt to look elsewhere than at the middle, where its start looks; that it finds the card meant, and "
    "not any card, isn't shown by that (notebook 43 compares it with a card named at random)",
    0: "that it looks at what decides more often than its start can't be told from chance",
    -1: "it looks at what decides less often than before",
}
"""Sign of the change → what follows."""

KINDS = {"attribute": "about a named card", "relation": "about the card beside it", "count": "that ask for a count"}
"""Kinds of questions, in words."""


def finding(stages: Mapping[str, Metrics]) -> str:
    """Tell the share of boxes that show what decides, before and after reinforcement; empty: not measured."""
    if not (found := of(stages, "sft/right_all", "grpo/right_all")):
        return ""
    before, after = found
    return (
        f"Of its boxes, on boards of every difficulty, {before.value:.2f} show what decides the answer before "
        f"reinforcement, {after.value:.2f} after it: {LEARNT[moved(before, after)]}.{_added(stages)}"
    )


def _added(stages: Mapping[str, Metrics]) -> str:
    """What reinforcement added to hard questions, played greedily as all figures are, and by sampling."""
    if not (gains := of(stages, "grpo/acc_gain_over_sft_hard", "grpo/acc_gain_over_sft_hard_sampled")):
        return ""
    greedy, sampled = gains
    surely = "" if sign(sampled) else ", which can't be told from chance"
    play = f"Played by sampling and not greedily, it adds {sampled.value:.2f} to them{surely}.{_kinds(stages)}"
    return f" Reinforcement raises the share of hard questions answered rightly by {greedy.value:.2f}. {play}"


def _kinds(stages: Mapping[str, Metrics]) -> str:
    """Which hard questions it answers, kind by kind, and of which the answer doesn't come from what it is shown."""
    right = of(stages, *(f"grpo/acc_{kind}_hard" for kind in KINDS))
    gaps = of(stages, *(f"grpo/observation_gap_swapped_{kind}_hard" for kind in KINDS))
    if not right or not gaps:
        return ""
    told = ", ".join(f"{one.value:.2f} of those {called}" for one, called in zip(right, KINDS.values(), strict=True))
    blind = [called for gap, called in zip(gaps, KINDS.values(), strict=True) if gap.value <= 0]
    nothing = "no less often rightly: nothing shows that it uses its crops there"
    same = f" With another question's crops it answers those {' and '.join(blind)} {nothing}." if blind else ""
    return f" Of the hard questions it answers rightly {told}.{same}"

"""AGILE's own finding in a sentence: how often the agent looks, and what that is worth."""

from __future__ import annotations

from collections.abc import Mapping

from kit.evaluate.outcomes import Metrics
from papers.differences import moved, of, sign

WORTH = {
    1: "so what it sees is worth that much",
    0: "so what its looking is worth can't be told from chance",
    -1: "so its looking does it no good",
}
"""Sign of what it loses with another puzzle's observations → what follows."""


def finding(stages: Mapping[str, Metrics]) -> str:
    """Tell how often it looks, what that is worth, and what imitation of looks reaches; empty: not measured."""
    if not (found := of(stages, "grpo/calls_of_observation", "grpo/observation_gap_swapped_2x2")):
        return ""
    looks, gap = found
    text = (
        f"The agent looks {looks.value:.1f} times a puzzle, and shown another puzzle's pieces it solves "
        f"{abs(gap.value):.2f} {'less' if gap.value >= 0 else 'more'}: {WORTH[sign(gap)]}."
    )
    if further := of(stages, "direct/acc_2x2_photographs", "grpo/acc_2x2_photographs"):
        base, agent = further
        text += f" Of puzzles cut from other photographs than the packaged eight the base solves {base.value:.2f},"
        text += f" the agent {agent.value:.2f}."
    text += _costs(stages)
    if not (copied := of(stages, "sft/guesses_0_greedy_acc")):
        return text
    text = f"{text} Most demonstrations of its cold start guess, so that reinforcement has something to find out"
    # Where it was measured on the test, what imitation of looks alone reaches is told beside who did it.
    known = of(stages, "decided-sft/acc_2x2")
    kept = "the puzzles kept for making choices"
    text += "." if known else f": imitation of looks alone solves {copied[0].value:.2f} of {kept}."
    if not (drawn := of(stages, "sft/guesses_60_sampled_looks", "sft/guesses_60_sampled_acc")):
        return text
    text += f" Sampled on {kept}, the cold start itself looks in {drawn[0].value:.2f} of its episodes and solves "
    text += f"{drawn[1].value:.2f}; played greedily it always begins in the likelier way"
    greedy = of(stages, "sft/guesses_60_greedy_looks", "sft/guesses_60_greedy_acc")
    return f"{text}: it looks in {greedy[0].value:.2f} and solves {greedy[1].value:.2f}." if greedy else f"{text}."


def _costs(stages: Mapping[str, Metrics]) -> str:
    """What training costs in other abilities, and how much less where a reply need only begin with the right answer."""
    right = of(stages, *(f"{stage}/general_all" for stage in ("untrained", "sft", "grpo")))
    begins = of(stages, "untrained/begins_all", "grpo/begins_all")
    if not right or not begins or moved(right[0], right[-1]) >= 0:
        return ""
    base, before, after, first, last = (f"{one.value:.2f}" for one in (*right, *begins))
    return (
        f" It costs other abilities: of questions of fourteen other skills the base gets {base} right, the cold start "
        f"{before}, the agent {after}; that a reply begins with the right answer falls less, {first} → {last}."
    )

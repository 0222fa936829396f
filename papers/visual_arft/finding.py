"""Visual-ARFT's own finding in a sentence: whether the agent searches and mends, and which training taught it."""

from __future__ import annotations

from collections.abc import Mapping

from kit.evaluate.outcomes import Metrics
from papers.differences import moved, of, sign

FOUND = {1: "more is found", 0: "what is found can't be told apart", -1: "less is found"}
"""Sign of the change in F1 on questions to search for → what follows."""


def finding(stages: Mapping[str, Metrics]) -> str:
    """Tell how often it searches and what comes of it, and the share of distorted images that it mends."""
    measured = ("tools_search", "f1_search", "restored_coding")
    if not (found := of(stages, *(f"{stage}/{metric}" for metric in measured for stage in ("sft", "grpo")))):
        return ""
    searched, searches, knew, knows, mended, mends = found
    paired = stages["grpo"].get("gain_over_sft_search")
    told = "" if moved(mended, mends) else " (no difference that can be told from chance)"
    return (
        f"From the cold start to after reinforcement the agent mends {mended.value:.2f} → {mends.value:.2f} of the "
        f"images with one distortion{told}. A question that needs a search gets {searched.value:.1f} → "
        f"{searches.value:.1f} calls [{max(0.0, searches.low):.1f}, {searches.high:.1f}] in the mean of its trainings, "
        f"and F1 there goes {knew.value:.2f} → {knows.value:.2f}: "
        f"{FOUND[moved(knew, knows) if paired is None else sign(paired)]}.{_by_difficulty(stages)}"
    )


def _by_difficulty(stages: Mapping[str, Metrics]) -> str:
    """What reinforcement added to sheets of either difficulty, which their lead over direct answers doesn't tell."""
    gains = of(stages, "grpo/gain_over_sft_coding_simple", "grpo/gain_over_sft_coding_hard")
    if not gains:
        return ""
    simple, hard = gains
    text = f" To coding F1 reinforcement added {simple.value:.2f} on Simple sheets and {hard.value:.2f} on Hard ones."
    if not (before := of(stages, "direct/f1_coding_hard", "sft/f1_coding_hard")) or moved(*before) < 1:
        return text
    base, start = before
    return (
        f"{text} On Hard ones even the cold start beats the base asked directly ({start.value:.2f}, {base.value:.2f})."
    )

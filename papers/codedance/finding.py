"""CodeDance's own finding in a sentence: what the adaptive reward and a bonus for calls make of needless calls.

A run by itself may have had any reward; only beside the arm ``bonus`` is ``grpo`` the arm of R_BAT.
"""

from __future__ import annotations

from collections.abc import Mapping

from kit.evaluate.outcomes import Metrics
from papers.differences import moved, of, sign

HALF = 0.5
"""Calls an episode: below it most easy questions are answered without one, above it most with one."""

LESS = {
    -1: "{} calls less than the cold start",
    0: "whether {} calls less than the cold start can't be told from chance",
    1: "{} calls more than the cold start",
}
"""Sign of the change → what follows for the agent that is named."""

BESIDE = {
    -1: ", and less than under the outcome alone",
    0: "; R_BAT and the outcome alone can't be told apart",
    1: ", and more than under the outcome alone",
}
"""Sign of its calls minus those under a reward for the outcome alone → what follows."""


def finding(stages: Mapping[str, Metrics]) -> str:
    """Tell calls an episode on easy questions, which need none; empty: not measured."""
    if not (found := of(stages, "sft/calls_easy", "grpo/calls_easy")):
        return ""
    start, adaptive = found
    calls = f"{start.value:.2f} calls [{max(0.0, start.low):.2f}, {start.high:.2f}] on an easy question"
    text = f"{_lost(stages)}Played greedily, it makes {calls}, which needs none, after the cold start"
    since = LESS[moved(start, adaptive)]
    if not (bonus := of(stages, "bonus/calls_easy")):
        return f"{text}, {adaptive.value:.2f} after reinforcement: {since.format('it')}."
    more = moved(adaptive, bonus[0])
    if more > 0 and adaptive.high < HALF < bonus[0].low:
        told = "Most are answered without a call under R_BAT, and with one under the bonus"
    else:
        told = {1: "R_BAT calls less", -1: "The bonus calls less", 0: "Which calls less can't be told from chance"}[
            more
        ]
    both = f"{adaptive.value:.2f} under R_BAT, {bonus[0].value:.2f} under a bonus for calls"
    if alone := of(stages, "outcome/calls_easy"):
        both += f", {alone[0].value:.2f} under the outcome alone"
        since += BESIDE[moved(alone[0], adaptive)]
    asked = of(stages, "direct/calls_easy")  # the base, which no seed trains, is asked once
    single = asked is not None and asked[0].n == bonus[0].n < adaptive.n
    seeds = " The other rewards are of one training each." if single else ""
    return f"{text}, {both}. {told}; {since.format('R_BAT')}.{seeds}"


def _lost(stages: Mapping[str, Metrics]) -> str:
    """What reinforcement took of the easy answers, which the headline, of hard ones, doesn't tell; empty: not sure."""
    if not (gain := of(stages, "grpo/gain_over_sft_easy")) or sign(gain[0]) >= 0:
        return ""
    fewer = f"{-gain[0].value:.2f} [{-gain[0].high:.2f}, {-gain[0].low:.2f}] fewer"
    return f"Of easy questions it answers {fewer} rightly than before reinforcement. "

"""VISTA-Gym's own finding in a sentence: whether the agent has learnt that it should call, or whom and for what."""

from __future__ import annotations

from collections.abc import Mapping

from kit.evaluate.outcomes import Metrics
from papers.differences import moved, of

CALLS = {
    1: "it has learnt that it should call",
    0: "whether it has learnt to call can't be told from chance",
    -1: "it calls less often than before",
}
ASKS = {
    1: "where it calls, it asks for the wrong thing more often than before",
    0: "whether it asks better or worse where it calls can't be told from chance",
    -1: "where it calls, it asks for the wrong thing less often than before",
}
"""Sign of the change → what follows."""

ELSEWHERE = {1: "that is more", 0: "these can't be told apart", -1: "that is less"}
"""Sign of its lead over the base where neither was trained → what follows."""


def finding(stages: Mapping[str, Metrics]) -> str:
    """Tell in how many episodes it calls, and how many of those ask for the wrong thing; empty: not measured."""
    if not (called := of(stages, "sft/called", "grpo/called")):
        return ""
    before, after = (f"{one.value:.2f}" for one in called)
    calls = f"The agent calls a tool in {before} of the episodes before reinforcement and in {after}"
    text = f"{calls} after it: {CALLS[moved(*called)]}.{_elsewhere(stages)}"
    if not (wrong := of(stages, *(f"{stage}/called_for_the_wrong_thing" for stage in ("sft", "grpo")))):
        return text
    asks = f"Of the episodes that call, {wrong[0].value:.2f} ask for the wrong thing before reinforcement"
    return f"{text} {asks}, {wrong[1].value:.2f} after it: {ASKS[moved(*wrong)]}."


def _elsewhere(stages: Mapping[str, Metrics]) -> str:
    """What it gets right on the sets that it wasn't trained on, beside the base asked directly."""
    if not (found := of(stages, "grpo/acc_out", "direct/acc_out")):
        return ""
    agent, base = found
    text = f" Of the {agent.n} questions from sets that it was not trained on it gets {agent.value:.3f} right, and the"
    text += f" base, asked directly, {base.value:.3f}: {ELSEWHERE[moved(base, agent)]}."
    every, sets = (stages["grpo"].get(name) for name in ("acc_all", "acc_in"))
    if every is None or every.n <= agent.n:
        return text
    others = every.n - agent.n
    share = (every.value * every.n - agent.value * agent.n) / others
    text += f" On the other {others}, of kinds and sets that it was trained on, it gets {share:.2f}"
    text += f" ({sets.value:.2f} on the {sets.n} of the paper's sets)" if sets else ""
    return f"{text}: so the share of all depends on the mix."

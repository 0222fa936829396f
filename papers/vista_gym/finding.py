"""VISTA-Gym's own finding in a sentence: whether the agent has learnt that it should call, or whom and for what."""

from __future__ import annotations

from collections.abc import Mapping

from kit.evaluate.outcomes import Metrics
from papers.differences import moved, of

CALLS = {
    1: "it has learnt that it should call",
    0: "that it has learnt to call can't be told from chance",
    -1: "it calls less often than before",
}
ASKS = {
    1: "and more episodes ask for the wrong thing, too: whom to call, and for what, is less sure",
    0: "whether it asks the right tool for the right thing can't be told from chance",
    -1: "and it asks for the wrong thing less often",
}
"""Sign of the change → what follows."""


def finding(stages: Mapping[str, Metrics]) -> str:
    """Tell in how many episodes it calls, and in how many for the wrong thing; empty: not measured."""
    places = [f"{stage}/errors_{kind}" for kind in ("no_call", "E4") for stage in ("sft", "grpo")]
    if not (found := of(stages, *places)):
        return ""
    silent, silent_after, wrong, wrong_after = found
    return (
        f"It calls a tool in {1 - silent.value:.2f} of the episodes before reinforcement and in "
        f"{1 - silent_after.value:.2f} after it, for the wrong thing in {wrong.value:.2f} and {wrong_after.value:.2f} "
        f"of all: {CALLS[moved(silent_after, silent)]}, {ASKS[moved(wrong, wrong_after)]}."
    )

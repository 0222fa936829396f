"""VISTA-Gym's own finding in a sentence: whether the agent has learnt that it should call, or whom and for what."""

from __future__ import annotations

from collections.abc import Mapping

from kit.evaluate.intervals import Interval
from kit.evaluate.outcomes import Metrics
from papers.differences import moved, of

CALLS = {
    1: "it has learnt that it should call",
    0: "that it has learnt to call can't be told from chance",
    -1: "it calls less often than before",
}
ASKS = {
    1: "where it calls, it asks for the wrong thing more often than before",
    0: "whether it asks better or worse where it calls can't be told from chance",
    -1: "where it calls, it asks for the wrong thing less often than before",
}
"""Sign of the change → what follows."""


def finding(stages: Mapping[str, Metrics]) -> str:
    """Tell in how many episodes it calls, and how many of those ask for the wrong thing; empty: not measured."""
    places = [f"{stage}/errors_{kind}" for kind in ("no_call", "E4") for stage in ("sft", "grpo")]
    if not (found := of(stages, *places)):
        return ""
    silent, silent_after, wrong, wrong_after = found
    text = (
        f"It calls a tool in {1 - silent.value:.2f} of the episodes before reinforcement and in "
        f"{1 - silent_after.value:.2f} after it"
    )
    learnt = CALLS[moved(silent_after, silent)]
    before, after = of_those_that_call(wrong, silent), of_those_that_call(wrong_after, silent_after)
    if before is None or after is None:
        return f"{text}: {learnt}."
    asks = f"Of those that call, {before.value:.2f} and {after.value:.2f} ask for the wrong thing"
    return f"{text}: {learnt}. {asks}: {ASKS[moved(before, after)]}."


def of_those_that_call(wrong: Interval, silent: Interval) -> Interval | None:
    """The share that ask for the wrong thing among the episodes that call; None: none calls.

    Its interval reaches from the low end of one share by the high end of the other to the reverse: wider than need be,
    since both are of the same episodes.

    Args:
        wrong: share of all episodes that ask for the wrong thing.
        silent: share of all episodes that call nothing.
    """
    calls, fewest, most = 1 - silent.value, 1 - silent.high, 1 - silent.low
    if calls <= 0:
        return None
    high = min(1.0, wrong.high / fewest) if fewest > 0 else 1.0
    return Interval(wrong.value / calls, max(0.0, wrong.low / most), high, wrong.n)

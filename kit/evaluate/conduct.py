"""Say in one sentence what a policy did, so that a page of zeros explains itself."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from kit.episode import Episode
from kit.evaluate.accuracy import ANSWERED
from kit.evaluate.outcomes import Outcome


def conduct(played: Sequence[Episode | Outcome]) -> str:
    """Tell how many episodes called a tool, and how many answered.

    >>> conduct([])
    'nothing was played'

    Args:
        played: finished episodes, or their outcomes.
    """
    if not played:
        return "nothing was played"
    called = [one.calls if isinstance(one, Episode) else one.tool_calls for one in played]
    ended = [one.ended == "answer" if isinstance(one, Episode) else one.reason in ANSWERED for one in played]
    return f"of {len(played)} played, {_count(map(bool, called), 'called a tool')}, {_count(ended, 'answered')}"


def _count(which: Iterable[bool], did: str) -> str:
    found = list(which)
    amount = "none" if not any(found) else "all" if all(found) else f"{sum(found)}"
    return f"{amount} {did}"

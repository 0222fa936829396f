"""Outcomes of episodes that nobody played."""

from __future__ import annotations

from typing import Any, TypeVar

from kit.evaluate.outcomes import Outcome

T = TypeVar("T", bound=Outcome)


def made(outcome: type[T], correct: bool, reason: str = "", **fields: Any) -> T:
    """An outcome that is right or wrong; what isn't given is that of a short episode."""
    ended = reason or ("solved" if correct else "wrong")
    rest = {"task": "t", "image": "p", "turns": 1, "tool_calls": 0, "tokens": 9}
    return outcome(**{**rest, **fields}, correct=correct, reason=ended)

"""List an episode's calls: which tool, and how each call ended."""

from __future__ import annotations

import ast
from dataclasses import dataclass

from kit.episode import Action, Episode, Status
from kit.protocol import read_code


@dataclass(frozen=True)
class Call:
    """One call of a tool.

    Attributes:
        tool: its name (:func:`called`).
        status: how it ended; ``ok``: it succeeded.
    """

    tool: str
    status: Status


def called(action: Action) -> str:
    """Name what an action asks for: the tool; for code, the function that it calls last.

    >>> called(Action("search", "capital of Chad"))
    'search'
    >>> called(Action("code", "state[0], state[1] = state[1], state[0]\\nview = crop(observation(state), box)"))
    'crop'

    Code that calls nothing, or isn't Python, is ``code``.
    """
    if action.name != "code" or action.arguments is not None:
        return action.name
    try:
        body = ast.parse(read_code(action.text)[0]).body
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return action.name
    for statement in reversed(body):
        for node in ast.walk(statement):  # outermost first
            if isinstance(node, ast.Call):
                function = node.func
                return function.id if isinstance(function, ast.Name) else getattr(function, "attr", action.name)
    return action.name


def calls(episode: Episode) -> list[Call]:
    """The calls of a finished episode, in order; the answer is none, nor is a turn without an action."""
    return [
        Call(called(turn.action), turn.observation.status)
        for turn in episode.turns
        if turn.action is not None and turn.observation is not None
    ]


def share_that_succeeded(episode: Episode) -> float | None:
    """Share of an episode's calls that succeeded; None if it made none."""
    made = calls(episode)
    return sum(call.status == "ok" for call in made) / len(made) if made else None

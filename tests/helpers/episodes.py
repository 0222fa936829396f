"""Episodes that nobody played: turns in a protocol's words, answers at once."""

from __future__ import annotations

from collections.abc import Sequence

from kit.episode import Action, Episode, Observation, Task, Turn
from kit.protocol import Protocol


def said(protocol: Protocol, text: str, seen: Observation | None = None) -> Turn:
    """A turn with the action that is read in it, and what a call brings back."""
    parsed = protocol.parse(text)
    action = parsed if isinstance(parsed, Action) else None
    return Turn((), (), text, action, None if action is None or action.name == protocol.final else seen)


def answered(tasks: Sequence[Task], *answers: str) -> list[Episode]:
    """Episodes of one turn: an answer a task; or several answers to the only one."""
    asked = [*tasks] * (len(answers) if len(tasks) == 1 else 1)
    return [
        Episode(task, (), (Turn((), (), f"<think>a</think><answer>{said}</answer>", Action("answer", said)),), "answer")
        for task, said in zip(asked, answers, strict=True)
    ]

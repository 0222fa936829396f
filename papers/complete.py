"""Tasks that lack what their check reads: the check names what is missing instead of failing over it."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from functools import wraps
from typing import Any, Concatenate, ParamSpec

from kit.episode import Task
from kit.train.playable import gold_fault

Tools = ParamSpec("Tools")


class Lacking(ValueError):
    """A task has no such field."""


class _Meta(dict[str, Any]):
    """A task's ``meta``: what is read there and isn't there is named."""

    def __missing__(self, name: str) -> Any:
        raise Lacking(f"it has no meta[{name!r}], which a task of its kind needs")


def of_complete(validate: Callable[Concatenate[Task, Tools], str]) -> Callable[Concatenate[Task, Tools], str]:
    """Let a paper's ``validate`` tell what a task lacks: a gold answer, or a field of ``meta`` that it reads."""

    @wraps(validate)
    def told(task: Task, /, *tools: Tools.args, **named: Tools.kwargs) -> str:
        if why := gold_fault(task.target):
            return why
        try:
            return validate(replace(task, meta=_Meta(task.meta)), *tools, **named)
        except Lacking as error:
            return str(error)

    return told

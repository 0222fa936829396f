"""Grade answers that nobody vouches for: their code runs in the sandbox, their results are compared here.

The sandbox gets the code and the arguments of the calls, and returns what came out. It holds no solution, no expected
result, no file of the kit and no network, so code can only be right by computing what is asked. What it prints or says
about itself counts for nothing.
"""

from __future__ import annotations

import ast
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from types import CodeType
from typing import Any, Literal

import numpy as np

from turn_sandbox import Limits, Result, Sandbox
from workshop.exercises.exercise import Exercise
from workshop.exercises.needed import needed, source, statements
from workshop.exercises.nothing import code_of
from workshop.exercises.question import Question

GradeState = Literal["right", "wrong", "raises", "timeout", "open", "missing", "unreadable", "notebook", "by hand"]

MEANING: Mapping[GradeState, str] = {
    "right": "the solution's results, in all cases",
    "wrong": "other results than the solution's",
    "raises": "the code raises an error, or does not define what is asked for",
    "timeout": "the code did not end in time",
    "open": "not answered, or a function that returns nothing",
    "missing": "no such cell, or no such notebook, was returned",
    "unreadable": "the file is no notebook",
    "notebook": "the answer depends on the student's own run: checked in the notebook only, no points here",
    "by hand": "could not be judged here, for the reason given: look at it yourself",
}
"""States of an answer, explained."""

WITHOUT_POINTS = ("notebook", "by hand")
"""States that say nothing about the answer."""

LIMITS = Limits(seconds=10.0, memory_mb=512, processes=4, file_mb=1, disk_mb=4, images=0)
"""Limits of one answer: all its calls together."""

LONGEST = 20_000
"""Characters of a cell that is read at all."""


@dataclass(frozen=True)
class Grade:
    """An answer's grade.

    Attributes:
        state: one of :data:`MEANING`.
        why: the hint or error that fits, the same for all who made the same mistake; empty if right.
        detail: what came out, and for which call.
    """

    state: GradeState
    why: str = ""
    detail: str = ""

    @property
    def points(self) -> float | None:
        """1 for a right answer, 0 for another; None where nothing can be said."""
        return None if self.state in WITHOUT_POINTS else float(self.state == "right")


def grade_answer(
    box: Sandbox, one: Question, answer: str | None, around: Sequence[tuple[str, ast.stmt]] = (), seed: int = 0
) -> Grade:
    """Grade one answer.

    Args:
        box: a sandbox that confines code.
        one: the exercise.
        answer: source of the student's cell; None: there is none.
        around: names and definitions of the rest of the notebook, of which the cell gets those that it uses.
        seed: of the exercise's hidden cases.
    """
    if one.exercise.needs_run:
        return Grade("notebook", "the answer depends on the student's own run")
    if answer is None:
        return Grade("missing", "the cell is missing")
    if len(answer) > LONGEST:
        return Grade("by hand", f"the cell has more than {LONGEST} characters")
    exercise = one.exercise.with_hidden(seed)
    try:
        body = statements(answer)
        if source(body) == source(statements(one.cell)):
            return Grade("open", "not answered", exercise.judge(...).text)
        code = source([*needed([*body, *ast.parse(one.asked).body], around), *body])
    except (SyntaxError, RecursionError) as error:
        return Grade("raises", f"SyntaxError: {error.args[0] if error.args else error}")
    try:
        cases = f"[{', '.join(literal(dict(case)) for case in exercise.cases)}]"
    except TypeError as error:
        return Grade("by hand", f"this exercise's cases can't be handed to the sandbox: {error}")
    call = f"_kit_calls({one.asked}, {cases})" if exercise.cases else f"_kit_plain({one.asked})"
    with box.episode(limits=LIMITS) as episode:
        result = episode.run(code or "pass", before=BEFORE, after=f"_kit_result = {call}", want=("_kit_result",))
    if result.status != "ok":
        return _failed(result)
    if "_kit_result" not in result.values:
        return Grade("wrong", "the result is no number, text, list or the like")
    return _judged(exercise, result.values["_kit_result"], code_of(one.asked, source(body)))


BEFORE = """
def _kit_make():
    from builtins import BaseException, Ellipsis, bool, dict, float, hasattr, int, isinstance, list
    from builtins import range, repr, set, frozenset, str, tuple, type
    def plain(value):
        if hasattr(value, "tolist"):
            value = value.tolist()
        if value is None or isinstance(value, (bool, str)):
            return value
        if isinstance(value, int):
            return int(value)
        if isinstance(value, float):
            return {"float": repr(float(value))}
        if isinstance(value, (list, tuple, range)):
            return [plain(item) for item in value]
        if isinstance(value, dict):
            return {"dict": [[plain(key), plain(item)] for key, item in value.items()]}
        if isinstance(value, (set, frozenset)):
            return {"set": [plain(item) for item in value]}
        return {"other": "..." if value is Ellipsis else type(value).__name__}
    def calls(function, cases):
        if function is None or function is Ellipsis:
            return None
        found = []
        for case in cases:
            try:
                found.append(["value", plain(function(**case))])
            except BaseException as error:
                found.append(["error", type(error).__name__, str(error)[:200]])
        return found
    return plain, calls
_kit_plain, _kit_calls = _kit_make()
def check(*_, **__): pass
hint = solution = points = display = check
"""
"""Runs before a student's cell. It must not fail where a student gave ``list`` or ``sum`` another meaning."""


def literal(value: Any) -> str:
    """Python source that makes ``value`` again.

    Raises:
        TypeError: it is not made of numbers, text, lists, tuples, sets, dictionaries and arrays.
    """
    if isinstance(value, np.ndarray):
        return f"__import__('numpy').array({literal(value.tolist())}, dtype={str(value.dtype)!r})"
    if isinstance(value, np.generic):
        return literal(value.item())
    if isinstance(value, float):
        return f"float({str(value)!r})" if value != value or value in (np.inf, -np.inf) else repr(value)
    if value is None or isinstance(value, bool | int | str | bytes):
        return repr(value)
    if isinstance(value, list):
        return f"[{', '.join(map(literal, value))}]"
    if isinstance(value, tuple):
        return f"({''.join(literal(item) + ', ' for item in value)})"
    if isinstance(value, set):
        return f"set([{', '.join(map(literal, value))}])"
    if isinstance(value, dict):
        return f"{{{', '.join(f'{literal(key)}: {literal(item)}' for key, item in value.items())}}}"
    raise TypeError(f"a {type(value).__name__}")


def _failed(result: Result) -> Grade:
    """Grade of code that did not come to its end."""
    if result.status == "timeout":
        return Grade("timeout", f"did not end within {LIMITS.seconds:g} seconds")
    why = result.error
    if why.startswith(("ModuleNotFoundError", "ImportError")):
        return Grade("by hand", f"uses what isn't there where answers are graded: {why}")
    return Grade("raises", why)


def _judged(exercise: Exercise, found: Any, code: CodeType | None) -> Grade:
    """Compare what came out with the solution, in this process, where the student's code never ran."""
    try:
        if exercise.cases:
            verdict = exercise.judge(_Replayed(exercise.cases, found, code) if found is not None else None)
        else:
            verdict = exercise.judge(_value(found))
    except (ValueError, TypeError, KeyError, IndexError, RecursionError, OverflowError) as error:
        return Grade("wrong", "the result has an unexpected form", type(error).__name__)
    if verdict.state == "right" and exercise.cases and not exercise.hidden:
        return Grade("by hand", "right in the cases that students see; the exercise has no hidden ones")
    if verdict.state == "raises" and verdict.why.startswith(("ModuleNotFoundError", "ImportError")):
        return Grade("by hand", f"uses what isn't there where answers are graded: {verdict.why}", verdict.text)
    return Grade(verdict.state, verdict.why, verdict.text.removesuffix(f"\n  {verdict.why}"))


class _Replayed:
    """A function that returns, for each case, what the student's returned in the sandbox; its code is never run."""

    def __init__(self, cases: Sequence[Mapping[str, Any]], found: Any, code: CodeType | None) -> None:
        self.__code__ = code
        if not isinstance(found, list) or len(found) != len(cases):
            raise ValueError(f"{len(cases)} results expected")
        self._found = {literal(dict(case)): outcome for case, outcome in zip(cases, found, strict=True)}

    def __call__(self, **case: Any) -> Any:
        kind, *rest = self._found[literal(case)]
        if kind != "value":
            name, text = (str(item) for item in rest)
            raise type(name if name.isidentifier() else "Error", (Exception,), {})(text[:200])
        return _value(rest[0])


def _value(found: Any) -> Any:
    """What the sandbox's ``plain`` was given, as far as that can be told."""
    if isinstance(found, list):
        return [_value(item) for item in found]
    if not isinstance(found, dict):
        return found
    ((kind, content),) = found.items()
    if kind == "float":
        return float(content)
    if kind == "dict":
        return {_key(key): _value(item) for key, item in content}
    if kind == "set":
        return {_key(item) for item in content}
    return ... if content == "..." else _Other(str(content)[:80])


def _key(found: Any) -> Any:
    value = _value(found)
    return tuple(value) if isinstance(value, list) else value


@dataclass(frozen=True)
class _Other:
    """A value of a type that no answer has."""

    name: str

    def __repr__(self) -> str:
        return f"<{self.name}>"

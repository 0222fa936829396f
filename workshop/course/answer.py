"""Grade answers that nobody vouches for: their code runs in the sandbox, their results are compared here.

The sandbox gets the code and the arguments of the calls, and returns what came out. It holds no solution, no expected
result, no file of the kit and no network, so code can only be right by computing what is asked. What it prints or says
about itself counts for nothing.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from types import CodeType
from typing import Any, Literal

import numpy as np

from turn_sandbox import Limits, Result, Sandbox
from workshop.exercises.exercise import Exercise
from workshop.exercises.needed import definitions, needed, source, statements
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

UNSEEN = "(a case that your notebook doesn't have)"

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


OWN_RUN = Grade("notebook", "the answer depends on the student's own run")
"""The grade of every exercise that needs the student's own run, whatever was returned."""


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
        return OWN_RUN
    if answer is None:
        return Grade("missing", "the cell is missing")
    if len(answer) > LONGEST:
        return Grade("by hand", f"the cell has more than {LONGEST} characters")
    exercise = one.exercise.with_hidden(seed)
    try:
        body = statements(answer)
        if source(body) == source(statements(one.cell)):
            return _open(one, around)
        code = source([*needed([*body, *ast.parse(one.asked).body], around), *body])
    except (SyntaxError, RecursionError) as error:
        return _no_python(one, answer, error)
    try:
        cases = f"[{', '.join(literal(dict(case)) for case in exercise.cases)}]"
    except TypeError as error:
        return Grade("by hand", f"this exercise's cases can't be handed to the sandbox: {error}")
    call = f"_kit_calls({one.asked}, {cases})" if exercise.cases else f"_kit_plain({one.asked})"
    with box.episode(limits=LIMITS) as episode:
        result = episode.run(code or "pass", before=BEFORE, after=f"_kit_result = {call}", want=("_kit_result",))
    if result.status != "ok":
        return _failed(one, body, result)
    if "_kit_result" not in result.values:
        return Grade("wrong", "the result is no number, text, list or the like")
    return _judged(one.exercise, exercise, result.values["_kit_result"], code_of(one.asked, source(body)))


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


def _open(one: Question, around: Sequence[tuple[str, ast.stmt]]) -> Grade:
    """Grade of a cell that is as it was handed out; says so if the function stands in another cell."""
    empty = source(statements(one.cell))
    others = (node for name, node in around if name == one.asked and isinstance(node, ast.FunctionDef))
    if one.exercise.cases and any(source([node]) not in empty for node in others):
        why = "another cell has an answer, but only the exercise's own is graded: write it there"
        return Grade("open", why, f"{one.exercise.id} · {why}")
    return Grade("open", "not answered", one.exercise.judge(...).text)


def _no_python(one: Question, answer: str, error: SyntaxError | RecursionError) -> Grade:
    """Grade of a cell that isn't Python, with the line if that is the student's own."""
    why = f"SyntaxError: {error.args[0] if error.args else error}"
    line, text = getattr(error, "lineno", None) or 0, (getattr(error, "text", None) or "").strip()
    if not text or text != dict(enumerate(answer.splitlines(), 1)).get(line, "").strip():
        return Grade("raises", why)
    return Grade("raises", why, f"{one.exercise.id} ✗ {why}\n  line {line} of your cell: {text}")


def _failed(one: Question, body: Sequence[ast.stmt], result: Result) -> Grade:
    """Grade of code that did not come to its end, or did not define what is asked for."""
    if result.status == "timeout":
        return Grade("timeout", f"did not end within {LIMITS.seconds:g} seconds")
    why = result.error
    if why.startswith(("ModuleNotFoundError", "ImportError")):
        return Grade("by hand", f"uses what isn't there where answers are graded: {why}")
    if why == f"NameError: name '{one.asked}' is not defined":
        early = any(name == one.asked for name, _ in definitions(body))
        why = f"the cell doesn't define {one.asked}: keep the name that the exercise gives"
        why = f"the cell ended before it had defined {one.asked}" if early else why
        return Grade("raises", why, f"{one.exercise.id} ✗ {why}")
    return Grade("raises", why)


def _judged(seen: Exercise, exercise: Exercise, found: Any, code: CodeType | None) -> Grade:
    """Compare what came out with the solution, in this process, where the student's code never ran.

    Args:
        seen: the exercise as students see it.
        exercise: the same with its hidden cases.
        found: what the sandbox returned.
        code: of the student's function, not to be run.
    """
    try:
        if exercise.cases:
            replayed = _Replayed(exercise.cases, found, code) if found is not None else None
            verdict = exercise.judge(replayed)
            unseen = verdict.state in ("wrong", "raises") and seen.judge(replayed).state == "right"
        else:
            verdict, unseen = exercise.judge(_value(found)), False
    except (ValueError, TypeError, KeyError, IndexError, RecursionError, OverflowError) as error:
        return Grade("wrong", "the result has an unexpected form", type(error).__name__)
    if verdict.state == "right" and exercise.cases and not exercise.hidden:
        return Grade("by hand", "right in the cases that students see; the exercise has no hidden ones")
    if verdict.state == "raises" and verdict.why.startswith(("ModuleNotFoundError", "ImportError")):
        return Grade("by hand", f"uses what isn't there where answers are graded: {verdict.why}", verdict.text)
    text = verdict.text.removesuffix(f"\n  {verdict.why}")
    return Grade(verdict.state, verdict.why, f"{_rounded(text)} {UNSEEN}" if unseen else text)


def _rounded(text: str) -> str:
    """A text with its long decimals to four digits: nobody has typed the numbers of hidden cases."""
    return re.sub(r"\d+\.\d{4,}(e-?\d+)?", lambda number: f"{float(number[0]):.4g}", text)


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

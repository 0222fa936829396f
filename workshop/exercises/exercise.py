"""An exercise: its solution, the cases a reader's function is tried on, and a hint for each known mistake."""

from __future__ import annotations

import copy
import inspect
import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, Literal

from workshop.exercises.nothing import NO_VALUE, why_nothing

State = Literal["right", "wrong", "raises", "open"]
"""Result of a check; ``open``: nothing was answered yet, or a function returns nothing."""


@dataclass(frozen=True)
class Mistake:
    """A wrong answer that readers give, and the hint that helps just then.

    Attributes:
        answer: a function like the exercise's solution: it takes the same arguments, leaves them as they are, and
            returns the mistaken result.
        hint: one or two sentences that lead on without giving the answer away.
    """

    answer: Callable[..., Any]
    hint: str


@dataclass(frozen=True)
class Verdict:
    """Result of a check.

    Attributes:
        state: of the answer.
        text: shown to the reader.
        why: for a wrong answer its hint, for one that raises the error, for one that returns nothing the question
            about it: the same for all who made the same mistake.
    """

    state: State
    text: str
    why: str = ""


@dataclass(frozen=True)
class Exercise:
    """An exercise of a notebook.

    Attributes:
        id: number of the notebook, a dot, a number: ``13.2``.
        answer: the solution, a function that leaves its arguments as they are. With ``cases`` the reader writes a
            function that is compared with it; without, the reader gives a value that is compared with what it returns
            for the values handed to ``check``.
        hint: one or two sentences for whoever is stuck; shown with a wrong answer that is no known mistake.
        cases: keyword arguments of each call of a reader's function; include the edges that matter.
        mistakes: wrong answers that have a hint of their own.
        tolerance: by which numbers may differ, absolute and relative.
        hidden: more cases, made from a seed when answers are graded, so that nobody has seen them. They keep to what
            the text asks: an answer that is right in the notebook's sense must be right on all of them.
    """

    id: str
    answer: Callable[..., Any]
    hint: str
    cases: Sequence[Mapping[str, Any]] = ()
    mistakes: Sequence[Mistake] = ()
    tolerance: float = 1e-4
    hidden: Callable[[int], Sequence[Mapping[str, Any]]] | None = None

    @property
    def needs_run(self) -> bool:
        """True if the solution is computed from values of the reader's own run."""
        return not self.cases and bool(inspect.signature(self.answer).parameters)

    def with_hidden(self, seed: int) -> Exercise:
        """The exercise with its hidden cases of this seed among its cases."""
        return replace(self, cases=[*self.cases, *(self.hidden(seed) if self.hidden else ())])

    def judge(self, given: Any, known: Mapping[str, Any] | None = None) -> Verdict:
        """Compare a reader's answer with the solution.

        Args:
            given: a value, or a function if the exercise has cases; ``...`` or None: not answered yet.
            known: values of the reader's notebook that the solution of a value needs.

        Raises:
            ValueError: a function was given for a value or the reverse, or ``known`` isn't what the solution takes.
        """
        if _is_empty(given):
            return self._open(NO_VALUE if given is None and not self.cases else "")
        if bool(self.cases) != callable(given):
            wanted = "a function" if self.cases else "a value"
            raise ValueError(f"exercise {self.id} asks for {wanted}, you gave {given!r}")
        if not self.cases:
            right = same(given, self._expected(known or {}), self.tolerance)
            return self._right() if right else self._wrong(given, known or {}, given)
        outcomes = [_call(given, case) for case in self.cases]
        expected = [self._expected(case) for case in self.cases]
        if all(_is_empty(got) for got in outcomes) and not all(value is None for value in expected):
            return self._open(why_nothing(given))
        for case, got, value in zip(self.cases, outcomes, expected, strict=True):
            if isinstance(got, _Raised):
                where = f"{self.id} ✗ your function raises {got.error}\n  for {_told(case)}"
                return Verdict("raises", where, got.error)
            if not same(got, value, self.tolerance):
                return self._wrong(given, case, got)
        return self._right()

    def _right(self) -> Verdict:
        return Verdict("right", f"{self.id} ✓ right")

    def _open(self, why: str = "") -> Verdict:
        way = f'Stuck? hint("{self.id}"), then solution("{self.id}").'
        return Verdict("open", f"{self.id} · {why}\n  {way}" if why else f"{self.id} · yours to write. {way}", why)

    def _expected(self, case: Mapping[str, Any]) -> Any:
        try:
            return self.answer(**case)
        except TypeError as error:
            raise ValueError(f"exercise {self.id}, with {_told(case)}: {error}") from error

    def _wrong(self, given: Any, case: Mapping[str, Any], got: Any) -> Verdict:
        off = None if self.cases else _first_off(got, self._expected(case), self.tolerance)
        made = (m for m in self.mistakes if self._makes(m, given, case))
        alike = (m for m in self.mistakes if off is not None and self._makes(m, given, case, off))
        mistake = next(made, None) or next(alike, None)
        found = mistake.hint if mistake else _not_a_number(got, self._expected(case)) or self.hint
        if got is None and not mistake:
            found = f"It returns nothing here: did you mean return? {found}"
        where = f" for {_told(case)}" if self.cases else ""
        where = where if off is None else f"; number {off + 1} of {len(got)} isn't right"
        return Verdict("wrong", f"{self.id} ✗ not yet: {_short(got)}{where}\n  {found}", found)

    def _makes(self, mistake: Mistake, given: Any, known: Mapping[str, Any], at: int | None = None) -> bool:
        """True if the reader's answer is this mistake, in every case; or, of a list, the number at this place."""
        for case in self.cases or [known]:
            got = _call(given, case) if self.cases else given
            try:
                mistaken = mistake.answer(**case)
            except Exception:
                return False
            if at is not None:
                got, mistaken = _at(got, at), _at(mistaken, at)
            if isinstance(got, _Raised) or not same(got, mistaken, self.tolerance):
                return False
        return True


@dataclass(frozen=True)
class _Raised:
    """An error that a reader's function raised."""

    error: str


def _call(function: Callable[..., Any], case: Mapping[str, Any]) -> Any:
    """Call a reader's function on a copy: if it changes its arguments, that must not change them for the next one."""
    try:
        return function(**copy.deepcopy(dict(case)))
    except Exception as error:
        return _Raised(f"{type(error).__name__}: {error}")


def _not_a_number(got: Any, expected: Any) -> str:
    """What to tell of text or several values where a number is asked for; empty otherwise."""
    got, expected = _plain(got), _plain(expected)
    if isinstance(expected, bool) or not isinstance(expected, int | float):
        return ""
    if isinstance(got, str):
        return "A number is asked for, and this is text: write it without quotation marks."
    return "One number is asked for. A decimal has a point: 0.5, not 0,5." if isinstance(got, list) else ""


def _is_empty(value: Any) -> bool:
    return value is None or value is ...


def same(a: Any, b: Any, tolerance: float) -> bool:
    """Compare two answers: numbers within ``tolerance``, text without case and outer spaces, the rest part by part.

    Tensors and arrays count as lists, tuples too.

    Args:
        a: one answer.
        b: the other.
        tolerance: by which numbers may differ, absolute and relative.
    """
    a, b = _plain(a), _plain(b)
    if isinstance(a, bool) or isinstance(b, bool):
        return isinstance(a, bool | int | float) and isinstance(b, bool | int | float) and a == b
    if isinstance(a, int | float) and isinstance(b, int | float):
        return (math.isnan(a) and math.isnan(b)) or math.isclose(a, b, rel_tol=tolerance, abs_tol=tolerance)
    if isinstance(a, str) and isinstance(b, str):
        return a.strip().casefold() == b.strip().casefold()
    if isinstance(a, list) and isinstance(b, list):
        return len(a) == len(b) and all(same(x, y, tolerance) for x, y in zip(a, b, strict=True))
    if isinstance(a, dict) and isinstance(b, dict):
        return a.keys() == b.keys() and all(same(a[key], b[key], tolerance) for key in a)
    return bool(type(a) is type(b) and a == b)


def _first_off(given: Any, expected: Any, tolerance: float) -> int | None:
    """Index of the first wrong one of several values; None if these aren't as many as expected."""
    given, expected = _plain(given), _plain(expected)
    if not (isinstance(given, list) and isinstance(expected, list) and len(given) == len(expected)):
        return None
    return next(k for k, (a, b) in enumerate(zip(given, expected, strict=True)) if not same(a, b, tolerance))


def _at(value: Any, place: int) -> Any:
    """What stands at a place of a list; None if nothing does."""
    value = _plain(value)
    return value[place] if isinstance(value, list) and place < len(value) else None


def _plain(value: Any) -> Any:
    """Lists and numbers instead of tensors, arrays, their scalars, tuples and ranges."""
    if hasattr(value, "tolist"):
        return value.tolist()
    return list(value) if isinstance(value, tuple | range) else value


def _told(case: Mapping[str, Any]) -> str:
    return ", ".join(f"{name}={_short(value)}" for name, value in case.items()) or "no arguments"


def _short(value: Any, most: int = 120) -> str:
    text = repr(_plain(value))
    return text if len(text) <= most else text[: most - 1] + "…"

"""Tell an answer that isn't written yet from one that shows its result instead of returning it."""

from __future__ import annotations

import dis
from collections.abc import Iterator
from types import CodeType
from typing import Any

EMPTY = {"RESUME", "NOP", "LOAD_CONST", "RETURN_CONST", "RETURN_VALUE", "COPY_FREE_VARS"}
"""Instructions of a function whose body is ``...``, ``pass`` or a docstring."""

SHOWS = ("print", "display")

NO_VALUE = "it is None. print(…) shows a value, but is itself None: write the value alone, without print"


def why_nothing(function: Any) -> str:
    """A question about a function that returns None in every case; empty if it isn't written yet.

    Args:
        function: the reader's; what has no code of its own counts as written.
    """
    code = getattr(function, "__code__", None)
    if isinstance(code, CodeType) and {each.opname for each in dis.get_instructions(code)} <= EMPTY:
        return ""
    shows = isinstance(code, CodeType) and any(name in SHOWS for name in _names(code))
    return f"your function {'shows its result, but returns' if shows else 'returns'} nothing: did you mean return?"


def code_of(name: str, source: str) -> CodeType | None:
    """The code of a function that a source defines at its top level, compiled but not run; None if it doesn't.

    Raises:
        SyntaxError: the source isn't Python.
    """
    found = compile(source, "cell", "exec").co_consts
    return next((each for each in reversed(found) if isinstance(each, CodeType) and each.co_name == name), None)


def _names(code: CodeType) -> Iterator[str]:
    """Names that a function uses, in the functions within it as well."""
    yield from code.co_names
    for inner in code.co_consts:
        if isinstance(inner, CodeType):
            yield from _names(inner)

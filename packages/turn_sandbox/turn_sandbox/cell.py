"""Compile what a turn runs: as a script, or as a cell of a notebook, which shows the value that it ends with.

No text is rewritten for that: the last expression is compiled apart, as Python's own prompt does it, and keeps its
place. So whatever quotes the code, a warning or a traceback, quotes the lines that the agent wrote.
"""

from __future__ import annotations

import ast
import io
import linecache
import types

# Kept before any code of a turn runs: it may patch these names.
_parse, _compile, _lines, _StringIO = ast.parse, compile, linecache.cache, io.StringIO
_Expr, _Constant, _Pass, _Interactive = ast.Expr, ast.Constant, ast.Pass, ast.Interactive
_NOTHING = compile("", "", "exec").co_code


class EmptyCode(ValueError):
    """Code that does nothing: blank, or comments only; of a cell, also constants, docstrings and ``pass``."""

    def __init__(self) -> None:
        super().__init__("there is no statement in it")  # a reward must not pay for it


def compile_source(source: str, file: str) -> types.CodeType:
    """Compile it and keep its lines, which warnings, tracebacks and ``inspect.getsource`` show."""
    _remember(source, file)
    return _compile(source, file, "exec", dont_inherit=True)


def compile_script(source: str, file: str) -> list[types.CodeType]:
    """Compile the code of a turn.

    Raises:
        EmptyCode: there is no statement in it.
        SyntaxError: or another error of the compiler.
    """
    program = compile_source(source, file)
    if program.co_code == _NOTHING and not _parse(source).body:  # ``pass`` compiles to nothing as well
        raise EmptyCode
    return [program]


def compile_cell(source: str, file: str) -> list[types.CodeType]:
    """Compile the code of a turn: all of it but an expression at its end, then that, for ``sys.displayhook``.

    As in a notebook, a semicolon after it hides its value.

    Raises:
        EmptyCode: it does nothing.
        SyntaxError: or another error of the compiler; of either part before any has run.
    """
    lines = _remember(source, file)
    tree = _parse(source, file)
    if all(map(_idle, tree.body)):
        raise EmptyCode
    last = tree.body[-1]
    if not isinstance(last, _Expr) or _is_hidden(last, lines):
        return [_compile(tree, file, "exec", dont_inherit=True)]
    tree.body.pop()
    shown = _Interactive([last])
    return [_compile(part, file, kind, dont_inherit=True) for part, kind in ((tree, "exec"), (shown, "single"))]


def _remember(source: str, file: str) -> list[str]:
    """Keep and return its lines as Python counts them; ``str.splitlines`` parts them at form feeds and others, too."""
    lines = _StringIO(source, None).readlines()
    _lines[file] = len(source), None, lines, file
    return lines


def _idle(statement: ast.stmt) -> bool:
    """Check whether a statement does nothing: ``pass``, ``...``, a docstring, a number."""
    return isinstance(statement, _Pass) or (isinstance(statement, _Expr) and isinstance(statement.value, _Constant))


def _is_hidden(last: ast.Expr, lines: list[str]) -> bool:
    """Check whether a semicolon follows; columns count bytes."""
    row, column = last.end_lineno or 0, last.end_col_offset
    rest = lines[row - 1].encode("utf-8", "surrogatepass")[column:].decode("utf-8", "surrogatepass")
    return "".join([rest, *lines[row:]]).lstrip(" \t\f\\\n").startswith(";")

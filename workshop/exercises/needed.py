"""Find what the code of one cell needs from the rest of a notebook, without running anything.

A cell is graded alone: neither the cells before it, which load models and train, nor what a reader added for himself is
run, but for the imports, functions and values whose names the cell uses.
"""

from __future__ import annotations

import ast
import builtins
import symtable
from collections.abc import Iterable, Sequence

CALLS_FOR_THE_EYE = ("check", "display", "hint", "points", "print", "solution")
"""Calls that show something and change nothing."""


def statements(source: str) -> list[ast.stmt]:
    """The statements of a cell, without those that only show something, annotations and IPython's own lines.

    Raises:
        SyntaxError: it isn't Python.
    """
    lines = ["" if line.startswith(("%", "!")) else line for line in source.splitlines()]
    try:
        body = ast.parse("\n".join(lines)).body
    except (ValueError, RecursionError, MemoryError) as error:  # null bytes, brackets without end
        raise SyntaxError(f"not Python: {error}") from error
    return [_Bare().visit(node) for node in body if not _only_shows(node)]


def definitions(body: Iterable[ast.stmt]) -> list[tuple[str, ast.stmt]]:
    """Names that top-level statements bind, each with its statement; an import with several names is taken apart."""
    found: list[tuple[str, ast.stmt]] = []
    for node in body:
        if isinstance(node, ast.Import):
            found += [(a.asname or a.name.partition(".")[0], ast.Import([a])) for a in node.names]
        elif isinstance(node, ast.ImportFrom):
            found += [(a.asname or a.name, ast.ImportFrom(node.module, [a], node.level)) for a in node.names]
        elif isinstance(node, ast.FunctionDef | ast.ClassDef):
            found.append((node.name, node))
        elif isinstance(node, ast.Assign):
            names = [n.id for target in node.targets for n in ast.walk(target) if isinstance(n, ast.Name)]
            found += [(name, node) for name in names]
        elif isinstance(node, ast.AnnAssign) and isinstance(node.target, ast.Name) and node.value is not None:
            found.append((node.target.id, node))
    return found


def needed(body: Sequence[ast.stmt], known: Iterable[tuple[str, ast.stmt]]) -> list[ast.stmt]:
    """Definitions that ``body`` uses, directly or through others, in an order in which they can run.

    Args:
        body: statements of a cell.
        known: names and their definitions; of several of one name the last counts.
    """
    table = dict(known)
    found: list[ast.stmt] = []
    seen: set[str] = set()

    def add(names: Iterable[str]) -> None:
        for name in names:
            if name not in seen and name in table:
                seen.add(name)
                add(sorted(free([table[name]]) - {name}))
                if table[name] not in found:
                    found.append(table[name])

    add(sorted(free(body)))
    return found


def free(body: Sequence[ast.stmt]) -> set[str]:
    """Names that statements use and neither bind at their top level nor take from Python itself."""
    module = symtable.symtable(source(body), "cell", "exec")
    bound = {name.get_name() for name in module.get_symbols() if name.is_assigned() or name.is_imported()}
    used: set[str] = set()
    scopes = [module]
    while scopes:
        scope = scopes.pop()
        scopes += scope.get_children()
        for name in scope.get_symbols():
            if name.is_referenced() and (scope is module or name.is_global()):
                used.add(name.get_name())
    return used - bound - set(dir(builtins))


def source(body: Iterable[ast.stmt]) -> str:
    """Statements as text."""
    return "\n".join(ast.unparse(ast.fix_missing_locations(node)) for node in body)


class _Bare(ast.NodeTransformer):
    """Removes annotations: they name what may not be there, and change nothing."""

    def visit_FunctionDef(self, node: ast.FunctionDef) -> ast.FunctionDef:
        node.returns = None
        arguments = node.args
        every = [*arguments.posonlyargs, *arguments.args, *arguments.kwonlyargs, arguments.vararg, arguments.kwarg]
        for argument in every:
            if argument is not None:
                argument.annotation = None
        self.generic_visit(node)
        return node

    def visit_AnnAssign(self, node: ast.AnnAssign) -> ast.stmt:
        if node.value is None:
            return ast.copy_location(ast.Pass(), node)
        return ast.copy_location(ast.Assign([node.target], node.value), node)

    def visit_ClassDef(self, node: ast.ClassDef) -> ast.ClassDef:
        for inner in node.body:
            if isinstance(inner, ast.AnnAssign):  # a dataclass reads it, but as text it needs no import
                inner.annotation = ast.Constant(ast.unparse(inner.annotation))
        node.body = [inner if isinstance(inner, ast.AnnAssign) else self.visit(inner) for inner in node.body]
        return node


def _only_shows(node: ast.stmt) -> bool:
    call = node.value if isinstance(node, ast.Expr) else None
    return isinstance(call, ast.Constant) or (
        isinstance(call, ast.Call) and isinstance(call.func, ast.Name) and call.func.id in CALLS_FOR_THE_EYE
    )

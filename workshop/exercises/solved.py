"""A solution as code that runs as it stands: its imports, the helpers it calls, the function, and the answer.

Pasted into the exercise's cell, in place of the empty function or of ``answer = ...``, it is right.
"""

from __future__ import annotations

import ast
import inspect
from collections.abc import Sequence
from pathlib import Path

from workshop.exercises.exercise import Exercise
from workshop.exercises.needed import definitions, needed
from workshop.exercises.question import Question

OWN_RUN = "# In the notebook, with the values of your own run:"


def solved(one: Question) -> str:
    """The code of a solution.

    For an exercise that asks for a value it ends with the line that computes it: ``answer = advantage()``. Where that
    value depends on the reader's own run, the line is a comment, so that the code runs in an empty notebook, too.

    Args:
        one: the exercise and its cell.

    Raises:
        ValueError: the solution is no function with a name, written at the top level of its file.
    """
    parts = _definitions(one.exercise)
    if not one.exercise.cases:
        values = ", ".join(f"{name}={value}" for name, value in one.known.items())
        line = f"{one.asked} = {one.exercise.answer.__name__}({values})"
        parts.append(f"{OWN_RUN}\n# {line}" if one.exercise.needs_run else line)
    return "\n\n\n".join(parts)


def _definitions(exercise: Exercise) -> list[str]:
    """The imports that a solution needs, as one text; then the definitions that it needs, itself the last."""
    name = exercise.answer.__name__
    text = Path(inspect.getsourcefile(inspect.unwrap(exercise.answer)) or "").read_text(encoding="utf-8")
    known = definitions(ast.parse(text).body)
    own = dict(known).get(name)
    if not isinstance(own, ast.FunctionDef):
        raise ValueError(f"exercise {exercise.id}: its solution {name!r} must be a function with a name: def {name}(…)")
    nodes = [*needed([own], known), own]
    imports = [node for node in nodes if isinstance(node, ast.Import | ast.ImportFrom)]
    others = [node for node in nodes if not isinstance(node, ast.Import | ast.ImportFrom)]
    parts = [_text(text, node) for node in others]
    return [*(["\n".join(_lines(imports))] if imports else []), *parts]


def _text(text: str, node: ast.stmt) -> str:
    """The lines of a top-level statement, decorators and remarks included."""
    first = min([node.lineno, *(each.lineno for each in getattr(node, "decorator_list", ()))])
    return "\n".join(text.splitlines()[first - 1 : node.end_lineno])


def _lines(imports: Sequence[ast.Import | ast.ImportFrom]) -> list[str]:
    """Imports as sorted lines, one for each module; Python's own before the kit's."""
    from_module: dict[str, list[ast.alias]] = {}
    found = []
    for node in imports:
        if isinstance(node, ast.ImportFrom):
            from_module.setdefault(str(node.module), []).extend(node.names)
        else:
            found.append(ast.unparse(node))
    for module, names in from_module.items():
        found.append(ast.unparse(ast.ImportFrom(module, sorted(names, key=lambda each: each.name), 0)))
    return sorted(found, key=lambda line: (line.split()[1].startswith("kit"), line.startswith("from"), line))

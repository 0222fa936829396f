"""An exercise as its notebook asks it: the cell, what is answered there, and which values of the run go with it."""

from __future__ import annotations

import ast
import re
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from workshop.exercises.exercise import Exercise


@dataclass(frozen=True)
class Question:
    """An exercise as the kit's notebook asks it.

    Attributes:
        exercise: its definition.
        cell: source of the empty cell.
        asked: expression that the cell hands to ``check``, such as the name of the function to write.
        known: expressions of the values of the reader's run that it hands over, by name.
    """

    exercise: Exercise
    cell: str
    asked: str
    known: Mapping[str, str]


def question(exercise: Exercise, cell: str) -> Question:
    """Read from a cell what it hands to ``check``.

    Raises:
        ValueError: the cell doesn't check this exercise.
    """
    tree = ast.parse(cell)
    for node in ast.walk(tree):
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id == "check":
            given = node.args
            if len(given) == 2 and isinstance(given[0], ast.Constant) and given[0].value == exercise.id:
                return Question(exercise, cell, ast.unparse(given[1]), _known(node, tree))
    raise ValueError(f'no check("{exercise.id}", …) in the cell:\n{cell}')


def question_in(source: Path, exercise: Exercise) -> Question:
    """Find the cell of a notebook's source that asks an exercise.

    Args:
        source: a file with cells that begin with ``# %%``, such as ``notebooks/percent/13_paper_grpo.py``.
        exercise: one of that notebook.

    Raises:
        ValueError: no cell checks it.
    """
    for cell in re.split(r"^# %%.*$", source.read_text(encoding="utf-8"), flags=re.MULTILINE):
        if f'check("{exercise.id}"' in cell:
            return question(exercise, cell.strip())
    raise ValueError(f'{source}: no cell has check("{exercise.id}", …) in it')


def _known(call: ast.Call, cell: ast.Module) -> dict[str, str]:
    """Keywords of the call by name; ``**values`` are those of the dictionary that the cell makes by that name."""
    made = {
        target.id: node.value
        for node in cell.body
        if isinstance(node, ast.Assign) and isinstance(node.value, ast.Dict)
        for target in node.targets
        if isinstance(target, ast.Name)
    }
    found: dict[str, str] = {}
    for item in call.keywords:
        if item.arg:
            found[item.arg] = ast.unparse(item.value)
        elif isinstance(item.value, ast.Name) and item.value.id in made:
            several = made[item.value.id]
            for key, value in zip(several.keys, several.values, strict=True):
                if isinstance(key, ast.Constant):
                    found[str(key.value)] = ast.unparse(value)
    return found

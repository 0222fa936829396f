"""Check an answer, print a hint, print the solution: the functions that notebooks call.

The exercises of notebook 13 are the list ``EXERCISES`` in ``notebooks/exercises/13.py``; those of a paper from another
package lie beside its notebooks in the same way.
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import cache
from importlib.util import module_from_spec, spec_from_file_location
from pathlib import Path
from typing import Any

from kit.files import ROOT
from workshop.exercises.exercise import Exercise
from workshop.exercises.question import question_in
from workshop.exercises.solved import solved


def check(id: str, given: Any, **known: Any) -> None:
    """Say whether an answer is right, and if it isn't, print a hint that fits it.

    Args:
        id: the exercise, such as ``"13.2"``.
        given: a value or a function, as the exercise asks; ``...``: not answered yet.
        known: values of your notebook that the solution needs, where the exercise says so.

    Raises:
        ValueError: no such exercise, or another kind of answer than it asks for.
    """
    print(find(id).judge(given, known).text)


def points(id: str, given: Any, **known: Any) -> float:
    """Return 1.0 for a right answer, else 0.0: a cell that ends so is worth as much to nbgrader.

    Args:
        id: the exercise, such as ``"13.2"``.
        given: a value or a function, as the exercise asks.
        known: values of the notebook that the solution needs, where the exercise says so.

    Raises:
        ValueError: no such exercise, or values are missing that its solution needs.
    """
    one = find(id)
    if given is not None and given is not ... and bool(one.cases) != callable(given):
        return 0.0
    return float(one.judge(given, known).state == "right")


def hint(id: str) -> None:
    """Print the hint of an exercise.

    Raises:
        ValueError: no such exercise.
    """
    print(f"{id}: {find(id).hint}")


def solution(id: str) -> None:
    """Print the solution of an exercise, as code that runs as it stands and is right in the exercise's cell.

    Raises:
        ValueError: no such exercise, or its notebook doesn't ask it.
    """
    one, number = find(id), id.partition(".")[0]
    beside = next(path for path in _candidates(number) if path.is_file()).parents[1] / "percent"
    found = next(beside.glob(f"{number}_*.py"), None)
    if found is None:
        raise ValueError(f"exercise {id}: {beside} has no notebook {number} that asks it")
    print(solved(question_in(found, one)))


def find(id: str) -> Exercise:
    """The exercise ``id``.

    Raises:
        ValueError: there is none; names those of its notebook.
    """
    known = exercises(id.partition(".")[0])
    if id not in known:
        raise ValueError(f"no exercise {id!r}: there are {', '.join(known) or 'none of that notebook'}")
    return known[id]


@cache
def exercises(notebook: str) -> dict[str, Exercise]:
    """All exercises of a notebook by id, in order; none if it has no file of them.

    Args:
        notebook: its number, such as ``"13"``.

    Raises:
        ValueError: two have one id, or one belongs to another notebook.
    """
    path = next((path for path in _candidates(notebook) if path.is_file()), None)
    if path is None:
        return {}
    spec = spec_from_file_location(f"kit_exercises_{notebook}", path)
    assert spec is not None and spec.loader is not None  # it is a file that ends in .py
    module = module_from_spec(spec)
    spec.loader.exec_module(module)
    found: dict[str, Exercise] = {}
    for one in module.EXERCISES:
        if one.id in found or one.id.partition(".")[0] != notebook:
            raise ValueError(f"{path}: exercise {one.id!r}; give each an id of its own, beginning with {notebook}.")
        found[one.id] = one
    return found


def _candidates(notebook: str) -> Iterator[Path]:
    """Files that may hold a notebook's exercises: the kit's own, then those of papers from other packages."""
    yield ROOT / "notebooks" / "exercises" / f"{notebook}.py"
    from papers.registry import papers

    for paper in papers().values():
        yield paper.notebooks_dir / "exercises" / f"{notebook}.py"

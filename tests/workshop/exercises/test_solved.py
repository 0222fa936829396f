"""Printed solutions: each runs as it stands, and is right where a reader puts it."""

from __future__ import annotations

import ast
import importlib
import inspect
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from turn_sandbox import Sandbox
from workshop.course.answer import grade_answer
from workshop.course.handout import questions
from workshop.exercises import Exercise, solution
from workshop.exercises.check import exercises
from workshop.exercises.needed import free
from workshop.exercises.question import Question, question
from workshop.exercises.solved import OWN_RUN, solved
from workshop.jobs.notebooks import load, sources

EVERY = [pytest.param(one, source, id=one.exercise.id) for source in sources() for one in questions(source)]
QUESTIONS: list[Question] = [each.values[0] for each in EVERY]
OF_A_RUN = [each for each in EVERY if each.values[0].exercise.needs_run]

USES_THE_KIT = ("11.1", "22.2")
"""Graded by hand: the sandbox of answers has no kit."""


def printed(capsys: pytest.CaptureFixture[str], id: str) -> str:
    solution(id)
    return capsys.readouterr().out


def pasted(one: Question) -> str:
    """The exercise's cell with the solution in place of what is empty there."""
    name = one.asked

    def is_empty(node: ast.stmt) -> bool:
        if isinstance(node, ast.FunctionDef):
            return node.name == name
        return isinstance(node, ast.Assign) and ast.unparse(node) == f"{name} = ..."

    cell = ast.parse(one.cell).body
    rest = [node for node in cell if not is_empty(node)]
    assert len(rest) == len(cell) - 1
    return f"{solved(one)}\n\n{ast.unparse(ast.Module(rest, []))}"


def test_all_exercises_are_tried() -> None:
    assert len(QUESTIONS) == sum(len(exercises(source.number)) for source in sources()) >= 68


def test_a_solution_runs_as_printed_in_an_empty_notebook(capsys: pytest.CaptureFixture[str]) -> None:
    for one in QUESTIONS:
        exercise, found = one.exercise, dict[str, Any]()
        exec(printed(capsys, exercise.id), found)
        if exercise.cases:
            assert exercise.with_hidden(1).judge(found[one.asked]).state == "right"
        elif not exercise.needs_run:
            assert exercise.judge(found[one.asked]).state == "right"
        else:
            assert callable(found[exercise.answer.__name__])


def test_a_solution_pasted_into_its_cell_is_right(capsys: pytest.CaptureFixture[str]) -> None:
    for one in [one for one in QUESTIONS if not one.exercise.needs_run]:
        exec(f"from workshop.exercises import check\n{pasted(one)}", {})
        assert capsys.readouterr().out.startswith(f"{one.exercise.id} ✓ right")


@pytest.mark.parametrize(("one", "source"), OF_A_RUN)
def test_a_solution_of_a_readers_own_run_ends_with_the_line_that_answers(one: Question, source: Any) -> None:
    """That line takes what the solution takes, from names that the notebook has by then."""
    *_, said, line = solved(one).splitlines()
    (answer,) = ast.parse(line.removeprefix("# ")).body
    assert said == OWN_RUN and isinstance(answer, ast.Assign) and isinstance(answer.value, ast.Call)
    assert ast.unparse(answer.targets[0]) == one.asked
    given = {str(each.arg): None for each in answer.value.keywords}
    assert given.keys() == inspect.signature(one.exercise.answer).parameters.keys()
    code = [cell.source for cell in load(source).cells if cell.cell_type == "code"]
    before = "\n".join(code[: code.index(one.cell)]) + "\n" + one.cell.partition(f"{one.asked} = ...")[0]
    tree = ast.parse(before)
    bound = {node.id for node in ast.walk(tree) if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store)}
    assert free([answer]) - {one.exercise.answer.__name__} <= bound


def test_that_line_is_right_with_the_values_of_a_run(capsys: pytest.CaptureFixture[str]) -> None:
    one = next(one for one in QUESTIONS if one.exercise.id == "05.2")
    run = {"whole": {1: 100.0, 2: 90.0}, "step": {1: 8.0, 2: 5.0}, "alone": [0] * 10, "together": 2}
    text = pasted(one).replace(f"# {one.asked} =", f"{one.asked} =")
    exec(f"from workshop.exercises import check\n{text}", run)
    # The start: 100 − 80 = 20 s for one process, 90 − 50 = 40 s for two; 20 s more, 3 s saved a step.
    assert run["answer"] == pytest.approx(20 / 3) and "05.2 ✓ right" in capsys.readouterr().out


@pytest.mark.sandbox
def test_a_solution_that_is_handed_in_is_graded_right() -> None:
    with Sandbox() as box:
        found = {one.exercise.id: grade_answer(box, one, pasted(one)).state for one in QUESTIONS}
    expected = {"notebook": [each.values[0].exercise.id for each in OF_A_RUN], "by hand": list(USES_THE_KIT)}
    others = {id: state for id, state in found.items() if state != "right"}
    assert others == {id: state for state, ids in expected.items() for id in ids}


MADE = '''from __future__ import annotations
import math
import os.path as place
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from itertools import chain, count

UNIT: float = 0.5
USELESS = count()


@dataclass
class Scale:
    by: float


@cache
def _half(value: float) -> float:
    return Scale(UNIT).by * value  # a remark that is kept


def halves(values: Sequence[float], names: Mapping[str, float] | None = None) -> list[float]:
    """Halve each."""

    def one(value: float) -> float:
        return _half(value) + math.floor(0.5)

    return list(map(one, chain(values)))


def unrelated() -> None:
    place.join("a")


plain = lambda: 1
'''


@pytest.fixture
def made(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Any]:
    (tmp_path / "made_for_solutions.py").write_text(MADE)
    monkeypatch.syspath_prepend(tmp_path)
    yield importlib.import_module("made_for_solutions")
    del sys.modules["made_for_solutions"]


def test_what_a_solution_uses_comes_with_it_and_nothing_else(made: Any) -> None:
    exercise = Exercise("99.1", made.halves, "", cases=[{"values": [1.0, 3.0]}])
    text = solved(question(exercise, 'def halves(values):\n    ...\n\ncheck("99.1", halves)'))
    assert text.startswith("import math\nfrom collections.abc import Mapping, Sequence\nfrom dataclasses import")
    assert "a remark that is kept" in text and "@dataclass\nclass Scale" in text and "UNIT: float = 0.5" in text
    assert not any(name in text for name in ("USELESS", "count", "unrelated", "place", "__future__"))
    found: dict[str, Any] = {}
    exec(text, found)
    assert found["halves"]([1.0, 3.0]) == [0.5, 1.5]


def test_a_solution_without_a_name_is_refused_with_the_way_out(made: Any) -> None:
    exercise = Exercise("99.2", made.plain, "")
    with pytest.raises(ValueError, match=r"exercise 99\.2: its solution '<lambda>' must be a function with a name"):
        solved(question(exercise, 'answer = ...\ncheck("99.2", answer)'))


def test_values_handed_over_as_a_dictionary_are_known_by_name() -> None:
    exercise = Exercise("99.3", lambda a, b: a + b, "")
    cell = 'answer = ...\nvalues = {"a": len(rows), "b": 2}\ncheck("99.3", answer, **values)'
    assert question(exercise, cell).known == {"a": "len(rows)", "b": "2"}

"""Handing out and grading: made answers, right, wrong and dishonest, and files that are no notebooks."""

from __future__ import annotations

import base64
import csv
import io
import re
import sys
from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import nbformat
import pytest

from turn_sandbox import Sandbox
from turn_sandbox.confine import LAYERS
from workshop.course import answer, grading, handout
from workshop.jobs import notebooks
from workshop.publishing import twins

pytestmark = pytest.mark.sandbox

NOTEBOOK = '''# %% [markdown]
# # 97 · Made
#
# ![A (drawn) curve](../docs/a%20curve.png) ![afar](https://arxiv.org/a.png) <img width="9" src="../docs/a%20curve.png">
#
# See [13](13_agile_grpo.ipynb), [98](98_made.ipynb), [reward](../docs/glossary.md#reward), [arXiv](https://arxiv.org).

# %%
import numpy as np
import torch
from workshop.exercises import check

# %%
bonus: float = 0.5
print("the kit's own output")

# %% tags=["guess"]
print("the answer to a question above")

# %%
model = torch.nn.Linear(1, 1)  # such as a model that takes a minute to load
rewards = [0.0, 1.0]

# %% tags=["exercise"]
def mean(values: list[float]) -> float:
    """Mean of the values."""
    ...


check("97.1", mean)

# %% tags=["exercise"]
answer = ...  # a number
check("97.2", answer)

# %% tags=["exercise"]
answer = ...  # of your own run
check("97.3", answer, rewards=rewards)

# %% tags=["exercise"]
def with_bonus(values: list[float], names: tuple[str, ...]) -> dict[str, float]:
    """Each name's value and the bonus."""
    ...


check("97.4", with_bonus)

# %% tags=["exercise"]
def double(value: int) -> int:
    ...


check("97.5", double)
'''

EXERCISES = """
import random
import numpy as np
from workshop.exercises import Exercise, Mistake

def mean(values):
    return sum(values) / len(values)

def unseen(seed):
    rng = random.Random(seed)
    return [{"values": [rng.uniform(-1, 1) for _ in range(rng.randint(1, 9))]} for _ in range(5)]

def with_bonus(values, names):
    return {name: value + 0.5 for name, value in zip(names, values)}

def unseen_too(seed):
    return [{"values": np.array([seed + 0.25, float("inf")]), "names": ("a", "b")}]

EXERCISES = [
    Exercise("97.1", mean, "Add, then divide.", cases=[{"values": [1.0, 3.0]}, {"values": [0.0, 0.0, 3.0]}],
        mistakes=[Mistake(lambda values: sum(values), "That is the sum."),
                  Mistake(lambda values: max(values), "That is the largest.")], hidden=unseen),
    Exercise("97.2", lambda: 2.5, "Half of five.", mistakes=[Mistake(lambda: 5, "Halve it.")]),
    Exercise("97.3", lambda rewards: sum(rewards), "Add."),
    Exercise("97.4", with_bonus, "Add the bonus.", cases=[{"values": [1.0], "names": ("x",)}], hidden=unseen_too),
    Exercise("97.5", lambda value: 2 * value, "Twice.", cases=[{"value": 2}, {"value": 5}]),
]
"""

RIGHT = "def mean(values):\n    return sum(values) / len(values)\n\ncheck('97.1', mean)"

PNG = base64.b64decode(
    "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg=="
)

BONUS = "def with_bonus(values, names):\n"

ANSWERS: dict[str, tuple[str, str, str, str]] = {
    "right": ("97.1", RIGHT, "right", ""),
    "right-numpy": ("97.1", "def mean(values: torch.Tensor) -> 'x':\n    return np.mean(values)", "right", ""),
    "right-shadowing": ("97.1", "list = sum([1])\nmax = 3\n" + RIGHT.replace("sum(", "np.sum("), "right", ""),
    "sum": ("97.1", "def mean(values):\n    return sum(values)", "wrong", "That is the sum."),
    "largest": ("97.1", "mean = lambda values: max(values)", "wrong", "That is the largest."),
    "other": ("97.1", "def mean(values):\n    return 7", "wrong", "Add, then divide."),
    "open-none": ("97.1", "def mean(values):\n    print(values)\n", "open", "did you mean return?"),
    "open-in-words": ("97.1", "def mean(values):\n    'Not yet.'\n    pass\n", "open", ""),
    "value-printed": ("97.2", "answer = print(5 / 2)", "open", "without print"),
    "raising": ("97.1", "def mean(values):\n    return values.mean()", "raises", "AttributeError"),
    "raising-some": ("97.1", "def mean(values):\n    return {2: 2.0}[len(values)]", "raises", "KeyError"),
    "another-name": ("97.1", "def average(values):\n    return 1.0", "raises", "doesn't define mean"),
    "leaves-early": ("97.1", f"import sys\nsys.exit()\n{RIGHT}", "raises", "ended before it had defined mean"),
    "no-python": ("97.1", "def mean(values)\n    return", "raises", "SyntaxError"),
    "uses-torch": ("97.1", "def mean(values):\n    return torch.tensor(values).mean()", "by hand", "torch"),
    "imports-torch": ("97.1", "import torch\n" + RIGHT, "by hand", "torch"),
    "value": ("97.2", "answer = 5 / 2\ncheck('97.2', answer)", "right", ""),
    "value-in-steps": ("97.2", "answer = 0\nfor _ in range(5):\n    answer += bonus", "right", ""),
    "value-mistake": ("97.2", "answer = 5", "wrong", "Halve it."),
    "value-text": ("97.2", "answer = '2.5'", "wrong", "without quotation marks"),
    "value-comma": ("97.2", "answer = 2,5", "wrong", "0.5, not 0,5"),
    "value-other": ("97.2", "answer = 7", "wrong", "Half of five."),
    "own-run": ("97.3", "answer = 1.0", "notebook", "own run"),
    "names": (
        "97.4",
        "def with_bonus(values, names):\n    return {n: v + bonus for v, n in zip(values, names)}",
        "right",
        "",
    ),
    "as-tuple": ("97.4", f"{BONUS}    return tuple(values)", "wrong", "Add the bonus."),
    "nothing-hidden": ("97.5", "def double(value):\n    return value + value", "by hand", "no hidden"),
    "nothing-hidden-wrong": ("97.5", "def double(value):\n    return value", "wrong", "Twice."),
}
"""Name → exercise, the student's cell, the state it must get, and words of the reason."""

FAKE = "print('97.1 ✓ right')\ndef mean(values):\n    print('97.1 ✓ right')\n    return 'right'\n"
TABLE = "def mean(values):\n    return {(1.0, 3.0): 2.0, (0.0, 0.0, 3.0): 1.0}.get(tuple(values), 0.0)\n"

CHEATS: dict[str, str] = {
    "redefines check": "def check(*a, **k):\n    print('97.1 ✓ right')\n    return 'right'\n" + FAKE,
    "deletes check": "def mean(values):\n    return 0.0",
    "hands another function to check": FAKE + "check('97.1', lambda values: sum(values) / len(values))",
    "patches workshop.exercises": "import workshop.exercises.exercise as e\n"
    "e.Exercise.judge = lambda *a: 'right'\n" + FAKE,
    "asks workshop.exercises": "import workshop.exercises.check as c\n"
    "mean = lambda values: c.find('97.1').answer(values)",
    "prints the verdict": FAKE + "check('97.1', mean)",
    "knows the visible cases": TABLE,
    "reads the solution": "import runpy\nmean = runpy.run_path('EXERCISES')['mean']",
    "reads the solution later": "def mean(values):\n    return eval(open('EXERCISES').read())",
    "looks for it": "import gc\ndef mean(values):\n"
    "    return [o.answer(values) for o in gc.get_objects() if type(o).__name__ == 'Exercise'][0]",
    "loops": "while True:\n    pass",
    "loops when called": "def mean(values):\n    while True:\n        pass",
    "writes a file": "open('WRITTEN', 'w').write('x')\n" + FAKE,
    "raises at once": "raise SystemExit(0)",
    "exits": "import os\nos._exit(0)",
    "exits when called": "def mean(values):\n    import sys\n    sys.exit('97.1 ✓ right')",
    "equals everything": "class Any(float):\n    def __eq__(self, other):\n        return True\n"
    "    __hash__ = None\n    def __sub__(self, other):\n        return 0.0\n    __rsub__ = __sub__\n"
    "def mean(values):\n    return Any(1)",
    "lists everything": "class L(list):\n    def tolist(self):\n        return L([L()])\nmean = lambda values: L()",
    "replaces the caller": "_kit_calls = lambda *a: [['value', {'float': '2.0'}]] * 7\n" + FAKE,
    "makes the caller call nothing": "_kit_calls = lambda *a: []\n" + FAKE,
    "sets the result": "import threading\n_kit_result = 'right'\n_kit_plain = _kit_calls = lambda *a: 'right'",
    "spoils the codec": 'import json, builtins\njson.dumps = lambda *a, **k: \'{"_kit_result": "right"}\'\n'
    "builtins.isinstance = lambda *a: True\n" + FAKE,
    "uses up memory": "def mean(values):\n    return [0] * 10**10",
    "nests without end": "def mean(values):\n    a = []\n    a.append(a)\n    return a",
    "is nested in the source": "mean = " + "(" * 5000 + ")" * 5000,
    "is long": "mean = 1\n" * 20_000,
}
"""Dishonest cells for 97.1: none may be judged right."""


@pytest.fixture(scope="module")
def project(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    """A folder with one made notebook and its exercises, which the commands take for the kit's."""
    root = tmp_path_factory.mktemp("project")
    for path, text in {
        "notebooks/percent/97_made.py": NOTEBOOK,
        "notebooks/exercises/97.py": EXERCISES,
        "docs/glossary.md": "## reward\n\nSee [97](../notebooks/97_made.ipynb), [2](../notebooks/02.ipynb).\n",
    }.items():
        (root / path).parent.mkdir(parents=True, exist_ok=True)
        (root / path).write_text(text)
    (root / "docs" / "a curve.png").write_bytes(PNG)
    source = notebooks.Source(root / "notebooks" / "percent" / "97_made.py")
    twin = notebooks.load(source)
    for n, cell in enumerate(c for c in twin.cells if c.cell_type == "code"):
        cell.execution_count, cell.outputs = n + 1, [nbformat.v4.new_output("stream", text=f"stored output {n}\n")]
    source.twin.write_text(twins.dumps(twin))
    with pytest.MonkeyPatch.context() as patch:
        for module in (sys.modules["workshop.exercises.check"], handout, grading):
            patch.setattr(module, "ROOT", root)
        for module in (handout, grading):
            patch.setattr(module, "find", lambda target: notebooks.find(target, root))
        patch.setattr(grading, "sources", lambda: notebooks.sources(root))
        patch.setattr(answer, "LIMITS", replace(answer.LIMITS, seconds=2.0, memory_mb=256))
        yield root


@pytest.fixture(scope="module")
def given_out(project: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("out")
    assert handout.make(folder, ["97"]) == [folder / "97_made.ipynb"]
    return folder


def returned(given_out: Path, to: Path, answers: dict[str, str], change: Callable[[Any], None] | None = None) -> None:
    """Write a student's notebook: the hand-out with some cells filled in."""
    notebook = nbformat.read(given_out / "97_made.ipynb", as_version=4)
    for cell in notebook.cells:
        for id, text in answers.items():
            if cell.id == f"exercise-{id.replace('.', '-')}":
                cell.source = text
                cell.outputs = [nbformat.v4.new_output("stream", text=f"{id} ✓ right\n")]
    if change:
        change(notebook)
    to.parent.mkdir(parents=True, exist_ok=True)
    nbformat.write(notebook, to)


def graded(folder: Path, seed: int = 1) -> dict[tuple[str, str], Any]:
    return {(row.who, row.exercise): row.grade for row in grading.grade_folder(folder, [], seed)}


@pytest.fixture(scope="module")
def answered(given_out: Path, tmp_path_factory: pytest.TempPathFactory) -> dict[tuple[str, str], Any]:
    folder = tmp_path_factory.mktemp("answered")
    for name, (id, cell, _, _) in ANSWERS.items():
        returned(given_out, folder / name / "97_made.ipynb", {id: cell})
    return graded(folder)


@pytest.mark.parametrize("name", ANSWERS)
def test_an_answer_gets_its_state(name: str, answered: dict[tuple[str, str], Any]) -> None:
    id, _, state, why = ANSWERS[name]
    grade = answered[name, id]
    assert (grade.state, why in grade.why) == (state, True), grade
    assert grade.points == (None if state in ("notebook", "by hand") else float(state == "right"))
    others = {grade.state for (student, other), grade in answered.items() if student == name and other != id}
    assert others <= {"open", "notebook"}


def test_feedback_says_where_it_went_wrong(answered: dict[tuple[str, str], Any]) -> None:
    line = "97.1 ✗ SyntaxError: expected ':'\n  line 1 of your cell: def mean(values)"
    assert answered["no-python", "97.1"].detail == line
    assert answered["another-name", "97.1"].detail.startswith("97.1 ✗ the cell doesn't define mean")
    assert answered["sum", "97.1"].detail == "97.1 ✗ not yet: 4.0 for values=[1.0, 3.0]", "a case that everybody sees"


@pytest.fixture(scope="module")
def cheated(
    given_out: Path, project: Path, tmp_path_factory: pytest.TempPathFactory
) -> tuple[dict[tuple[str, str], Any], Path]:
    folder, written = tmp_path_factory.mktemp("cheated"), tmp_path_factory.mktemp("written") / "file"
    exercises = str(project / "notebooks" / "exercises" / "97.py")
    for name, cell in CHEATS.items():
        text = cell.replace("EXERCISES", exercises).replace("WRITTEN", str(written))
        returned(given_out, folder / name / "97_made.ipynb", {"97.1": text})
    return graded(folder), written


@pytest.mark.parametrize("name", CHEATS)
def test_no_cheat_is_right(name: str, cheated: tuple[dict[tuple[str, str], Any], Path]) -> None:
    grade = cheated[0][name, "97.1"]
    assert grade.state in ("wrong", "raises", "timeout", "by hand") and not grade.points, grade
    if "loops" in name:
        assert grade.state == "timeout"


def test_what_answers_write_stays_in_the_sandbox(cheated: tuple[dict[tuple[str, str], Any], Path]) -> None:
    assert not cheated[1].exists()


def test_a_seed_decides_the_hidden_cases(project: Path, given_out: Path, tmp_path: Path) -> None:
    """Someone who knows one seed's cases is right with that seed only."""
    (source,) = notebooks.find("97", project)
    cases = handout.questions(source)[0].exercise.with_hidden(1).cases
    known = {tuple(case["values"]): sum(case["values"]) / len(case["values"]) for case in cases}
    cell = f"known = {known!r}\nmean = lambda values: known.get(tuple(values), 0.0)"
    returned(given_out, tmp_path / "ada" / "97_made.ipynb", {"97.1": cell})
    assert graded(tmp_path, 1)["ada", "97.1"].state == "right"
    grade = graded(tmp_path, 2)["ada", "97.1"]
    assert grade.state == "wrong" and grade.detail.endswith("(a case that your notebook doesn't have)")
    assert re.search(r"values=\[-?[\d.e-]+", grade.detail) and not re.search(r"\.\d{9}", grade.detail), "rounded"


def test_an_answer_in_another_cell_is_told(given_out: Path, tmp_path: Path) -> None:
    def added(notebook: Any) -> None:
        notebook.cells.append(nbformat.v4.new_code_cell(RIGHT))

    returned(given_out, tmp_path / "ada.ipynb", {}, added)
    grades = graded(tmp_path)
    assert grades["ada", "97.1"].state == "open" and "another cell" in grades["ada", "97.1"].detail
    assert grades["ada", "97.5"].why == "not answered"


def test_points_are_out_of_the_same_for_all(given_out: Path, tmp_path: Path) -> None:
    """97.3 can give nobody a point: not who left it, not who returned no notebook or a broken one."""
    returned(given_out, tmp_path / "ada" / "97_made.ipynb", {"97.1": RIGHT, "97.5": "double = int"})
    for name in ("bob", "cyd", "dan"):
        (tmp_path / name).mkdir()
    (tmp_path / "bob" / "97_made.ipynb").write_text("broken")
    (tmp_path / "cyd" / "97_made.pdf").write_text("%PDF")
    (tmp_path / "97_made_eve.zip").write_text("PK")
    (tmp_path / "timetable.txt").write_text("of the teacher's")
    told = grading.grade(tmp_path, [], seed=1)
    lines = list(csv.DictReader(io.StringIO((tmp_path / "class.csv").read_text(encoding="utf-8-sig"))))
    assert [(line["student"], line["97.3"], line["points"], line["of"]) for line in lines] == [
        ("ada", "", "1", "4"),
        *((name, "", "0", "4") for name in ("bob", "cyd", "dan", "eve")),
    ]
    assert [line for line in told.splitlines() if line.startswith("not looked at")] == [
        f"not looked at: {name}" for name in ("97_made_eve.zip", "cyd/97_made.pdf", "timetable.txt")
    ]
    assert "(none)   3 unreadable" in told
    assert "not looked at: feedback" not in grading.grade(tmp_path, [], seed=1), "it wrote these itself"


def test_helpers_of_the_student_and_earlier_exercises_are_there(given_out: Path, tmp_path: Path) -> None:
    def helper(notebook: Any) -> None:
        for text in (
            "import math\n\ndef total(values):\n    return math.fsum(values)",
            "bonus = 100  # the kit's own value counts",
            "this is no Python",
        ):
            notebook.cells.insert(2, nbformat.v4.new_code_cell(text))

    uses = f"{BONUS}    mean([1.0])\n    return {{n: total([v, bonus]) for v, n in zip(values, names)}}"
    answers = {"97.1": "def mean(values):\n    return total(values) / len(values)", "97.4": uses}
    returned(given_out, tmp_path / "ada.ipynb", answers, helper)
    grades = graded(tmp_path)
    assert [grades["ada", id].state for id in ("97.1", "97.4")] == ["right", "right"]


def test_files_as_they_come_back(given_out: Path, tmp_path: Path) -> None:
    def without_ids(notebook: Any) -> None:
        notebook.nbformat_minor = 4
        for cell in notebook.cells:
            cell.pop("id"), cell.metadata.clear()

    def copied(notebook: Any) -> None:
        (at,) = [n for n, cell in enumerate(notebook.cells) if cell.id == "exercise-97-1"]
        copy = nbformat.from_dict({**notebook.cells[at], "id": "copy", "source": "def mean(values):\n    return 0"})
        notebook.cells.insert(at + 1, copy)

    def missing(notebook: Any) -> None:
        notebook.cells = [cell for cell in notebook.cells if cell.id not in ("exercise-97-1", "points-97-1")]

    right = {"97.1": RIGHT}
    returned(given_out, tmp_path / "ada" / "97_made.ipynb", right)
    returned(given_out, tmp_path / "bob" / "97_made.ipynb", {"97.1": "mean = 3"})
    returned(given_out, tmp_path / "cyd" / "97_made.ipynb", right, without_ids)
    returned(given_out, tmp_path / "dan" / "97_made.ipynb", right, copied)
    returned(given_out, tmp_path / "eve" / "97_made.ipynb", {"97.2": "answer = 2.5"}, missing)
    returned(given_out, tmp_path / "97_made_fay.ipynb", right)
    returned(given_out, tmp_path / "97_made_ned.ipynb.txt", right)
    returned(given_out, tmp_path / "pat" / "week1" / "97_made.ipynb", right)
    returned(given_out, tmp_path / "gus" / "97_made.ipynb", right)
    returned(given_out, tmp_path / "gus" / "97_made (1).ipynb", {})
    returned(given_out, tmp_path / "ada" / ".ipynb_checkpoints" / "97_made-checkpoint.ipynb", {})
    for name, text in {
        "hal/97_made.ipynb": "not JSON",
        "ida/97_made.ipynb": '{"cells": [{"cell_type": "code", "source": 3}]}',
        "jim/97_made.ipynb": "[" * 100_000,
        "kim/other.ipynb": '{"cells": []}',
        "lee/97_made.ipynb": '{"cells": [{"cell_type": "code", "id": [], "metadata": 7, "source": ["x\\n", "y"]}]}',
    }.items():
        (tmp_path / name).parent.mkdir()
        (tmp_path / name).write_text(text)
    (tmp_path / "mia").mkdir()
    (tmp_path / "mia" / "97_made.ipynb").symlink_to(given_out / "97_made.ipynb")
    states = {key: grade.state for key, grade in graded(tmp_path).items()}
    assert {student for student, _ in states} == {
        *("ada", "bob", "cyd", "dan", "eve", "fay", "gus (97_made.ipynb)", "gus (97_made (1).ipynb)"),
        *("hal", "ida", "jim", "kim", "lee", "mia", "ned", "pat"),
    }
    first = {student: state for (student, id), state in states.items() if id == "97.1"}
    assert [first[s] for s in ("ada", "cyd", "dan", "fay", "gus (97_made.ipynb)", "ned", "pat")] == ["right"] * 7
    assert (first["bob"], first["gus (97_made (1).ipynb)"]) == ("raises", "open")
    assert (states["eve", "97.1"], states["eve", "97.2"]) == ("missing", "right")
    assert first["hal"] == first["ida"] == first["jim"] == "unreadable"
    assert first["kim"] == first["lee"] == "missing" and states["kim", ""] == "missing"
    assert (first["mia"], states["mia", ""]) == ("missing", "unreadable")


def test_the_table_has_every_exercise_and_no_formula(given_out: Path, tmp_path: Path) -> None:
    returned(given_out, tmp_path / "=1+1" / "97_made.ipynb", {"97.1": RIGHT, "97.2": "raise ValueError('a,\"b\\n<b>')"})
    told = grading.grade(tmp_path, ["97"], seed=3)
    rows = list(csv.DictReader(io.StringIO((tmp_path / "grades.csv").read_text(encoding="utf-8-sig"))))
    assert [(row["student"], row["exercise"], row["state"], row["points"]) for row in rows] == [
        ("'=1+1", "97.1", "right", "1"),
        ("'=1+1", "97.2", "raises", "0"),
        ("'=1+1", "97.3", "notebook", ""),
        ("'=1+1", "97.4", "open", "0"),
        ("'=1+1", "97.5", "open", "0"),
    ]
    assert "97.1     1 right" in told
    page = (tmp_path / "grades.html").read_text()
    assert "--seed 3" in page and "&lt;b&gt;" in page and "<b>&" not in page
    own = (tmp_path / "feedback" / "1_1-feedback.html").read_text()
    assert "1 of 4 right" in own and "97 · Made" in own
    assert "97.4 · yours to write. Stuck?" in own, "a cell that nobody touched is told as the notebook tells it"


def test_a_handed_out_notebook_is_empty_where_it_asks_and_told_elsewhere(given_out: Path, project: Path) -> None:
    notebook = nbformat.read(given_out / "97_made.ipynb", as_version=4)
    nbformat.validate(notebook)
    cells = {cell.id: cell for cell in notebook.cells}
    outputs = {cell.source.splitlines()[0]: cell.outputs for cell in notebook.cells if cell.cell_type == "code"}
    assert outputs["bonus: float = 0.5"][0].text == "stored output 1\n"
    assert outputs['print("the answer to a question above")'] == []
    for id in range(1, 6):
        exercise, marks = cells[f"exercise-97-{id}"], cells[f"points-97-{id}"]
        assert "..." in exercise.source and exercise.outputs == [] and exercise.metadata.nbgrader.solution
        assert marks.metadata.nbgrader.points == 1 and marks.metadata.nbgrader.locked and not marks.outputs
    assert 'points("97.3", answer, rewards=rewards)' in cells["points-97-3"].source
    text = notebook.cells[0].source
    assert text.endswith("See 13, 98, [reward](glossary.md#reward), [arXiv](https://arxiv.org).")
    assert (given_out / "glossary.md").read_text().endswith("See [97](97_made.ipynb), 2.\n")


def test_a_handed_out_notebook_brings_its_images_along(given_out: Path, project: Path) -> None:
    """It is opened in a folder of its own, where ``../docs`` is missing."""
    first = nbformat.read(given_out / "97_made.ipynb", as_version=4).cells[0]
    assert "![A (drawn) curve](attachment:docs_a_curve.png) ![afar](https://arxiv.org/a.png)" in first.source
    assert '<img width="9" src="attachment:docs_a_curve.png">' in first.source
    ((name, content),) = first.attachments.items()
    assert name == "docs_a_curve.png" and base64.b64decode(content["image/png"]) == PNG


def test_no_handed_out_text_says_that_the_kit_gives_a_fresh_copy() -> None:
    """`reset` gives one of the kit's own notebooks and leaves what was handed out as it is."""
    (source,) = notebooks.find("00")
    assert "kit reset" in source.text, "else nothing is shown here"
    texts = [" ".join(cell.source.split()) for cell in handout.handout(source).cells]
    assert not any("kit reset" in text for text in texts)
    assert any("Change what you like, and keep a copy of the file as you got it." in text for text in texts)


def test_an_image_that_is_missing_is_named(project: Path, tmp_path: Path) -> None:
    (project / "docs" / "a curve.png").unlink()
    with pytest.raises(notebooks.NotebookError, match=r"a curve\.png is no image"):
        handout.make(tmp_path / "class", ["97"])
    (project / "docs" / "a curve.png").write_bytes(PNG)


def test_work_is_not_overwritten(given_out: Path) -> None:
    with pytest.raises(notebooks.NotebookError, match=r"has 97_made\.ipynb already"):
        handout.make(given_out, ["97"])
    with pytest.raises(notebooks.NotebookError, match="which notebooks"):
        handout.make(given_out, [])


def test_a_folder_without_notebooks_is_refused(project: Path, tmp_path: Path) -> None:
    for folder, says in ((tmp_path, "holds no notebook"), (tmp_path / "none", "no folder")):
        with pytest.raises(ValueError, match=says):
            grading.grade(folder, [])


def test_grading_is_refused_where_code_could_read_the_solutions(
    given_out: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def open_box(require: Any) -> Sandbox:
        return Sandbox(without=LAYERS, allow_unsafe=True)

    returned(given_out, tmp_path / "ada.ipynb", {})
    monkeypatch.setattr(grading, "Sandbox", open_box)
    with pytest.warns(UserWarning, match="isn't confined"), pytest.raises(ValueError, match=r"can read .*97\.py"):
        grading.grade(tmp_path, [])

"""Grade a folder of returned notebooks: a table of points, and a page with what went wrong most often.

Of a notebook only the exercises' cells are read, and definitions that they use, never what it printed or says about
itself. Everything else comes from the kit's own notebook. :mod:`workshop.course.answer` judges one answer.
"""

from __future__ import annotations

import ast
import json
import re
import secrets
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

from kit.files import ROOT, write_text
from turn_sandbox import CONFINED, Sandbox, SandboxError
from workshop.course import returns
from workshop.course.answer import LONGEST, OWN_RUN, Grade, grade_answer
from workshop.course.grades import MARK, Row, page, summary, table
from workshop.course.handout import cell_id, questions
from workshop.exercises.needed import definitions, statements
from workshop.exercises.question import Question
from workshop.jobs.notebooks import Source, find, load, sources

LARGEST = 20_000_000
"""Bytes of a returned notebook that is read."""

NAME = re.compile(r"\.ipynb(\.txt|\.json)?$", re.IGNORECASE)
"""How a notebook's name ends; some browsers save it with one of the longer endings."""

HIDDEN = (".", "__MACOSX")
"""How names of files and folders begin that nobody returned on purpose."""

TABLE, PAGE = "grades.csv", "grades.html"
"""Written into the folder that is graded."""


@dataclass(frozen=True)
class Cell:
    """A returned code cell: its ids, as far as the student's editor kept them, and its source."""

    id: str
    grade_id: str
    source: str


def grade(folder: Path, targets: Sequence[str], seed: int | None = None) -> str:
    """Grade a folder, write tables, pages and each student's feedback into it, and return a summary.

    Args:
        folder: with a folder for each student, or a file for each.
        targets: the notebooks that were handed out; none: those of which somebody returned one.
        seed: of the hidden cases; None: a new one, which the page names.

    Raises:
        ValueError: there is nothing to grade, or answers can't be graded here.
    """
    seed = secrets.randbelow(10**6) if seed is None else seed
    try:
        rows = grade_folder(folder, targets, seed)
    except SandboxError as error:
        raise ValueError(f"answers are strangers' code, and can't be run here: {error}") from error
    write_text(folder / TABLE, MARK + table(rows))
    page(rows, seed).save(folder / PAGE)
    files = [folder / TABLE, folder / PAGE, *returns.write(folder, rows, {s.number: s.title for s in sources()})]
    others = [path.relative_to(folder) for path in _files(folder) if not NAME.search(path.name)]
    told = [*returns.twice(rows), *(f"not looked at: {_legible(path)}" for path in others)]
    return "\n".join([summary(rows), "", *told, *map(str, files)])


def grade_folder(folder: Path, targets: Sequence[str], seed: int) -> list[Row]:
    """Grade all notebooks in a folder.

    Args:
        folder: with a folder for each student, or a file for each.
        targets: the notebooks that were handed out; none: those of which somebody returned one.
        seed: of the hidden cases.

    Raises:
        ValueError: the folder has no notebooks, or an exercise's own solution fails on its hidden cases.
        SandboxError: code can't be confined here.
    """
    if not folder.is_dir():
        raise ValueError(f"no folder {folder}: give the one that holds the returned notebooks")
    files = sorted((path for path in _files(folder) if NAME.search(path.name)), key=lambda path: path.stat().st_mtime)
    if not files:
        raise ValueError(f"{folder} holds no notebook (*.ipynb)")
    read = {path: cells(path) for path in files}
    known = [source for source in sources() if questions_of(source)]
    kinds = {path: notebook_of(path, read[path], known) for path in files}
    wanted = [source for target in targets for source in find(target) if source in known]
    wanted = wanted or [source for source in known if source in kinds.values()]
    with Sandbox(require=CONFINED) as box:
        _check_box(box, wanted, seed)
        return list(_grade_all(box, folder, read, kinds, wanted, seed))


def _check_box(box: Sandbox, wanted: Iterable[Source], seed: int) -> None:
    """Make sure that the kit's own solutions are right, and out of reach for code."""
    for source in wanted:
        for one in questions_of(source):
            if one.exercise.needs_run:
                continue
            exercise = one.exercise.with_hidden(seed)
            answer = exercise.answer if exercise.cases else exercise.answer()
            if exercise.judge(answer).state != "right":
                raise ValueError(f"exercise {exercise.id}: its own solution isn't right with seed {seed}")
    for path in (ROOT / "notebooks" / "exercises").glob("*.py"):
        with box.episode() as episode:
            if episode.run(f"open({str(path)!r})").status == "ok":
                raise SandboxError(f"code in the sandbox can read {path}: answers can't be graded here")


def _grade_all(
    box: Sandbox,
    folder: Path,
    read: dict[Path, list[Cell] | None],
    kinds: dict[Path, Source | None],
    wanted: Sequence[Source],
    seed: int,
) -> Iterator[Row]:
    """Grade every answer; several at once."""
    owner = students(folder, kinds)
    lost = {student: files for student, files in _others(folder).items() if student not in owner.values()}
    for student, names in lost.items():
        yield Row(student, "", Grade("unreadable", "no notebook (*.ipynb) was returned", ", ".join(names)))
    times = Counter((owner[path], kind) for path, kind in kinds.items())
    jobs: list[tuple[str, str, Question, str | None, list[tuple[str, ast.stmt]]]] = []
    for path, found in read.items():
        kind, student = kinds[path], owner[path]
        inner = path.relative_to(folder).parts
        file = "/".join(inner[1:] or inner) if times[student, kind] > 1 else ""
        if found is None:
            yield from _without(kind, student, Grade("unreadable", "the file is no notebook"), file)
        elif kind is None:
            yield Row(student, "", Grade("missing", "none of the kit's exercises is in this notebook"), file)
        elif kind in wanted:
            around = surroundings(kind, found)
            jobs += [(student, file, one, answer_of(one, found), around) for one in questions_of(kind)]
    with ThreadPoolExecutor(box.workers) as pool:
        graded = pool.map(lambda job: grade_answer(box, job[2], job[3], job[4], seed), jobs)
        for (student, file, one, *_), result in zip(jobs, graded, strict=True):
            yield Row(student, one.exercise.id, result, file)
    for student in sorted({*owner.values(), *lost}):
        for source in wanted:
            if not times[student, source]:
                yield from _without(source, student, Grade("missing", "the notebook was not returned"))


def _without(kind: Source | None, student: str, grade: Grade, file: str = "") -> Iterator[Row]:
    """The rows of a notebook of which there are no answers."""
    if kind is None:
        yield Row(student, "", grade, file)
        return
    for one in questions_of(kind):
        yield Row(student, one.exercise.id, OWN_RUN if one.exercise.needs_run else grade, file)


def _files(folder: Path) -> Iterator[Path]:
    """What was returned below a folder: no links, no hidden copies, nothing that grading wrote."""
    for path in sorted(folder.rglob("*")):
        inner = path.relative_to(folder).parts
        hidden = any(part.startswith(HIDDEN) for part in inner)
        linked = any(folder.joinpath(*inner[: n + 1]).is_symlink() for n in range(len(inner)))
        if not hidden and not linked and not _written(inner) and path.is_file():
            yield path


def _written(inner: Sequence[str]) -> bool:
    """True for what grading wrote; ``inner`` is a path's parts below the folder."""
    if len(inner) == 1:
        return inner[0] in (TABLE, PAGE, returns.TABLE, returns.PAGE)
    return len(inner) == 2 and inner[0] == returns.FEEDBACK and inner[1].endswith(returns.ENDING)


def _others(folder: Path) -> dict[str, list[str]]:
    """Student → files that are no notebooks; a file in no folder is a student's if it is named as a notebook is."""
    known = [source for source in sources() if questions_of(source)]
    inner = (path for path in folder.iterdir() if path.is_dir() and path.name != returns.FEEDBACK)
    found: dict[str, list[str]] = {_legible(path.name): [] for path in inner if not path.name.startswith(HIDDEN)}
    kinds = {path: notebook_of(path, None, known) for path in _files(folder) if not NAME.search(path.name)}
    for path, student in students(folder, kinds).items():
        if kinds[path] or path.parent != folder:
            found.setdefault(student, []).append(_legible(path.name))
    return found


def _legible(name: object) -> str:
    """A file's name that can be written, whatever bytes it is made of."""
    return str(name).encode("utf-8", "replace").decode()


def students(folder: Path, kinds: dict[Path, Source | None]) -> dict[Path, str]:
    """Name the student of each file: its outermost folder; in none, what its name has beside the notebook's.

    Args:
        folder: that is graded.
        kinds: the files, and which notebooks they are.
    """
    found = {}
    for path, kind in kinds.items():
        inner = path.relative_to(folder)
        name = inner.parts[0]
        if len(inner.parts) == 1:
            stem = NAME.sub("", name) if NAME.search(name) else inner.stem
            name = stem.replace(kind.name if kind else "", "").strip(" _-.") or stem
        found[path] = _legible(name)
    return found


def cells(path: Path) -> list[Cell] | None:
    """The code cells of a returned file; None if it is no notebook. Whatever the file holds, nothing is raised."""
    try:
        if path.stat().st_size > LARGEST:
            return None
        data = json.loads(path.read_bytes())
        return [_cell(cell) for cell in data["cells"] if cell["cell_type"] == "code"]
    except (OSError, ValueError, TypeError, KeyError, AttributeError, RecursionError):
        return None


def _cell(cell: Any) -> Cell:
    text = cell["source"]
    text = text if isinstance(text, str) else "".join(text)
    metadata = cell.get("metadata", {})
    marks = metadata.get("nbgrader", {}) if isinstance(metadata, dict) else {}
    name = marks.get("grade_id", "") if isinstance(marks, dict) else ""
    return Cell(str(cell.get("id", "")), str(name), text.encode("utf-8", "replace").decode())


def answer_of(one: Question, found: Sequence[Cell]) -> str | None:
    """The student's cell for an exercise: by its id, else by nbgrader's, else by the check in it.

    Args:
        one: the exercise.
        found: the returned cells. A copy of a cell has an id of its own, so the original counts.
    """
    name, check = cell_id(one), re.compile(rf"""\bcheck\(\s*["']{re.escape(one.exercise.id)}["']""")
    ways = (
        [cell for cell in found if cell.id == name],
        [cell for cell in found if cell.grade_id == name],
        [cell for cell in found if check.search(cell.source)],
    )
    return next((way[-1].source for way in ways if way), None)


def notebook_of(path: Path, found: Sequence[Cell] | None, known: Sequence[Source]) -> Source | None:
    """Tell which of the kit's notebooks a file is: by the exercises in it, else by its name.

    Args:
        path: the file.
        found: its cells.
        known: notebooks with exercises.
    """
    hits = {s: sum(answer_of(one, found or ()) is not None for one in questions_of(s)) for s in known}
    best = max(known, key=lambda source: hits[source], default=None)
    if best is not None and hits[best]:
        return best
    return next((source for source in known if source.name in path.name), None)


def surroundings(source: Source, found: Sequence[Cell]) -> list[tuple[str, ast.stmt]]:
    """Definitions that an answer may use: the kit's, the student's other exercises, what else the student defined.

    Args:
        source: the notebook.
        found: the student's cells.
    """
    answers = [text for one in questions_of(source) if (text := answer_of(one, found)) is not None]
    others = [cell.source for cell in found if cell.source not in answers]
    return [*_definitions(others), *_committed(source), *_definitions(answers)]


def _definitions(texts: Iterable[str]) -> list[tuple[str, ast.stmt]]:
    defined: list[tuple[str, ast.stmt]] = []
    for text in texts:
        with suppress(SyntaxError, RecursionError):
            defined += definitions(statements(text)) if len(text) <= LONGEST else []
    return defined


@cache
def _committed(source: Source) -> tuple[tuple[str, ast.stmt], ...]:
    """Definitions of the kit's own notebook, without its empty exercises."""
    empty = {one.cell for one in questions_of(source)}
    code = [cell.source for cell in load(source).cells if cell.cell_type == "code" and cell.source not in empty]
    return tuple(_definitions(code))


@cache
def questions_of(source: Source) -> tuple[Question, ...]:
    """A notebook's exercises, read once."""
    return tuple(questions(source))

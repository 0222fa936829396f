"""Hand out notebooks to a class: ``python -m kit course make FOLDER 00 01 13``.

They carry nbgrader's metadata, so that a school's own nbgrader takes them; nothing here needs it. What comes back is
graded by :mod:`workshop.course.grading`.
"""

from __future__ import annotations

import base64
import re
from collections.abc import Iterable, Sequence
from mimetypes import guess_type
from pathlib import Path
from typing import TYPE_CHECKING, Any
from urllib.parse import unquote

from kit.files import ROOT, write_text
from workshop.exercises.check import exercises
from workshop.exercises.folded import GUESS
from workshop.exercises.question import Question, question
from workshop.jobs.notebooks import NotebookError, Source, find, load
from workshop.publishing.stored import stamp
from workshop.publishing.twins import dumps, normal

if TYPE_CHECKING:
    from nbformat import NotebookNode


def make(folder: Path, targets: Sequence[str]) -> list[Path]:
    """Write the students' notebooks into a folder, with the glossary; returns their paths.

    Exercises are empty. The other cells keep the outputs of the kit's own run, so that a notebook can be read before it
    runs, but for cells whose output answers a question in the text.

    Args:
        folder: made if it is missing; it must hold none of these notebooks yet.
        targets: numbers, names or families.

    Raises:
        NotebookError: there is no such notebook, or the folder has it already.
    """
    if not targets:
        raise NotebookError("which notebooks? Give their numbers, such as: course make FOLDER 00 01 13")
    chosen = list(dict.fromkeys(source for target in targets for source in find(target)))
    taken = [source.twin.name for source in chosen if (folder / source.twin.name).exists()]
    if taken:
        raise NotebookError(f"{folder} has {', '.join(taken)} already: choose another folder, so that no work is lost")
    glossary = ROOT / "docs" / "glossary.md"
    names = [source.twin.name for source in chosen] + [glossary.name]
    for source in chosen:
        write_text(folder / source.twin.name, dumps(handout(source, names)))
    write_text(folder / glossary.name, _links(glossary.read_text(encoding="utf-8"), names))
    return [folder / source.twin.name for source in chosen]


def handout(source: Source, names: Iterable[str] = ()) -> NotebookNode:
    """Return a notebook for students: empty exercises with nbgrader's metadata, other cells with their stored outputs.

    Its images are within it, so that the file can be opened anywhere.

    Args:
        source: the notebook.
        names: files that are handed out together; links to others become plain text.

    Raises:
        NotebookError: a text shows an image that isn't there.
    """
    import nbformat

    notebook = load(source)
    stored: dict[str, Any] = {}
    if source.twin.exists():
        stored = {cell.id: cell for cell in nbformat.read(source.twin, as_version=4).cells if cell.cell_type == "code"}
    asked = {one.cell: one for one in questions(source)}
    cells: list[Any] = []
    for cell in notebook.cells:
        cells.append(cell)
        if cell.cell_type == "markdown":
            _carry_images(cell, source.twin.parent)
            cell.source = RESET.sub(", and keep a copy of the file as you got it.", _links(cell.source, names))
        elif cell.source in asked:
            one = asked[cell.source]
            cell.id = cell_id(one)
            cell.metadata["nbgrader"] = _marks(cell.id, solution=True)
            cells.append(_points_cell(one))
        elif cell.id in stored and GUESS not in cell.metadata.get("tags", []):
            cell.outputs, cell.execution_count = stored[cell.id].outputs, stored[cell.id].execution_count
    notebook.cells = cells
    kept = [dict(cell.metadata) for cell in cells]
    normal(notebook, stamp(source))
    for cell, metadata in zip(cells, kept, strict=True):
        cell.metadata.update(metadata)
    return notebook


def questions(source: Source) -> list[Question]:
    """List a notebook's exercises in order, as it asks them."""
    code = [cell.source for cell in load(source).cells if cell.cell_type == "code"]
    found = []
    for id, exercise in exercises(source.number).items():
        cell = next((text for text in code if f'check("{id}"' in text), None)
        if cell is not None:
            found.append(question(exercise, cell))
    return found


def cell_id(one: Question) -> str:
    """The id of an exercise's cell in a notebook that was handed out."""
    return f"exercise-{one.exercise.id.replace('.', '-')}"


def _points_cell(one: Question) -> Any:
    """A cell after an exercise whose value is what nbgrader gives for it."""
    from nbformat.v4 import new_code_cell

    known = "".join(f", {name}={value}" for name, value in one.known.items())
    call = f'points("{one.exercise.id}", {one.asked}{known})'
    cell = new_code_cell(
        f"from workshop.exercises import points\n\n{call}  # marks the cell above: leave this one as it is"
    )
    cell.id = cell_id(one).replace("exercise", "points")
    cell.metadata = {"nbgrader": _marks(cell.id, points=1), "editable": False, "deletable": False}
    return cell


def _marks(name: str, solution: bool = False, points: int = 0) -> dict[str, Any]:
    """nbgrader's metadata, schema 3, of a cell to fill in, or of a locked one that gives points."""
    marks = {"schema_version": 3, "grade_id": name, "solution": solution, "locked": not solution, "task": False}
    return {**marks, "grade": not solution, **({} if solution else {"points": points})}


RESET = re.compile(r":\s`python -m kit reset [^.]*\.")
"""The end of a sentence on fresh copies: these are of the kit's own notebooks, not of what was handed out."""

IMAGE = re.compile(r"""(!\[[^\]]*\]\(|<img\b[^>]*?\bsrc=["'])(?!\w+:|//)([^)\s"']+)""")
"""An image that a text shows from a file, in Markdown or HTML: what stands before its path, and the path."""


def _carry_images(cell: Any, folder: Path) -> None:
    """Put the image files that a text shows into its cell, as attachments.

    Args:
        cell: of a text.
        folder: that paths in it start from.
    """

    def carried(found: re.Match[str]) -> str:
        place = unquote(found[2])
        path = folder / place
        kind, _ = guess_type(path.name)
        if not path.is_file() or not kind:
            raise NotebookError(
                f"{found[0]}: {path} is no image; a notebook that is handed out brings its images along"
            )
        name = re.sub(r"[^\w.-]", "_", place.replace("../", ""))
        cell.setdefault("attachments", {})[name] = {kind: base64.b64encode(path.read_bytes()).decode()}
        return f"{found[1]}attachment:{name}"

    cell.source = IMAGE.sub(carried, cell.source)


def _links(text: str, names: Iterable[str]) -> str:
    """Point links at the files that lie in the same folder; others that lead nowhere there become plain text."""
    names = list(names)

    def linked(found: re.Match[str]) -> str:
        label, target = found[1], found[2]
        file, hash, anchor = target.partition("#")
        if re.match(r"\w+:|$", file):  # an address, or a heading of the same page
            return found[0]
        name = file.rpartition("/")[2]
        return f"[{label}]({name}{hash}{anchor})" if name in names else label

    return re.sub(r"(?<!!)\[([^\]]+)\]\(([^)\s]+)\)", linked, text)

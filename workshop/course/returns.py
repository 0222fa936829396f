"""Give a class its grades: a table of students and exercises with totals, a page of feedback for each student."""

from __future__ import annotations

import csv
import io
import re
import unicodedata
from collections.abc import Iterable, Mapping, Sequence
from itertools import chain, count, groupby
from pathlib import Path

from kit.files import write_text
from kit.view.html import Html, clean
from workshop.course.answer import WITHOUT_POINTS, Grade, GradeState
from workshop.course.grades import MARK, Row, harmless, order

TABLE, PAGE, FEEDBACK = "class.csv", "class.html", "feedback"
"""Written into the folder that is graded; the last one is a folder with a page for each student."""

ENDING = "-feedback.html"

LONGEST = 60
"""Characters of a student's name in a file's: at four bytes each they fit into any system's 255."""

SIGNS: Mapping[GradeState, str] = {
    "right": "✓",
    "wrong": "✗",
    "raises": "✗ raises",
    "timeout": "✗ time",
    "open": "open",
    "missing": "–",
    "unreadable": "no file",
    "notebook": "own run",
    "by hand": "look",
}
"""A state in a cell of the class's table."""

TOLD: Mapping[GradeState, str] = {
    "wrong": "✗ not yet: {why}",
    "raises": "✗ your code raises {why}",
    "timeout": "✗ your code {why}",
    "missing": "· {why}",
    "unreadable": "· {why}: please hand it in again",
    "notebook": "· your notebook checks this one itself; it has no points here",
    "by hand": "· your teacher looks at this one",
}
"""What a student is told where the exercise's own checker said nothing."""


def write(folder: Path, rows: Sequence[Row], titles: Mapping[str, str]) -> list[Path]:
    """Write the class's table, as CSV and as a page, and each student's feedback.

    Args:
        folder: that was graded.
        rows: all grades.
        titles: notebook's number → its title.

    Returns:
        The table, its page, and the folder of feedback.
    """
    write_text(folder / TABLE, MARK + class_table(rows))
    class_page(rows).save(folder / PAGE)
    for old in (folder / FEEDBACK).glob(f"*{ENDING}"):  # of who has left the class, or has another name's number
        old.unlink()
    names = file_names({row.student for row in rows})
    for student, name in names.items():
        own = [row for row in rows if row.student == student]
        feedback(student, own, titles).save(folder / FEEDBACK / f"{name}{ENDING}")
    return [folder / TABLE, folder / PAGE, folder / FEEDBACK]


def counted(rows: Iterable[Row]) -> dict[str, dict[str, Grade]]:
    """Student → exercise → the grade that counts; of a notebook that was returned twice, that of the better file."""
    found: dict[str, dict[str, Grade]] = {}
    for (student, _), files in _files(row for row in rows if row.exercise).items():
        grades = found.setdefault(student, {})
        grades.update({row.exercise: row.grade for row in files[_best(files)]})
    return found


def _files(rows: Iterable[Row]) -> dict[tuple[str, str], dict[str, list[Row]]]:
    """Student and notebook → file → its rows."""
    found: dict[tuple[str, str], dict[str, list[Row]]] = {}
    for row in sorted(rows, key=lambda row: (row.student, order(row.exercise))):
        number = row.exercise.partition(".")[0]
        found.setdefault((row.student, number), {}).setdefault(row.file, []).append(row)
    return found


def _best(files: dict[str, list[Row]]) -> str:
    """The file with most points; of several the last."""
    return max(reversed(files), key=lambda file: points(row.grade for row in files[file])[0])


def points(grades: Iterable[Grade]) -> tuple[float, int]:
    """The points of some answers, and of how many: those that nothing can be said of don't count."""
    given = [grade.points for grade in grades if grade.points is not None]
    return sum(given), len(given)


def twice(rows: Iterable[Row]) -> list[str]:
    """Tell who returned a notebook more than once, in which files, and which one counts."""
    told = []
    for (student, number), files in _files(row for row in rows if row.file).items():
        kind, counts = f"notebook {number}" if number else "a file that is no notebook of the kit", ""
        if number:
            best = _best(files)
            most = [points(row.grade for row in own)[0] for own in files.values()]
            why = "it has more points" if most.count(max(most)) == 1 else "no other has more points or is newer"
            counts = f"; {best} counts: {why}"
        told.append(f"{student} returned {kind} in {len(files)} files: {', '.join(sorted(files))}{counts}")
    return told


def class_table(rows: Sequence[Row]) -> str:
    """A line a student, a column an exercise, and the points of how many; empty: no points can be given here."""
    found, out = counted(rows), io.StringIO()
    ids = _exercises(found)
    writer = csv.writer(out, lineterminator="\n")
    writer.writerow(["student", *ids, "points", "of"])
    for student, grades in found.items():
        given = (grades[id].points if id in grades else None for id in ids)
        cells = ["" if value is None else f"{value:g}" for value in given]
        total, of = points(grades.values())
        writer.writerow([harmless(student), *cells, f"{total:g}", of])
    return out.getvalue()


def class_page(rows: Sequence[Row]) -> Html:
    """The class's table as a page; last comes how many of each exercise's answers are right."""
    found = counted(rows)
    ids = _exercises(found)
    lines = [_line("th", ["student", *ids, "points"])]
    for student, grades in found.items():
        total, of = points(grades.values())
        signs = [SIGNS[grades[id].state] if id in grades else "" for id in ids]
        lines.append(_line("td", [student, *signs, f"{total:g}/{of}"]))
    by = [points(grades[id] for grades in found.values() if id in grades) for id in ids]
    lines.append(_line("th", ["right", *(f"{total:g}/{of}" if of else "" for total, of in by), ""]))
    told = "".join(f'<div class="t">{clean(text)}</div>' for text in twice(rows))
    meaning = "own run: the student's notebook checks it; look: yours to judge; neither counts among the points"
    head = f"<header><b>{len(found)} students</b><small>{meaning}</small></header>"
    return Html(f'{head}{told}<div style="overflow-x:auto"><table>{"".join(lines)}</table></div>', "class")


def _exercises(found: Mapping[str, Mapping[str, Grade]]) -> list[str]:
    return sorted({id for grades in found.values() for id in grades}, key=order)


def _line(kind: str, cells: Iterable[str]) -> str:
    style = 'style="padding:2px 6px;border-bottom:1px solid var(--l);text-align:left;white-space:nowrap"'
    return f"<tr>{''.join(f'<{kind} {style}>{clean(cell)}</{kind}>' for cell in cells)}</tr>"


def feedback(student: str, rows: Sequence[Row], titles: Mapping[str, str]) -> Html:
    """A student's page: exercise by exercise what its checker said, in the words of their notebook.

    Args:
        student: whose page it is.
        rows: the student's own grades.
        titles: notebook's number → its title.
    """
    total, of = points(grade for grades in counted(rows).values() for grade in grades.values())
    body = [f"<header><b>{clean(student)}</b><small>{total:g} of {of} right</small></header>"]
    body += [f"<p>{clean(text)}</p>" for text in twice(rows)]
    rows = sorted(rows, key=lambda row: (*_notebook(row), order(row.exercise)))
    for (number, file), own in groupby(rows, _notebook):
        title = titles.get(number, number) if number else "a file that is no notebook of the kit"
        body.append(f'<div class="x"><header><b>{clean(title)}</b><small>{clean(file)}</small></header>')
        body += [f'<div class="t k">{clean(words(row))}</div>' for row in own]
        body.append("</div>")
    return Html("".join(body), f"feedback for {student}")


def _notebook(row: Row) -> tuple[str, str]:
    return row.exercise.partition(".")[0], row.file


def words(row: Row) -> str:
    """Tell a student of one answer: in the checker's words, where it said any."""
    id, grade = row.exercise, row.grade
    if grade.state not in WITHOUT_POINTS and grade.detail.startswith(id) and id:
        return f"{grade.detail}\n  {grade.why}" if grade.state == "wrong" else grade.detail
    return f"{id} {TOLD[grade.state].format(why=grade.why)}".strip()


def file_names(students: Iterable[str]) -> dict[str, str]:
    """A file's name for each student: letters, digits, ``_ . -``, and no two alike on any system."""
    found: dict[str, str] = {}
    for student in sorted(students):
        name = re.sub(r"[^\w.-]+", "_", unicodedata.normalize("NFC", student)).strip("._-")[:LONGEST] or "student"
        taken = {each.casefold() for each in found.values()}
        numbered = chain([name], (f"{name}-{number}" for number in count(2)))
        found[student] = next(each for each in numbered if each.casefold() not in taken)
    return found

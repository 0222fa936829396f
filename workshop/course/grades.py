"""Grades of a class as a table for a spreadsheet, as a summary, and as a page that says what went wrong most often."""

from __future__ import annotations

import csv
import io
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from kit.view.html import Html, clean
from workshop.course.answer import MEANING, Grade

MARK = "\ufeff"
"""Begins a table's file: without it Excel takes UTF-8 for another encoding, and garbles names."""


@dataclass(frozen=True)
class Row:
    """A student's grade for one exercise.

    Attributes:
        student: as the file is named or its folder.
        exercise: its id; empty for a file that can't be told to be any notebook.
        grade: of the answer.
        file: name of the file, where the student returned the notebook more than once.
    """

    student: str
    exercise: str
    grade: Grade
    file: str = ""

    @property
    def who(self) -> str:
        """The student, told from themselves where they returned two files."""
        return f"{self.student} ({self.file})" if self.file else self.student


def table(rows: Iterable[Row]) -> str:
    """Rows as CSV. No field begins as a formula does: a spreadsheet would compute what a student wrote."""
    out = io.StringIO()
    writer = csv.writer(out, lineterminator="\n")
    writer.writerow(["student", "exercise", "state", "points", "why"])
    for row in sorted(rows, key=lambda row: (row.who, order(row.exercise))):
        points = "" if row.grade.points is None else f"{row.grade.points:g}"
        why = " ".join(row.grade.why.split())
        writer.writerow([harmless(row.who), row.exercise, row.grade.state, points, harmless(why)])
    return out.getvalue()


def harmless(field: str) -> str:
    """A student's text as a spreadsheet's field that isn't computed."""
    return f"'{field}" if field.startswith(("=", "+", "-", "@", "\t", "\r")) else field


def order(id: str) -> tuple[int, ...]:
    """Exercises in order: 13.9 before 13.10."""
    return tuple(int(part) for part in id.split(".") if part)


def summary(rows: Sequence[Row]) -> str:
    """One line an exercise: how many are right, and what else there is."""
    lines = []
    for id in sorted({row.exercise for row in rows}, key=order):
        states = Counter(row.grade.state for row in rows if row.exercise == id)
        told = ", ".join(f"{states[state]} {state}" for state in MEANING if states[state])
        lines.append(f"{id or '(none)':8s} {told}")
    return "\n".join(lines)


def page(rows: Sequence[Row], seed: int) -> Html:
    """Show, exercise by exercise, what went wrong most often and what a person has to look at.

    Args:
        rows: all grades.
        seed: of the hidden cases, printed so that the grading can be repeated.
    """
    people = len({row.student for row in rows})
    body = [f"<header><b>{people} students</b><small>hidden cases made with --seed {seed}</small></header>"]
    body.append(f'<div class="t k">{clean(summary(rows))}</div>')
    for id in sorted({row.exercise for row in rows}, key=order):
        wrong = [row for row in rows if row.exercise == id and row.grade.state not in ("right", "open", "missing")]
        if not wrong:
            continue
        body.append(f'<div class="x"><header><b>{clean(id or "files that are no notebook of the kit")}</b></header>')
        reasons = Counter((row.grade.state, row.grade.why) for row in wrong)
        for (state, why), count in reasons.most_common(5):
            who = [row for row in wrong if (row.grade.state, row.grade.why) == (state, why)]
            names = ", ".join(row.who for row in who[:8]) + (" …" if count > 8 else "")
            body.append(f'<div class="t">{count} × {clean(state)}: {clean(why)}<br><small>{clean(names)}')
            body.append(f'</small><div class="k">{clean(who[0].grade.detail)}</div></div>')
        body.append("</div>")
    told = "\n".join(f"{state}: {meaning}" for state, meaning in MEANING.items())
    body.append(f'<div class="x"><header><b>states</b></header><div class="t k">{clean(told)}</div></div>')
    return Html("".join(body), "grades")

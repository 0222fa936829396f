"""The class's table and each student's feedback, from made grades."""

from __future__ import annotations

import csv
import io
from pathlib import Path

from workshop.course import returns
from workshop.course.answer import MEANING, WITHOUT_POINTS, Grade
from workshop.course.grades import Row

RIGHT = Grade("right", "", "13.2 ✓ right")
OPEN, OPEN_TOO = (Grade("open", "not answered", f"{id} · yours to write. Stuck?") for id in ("13.2", "13.10"))
WRONG = Grade("wrong", "That is the <sum>.", "13.10 ✗ not yet: 4.0 for values=[1.0, 3.0]")
ROWS = [
    Row("ada", "13.10", WRONG),
    Row("ada", "13.2", RIGHT),
    Row("ada", "14.1", Grade("notebook", "the answer depends on the student's own run")),
    Row("=bob", "13.2", OPEN, "a.ipynb"),
    Row("=bob", "13.10", OPEN_TOO, "a.ipynb"),
    Row("=bob", "13.2", RIGHT, "b.ipynb"),
    Row("=bob", "13.10", Grade("raises", "SyntaxError: invalid syntax"), "b.ipynb"),
    Row("=bob", "14.1", Grade("missing", "the notebook was not returned")),
]
TWICE = "=bob returned notebook 13 in 2 files: a.ipynb, b.ipynb; b.ipynb counts: it has more points"


def test_the_class_s_table_has_a_line_a_student_and_totals() -> None:
    assert list(csv.reader(io.StringIO(returns.class_table(ROWS)))) == [
        ["student", "13.2", "13.10", "14.1", "points", "of"],
        ["'=bob", "1", "0", "0", "1", "3"],
        ["ada", "1", "0", "", "1", "2"],
    ]


def test_of_two_files_one_counts_as_a_whole() -> None:
    """Nobody collects the best of each: one file has the first answer right, the other the second."""
    rows = [Row("ada", f"13.{k}", RIGHT if (file == "a") == (k == 1) else WRONG, file) for file in "ab" for k in (1, 2)]
    assert returns.points(returns.counted(rows)["ada"].values()) == (1, 2)


def test_of_two_files_with_as_many_points_the_last_counts() -> None:
    rows = [Row("ada", f"13.{k}", RIGHT if (file == "b") == (k == 1) else WRONG, file) for file in "ba" for k in (1, 2)]
    assert {id: grade.state for id, grade in returns.counted(rows)["ada"].items()} == {"13.1": "wrong", "13.2": "right"}
    told = "ada returned notebook 13 in 2 files: a, b; a counts: no other has more points or is newer"
    assert returns.twice(rows) == [told]


def test_the_page_tells_two_hand_ins_and_how_many_are_right() -> None:
    text = returns.class_page(ROWS).body
    assert TWICE in text and "2 students" in text
    cells = [line.replace("</th>", "</td>").split("</td>")[:-1] for line in text.split("<tr>")[1:]]
    assert [[cell.rpartition(">")[2] for cell in line] for line in cells] == [
        ["student", "13.2", "13.10", "14.1", "points"],
        ["=bob", "✓", "✗ raises", "–", "1/3"],
        ["ada", "✓", "✗", "own run", "1/2"],
        ["right", "2/2", "0/2", "0/1", ""],
    ]


def test_feedback_says_what_the_notebook_would() -> None:
    own = [row for row in ROWS if row.student == "ada"]
    text = returns.feedback("ada", own, {"13": "A <title>"}).body
    assert "1 of 2 right" in text and "A &lt;title&gt;" in text
    assert "13.10 ✗ not yet: 4.0 for values=[1.0, 3.0]\n  That is the &lt;sum&gt;." in text
    assert text.index("13.2 ✓ right") < text.index("13.10 ✗") < text.index("14.1 · your notebook checks")
    assert returns.words(ROWS[3]) == "13.2 · yours to write. Stuck?"
    assert returns.words(ROWS[6]) == "13.10 ✗ your code raises SyntaxError: invalid syntax"
    assert returns.words(Row("x", "1.1", Grade("by hand", "imports torch", "1.1 ✗ …"))).endswith("looks at this one")


def test_every_state_has_a_sign_and_words() -> None:
    assert set(returns.SIGNS) == set(MEANING) and set(WITHOUT_POINTS) <= set(returns.TOLD)
    assert set(MEANING) - set(returns.TOLD) == {"right", "open"}, "these always have the checker's words"


def test_names_become_files_that_any_system_takes() -> None:
    names = returns.file_names(["Ada", "ada", "../b/c d", "...", "Zoë", "学" * 99])
    assert names == {
        **{"Ada": "Ada", "ada": "ada-2", "../b/c d": "b_c_d", "...": "student", "Zoë": "Zoë"},
        "学" * 99: "学" * 60,
    }


def test_files_are_written_beside_the_grades(tmp_path: Path) -> None:
    returns.write(tmp_path, [Row("cyd, who leaves", "13.2", RIGHT)], {})
    returns.write(tmp_path, ROWS, {"13": "GRPO"})
    found = sorted(path.relative_to(tmp_path).as_posix() for path in tmp_path.rglob("*") if path.is_file())
    assert found == ["class.csv", "class.html", "feedback/ada-feedback.html", "feedback/bob-feedback.html"]
    assert (tmp_path / "class.csv").read_bytes().startswith(b"\xef\xbb\xbfstudent,"), "else Excel garbles names"
    assert TWICE in (tmp_path / "feedback" / "bob-feedback.html").read_text()

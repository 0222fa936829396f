"""docs/teaching.md's blocks: minutes and counts are those of the notebooks and exercises as they are."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from kit.files import ROOT
from workshop.course import guide, handout
from workshop.exercises.exercise import Exercise
from workshop.exercises.question import Question
from workshop.jobs.notebooks import Source, sources
from workshop.publishing import costs


def rgb_of(photo: str) -> str:
    from kit.images import rgb

    return f"{photo} {rgb}"


def twice(value: int) -> int:
    return 2 * value


def of_run(loss: float) -> float:
    return loss


def two() -> int:
    return 2


def made() -> tuple[Question, ...]:
    """Two functions, one without hidden cases; one that uses the kit; a value; a value of the student's own run."""
    case, hidden = [{"value": 2}], lambda seed: [{"value": seed}]
    exercises = [
        Exercise("97.1", twice, "", cases=case, hidden=hidden),
        Exercise("97.2", twice, "", cases=case),
        Exercise("97.3", rgb_of, "", cases=[{"photo": "a"}], hidden=hidden),
        Exercise("97.4", two, ""),
        Exercise("97.5", of_run, ""),
    ]
    return tuple(Question(one, "", "answer", {"loss": "loss"} if one.needs_run else {}) for one in exercises)


def test_exercises_are_counted_by_how_they_are_graded() -> None:
    told = guide.graded(made)
    assert told.startswith("There are 5 exercises. Graded by program: 3, of them 2 functions and 1 values.")
    assert "1 (97.5)" in told and "1, 97.3 (`rgb`)." in told
    assert guide.hidden(made) == (
        "Of 3 functions (2 graded by program, 1 for you to look at) 2 have them; these have none, and are for you to "
        "look at: 97.2."
    )


def test_minutes_are_of_the_notebook_s_words_and_cost_table(tmp_path: Path) -> None:
    path = tmp_path / "97_made.py"
    row = "# | `laptop` | 1 core | 7 | 2 GB |"
    text = f"# %% [markdown]\n# # Three more words\n#\n# A [link](../a.md) and $a+b$.\n#\n{row}\n"
    path.write_text(f"{text}\n# %%\nnot = counted\n")
    assert guide.minutes_to_run(Source(path)) == "7"
    assert guide.words(Source(path)) == 3 + 3 + 6, "the heading's, the sentence's, the row's"


def test_every_notebook_has_its_minutes_on_the_page_as_it_is() -> None:
    text = (ROOT / guide.PAGE).read_text()
    assert costs.filled(text, guide.TABLES, guide.PAGE) == text, "python -m kit readme fills it"
    table = next(found[0] for found in costs.MARKS.finditer(text) if found[2] == "minutes")
    cells = [cell.split(" | ") for row in table.splitlines() for cell in re.findall(r"\[.+? \| .+? \| \d+ \|", row)]
    shown = {cell[0].rpartition("/")[2].removesuffix(".ipynb)"): cell[1] for cell in cells}
    assert shown == {source.name: guide.minutes_to_run(source) for source in sources()} and all(shown.values())


def test_a_page_without_a_block_is_told() -> None:
    with pytest.raises(ValueError, match=r"teaching\.md: marks for no table: put one pair for minutes, clock, graded"):
        costs.filled("nothing", guide.TABLES, guide.PAGE)


def test_lessons_name_sections_and_exercises_that_are_there() -> None:
    text = (ROOT / guide.PAGE).read_text()
    lessons = text.partition("## A lesson of")[2].partition("## Thirty on")[0]
    heads = {head for source in sources() for head in re.findall(r"^# ## (.+)$", source.text, re.MULTILINE)}
    rows = re.findall(r"^\| (?:\d \| )?\d+–\d+ \|.+$", lessons, re.MULTILINE)
    named = {name for row in rows for name in re.findall(r'"([^"]+)"', row)}
    assert len(named) > 40 and {name for name in named if not any(h.startswith(name) for h in heads)} == set()
    asked = {one.exercise.id for source in guide.notebooks() for one in handout.questions(source)}
    ids = set(re.findall(r"\b\d\d\.\d\b", lessons))
    assert len(ids) > 20 and ids - asked == set()


def test_the_minutes_of_a_lesson_and_of_a_week_add_up() -> None:
    text = (ROOT / guide.PAGE).read_text()
    plans = re.findall(r"^(?:\| (?:\d \| )?\d+–\d+ \|.+\n)+", text, re.MULTILINE)
    spans = [re.findall(r"^\| (?:\d \| )?(\d+)–(\d+) \|", plan, re.MULTILINE) for plan in plans]
    ends = [[0] + [int(end) for _, end in plan] for plan in spans]
    begun = [[int(begin) for begin, _ in plan] for plan in spans]
    for plan, starts in zip(ends, begun, strict=True):
        assert starts == [0 if end in (90, 120) else end for end in plan[:-1]], plan
    assert [sum(end in (90, 120) for end in plan) for plan in ends] == [1, 1, 1, 1, 1, 6]

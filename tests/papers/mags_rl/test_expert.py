"""The format start: right in form always, in place half of the time, and its answer follows from what it looks at."""

from __future__ import annotations

from dataclasses import replace

import pytest

from kit.episode import NamedImage, Task
from papers.mags_rl.expert import READ, WHERE, answer_of, described, looks_of, turns_of
from papers.mags_rl.tasks import make_tasks

SHOWN = make_tasks({"attribute/hard": 1}, 0)[0].images


def board(kind: str = "attribute/hard", name: str = "t", **fields: object) -> Task:
    """A board whose words are written by hand; what its image shows doesn't matter."""
    skill, difficulty = kind.split("/")
    meta = {
        "skill": skill, "difficulty": difficulty, "count": None, "looks": [1], "boxes": [[0.5, 0.0, 1.0, 0.5]],
        "seen": "green top left, red top right, blue bottom left, black bottom right",
        "again": "What is in line 1?", "told": ["oslo 3", "tea 35", "name ada", "age 9"],
        "readings": ["oslo 3, rome 4", "tea 35, milk 8", "name ada, age 3", "age 9, room 2"],
    }  # fmt: skip
    target = str(fields.pop("target", "tea 35"))
    return Task(name, SHOWN, "What is in line 1 of the red card?", (target,), meta | fields)


def test_what_it_says_by_hand() -> None:
    assert turns_of(board(), 1.0) == (
        "<think>green top left, red top right, blue bottom left, black bottom right. What is in line 1 of the red "
        "card? red top right. <zoom>[[0.5, 0.0, 1.0, 0.5]]</zoom></think>",
        "<rethink>tea 35, milk 8. What is in line 1?</rethink><answer>tea 35</answer>",
    )


def test_out_of_habit_it_looks_at_the_middle_and_says_that_it_reads_nothing() -> None:
    assert turns_of(board(), 0.0) == (
        "<think>green top left, red top right, blue bottom left, black bottom right. What is in line 1 of the red "
        "card? the middle. <zoom>[[0.4, 0.4, 0.6, 0.6]]</zoom></think>",
        "<rethink>I can't read that. What is in line 1?</rethink><answer>unknown</answer>",
    )


def test_a_count_is_of_the_cards_looked_at() -> None:
    """Told 1, 0, 1, 0: all four cards give 2, one alone 0 or 1."""
    task = board("count/hard", looks=[0, 1, 2, 3], told=["1", "0", "1", "0"], count=2, target="2")
    assert answer_of(task, (0, 1, 2, 3)) == "2" and answer_of(task, (1,)) == "0"
    assert looks_of(task, 0.0) == () and answer_of(task, ()) == "unknown"
    assert turns_of(task, 1.0)[0].count("0.5]") == 2 and turns_of(task, 1.0)[1].count(";") == 3


def test_what_the_board_shows_is_right_wherever_it_looks() -> None:
    task = board("count/easy", looks=[0, 1], told=["1", "1", "0", "0"], count=2, target="2")
    assert {answer_of(task, looks) for looks in ((), (0,), (3,))} == {"2"}


@pytest.mark.parametrize("share", [0.0, 0.5, 1.0])
def test_the_share_of_right_looks_holds_and_a_task_alone_decides(share: float) -> None:
    tasks = [board(name=f"t{k}") for k in range(400)]
    right = [looks_of(task, share) == (1,) for task in tasks]
    assert sum(right) / 400 == pytest.approx(share, abs=0.07)
    assert {looks_of(task, 0.0) for task in tasks} == {()}, "the middle, whatever is asked"


def test_the_base_is_asked_in_its_own_words() -> None:
    task = replace(board(), originals=(NamedImage("image", SHOWN[0].image),))
    where, read = described([task])
    assert (where.question, where.images, where.originals) == (WHERE, SHOWN, ())
    assert (read.question, read.target) == (READ, ("tea 35, milk 8",)) and read.images[0].image.size == (140, 140)

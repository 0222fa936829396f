"""The paper's sets, read from copies in the hub's own layouts: how many, what is asked, what is right."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from kit.data.cells import CellError
from kit.data.hub import HubError
from kit.episode import Task
from papers.vista_gym.answers import is_right
from papers.vista_gym.env import PRIOR
from papers.vista_gym.evaluation_sets import (
    BENCHMARKS,
    MEASURED_ON,
    TRAINED_ON,
    TRAINING,
    conversation,
    questions,
    rule_of,
    skipped,
)
from papers.vista_gym.tasks import IN, OUT
from tests.helpers.vista_hub_copies import make_copies
from workshop.script import local_copies

COPIES = make_copies


def read(copies: Path, name: str, section: str = "evaluation", **more: int) -> list[Task]:
    entry = (BENCHMARKS if section == "evaluation" else TRAINING)[name]
    return questions(local_copies([entry], copies)[0], **more)


def test_sizes_are_table_5s() -> None:
    assert sum(TRAINED_ON.values()) == 22170 and sum(MEASURED_ON.values()) == 12310
    assert set(TRAINED_ON) == set(TRAINING) and set(MEASURED_ON) == set(BENCHMARKS) == {*IN, *OUT}
    assert {entry.group for entry in (*TRAINING.values(), *BENCHMARKS.values())} == set(PRIOR)
    assert all(entry.licence for entry in (*TRAINING.values(), *BENCHMARKS.values()))


def test_what_is_measured_on_comes_after_what_is_trained_on() -> None:
    assert {name: skipped(name) for name in BENCHMARKS if skipped(name)} == {"unigeo": 2000, "mapqa": 1500}


def test_every_benchmark_is_read_with_its_answer(copies: Path) -> None:
    assert {name: read(copies, name, n=1)[0].target for name in BENCHMARKS} == {
        "chartqa": ("40", "40 ± 0.1", "40 ± 5 %"),
        "geometry3k": ("65", "65 ± 0.5"),
        "geoqa": ("B",),
        "unigeo": ("B",),
        "mapqa": ("7",),
        "tabmwp": ("7",),
        "ai2d": ("B",),
        "plotqa": ("7",),
        "clevr_math": ("7",),
        "iconqa": ("B",),
        "mathvista": ("B",),
    }


@pytest.mark.parametrize("name", TRAINING)
def test_every_set_that_is_trained_on_is_read(copies: Path, name: str) -> None:
    [task] = read(copies, name, "training", n=1)
    assert task.meta["family"] == TRAINING[name].group and "<image>" not in task.question
    assert task.meta["distribution"] == ("in" if name in IN else "") and is_right(task.target[0], task.target)


def test_questions_as_they_are_asked(copies: Path) -> None:
    asked = {name: read(copies, name, n=1)[0].question for name in ("unigeo", "ai2d", "geometry3k", "mapqa")}
    assert asked == {
        "unigeo": "Find AC.\nChoices:\n(A) 3\n(B) 5",
        "ai2d": "Which?\nA. sun\nB. moon",
        "geometry3k": "Find m\\angle ABC.",
        "mapqa": "What is mapqa?",
    }


def test_questions_are_counted_and_skipped(copies: Path) -> None:
    whole = read(copies, "mapqa")
    assert len(whole) == 8 and read(copies, "mapqa", n=2, skip=3) == whole[3:5]


def test_a_large_image_is_shown_small_and_opened_whole(copies: Path) -> None:
    [task] = read(copies, "chartqa", n=1, max_pixels=1000)
    width, height = task.images[0].image.size
    assert width * height <= 1000 and task.tool_images[0].image.size == (84, 84)
    assert read(copies, "chartqa", n=1)[0].originals == ()


def test_the_rule_of_an_answer_depends_on_the_question() -> None:
    assert rule_of("geometry3k", "Find m∠2.") == "angle" and rule_of("geometry3k", "Find x.") == "length"
    assert rule_of("chartqa", "How much?") == "chart" and rule_of("plotqa", "How much?") == "exact"


@pytest.mark.parametrize(
    ("question", "rule"),
    [
        *((f"Find the {what} of the {shape}.", "length") for what in ("area", "perimeter") for shape in ("triangle",)),
        *(("Find the length of the rectangle.", "length"), (r"Find the area of \triangle ABC.", "length")),
        *(("In triangle ABC, find AB.", "length"), ("Quadrangle ABCD is a kite. Find x.", "length")),
        *(("If m∠A = 30, find AB.", "length"), (r"If m \angle 1 = 40, what is BC?", "length")),
        *((r"Find m \angle ABC.", "angle"), ("Find the measure of the angle.", "angle"), ("Find m∠2.", "angle")),
        *(
            (r"In \triangle ABC, find m \angle A.", "angle"),
            ("What is the angle at B?", "angle"),
            ("∠ABC = ?", "angle"),
        ),
        *(("If AB = 3, find the angles.", "angle"), ("Find the measure of Angle 2", "angle")),
    ],
)
def test_a_triangle_is_no_angle_nor_is_what_is_given(question: str, rule: str) -> None:
    assert rule_of("geometry3k", question) == rule


def test_other_turns_and_columns_are_named(copies: Path) -> None:
    with pytest.raises(CellError, match="not a list of objects with from and value"):
        conversation({"conversations": [{"human": "?"}]})
    [copy] = local_copies([BENCHMARKS["mapqa"]], copies)
    with pytest.raises(HubError, match=r"mapqa.*no column 'question', 'answer', 'image'.*evaluation_sets.toml"):
        questions(replace(copy, reader="", column="image"))

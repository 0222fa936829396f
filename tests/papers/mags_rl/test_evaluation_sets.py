"""The paper's sets, read from copies in the hub's own layout."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from kit.data.cells import CellError
from kit.data.hub import HubError
from kit.episode import Task
from papers.mags_rl.answers import is_right
from papers.mags_rl.evaluation_sets import BENCHMARKS, TRAINING, as_asked, questions, several
from tests.helpers.mags_hub_copies import make_copies
from workshop.script import local_copies

COPIES = make_copies


def read(copies: Path, sets: str) -> dict[str, list[Task]]:
    table = {"evaluation": BENCHMARKS, "training": TRAINING}[sets]
    return {source.name: questions(source) for source in local_copies(list(table.values()), copies)}


def test_what_is_measured_on(copies: Path) -> None:
    found = read(copies, "evaluation")
    assert [(task.question, task.target) for task in found["vsr"]] == [
        ("The cat is left of the dog. Is that true?", ("No",)),
        ("The cat is left of the dog. Is that true?", ("Yes",)),
    ]
    assert [(task.question, task.target, task.meta["count"]) for task in found["tallyqa"]] == [
        ("How many cups?", ("7",), 7),
        ("How many red cups?", ("0",), 0),
    ]
    first, second = found["gqa"]
    assert (first.question, first.target, second.question) == ("What is on the table?", ("cup",), "Which colour is it?")
    assert first.meta["source"] == second.meta["source"], "one image"
    assert {task.meta["skill"] for tasks in found.values() for task in tasks} == {"relation", "count", "attribute"}
    assert all(task.images and is_right(task.target[0], task.target) for tasks in found.values() for task in tasks)


def test_what_is_trained_on(copies: Path) -> None:
    found = read(copies, "training")
    assert {name: len(tasks) for name, tasks in found.items()} == {"vsr": 5, "tallyqa": 4, "gqa": 5}
    assert [task.meta["count"] for task in found["tallyqa"]] == [0, 1, 2, 3]
    assert len(questions(local_copies([TRAINING["gqa"]], copies)[0], n=2)) == 2


def test_a_large_image_is_shown_small_and_cropped_whole(copies: Path) -> None:
    task = read(copies, "evaluation")["gqa"][0]
    large = replace(task.images[0], image=task.images[0].image.resize((1600, 1200)))
    asked = as_asked(replace(task, images=(large,)))
    width, height = asked.images[0].image.size
    assert width * height <= 1_003_520 and asked.tool_images[0].image.size == (1600, 1200)
    assert task.originals == ()


def test_rows_of_tallyqa_in_both_layouts_and_in_none() -> None:
    columns = {"qa": {"question": ["a?", "b?"], "answer": [1, 2]}}
    assert several(columns)["question"] == ["a?", "b?"] and several(columns)["answer"] == [1, 2]
    for bad in ({"qa": "a?"}, {"qa": [{"question": "a?"}]}, {"qa": [None]}):
        with pytest.raises(CellError, match="not a list of objects with question and answer"):
            several(bad)


def test_gqa_without_its_images_is_named(copies: Path, tmp_path: Path) -> None:
    [source] = local_copies([BENCHMARKS["gqa"]], copies)
    with pytest.raises(HubError, match="GQA"):
        questions(replace(source, config="train_balanced_instructions", split="testdev"))

"""Tasks of both kinds prove themselves without a model: made sets pass, and what can't be mended or found doesn't."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

import pytest
from PIL import Image

from kit.episode import NamedImage, Task
from papers.visual_arft.corpora import documents
from papers.visual_arft.countries import Countries
from papers.visual_arft.experiment import Tools, cache, coding_sets
from papers.visual_arft.index import Index
from papers.visual_arft.mat_search import make_tasks, text_questions
from papers.visual_arft.validate import validate
from turn_sandbox import Sandbox


@pytest.fixture(scope="module")
def index() -> Index:
    return Index(documents(), cache())


@pytest.fixture(scope="module")
def tools(index: Index) -> Iterator[Tools]:
    with Sandbox(allow_unsafe=True) as box:
        yield Tools(box, index)


@pytest.fixture(scope="module")
def coding() -> dict[str, Task]:
    """A task of each category."""
    train, _ = coding_sets(0, 1, 0.05)
    return {task.meta["category"]: task for task in train}


@pytest.fixture(scope="module")
def search(index: Index) -> list[Task]:
    known = Countries(documents())
    train, test = make_tasks(known, index, 0, 4, 8)
    return [*train, *test, *text_questions(known, index, 4, 0, test)]


def with_meta(task: Task, **meta: object) -> Task:
    return replace(task, meta={**task.meta, **meta})


def test_an_image_that_cannot_or_need_not_be_mended_is_named(coding: dict[str, Task], tools: Tools) -> None:
    black = NamedImage("image", Image.new("RGB", (112, 112)))
    assert "passes for the restored one as it is shown (dark)" in validate(
        replace(coding["dark"], images=(black,)), tools
    )
    bright = with_meta(coding["none"], distortions=[["dark", 0.2, 0]])
    assert validate(bright, tools) == "the operations against none don't restore the image"
    large = with_meta(coding["crop"], box=[0.0, 0.0, 1.0, 0.75])
    assert validate(large, tools) == "the part that is asked about is 75% of the image: nothing to cut out"


def test_an_answer_that_cannot_or_need_not_be_found_is_named(search: list[Task], tools: Tools) -> None:
    task = search[0]
    told = replace(task, question=f"{task.question} Is it {task.target[0]}?")
    assert validate(told, tools) == f"the question names {task.target[0]!r}"
    named = replace(task, question=f"What is the capital of {task.meta['countries'][0]}?")
    assert validate(named, tools).startswith("the question names ")
    assert validate(with_meta(task, documents=["gone"] * len(task.meta["queries"])), tools).endswith("among 4 snippets")


def test_of_the_hubs_own_tasks_the_answer_is_all_that_is_known(tools: Tools) -> None:
    image = (NamedImage("image", Image.new("RGB", (56, 56))),)
    of_hub = [
        Task("mat-coding-1", image, "Size?", ("473ml",), {"tools": ["code"], "category": "mat:dark", "kind": "mat"}),
        Task("text-1", (), "Which is older, Rome or Oslo?", ("Rome",), {"tools": ["search"], "queries": []}),
    ]
    assert [validate(task, tools) for task in of_hub] == ["", ""]

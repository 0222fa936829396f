"""The paper's sets, read from copies in the hub's own layout, and what is right there."""

from __future__ import annotations

from pathlib import Path

import pytest

from kit.data.hub import HubError
from kit.episode import Task
from papers.codedance.answers import is_right
from papers.codedance.evaluation_sets import BENCHMARKS, TRAINING, benchmark_tasks, tasks
from tests.helpers.codedance_hub_copies import IMAGE, TEXT, cell, make_copies, save

COPIES = make_copies


@pytest.fixture(scope="module")
def read(copies: Path) -> dict[str, Task]:
    """The one task of each set."""
    found = benchmark_tasks(str(copies))
    assert [task.meta["set"] for task in found] == list(BENCHMARKS)
    return {task.meta["set"]: task for task in found}


def test_every_set_is_read_with_its_answer(read: dict[str, Task]) -> None:
    assert {name: task.target for name, task in read.items()} == {
        "countbench": ("7",),
        "pixmo_count": ("4",),
        "vstar": ("B",),
        "hrb4k": ("C",),
        "hrb8k": ("C",),
        "chartqa": ("40", "40 ± 5 %"),
        "charxiv": ("Model B",),
        "mathvision": ("3.5",),
        "mathvista": ("B",),
        "mathverse": ("B",),
        "wemath": ("A",),
    }
    assert {task.meta["kind"] for task in read.values()} == {"count", "board", "chart", "math"}


def test_questions_hold_their_options(read: dict[str, Task]) -> None:
    assert read["pixmo_count"].question == "How many people are there?"
    assert read["hrb4k"].question == "Where?\nA. l\nB. r\nC. top\nD. low"
    assert read["mathvista"].question == "f(2) is\nA. larger\nB. equal"
    assert read["wemath"].question == "Area?\nA. 4; B. 5"


def test_a_large_image_is_shown_small_and_opened_whole(read: dict[str, Task]) -> None:
    task = read["vstar"]
    assert task.tool_images[0].image.size == (1600, 1200)
    width, height = task.images[0].image.size
    assert width * height <= 1_003_520 and round(width / height, 2) == 1.33
    assert read["hrb4k"].originals == ()


def test_what_is_right_by_each_rule() -> None:
    """ChartQA's 40 ± 5 % reaches from 38 to 42; an option is right by its letter, an A too."""
    chart = ("40", "40 ± 5 %")
    assert [is_right(said, chart) for said in ("38", "42", "42.1", "37.9", "about 40")] == [True, True, False, False,
                                                                                            False]  # fmt: skip
    assert (
        is_right("A. 4", ("A",)) and is_right("(a)", ("A",)) and not is_right("B", ("A",)) and not is_right("", ("A",))
    )
    assert is_right("No, it isn't left", ("No, it isn't left.",)) and not is_right("-3", ("3",))


def test_the_papers_own_questions(copies: Path) -> None:
    found = list(tasks(str(copies), list(TRAINING.values()), 1))
    assert [task.question for task in found] == ["Is it left?"] * 2
    assert {task.target for task in found} == {("No, it isn't left.",)}
    asked, shown = found
    assert asked.meta["kind"] == "vstar", "its source, by which its reward knows mathematics"
    assert len(shown.meta["turns"]) == 2 and shown.meta["level"] == "hard" and asked.meta["level"] == ""


def test_unknown_sets_and_other_columns_are_named(copies: Path, tmp_path: Path) -> None:
    with pytest.raises(HubError, match="benchmark 'maps': there are countbench, pixmo_count"):
        benchmark_tasks(str(copies), names=("maps",))
    save(tmp_path / BENCHMARKS["charxiv"].id / "data/validation-00000-of-00001.parquet",
         [{"image": cell(0), "reasoning_q": "?"}], image=IMAGE, reasoning_q=TEXT)  # fmt: skip
    with pytest.raises(HubError, match=r"charxiv.*no column 'reasoning_a'.*expected: .*evaluation_sets.toml"):
        benchmark_tasks(str(tmp_path), names=("charxiv",))

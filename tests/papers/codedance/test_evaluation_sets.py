"""The paper's sets, read from copies in the hub's own layout, and what is right there."""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import datasets
import numpy as np
import pytest
from PIL import Image

from kit.data.hub import HubError
from kit.data.scenes import scene
from kit.episode import Task
from kit.papers.codedance.answers import is_right
from kit.papers.codedance.evaluation_sets import BENCHMARKS, TRAINING, benchmark_tasks, tasks
from tests.helpers.agile_hub_copies import png

TEXT, INT, IMAGE = datasets.Value("string"), datasets.Value("int64"), datasets.Image()
LIST = datasets.List(TEXT)


def picture(seed: int) -> Image.Image:
    return Image.fromarray(scene(np.random.default_rng(seed), 84))


def cell(seed: int) -> dict[str, Any]:
    return {"bytes": png(picture(seed)), "path": None}


def save(file: Path, rows: Sequence[dict[str, Any]], **columns: Any) -> None:
    """Write rows as the hub stores them."""
    file.parent.mkdir(parents=True, exist_ok=True)
    held = {name: [row[name] for row in rows] for name in columns}
    datasets.Dataset.from_dict(held, features=datasets.Features(columns)).to_parquet(file)


def card(folder: Path, config: str, **files: str) -> None:
    """Name a configuration's files, as a data set's README on the hub does."""
    parts = "".join(f"  - split: {split}\n    path: {path}\n" for split, path in files.items())
    readme = folder / "README.md"
    text = readme.read_text().removesuffix("---\n") if readme.exists() else "---\nconfigs:\n"
    readme.write_text(f"{text}- config_name: {config}\n  data_files:\n{parts}---\n")


@pytest.fixture(scope="module")
def root(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """One row of every set, and bad ones beside some."""
    root = tmp_path_factory.mktemp("hub")

    def table(name: str, split: str, row: dict[str, Any], **columns: Any) -> None:
        entry = {**BENCHMARKS, **TRAINING}[name]
        save(root / entry.id / "data" / f"{split}-00000-of-00001.parquet", [row], **columns)

    table("countbench", "test", {"image": cell(0), "question": "How many cups?", "number": 7}, image=IMAGE,
          question=TEXT, number=INT)  # fmt: skip
    counted = root / BENCHMARKS["pixmo_count"].id / "data"
    counted.mkdir(parents=True)
    picture(1).save(counted / "1.png")
    rows = [{"image_url": f"{name}.png", "label": "people", "count": 4} for name in ("1", "gone")]
    save(counted / "test-00000-of-00001.parquet", rows, image_url=TEXT, label=TEXT, count=INT)
    vstar = root / BENCHMARKS["vstar"].id
    vstar.mkdir(parents=True)
    picture(2).resize((1600, 1200)).save(vstar / "sa_1.jpg")
    question = {"image": "sa_1.jpg", "text": "Which colour?\n(A) red\n(B) green", "label": "B"}
    (vstar / "test_questions.jsonl").write_text(json.dumps(question) + "\n")
    card(vstar, "default", test="test_questions.jsonl")
    bench = root / BENCHMARKS["hrb4k"].id
    for k in "48":
        row = {"image": cell(int(k)), "question": "Where?", "answer": "C", "A": "l", "B": "r", "C": "top", "D": "low"}
        save(bench / f"hr_{k}k.parquet", [row], image=IMAGE, **dict.fromkeys(("question", "answer", *"ABCD"), TEXT))
    card(bench, "hrbench_version_split", hrbench_4k="hr_4k.parquet", hrbench_8k="hr_8k.parquet")
    table("chartqa", "test", {"image": cell(5), "query": "How much?", "label": ["40"]}, image=IMAGE, query=TEXT,
          label=LIST)  # fmt: skip
    table("charxiv", "validation", {"image": cell(6), "reasoning_q": "Which line?", "reasoning_a": "Model B"},
          image=IMAGE, reasoning_q=TEXT, reasoning_a=TEXT)  # fmt: skip
    table("mathvision", "test", {"decoded_image": cell(7), "question": "How long?", "options": [], "answer": "3.5"},
          decoded_image=IMAGE, question=TEXT, options=LIST, answer=TEXT)  # fmt: skip
    table("mathvista", "testmini",
          {"decoded_image": cell(9), "question": "f(2) is", "choices": ["larger", "equal"], "answer": "equal"},
          decoded_image=IMAGE, question=TEXT, choices=LIST, answer=TEXT)  # fmt: skip
    verse = root / BENCHMARKS["mathverse"].id
    save(verse / "testmini.parquet", [{"image": cell(10), "query_wo": "What is x?\nA:3\nB:4", "answer": "B"}],
         image=IMAGE, query_wo=TEXT, answer=TEXT)  # fmt: skip
    card(verse, "testmini", testmini="testmini.parquet")
    table("wemath", "testmini", {"image_path": cell(11), "question": "Area?", "option": "A. 4; B. 5", "answer": "A"},
          image_path=IMAGE, question=TEXT, option=TEXT, answer=TEXT)  # fmt: skip
    told = {"question": "Is it left?", "answer": "No."}
    own = {"images": [png(picture(12))], "extra_info": told, "reward_model": {"ground_truth": "No, it isn't left."}}
    columns = {
        "images": datasets.List(datasets.Value("binary")),
        "extra_info": {"question": TEXT, "answer": TEXT},
        "reward_model": {"ground_truth": TEXT},
    }
    table("rl", "train", own, **columns)
    table("sft", "train", own, **columns)
    return root


@pytest.fixture(scope="module")
def read(root: Path) -> dict[str, Task]:
    """The one task of each set."""
    found = benchmark_tasks(str(root))
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


def test_the_papers_own_questions(root: Path) -> None:
    found = list(tasks(str(root), list(TRAINING.values()), 1))
    assert [task.question for task in found] == ["Is it left?"] * 2
    assert {task.target for task in found} == {("No, it isn't left.",)}


def test_unknown_sets_and_other_columns_are_named(root: Path, tmp_path: Path) -> None:
    with pytest.raises(HubError, match="benchmark 'maps': there are countbench, pixmo_count"):
        benchmark_tasks(str(root), names=("maps",))
    save(tmp_path / BENCHMARKS["charxiv"].id / "data/validation-00000-of-00001.parquet",
         [{"image": cell(0), "reasoning_q": "?"}], image=IMAGE, reasoning_q=TEXT)  # fmt: skip
    with pytest.raises(HubError, match=r"charxiv.*no column 'reasoning_a'.*expected: .*evaluation_sets.toml"):
        benchmark_tasks(str(tmp_path), names=("charxiv",))

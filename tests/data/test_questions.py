"""Tables of data sets with questions: an entry is enough for a further set, whatever shapes its cells have."""

from __future__ import annotations

import io
import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from PIL import Image

from kit.data.cells import CellError
from kit.data.hub import HubError
from kit.data.questions import QuestionSet, letter, question_sets, talk, tasks_from, tasks_of
from kit.data.scenes import scene
from kit.episode import Task
from kit.images import within_pixels

IMAGE = Image.fromarray(scene(np.random.default_rng(0), 72)[:, :64])


def png(image: Image.Image = IMAGE) -> bytes:
    file = io.BytesIO()
    image.save(file, "PNG")
    return file.getvalue()


def write(folder: Path, rows: Sequence[Any], name: str = "train") -> None:
    folder.mkdir(parents=True, exist_ok=True)
    IMAGE.save(folder / "1.png")
    (folder / f"{name}.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))


def asked(tasks: Sequence[Task]) -> list[tuple[str, tuple[str, ...]]]:
    return [(task.question, task.target) for task in tasks]


def read(folder: Path, rows: Sequence[Any], **fields: Any) -> list[Task]:
    """What rows, each with an image, become."""
    write(folder, [{"image": "1.png", **row} for row in rows])
    source = QuestionSet(str(folder), "group", "train", "image", "ours", **fields)
    return list(tasks_of(source, None, lambda image: image))


TABLE = """
[evaluation.count]
id = "owner/count"
split = "train"
column = "Images/{number}.png"
question = "How many {label} are there? Answer with a number."
answer = "count"
licence = "MIT"

[training.nested]
id = "owner/nested"
group = "objects"
split = "train"
column = "image"
question = "{prompt[0][content]}"
answer = "{reward[truth]}"
options = ["choices"]
licence = "MIT"
"""


def test_a_further_set_is_an_entry_of_the_table(tmp_path: Path) -> None:
    """Two layouts of data sets as they lie on the hub: no question at all, and everything inside of objects."""
    (tmp_path / "sets.toml").write_text(TABLE)
    write(
        tmp_path / "owner/count", [{"number": 1, "label": "cats", "count": 3}, {"number": 1, "label": None, "count": 2}]
    )
    (tmp_path / "owner/count/Images").mkdir()
    IMAGE.save(tmp_path / "owner/count/Images/1.png")
    row = {
        "image": "1.png",
        "prompt": [{"content": "Which?"}],
        "reward": {"truth": "['a cup']"},
        "choices": ["a cup", "x"],
    }
    write(tmp_path / "owner/nested", [row])
    sets = question_sets(tmp_path / "sets.toml")
    assert {section: list(some) for section, some in sets.items()} == {"evaluation": ["count"], "training": ["nested"]}
    with pytest.warns(UserWarning, match=r"no question that has an answer \(row 1\); 1 of 2 rows are left out"):
        (count,) = tasks_from(str(tmp_path), sets["evaluation"].values(), lambda image: image)
    assert (count.id, count.question, count.target) == (
        *("count-00000", "How many cats are there? Answer with a number."),
        ("3",),
    )
    assert count.meta["set"] == count.meta["kind"] == "count" and count.meta["source"].startswith("count-")
    (nested,) = tasks_from(str(tmp_path), sets["training"].values(), lambda image: image)
    assert (nested.question, nested.target) == ("Which?\nA. a cup\nB. x", ("a cup",))
    assert nested.meta["kind"] == "objects" and [image.name for image in nested.images] == ["image_1"]


@pytest.mark.parametrize(
    ("change", "said"),
    [
        (('answer = "count"', 'anwser = "count"'), r"sets\.toml: \[evaluation\.count\]: .*anwser"),
        (('id = "owner/count"', ""), r"sets\.toml: \[evaluation\.count\]: .*'id'"),
        (("[evaluation.count]", "[evaluation.count"), r"sets\.toml: "),
    ],
)
def test_an_entry_that_is_not_whole_is_named(tmp_path: Path, change: tuple[str, str], said: str) -> None:
    (tmp_path / "sets.toml").write_text(TABLE.replace(*change, 1))
    with pytest.raises(HubError, match=said):
        question_sets(tmp_path / "sets.toml")


@pytest.mark.parametrize(
    ("fields", "missing"),
    [({"question": "How many {lable}?"}, "lable"), ({"reader": "kit.data.questions:talk"}, "texts")],
)
def test_a_missing_column_is_named_wherever_it_is_read(tmp_path: Path, fields: dict[str, str], missing: str) -> None:
    with pytest.raises(HubError, match=rf"\(questions\): no column '{missing}'; found: image, question, answer; exp"):
        read(tmp_path, [{"question": "?", "answer": "x"}], **fields)


def test_only_where_answers_are_letters_is_a_letter_all_of_an_answer(tmp_path: Path) -> None:
    rows = [{"question": "Who wrote it?", "answer": "J. K. Rowling"}]
    assert [task.target for task in read(tmp_path, rows)] == [("J. K. Rowling",)]
    assert [task.target for task in read(tmp_path, rows, letters=True)] == [("J",)]
    assert [letter(text) for text in ("B", "(B)", "b. a dog", "A dog", "")] == ["B", "B", "B", "", ""]


def test_questions_in_other_shapes(tmp_path: Path) -> None:
    rows: list[dict[str, Any]] = [
        {"question": "Who?", "answers": "hello"},
        {"question": ["a?", "b?"], "answers": ["x", ["y", "z"]]},
        {"question": ["a?", "b?"], "answers": "xy"},
        {"question": None, "answers": ["x"]},
        {"question": "Who?", "answers": None},
        {"question": "Who?", "answers": []},
        {"question": "Who?", "answers": [None, " ", 3]},
    ]
    with pytest.warns(
        UserWarning, match=r"2 questions in 'question', but 'answers' holds 'xy' \(row 2\); .*4 of 7 rows"
    ):
        found = read(tmp_path, rows, answer="answers")
    assert asked(found) == [("Who?", ("hello",)), ("a?", ("x",)), ("b?", ("y", "z")), ("Who?", ("3",))]
    numbers = ["questions-00000", "questions-00001", "questions-00001-1", "questions-00006"]
    assert [task.id for task in found] == numbers


def test_talks_in_other_shapes(tmp_path: Path) -> None:
    good = [{"user": "Question: Who?", "assistant": "Answer: me."}]
    talks = [good, None, [], "hello", [{"user": "x"}], ["x"]]
    with pytest.warns(UserWarning, match="5 of 6 rows are left out"):
        found = read(tmp_path, [{"texts": texts} for texts in talks], reader="kit.data.questions:talk")
    assert asked(found) == [("Who?", ("me",))]
    with pytest.raises(CellError, match="not an object with user and assistant"):
        talk({"texts": ["x"]})


@pytest.mark.parametrize(
    ("cell", "golds"),
    [
        ("['3.5', \"it's\"]", ("3.5", "it's")),
        ('["a", "b"]', ("a", "b")),
        ("[0.1, 0.2]", ("[0.1, 0.2]",)),
        ("[open", ("[open",)),
        ("[" * 100_000, ("[" * 100_000,)),
        (7, ("7",)),
    ],
)
def test_a_list_may_be_told_as_text_and_a_box_is_none(tmp_path: Path, cell: Any, golds: tuple[str, ...]) -> None:
    assert [task.target for task in read(tmp_path, [{"question": "?", "answer": cell}])] == [golds]


def test_an_image_that_no_model_reads_is_left_out(tmp_path: Path) -> None:
    cells = [png(Image.new("RGB", (64, 13200))), png(Image.new("RGB", (20000, 200))), png()]
    held = {"image": pa.array(cells, pa.binary()), "question": ["?"] * 3, "answer": [["x"]] * 3}
    pq.write_table(pa.table(held), tmp_path / "train.parquet")
    source = QuestionSet(str(tmp_path), "g", "train", "image", "ours")
    with pytest.warns(UserWarning, match=r"shrunk from 64 x 13200 pixels.* \(row 0\); 1 of 3 rows"):
        found = list(tasks_of(source, None, lambda image: within_pixels(image, 401_408)))
    assert [task.images[0].image.size for task in found][1:] == [IMAGE.size]

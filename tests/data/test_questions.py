"""Tables of data sets with questions: an entry is enough for a further set, whatever shapes its cells have."""

from __future__ import annotations

import io
import json
from collections.abc import Sequence
from dataclasses import replace
from datetime import date, datetime
from decimal import Decimal
from pathlib import Path
from typing import Any

import datasets
import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from PIL import Image

from kit.data.cells import CellError, text_of
from kit.data.hub import HubError
from kit.data.questions import QuestionSet, letter, question_sets, talk, tasks_of
from kit.episode import Task
from kit.images import within_pixels
from pictures.scenes import scene

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
    return list(tasks_of(source, lambda image: image))


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
    counted, inner = sets["evaluation"]["count"], sets["training"]["nested"]
    with pytest.warns(UserWarning, match=r"no question that has an answer \(row 1\); 1 of 2 rows are left out"):
        (count,) = tasks_of(replace(counted, id=str(tmp_path / counted.id)), lambda image: image)
    assert (count.id, count.question, count.target) == (
        *("count-00000", "How many cats are there? Answer with a number."),
        ("3",),
    )
    assert count.meta["set"] == count.meta["kind"] == "count" and count.meta["source"].startswith("count-")
    (nested,) = tasks_of(replace(inner, id=str(tmp_path / inner.id)), lambda image: image)
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
    [
        ({"question": "How many {lable}?"}, "lable"),
        ({"reader": "kit.data.questions:talk"}, "texts"),
        ({"answer": "gold"}, "gold"),
    ],
)
def test_a_missing_column_is_named_wherever_it_is_read(tmp_path: Path, fields: dict[str, str], missing: str) -> None:
    with pytest.raises(HubError, match=rf"\(questions\): no column '{missing}'; found: image, question, answer; exp"):
        read(tmp_path, [{"question": "?", "answer": "x"}], **fields)


def test_only_where_answers_are_letters_is_a_letter_all_of_an_answer(tmp_path: Path) -> None:
    rows = [{"question": "Who wrote it?", "answer": "J. K. Rowling"}]
    assert [task.target for task in read(tmp_path, rows)] == [("J. K. Rowling",)]
    assert [task.target for task in read(tmp_path, rows, letters=True)] == [("J. K. Rowling",)], "no option J is there"
    (task,) = read(tmp_path, [{"question": "Who? (J) Rowling (K) Tolkien", "answer": "J. Rowling"}], letters=True)
    assert task.target == ("J",)
    assert [letter(text) for text in ("B", "(B)", "b. a dog", "A dog", "")] == ["B", "B", "B", "", ""]


@pytest.mark.parametrize(
    ("options", "answer", "why"),
    [
        (["x", "y", "z", None], "D", "answer 'D' names none of the options A, B, C"),
        (["x", "y"], "(E)", r"answer '\(E\)' names none of the options A, B"),
        ("['x' 'y']", "B", "answer 'B' names none of the options A"),
        (["A. aegypti", "C. pipiens"], "B", "answer 'B' names none of the options A, C"),
        ([str(number) for number in range(27)], "26", "27 options, for 26 letters"),
    ],
)
def test_an_answer_that_names_an_option_which_is_not_shown_is_told(
    tmp_path: Path, options: Any, answer: str, why: str
) -> None:
    row = {"question": "Which?", "options": options, "answer": answer}
    with pytest.raises(HubError, match=rf"{why} \(row 0\)"):
        read(tmp_path, [row], options=("options",), letters=True)


LETTERED = [
    # Labels of a diagram, as AI2D has them: the gold answer is a place.
    (["C", "F", "A", "G"], "B", "A. C\nB. F\nC. A\nD. G", "B"),
    (["B", "A", "C"], "A", "A. B\nB. A\nC. C", "A"),
    (["C", "F", "A", "G"], "F", "A. C\nB. F\nC. A\nD. G", "B"),
    (["b", "d"], "d", "A. b\nB. d", "B"),
    # Names that begin as letters do.
    (["T. rex", "E. coli", "C. elegans"], "T. rex", "A. T. rex\nB. E. coli\nC. C. elegans", "A"),
    (["T. rex", "E. coli", "C. elegans"], "C. elegans", "A. T. rex\nB. E. coli\nC. C. elegans", "C"),
    (["x: 3", "y: 4"], "y: 4", "A. x: 3\nB. y: 4", "B"),
    # Lettered in order already.
    (["A. a dog", "B. a cat"], "B. a cat", "A. a dog\nB. a cat", "B"),
    (["(A) a dog", "(B) a cat"], "(B)", "(A) a dog\n(B) a cat", "B"),
    (["a) dog", "b) cat"], "cat", "a) dog\nb) cat", "B"),
    (["A", "B", "C"], "C", "A\nB\nC", "C"),
    # Plain texts, and a gold answer that none of them is.
    (["a dog", "a cat"], "A Cat", "A. a dog\nB. a cat", "B"),
    (["2", "3"], "3", "A. 2\nB. 3", "B"),
    ([2, 3.5], "3.5", "A. 2\nB. 3.5", "B"),
    (["yes", "no"], "maybe", "A. yes\nB. no", "maybe"),
    (["a dog", "a cat", None], "A", "A. a dog\nB. a cat", "A"),
    # Initials are no letters of places, nor are names far apart.
    (["A.M.", "P.M."], "P.M.", "A. A.M.\nB. P.M.", "B"),
    (["a.m.", "p.m."], "B", "A. a.m.\nB. p.m.", "B"),
    (["A.D.", "B.C."], "A.D.", "A. A.D.\nB. B.C.", "A"),
    (["A. afarensis", "H. sapiens"], "B", "A. A. afarensis\nB. H. sapiens", "B"),
    (["(A) a dog", "(B) a cat", "(E) both"], "E", "(A) a dog\n(B) a cat\n(E) both", "E"),
]


@pytest.mark.parametrize(("options", "answer", "shown", "gold"), LETTERED)
def test_a_letter_is_of_a_place_only_where_letters_stand_in_order(
    tmp_path: Path, options: list[Any], answer: str, shown: str, gold: str
) -> None:
    row = {"question": "Which?", "options": json.dumps(options), "answer": answer}
    found = read(tmp_path, [row], options=("options",), letters=True)
    assert asked(found) == [(f"Which?\n{shown}", (gold,))]


@pytest.mark.parametrize(
    ("cell", "golds"),
    [
        ([{"answer": "yes", "answer_confidence": "maybe"}, {"answer": "no"}, {"answer": "yes"}], ("yes", "no")),
        ({"answer": ["yes", "no"], "answer_confidence": ["yes", "maybe"]}, ("yes", "no")),
        ('[{"answer": "yes", "answer_id": 1}]', ("yes",)),
        ('{"answer": 4}', ("4",)),
        ({"answer": None}, None),
        (float("nan"), None),
        ([float("nan"), None, " ", "x"], ("x",)),
        (2.5, ("2.5",)),
        (True, ("True",)),
        ("{1, 2}", ("{1, 2}",)),
        ("NaN", ("NaN",)),
    ],
)
def test_answers_in_objects_are_read_and_what_is_missing_is_none(
    tmp_path: Path, cell: Any, golds: tuple[str, ...] | None
) -> None:
    rows = [{"question": "?", "answer": cell}, {"question": "?", "answer": "there"}]
    if golds is None:
        with pytest.warns(UserWarning, match=r"no question that has an answer \(row 0\); 1 of 2 rows are left out"):
            found = read(tmp_path, rows)
    else:
        found = read(tmp_path, rows)
    assert [task.target for task in found] == [*([golds] if golds else []), ("there",)]


UNREAD = {
    "an object": ({"answer": {"text": ["x"], "answer_start": [0]}}, "dict .* where a text is expected"),
    "an object told as JSON": ({"answer": '{"text": "x"}'}, "dict .* where a text is expected"),
    "lists in a list": ({"answer": [["x"], ["y"]]}, r"list \['x'\] where a text is expected"),
    "a question that is an object": ({"question": {"en": "?"}}, "dict .* where a text is expected"),
    "an option that is an object": ({"options": [{"text": "a"}, {"text": "b"}]}, "dict .* where a text is expected"),
    "an object of options": ({"options": {"text": ["a"], "label": ["A"]}}, "dict .* where a text is expected"),
    "a gap among options": ({"options": ["a", None, "c"]}, "option B of 3 is empty"),
}


@pytest.mark.parametrize(("cells", "said"), UNREAD.values(), ids=UNREAD)
def test_what_is_no_text_is_left_out_and_told(tmp_path: Path, cells: dict[str, Any], said: str) -> None:
    good = {"question": "?", "answer": "there", "options": []}
    with pytest.warns(UserWarning, match=rf"{said} \(row 0\); 1 of 2 rows are left out"):
        found = read(tmp_path, [{**good, **cells}, good], options=("options",))
    assert asked(found) == [("?", ("there",))]


@pytest.mark.parametrize("cell", [float("inf"), np.float32("-inf"), b"yes", {"text": "x"}, ["x"], {1, 2}, object])
def test_no_text_is_made_of_what_is_none(cell: Any) -> None:
    with pytest.raises(CellError, match="where a text is expected"):
        text_of(cell)
    assert [text_of(one) for one in (np.int64(3), np.float64("nan"), Decimal("1.50"), date(2020, 1, 2))] == [
        *("3", None, "1.50", "2020-01-02")
    ]


@pytest.mark.parametrize(
    ("held", "golds"),
    [
        ({"truth": "4"}, ("4",)),
        ({"truth": ["4", "four"]}, ("4", "four")),
        ('{"truth": "4"}', ("4",)),
        ({"truth": 0.5}, ("0.5",)),
        ({"truth": None}, "no question that has an answer"),
        (None, "no question that has an answer"),
        ({"style": "rule"}, "'reward' holds no 'truth'; it has 'style'"),
        ("rule", "'rule' in 'reward', no object that could have 'truth'"),
        ({"truth": {"value": 4}}, "dict .* where a text is expected"),
    ],
)
def test_patterns_find_what_lies_in_objects(tmp_path: Path, held: Any, golds: Any) -> None:
    rows = [{"question": "?", "reward": held}, {"question": "?", "reward": {"truth": "there"}}]
    (tmp_path / "train.jsonl").parent.mkdir(exist_ok=True)
    if isinstance(golds, str):
        with pytest.warns(UserWarning, match=rf"{golds} \(row 0\); 1 of 2"):
            found = read(tmp_path, rows, answer="{reward[truth]}")
        assert [task.target for task in found] == [("there",)]
    else:
        assert [task.target for task in read(tmp_path, rows, answer="{reward[truth]}")] == [golds, ("there",)]


@pytest.mark.parametrize(
    ("told", "gold"),
    [
        *(("Answer: .05.", ".05"), ("Answer: .05", ".05"), ("Answer: 3.", "3"), ("Answer: -.5.", "-.5")),
        *(("Answer: U.S..", "U.S."), ("Answer: etc..", "etc."), ("Answer: No", "No"), (" Answer:  B. ", "B")),
        *(("Answer: ...", ".."), ("Answer: $.99.", "$.99")),
    ],
)
def test_of_a_talk_s_answer_one_full_stop_goes(told: str, gold: str) -> None:
    read = talk({"texts": [{"user": "Question: ?", "assistant": told.strip()}]})
    assert read["answer"] == [gold]


CSV = {
    "words for nothing": ("csv", "question,answer\na?,NA\nb?,None\nc?,null\nd?,nan\n", ["NA", "None", "null", "nan"]),
    "zeros in front": ("csv", "question,answer\na?,007\nb?,0201633612\n", ["007", "0201633612"]),
    "zeros behind": ("tsv", "question\tanswer\na?\t1.50\nb?\t3\n", ["1.50", "3"]),
    "many digits": ("csv", "question,answer\na?,12345678901234567890\n", ["12345678901234567890"]),
    "truth": ("csv", "question,answer\na?,true\nb?,True\n", ["true", "True"]),
    "gaps": ("tsv", "question\tanswer\na?\t1\n\t2\nc?\t\nd?\t3\n", ["1", "3"]),
    "a comma": ("csv", 'answer,question\n"1,200",a?\n', ["1,200"]),
}


@pytest.mark.filterwarnings("ignore:.*rows are left out")
@pytest.mark.parametrize(("suffix", "text", "golds"), CSV.values(), ids=CSV)
def test_cells_of_a_csv_are_texts_as_they_are_written(tmp_path: Path, suffix: str, text: str, golds: list[str]) -> None:
    (tmp_path / f"train.{suffix}").write_text(text)
    source = QuestionSet(str(tmp_path), "g", "train", "", "ours")
    assert [task.target for task in tasks_of(source, lambda image: image)] == [(gold,) for gold in golds]


def test_an_option_that_reads_none_is_one(tmp_path: Path) -> None:
    lines = ["question,A,B,C,D,answer", "?,red,blue,green,None,D", "?,NA,01,null,1.50,A", "?,1,2,3,,B"]
    (tmp_path / "train.csv").write_text("\n".join(lines) + "\n")
    source = QuestionSet(str(tmp_path), "g", "train", "", "ours", options=("A", "B", "C", "D"), letters=True)
    found = [task.question.split("\n")[1:] for task in tasks_of(source, lambda image: image)]
    assert found[0] == ["A. red", "B. blue", "C. green", "D. None"]
    assert found[1:] == [["A. NA", "B. 01", "C. null", "D. 1.50"], ["A. 1", "B. 2", "C. 3"]]


@pytest.mark.parametrize(
    ("options", "answer", "golds"),
    [
        *((["9", "18", "24", "18"], "18", ("B", "D")), (["9", "18", "24", "18"], "D", ("B", "D"))),
        *((["Cat", "cat", "dog"], "B. cat", ("A", "B")), (["9", "18", "24", "18"], "A", ("A",))),
        *((["(A) yes", "(B) no", "(C) yes"], "C", ("A", "C")), (["9", "18"], "24", ("24",)), ([], "18", ("18",))),
        *((["same", "same"], "same", ("A", "B")), (["(A)", "(B)", "(C)"], "B", ("B",)), (["A.", "B."], "A", ("A",))),
    ],
)
def test_options_that_say_the_same_are_right_together(
    tmp_path: Path, options: list[str], answer: str, golds: tuple[str, ...]
) -> None:
    row = {"question": "?", "answer": answer, "options": options}
    assert [task.target for task in read(tmp_path, [row], options=("options",), letters=True)] == [golds]


@pytest.mark.parametrize("text", ["question,answer\na?,yes,\nb?,no,\n", "question,answer\na?,yes,x\n"])
def test_a_csv_whose_columns_would_shift_is_refused(tmp_path: Path, text: str) -> None:
    (tmp_path / "train.csv").write_text(text)
    source = QuestionSet(str(tmp_path), "g", "train", "", "ours")
    with pytest.raises(HubError, match="more fields than the first line has names"):
        list(tasks_of(source, lambda image: image))


KINDS: dict[str, tuple[Any, list[Any], list[str]]] = {
    "32 bits": (datasets.Value("float32"), [0.1, 12.3, 16777216.0], ["0.1", "12.3", "16777216.0"]),
    "16 bits": (datasets.Value("float16"), [0.1, 2.5], ["0.1", "2.5"]),
    "a list of them": (datasets.List(datasets.Value("float32")), [[0.7], [12.3]], ["0.7", "12.3"]),
    "64 bits": (datasets.Value("float64"), [0.1, 12.3], ["0.1", "12.3"]),
    "classes": (datasets.ClassLabel(names=["cat", "dog"]), [1, 0], ["dog", "cat"]),
    "no class": (datasets.ClassLabel(names=["cat", "dog"]), [-1, 0], ["cat"]),
    "days": (datasets.Value("timestamp[s]"), [datetime(2010, 1, 2)], ["2010-01-02"]),
    "minutes": (datasets.Value("timestamp[s]"), [datetime(2010, 1, 2, 9, 30)], ["2010-01-02 09:30:00"]),
}


@pytest.mark.filterwarnings("ignore:.*rows are left out")
@pytest.mark.parametrize(("kind", "cells", "golds"), KINDS.values(), ids=KINDS)
def test_a_cell_says_what_its_column_s_type_means(
    tmp_path: Path, kind: Any, cells: list[Any], golds: list[str]
) -> None:
    features = datasets.Features({"question": datasets.Value("string"), "answer": kind})
    rows = {"question": ["?"] * len(cells), "answer": cells}
    datasets.Dataset.from_dict(rows, features=features).to_parquet(tmp_path / "train.parquet")
    source = QuestionSet(str(tmp_path), "g", "train", "", "ours")
    assert [task.target for task in tasks_of(source, lambda image: image)] == [(gold,) for gold in golds]


@pytest.mark.parametrize(
    ("cells", "golds"),
    [
        ([1, "01", "1.50", "null", "yes"], ["1", "01", "1.50", "null", "yes"]),
        (["01", 2, 2.5, "1e5"], ["01", "2", "2.5", "1e5"]),
        ([7, ["x"], '{"answer": "y"}', "-"], ["7", "x", "y", "-"]),
        (["2010-01-02", "2010-01-03"], ["2010-01-02", "2010-01-03"]),
        (["2010-01-02", "May"], ["2010-01-02", "May"]),
        ([["2010-01-02"], ["2011-12-31"]], ["2010-01-02", "2011-12-31"]),
    ],
)
def test_texts_of_json_that_look_like_something_else_stay_texts(
    tmp_path: Path, cells: list[Any], golds: list[str]
) -> None:
    found = read(tmp_path, [{"question": "?", "answer": cell} for cell in cells])
    assert [task.target for task in found] == [(gold,) for gold in golds]


def test_a_column_of_numbers_with_gaps_still_stands_for_something(tmp_path: Path) -> None:
    rows = [{"question": "?", "answer": 1.0}, {"question": "?", "answer": 0.0}]
    assert [t.target for t in read(tmp_path, rows, says={"0": "no", "1": "yes"})] == [("yes",), ("no",)]


def test_a_copy_without_its_card_is_told(tmp_path: Path) -> None:
    write(tmp_path / "copy", [{"image": "1.png", "question": "?", "answer": "x"}])
    source = QuestionSet(str(tmp_path / "copy"), "g", "train", "image", "ours", config="docvqa")
    with pytest.raises(HubError, match=r"no README\.md, the data set's card, in which configurations such as 'docvqa'"):
        list(tasks_of(source, lambda image: image))


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
        found = list(tasks_of(source, lambda image: within_pixels(image, 401_408)))
    assert [task.images[0].image.size for task in found][1:] == [IMAGE.size]

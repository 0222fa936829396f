"""The nine general benchmarks, read from copies in the hub's own layout: every form of column, bad rows, leaks."""

from __future__ import annotations

import base64
import csv
import json
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import datasets
import numpy as np
import pytest

from kit.data.hub import HubError
from kit.data.leak import LeakError
from kit.episode import Task
from kit.papers.agile.evaluation_sets import (
    BENCHMARKS,
    LONGEST,
    TRAINING,
    benchmark_tasks,
    check_apart,
    training_questions,
)
from kit.papers.agile.puzzle import make_task
from kit.papers.agile.questions import is_question, is_right_answer
from tests.helpers.agile_hub_copies import picture, png

TEXT = datasets.Value("string")
IMAGE = datasets.Image()
LIST = datasets.List(TEXT)


def cell(seed: int) -> dict[str, Any]:
    return {"bytes": png(picture(seed)), "path": None}


def base64_text(seed: int) -> str:
    return base64.b64encode(png(picture(seed))).decode()


def save(file: Path, rows: Sequence[dict[str, Any]], **columns: Any) -> None:
    """Write rows as the hub stores them; a column that a row lacks is null."""
    file.parent.mkdir(parents=True, exist_ok=True)
    held = {name: [row.get(name) for row in rows] for name in columns}
    datasets.Dataset.from_dict(held, features=datasets.Features(columns)).to_parquet(file)


def card(folder: Path, config: str, **files: str) -> None:
    """Add a configuration to a data set's card, as its README on the hub tells it."""
    readme = folder / "README.md"
    text = readme.read_text().removesuffix("---\n") if readme.exists() else "---\nconfigs:\n"
    parts = "".join(f"  - split: {split}\n    path: {path}\n" for split, path in files.items())
    readme.write_text(f"{text}- config_name: {config}\n  data_files:\n{parts}---\n")


def mme_rw(folder: Path) -> None:
    options = ["(A) red", "(B) blue", "(E) not there"]
    row = {"bytes": base64_text(0), "question": "Which colour?", "multi-choice options": options, "answer": "B"}
    bad = {**row, "multi-choice options": []}
    columns = {"bytes": TEXT, "question": TEXT, "multi-choice options": LIST, "answer": TEXT}
    save(folder / "data" / "train-00000-of-00001.parquet", [row, bad], **columns)


def rwqa(folder: Path) -> None:
    rows = [
        {"image": cell(1), "question": "How many?\nAnswer with a number.", "answer": "3"},
        {"image": cell(2), "question": "Which?\nA. left\nB. right", "answer": "A"},
        {"image": {"bytes": b"oops", "path": None}, "question": "Broken?", "answer": "Yes"},
    ]
    save(folder / "data" / "test-00000-of-00001.parquet", rows, image=IMAGE, question=TEXT, answer=TEXT)


def hr_bench(folder: Path) -> None:
    for name, seed in (("4k", 3), ("8k", 4)):
        row = {"image": base64_text(seed), "question": "Where?", "answer": "C", "A": "l", "B": "r", "C": "top"}
        columns = dict.fromkeys(("image", "question", "answer", *"ABCD"), TEXT)
        save(folder / f"hr_bench_{name}.parquet", [row], **columns)
    splits = {"hrbench_4k": "hr_bench_4k.parquet", "hrbench_8k": "hr_bench_8k.parquet"}
    card(folder, "hrbench_version_split", **splits)


def vstar(folder: Path) -> None:
    (folder / "direct_attributes").mkdir(parents=True)
    picture(5).resize((2000, 1500)).save(folder / "direct_attributes" / "sa_1.jpg")
    row = {"image": "direct_attributes/sa_1.jpg", "text": "Colour?\n(A) red\n(B) green", "label": "A"}
    (folder / "test_questions.jsonl").write_text(json.dumps(row) + "\n")
    card(folder, "default", test="test_questions.jsonl")


def mmvp(folder: Path) -> None:
    (folder / "MMVP Images").mkdir(parents=True)
    picture(6).save(folder / "MMVP Images" / "1.jpg")
    with (folder / "Questions.csv").open("w", newline="") as file:
        rows = [["Index", "Question", "Options", "Correct Answer"], ["1", "Open?", "(a) Open (b) Closed", "(a)"]]
        csv.writer(file).writerows(rows)


def blink(folder: Path) -> None:
    columns = {**{f"image_{k}": IMAGE for k in range(1, 5)}, "prompt": TEXT, "choices": LIST, "answer": TEXT}
    for part, seeds in (("Counting", (7,)), ("Jigsaw", (8, 9, 10))):
        row = {f"image_{k}": cell(seed) for k, seed in enumerate(seeds, 1)}
        row |= {"prompt": "Which?\n(A) one\n(B) two", "choices": ["one", "two"], "answer": "(B)"}
        save(folder / part / "val-00000-of-00001.parquet", [row], **columns)
        save(folder / part / "test-00000-of-00001.parquet", [{**row, "answer": "hidden"}], **columns)
        card(folder, part, val=f"{part}/val-*", test=f"{part}/test-*")


def halbench(folder: Path) -> None:
    rows = [{"image": cell(11), "question": "Is it red?", "gt_answer": gold} for gold in "10"]
    columns = {"image": IMAGE, "question": TEXT, "gt_answer": TEXT}
    save(folder / "data" / "image-00000-of-00001.parquet", rows, **columns)
    save(folder / "data" / "non_image-00000-of-00001.parquet", [{**rows[0], "image": None}], **columns)


def mmmu(folder: Path) -> None:
    rows = [
        {
            "image_1": cell(12),
            "image_3": cell(13),
            "question": "<image 1>?",
            "options": "['1', \"it's\"]",
            "answer": "B",
        },
        {"image_1": cell(14), "question": "How much?", "options": "[]", "answer": "['3.5', '7/2']"},
        {"image_1": cell(15), "question": "Nine?", "options": str([*"123456789"]), "answer": "I"},
        {"image_1": cell(16), "question": None, "options": "['1', '2']", "answer": "A"},
        {"question": "No image?", "options": "['1', '2']", "answer": "A"},
        {"image_1": cell(17), "question": "No answer?", "options": "['1', '2']", "answer": ""},
    ]
    columns = {f"image_{k}": IMAGE for k in range(1, 8)} | dict.fromkeys(("question", "options", "answer"), TEXT)
    save(folder / "data" / "validation-00000-of-00001.parquet", rows, **columns)


MAKERS: dict[str, Callable[[Path], None]] = {
    "mme_rw": mme_rw,
    "rwqa": rwqa,
    "hrb4k": hr_bench,
    "vstar": vstar,
    "mmvp": mmvp,
    "blink": blink,
    "halbench": halbench,
    "mmmu": mmmu,
}


@pytest.fixture(scope="module")
def copies(tmp_path_factory: pytest.TempPathFactory) -> Path:
    root = tmp_path_factory.mktemp("hub")
    for name, make in MAKERS.items():
        make(root / BENCHMARKS[name].id)
    for source in TRAINING:
        first = 20 + 3 * TRAINING.index(source)
        rows = [
            {"image": cell(first + k), source.question: f"What is {k}?", source.answer: ["thing", "it", "it"][k:]}
            for k in range(3)
        ]
        columns = {"image": IMAGE, source.question: TEXT, source.answer: LIST}
        save(root / source.id / "data" / "train-00000-of-00001.parquet", rows, **columns)
    return root


@pytest.fixture(scope="module")
def tasks(copies: Path) -> list[Task]:
    with pytest.warns(UserWarning):
        return benchmark_tasks(str(copies))


def told(tasks: Sequence[Task], name: str) -> list[tuple[str, tuple[str, ...], int]]:
    return [(t.question, t.target, len(t.images)) for t in tasks if t.meta["skill"] == name]


@pytest.mark.parametrize(
    ("name", "expected"),
    [
        ("mme_rw", [("Which colour?\n(A) red\n(B) blue\n(E) not there", ("B",), 1)]),
        ("rwqa", [("How many?\nAnswer with a number.", ("3",), 1), ("Which?\nA. left\nB. right", ("A",), 1)]),
        ("hrb4k", [("Where?\nA. l\nB. r\nC. top", ("C",), 1)]),
        ("hrb8k", [("Where?\nA. l\nB. r\nC. top", ("C",), 1)]),
        ("vstar", [("Colour?\n(A) red\n(B) green", ("A",), 1)]),
        ("mmvp", [("Open?\n(a) Open (b) Closed", ("A",), 1)]),
        ("blink", [("Which?\n(A) one\n(B) two", ("B",), 1), ("Which?\n(A) one\n(B) two", ("B",), 3)]),
        ("halbench", [("Is it red?", ("yes",), 1), ("Is it red?", ("no",), 1)]),
        (
            "mmmu",
            [
                ("<image 1>?\nA. 1\nB. it's", ("B",), 2),
                ("How much?", ("3.5", "7/2"), 1),
                ("\n".join(["Nine?", *(f"{'ABCDEFGHI'[k]}. {k + 1}" for k in range(9))]), ("I",), 1),
            ],
        ),
    ],
)
def test_a_benchmarks_rows_become_questions(
    tasks: list[Task], name: str, expected: list[tuple[str, tuple[str, ...], int]]
) -> None:
    assert told(tasks, name) == expected


def test_all_nine_are_read_and_their_own_answers_are_right(tasks: list[Task]) -> None:
    assert list(dict.fromkeys(t.meta["skill"] for t in tasks)) == list(BENCHMARKS)
    assert len({t.id for t in tasks}) == len(tasks) and all(is_question(t) for t in tasks)
    assert all(is_right_answer(gold, t.target) for t in tasks for gold in t.target)
    assert is_right_answer("(I)", ["I"]) and not is_right_answer("(A)", ["I"])


def test_images_are_the_rows_own_and_no_larger_than_allowed(tasks: list[Task]) -> None:
    shown = {t.id: t.images[0].image for t in tasks}
    for name, seed in (("mme_rw", 0), ("rwqa", 1), ("hrb4k", 3), ("hrb8k", 4), ("blink", 7), ("mmmu", 12)):
        assert np.array_equal(np.asarray(shown[f"{name}-00000"]), np.asarray(picture(seed))), name
    assert shown["vstar-00000"].size == (LONGEST, LONGEST * 3 // 4)
    assert shown["mmvp-00000"].size == picture(6).size
    same = {t.meta["source"] for t in tasks if t.meta["skill"] == "halbench"}
    assert len(same) == 1, "two questions about one image are related"


def test_rows_that_cannot_be_asked_are_counted(copies: Path) -> None:
    with pytest.warns(
        UserWarning, match=r"MMMU: no question .*\(row 3\); no image \(row 4\); no question .*\(row 5\); 3 of 6"
    ):
        benchmark_tasks(str(copies), names=["mmmu"])
    with pytest.warns(UserWarning, match=r"that has an answer and options \(row 1\); 1 of 2 rows are left out"):
        benchmark_tasks(str(copies), names=["mme_rw"])
    with pytest.warns(UserWarning, match="RealWorldQA: a picture cannot be read and is left out"):
        benchmark_tasks(str(copies), names=["rwqa"])


def test_the_first_questions_of_each_are_taken(copies: Path, tasks: list[Task]) -> None:
    few = benchmark_tasks(str(copies), 1)
    firsts = {t.meta["skill"]: t.id for t in reversed(tasks)}
    assert [t.id for t in few] == [firsts[name] for name in BENCHMARKS]


@pytest.mark.parametrize("name", BENCHMARKS)
def test_a_missing_copy_is_named_with_the_way_out(name: str, tmp_path: Path) -> None:
    with pytest.raises(HubError, match=rf"{BENCHMARKS[name].id}: no such folder; copy the data set there .* 'hub'"):
        benchmark_tasks(str(tmp_path), names=[name])


@pytest.mark.parametrize(
    ("name", "column"),
    [("rwqa", "answer"), ("rwqa", "image"), ("halbench", "gt_answer"), ("mmmu", "options"), ("blink", "prompt")],
)
def test_other_columns_are_refused_with_those_found_and_expected(name: str, column: str, tmp_path: Path) -> None:
    folder = tmp_path / BENCHMARKS[name].id
    MAKERS[name](folder)
    for file in folder.rglob("*.parquet"):
        datasets.Dataset.from_parquet(str(file), cache_dir=str(tmp_path / "cache")).rename_column(
            column, "other"
        ).to_parquet(file)
    with pytest.raises(HubError) as error:
        benchmark_tasks(str(tmp_path), names=[name])
    message = str(error.value)
    assert f"{BENCHMARKS[name].id} ({name}): no column {column!r}; found: " in message
    found, expected = message.split("found: ")[1].split("; expected: ")
    assert "other" in found.split(", ") and column in expected.split(". Correct")[0].split(", ")


def test_a_table_without_the_number_of_its_image_is_refused(tmp_path: Path) -> None:
    folder = tmp_path / BENCHMARKS["mmvp"].id
    mmvp(folder)
    table = folder / "Questions.csv"
    table.write_text(table.read_text().replace("Index", "lndex"))
    with pytest.raises(HubError, match=r"MMVP/MMVP \(mmvp\): no column 'Index'; found: lndex, Question"):
        benchmark_tasks(str(tmp_path), names=["mmvp"])


def test_a_missing_image_file_is_named(tmp_path: Path) -> None:
    folder = tmp_path / BENCHMARKS["mmvp"].id
    mmvp(folder)
    (folder / "MMVP Images" / "1.jpg").unlink()
    with pytest.raises(HubError, match=r"MMVP/MMVP: FileNotFoundError.*1\.jpg"):
        benchmark_tasks(str(tmp_path), names=["mmvp"])


def test_a_copy_without_its_configuration_is_refused(tmp_path: Path) -> None:
    folder = tmp_path / BENCHMARKS["hrb4k"].id
    hr_bench(folder)
    (folder / "README.md").unlink()
    with pytest.raises(HubError, match=r"HR-Bench: .*hrbench_version_split"):
        benchmark_tasks(str(tmp_path), names=["hrb4k"])


def test_an_answer_that_stands_for_nothing_is_refused(tmp_path: Path) -> None:
    file = tmp_path / BENCHMARKS["halbench"].id / "data" / "image-00000-of-00001.parquet"
    rows = [{"image": cell(0), "question": "Is it?", "gt_answer": "2"}]
    save(file, rows, image=IMAGE, question=TEXT, gt_answer=TEXT)
    with pytest.raises(HubError, match="answer '2' in column 'gt_answer'; expected one of 0, 1"):
        benchmark_tasks(str(tmp_path), names=["halbench"])


def test_a_benchmark_without_a_question_to_ask_is_refused(tmp_path: Path) -> None:
    file = tmp_path / BENCHMARKS["rwqa"].id / "data" / "test-00000-of-00001.parquet"
    save(file, [{"question": "No image?", "answer": "A"}], image=IMAGE, question=TEXT, answer=TEXT)
    with pytest.raises(HubError, match=r"RealWorldQA: no image \(row 0\); .*none of its 1 rows can be used"):
        benchmark_tasks(str(tmp_path), names=["rwqa"])


def test_an_unknown_benchmark_is_named(copies: Path) -> None:
    with pytest.raises(HubError, match="benchmark 'pope': there are mme_rw, rwqa"):
        benchmark_tasks(str(copies), names=["pope"])


def test_training_questions_come_evenly_from_both_and_too_few_are_named(copies: Path) -> None:
    some = training_questions(str(copies), 4, seed=0)
    assert sorted(t.meta["skill"] for t in some) == ["charts", "charts", "text", "text"]
    assert [t.id for t in some] == [t.id for t in training_questions(str(copies), 4, seed=0)]
    with pytest.raises(HubError, match=r"6 questions in .*textvqa.*ChartQA, 8 needed"):
        training_questions(str(copies), 8, seed=0)


def test_an_image_trained_on_is_not_measured_on(copies: Path, tasks: list[Task]) -> None:
    practice = training_questions(str(copies), 4, seed=0)
    puzzle = make_task(picture(40), 2, 0, np.random.default_rng(0), "own")
    check_apart([*practice, puzzle], tasks)
    asked = next(t for t in tasks if t.id == "rwqa-00000")
    smaller = make_task(asked.images[0].image.resize((100, 75)), 2, 0, np.random.default_rng(1), "copy")
    with pytest.raises(LeakError, match="copy ~ rwqa-00000"):
        check_apart([*practice, smaller], tasks)
    with pytest.raises(LeakError, match=r"~ rwqa-00000 \(0 of 64 bits\)"):
        check_apart([*practice, asked], tasks)

"""Small copies of AGILE's nine benchmarks and training questions in the hub's own layout, bad rows among them."""

from __future__ import annotations

import base64
import csv
import json
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import datasets

from papers.agile.evaluation_sets import BENCHMARKS, TRAINING
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


def make_copies(root: Path) -> None:
    """A copy of each; images are pictures 0 to 25 of :func:`tests.helpers.agile_hub_copies.picture`."""
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

"""Small copies of the sets that CodeDance measures on and trains on, in the hub's own layout: one good row each."""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import datasets
import numpy as np
from PIL import Image

from papers.codedance.evaluation_sets import BENCHMARKS, TRAINING
from pictures.scenes import scene
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


def make_copies(root: Path) -> None:
    """One row of every set, a bad one beside PixMo-Count's, and a demonstration of each level."""

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
    table("rl", "train", {"data_source": "vstar", **own}, data_source=TEXT, **columns)
    code = "<code>\n```python\npart = input_image.crop((0, 0, 40, 40))\n```\n</code>"
    said = [
        ("user", f"<image>Question: {told['question']} Think step-by-step within <think></think>."),
        ("assistant", f"<think>I look.</think>{code}"),
        ("user", "<interpreter><image></interpreter>"),
        ("assistant", "<think>It is right.</think><answer>No, it isn't left.</answer>"),
    ]
    talk = [{"role": role, "content": text} for role, text in said]
    shown = {
        "messages": datasets.List({"role": TEXT, "content": TEXT}),
        "images": datasets.List(datasets.Value("binary")),
    }
    direct = {"messages": [talk[0], talk[-1]], "images": [png(picture(15))]}
    rows = [{"messages": talk, "images": [png(picture(13)), png(picture(14))]}, direct]
    save(root / TRAINING["sft"].id / "data" / "train-00000-of-00001.parquet", rows, **shown)

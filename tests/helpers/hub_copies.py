"""Small copies of Visual-ARFT's data sets in the hub's own layout: several rows a picture, bad rows among them."""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import datasets
import numpy as np
from PIL import Image

from pictures.scenes import scene

TEXT = datasets.Value("string")
LIST = datasets.Sequence(TEXT)


def picture(seed: int, side: int = 168) -> Image.Image:
    """A smooth scene, which can be distorted and restored."""
    return Image.fromarray(scene(np.random.default_rng(seed), side))


def save(folder: Path, rows: Sequence[dict[str, Any]], within: str = "data", **columns: Any) -> None:
    """Write a training split as the hub stores it: ``data/train-00000-of-00001.parquet``."""
    features = datasets.Features(columns if "images" in columns else {"image": datasets.Image(), **columns})
    (folder / within).mkdir(parents=True)
    held = {name: [row[name] for row in rows] for name in features}
    datasets.Dataset.from_dict(held, features=features).to_parquet(folder / within / "train-00000-of-00001.parquet")


def make_copies(root: Path, pictures: int) -> None:
    """Copies of every data set; ``pictures`` different images each, with one to six rows.

    The benchmark's first picture is one of the training pictures of the first set, smaller.
    """
    numbers = iter(range(10_000))

    def rows(question: str, answers: str, many: bool = True) -> list[dict[str, Any]]:
        found = []
        for k in range(pictures):
            image = picture(next(numbers))
            golds: Any = [f"thing {k}", "it"] if many else [f"thing {k}"]
            found += [{"image": image, question: f"What is {n}?", answers: golds} for n in range(1 + k % 6)]
        bad = {"image": None, question: "What is missing?", answers: ["it"]}
        return [bad, *found, {"image": picture(next(numbers)), question: "No answer?", answers: []}]

    save(root / "pixparse/docvqa-single-page-questions", rows("question", "answers"), question=TEXT, answers=LIST)
    save(root / "lmms-lab-encoder/textvqa", rows("question", "answers"), question=TEXT, answers=LIST)
    save(
        root / "rootsautomation/RICO-ScreenQA-Short", rows("question", "ground_truth"), question=TEXT, ground_truth=LIST
    )
    book = [
        {
            "images": [picture(next(numbers))] if k else [],
            "texts": [
                {
                    "user": f"Question: Which is {n}?\nChoices:\nA. {n}\nB. none",
                    "assistant": "Answer: A",
                    "source": "TQA",
                }
                for n in range(1 + k % 6)
            ],
        }
        for k in range(pictures + 1)
    ]
    said = [{"user": TEXT, "assistant": TEXT, "source": TEXT}]
    cauldron = root / "HuggingFaceM4/the_cauldron"
    save(cauldron, book, "tqa", images=datasets.Sequence(datasets.Image()), texts=said)
    configs = "configs:\n- config_name: tqa\n  data_files:\n  - split: train\n    path: tqa/train-*\n"
    (cauldron / "README.md").write_text(f"---\n{configs}---\n")
    save(root / "HuggingFaceM4/ChartQA", rows("query", "label", many=False), query=TEXT, label=LIST)
    covers = [
        {
            "image": picture(next(numbers)),
            "questions": ["Who wrote it?", "What is it?"],
            "answers": ["Ann", f"book {k}"],
        }
        for k in range(pictures)
    ]
    save(root / "howard-hou/OCR-VQA", covers, questions=LIST, answers=LIST)
    for name, part in (("hotpotqa", "dev"), ("2wikimultihopqa", "dev"), ("musique", "dev"), ("bamboogle", "test")):
        file = root / "RUC-NLPIR/FlashRAG_datasets" / name / f"{part}.jsonl"
        file.parent.mkdir(parents=True)
        lines = [{"id": f"{k}", "question": f"Who is {k}?", "golden_answers": [f"{k}"] * (k != 1)} for k in range(4)]
        file.write_text("".join(json.dumps(line) + "\n" for line in lines))
    benchmark = root / "laolao77/MAT" / "MAT-Benchmark"
    benchmark.mkdir(parents=True)
    picture(0).resize((120, 120)).save(benchmark / "c0.png")
    picture(20_000).save(benchmark / "c1.png")
    picture(20_001).save(benchmark / "s0.png")
    picture(20_003).save(benchmark / "s1.png")
    whole = picture(20_002, 240)
    whole.save(benchmark / "crop_2_ori.png")
    whole.crop((0, 0, 80, 60)).save(benchmark / "crop_2_proc.png")
    coding = [
        {"id": k, "type": ["rotation90"], "split": "simple", "processed_image_path": f"images/c{k}.png",
         "question": "What is it?", "answers": ["a scene"]}
        for k in range(2)
    ]  # fmt: skip
    coding.append(
        {"id": 2, "type": ["crop"], "split": "hard", "processed_image_path": "images/crop_2_proc.png",
         "ori_image_path": "images/crop_2_ori.png", "question": "Recognize the text within the [0, 0, 333, 250]",
         "answers": ["a scene"]}
    )  # fmt: skip
    search = [
        {"id": k, "image_path": f"s{k}.png", "question": "Where is it?", "answer": ["here"], "split": split}
        for k, split in enumerate(("simple", "hard"))
    ]
    (benchmark / "MAT-Coding.json").write_text(json.dumps(coding))
    (benchmark / "MAT-Search.json").write_text(json.dumps(search))

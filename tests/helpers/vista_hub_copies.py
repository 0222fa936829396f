"""Small copies of the sets that VISTA-Gym trains on and measures on, in the hub's layouts: four rows each."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import datasets

from papers.vista_gym.evaluation_sets import BENCHMARKS, TRAINING
from tests.helpers.codedance_hub_copies import IMAGE, LIST, TEXT, card, cell, save

IMAGES = datasets.List(IMAGE)
ANSWERS = {"scienceqa": "B", "aokvqa": "B", "iconqa": "B"}


def _talk(seed: int, name: str) -> dict[str, Any]:
    """A row of the_cauldron: two questions about one image; where there are options, they are in the question."""
    turn = {"user": f"Question: What is {name}?", "assistant": f"Answer: {ANSWERS.get(name, '7')}.", "source": name}
    return {"images": [cell(seed)], "texts": [turn, {**turn, "user": f"Question: Which {name}?"}]}


def _conversation(seed: int) -> dict[str, Any]:
    asked = "<image>\nHint: Please answer by its letter.\nQuestion: Find AC.\nChoices:\n(A) 3\n(B) 5"
    turns = [{"from": "human", "value": asked}, {"from": "gpt", "value": "The answer is B"}]
    return {"id": str(seed), "image": cell(seed), "conversations": turns, "data_source": "unigeo"}


def _rows(name: str, layout: str, start: int) -> tuple[list[dict[str, Any]], Mapping[str, Any]]:
    """Four rows in a set's layout, and its columns."""
    seeds = range(start, start + 4)
    if layout == "HuggingFaceM4/the_cauldron":
        turn = {"user": TEXT, "assistant": TEXT, "source": TEXT}
        return [_talk(seed, name) for seed in seeds], {"images": IMAGES, "texts": datasets.List(turn)}
    if layout == "lmms-lab/LLaVA-OneVision-Data":
        turn = {"from": TEXT, "value": TEXT}
        columns = {"id": TEXT, "image": IMAGE, "conversations": datasets.List(turn), "data_source": TEXT}
        return [_conversation(seed) for seed in seeds], columns
    if layout == "HuggingFaceM4/ChartQA":
        rows = [{"image": cell(seed), "query": "How much?", "label": ["40"]} for seed in seeds]
        return rows, {"image": IMAGE, "query": TEXT, "label": LIST}
    if layout == "lmms-lab/ai2d":
        rows = [{"image": cell(s), "question": "Which?", "options": ["sun", "moon"], "answer": "1"} for s in seeds]
        return rows, {"image": IMAGE, "question": TEXT, "options": LIST, "answer": TEXT}
    if layout == "MathLLMs/MathVision":
        rows = [{"decoded_image": cell(s), "question": "How long?", "options": [], "answer": "3.5"} for s in seeds]
        return rows, {"decoded_image": IMAGE, "question": TEXT, "options": LIST, "answer": TEXT}
    if layout == "AI4Math/MathVista":
        rows = [{"decoded_image": cell(s), "question": "f(2) is", "choices": ["more", "less"], "answer": "less"}
                for s in seeds]  # fmt: skip
        return rows, {"decoded_image": IMAGE, "question": TEXT, "choices": LIST, "answer": TEXT}
    asked, answer = ("<image>Find m\\angle ABC.", "65") if name == "geometry3k" else ("<image>Which is it?", "B")
    one_image = layout == "LoadingBFX/GeoQA-ABCD"
    rows = [{"images": cell(s) if one_image else [cell(s)], "problem": asked, "answer": answer} for s in seeds]
    return rows, {"images": IMAGE if one_image else IMAGES, "problem": TEXT, "answer": TEXT}


def make_copies(root: Path) -> None:
    """Four rows of every set."""
    start = 0
    made: set[tuple[str, str | None, str]] = set()
    for section in (TRAINING, BENCHMARKS):
        for name, entry in section.items():
            if (entry.id, entry.config, entry.split) in made:
                continue
            made.add((entry.id, entry.config, entry.split))
            rows, columns = _rows(name, entry.id, start)
            start += 4
            folder, config = root / entry.id, entry.config
            file = f"{config or 'data'}/{entry.split}-00000-of-00001.parquet"
            save(folder / file, rows, **columns)
            if config:
                card(folder, config, **{entry.split: file})

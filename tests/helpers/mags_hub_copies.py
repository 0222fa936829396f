"""Small copies of the sets that Mags-RL measures on and trains on, in the hub's own layout; and cut-outs."""

from __future__ import annotations

import json
from pathlib import Path

import datasets
from PIL import Image, ImageDraw

from papers.mags_rl.evaluation_sets import BENCHMARKS, TRAINING
from tests.helpers.codedance_hub_copies import IMAGE, TEXT, card, cell, picture, save

PAIRS = [{"question": TEXT, "answer": TEXT, "is_simple": datasets.Value("bool")}]
TALK = [{"user": TEXT, "assistant": TEXT, "source": TEXT}]


def make_copies(root: Path, trained: int = 4, measured: int = 0) -> None:
    """Two questions of every set that is measured on, ``trained`` of each that is trained on, bad rows among them.

    The first image of VSR's training split is one of those that are measured on.

    Args:
        root: folder of the copies.
        trained: questions of each training split.
        measured: images of each set that is measured on beyond the first two.
    """
    vsr = root / BENCHMARKS["vsr"].id
    vsr.mkdir(parents=True)
    for split, seeds in (("test", (0, 1, *range(100, 100 + measured))), ("train", (0, *range(10, 10 + trained)))):
        lines = []
        for k in seeds:
            picture(k).save(vsr / f"{k}.png")
            lines.append({"image": f"{k}.jpg", "image_link": f"{k}.png", "caption": "The cat is left of the dog.",
                          "label": k % 2, "relation": "left of"})  # fmt: skip
        lines.append({**lines[0], "image_link": "gone.png"})
        (vsr / f"{split}.jsonl").write_text("".join(json.dumps(line) + "\n" for line in lines))
    card(vsr, "default", train="train.jsonl", test="test.jsonl")
    counted = [
        {"image": cell(20), "qa": [{"question": "How many cups?", "answer": "7", "is_simple": True},
                                   {"question": "How many red cups?", "answer": "0", "is_simple": False}]},
        {"image": cell(21), "qa": []},
    ]  # fmt: skip
    counted += [
        {"image": cell(120 + k), "qa": [{"question": "How many cups?", "answer": f"{k}", "is_simple": True}]}
        for k in range(measured)
    ]
    save(root / BENCHMARKS["tallyqa"].id / "data/test-00000-of-00001.parquet", counted, image=IMAGE, qa=PAIRS)
    talks = [
        {"images": [cell(30 + k)], "texts": [{"user": "Question: How many cats?", "assistant": f"Answer: {k}.",
                                              "source": "TallyQA"}]}
        for k in range(trained)
    ]  # fmt: skip
    cauldron = root / TRAINING["tallyqa"].id
    save(cauldron / "tallyqa/train-00000-of-00001.parquet", talks, images=datasets.List(IMAGE), texts=TALK)
    card(cauldron, "tallyqa", train="tallyqa/train-*")
    gqa = root / BENCHMARKS["gqa"].id
    for split, seeds in (("testdev", (40, *range(140, 140 + measured))), ("train", range(50, 50 + trained))):
        asked = [
            {"id": f"q{k}", "imageId": f"n{k}", "question": "What is on the table?", "answer": "cup"} for k in seeds
        ]
        asked.append({**asked[0], "id": "q", "question": "Which colour is it?", "answer": "red"})
        asked.append({**asked[0], "id": "lost", "imageId": "nowhere"})
        shown = [{"id": f"n{k}", "image": cell(k)} for k in seeds]
        columns = dict.fromkeys(asked[0], TEXT)
        save(gqa / f"{split}_balanced_instructions/{split}-00000-of-00001.parquet", asked, **columns)
        save(gqa / f"{split}_balanced_images/{split}-00000-of-00001.parquet", shown, id=TEXT, image=IMAGE)
        for part in ("instructions", "images"):
            card(gqa, f"{split}_balanced_{part}", **{split: f"{split}_balanced_{part}/{split}-*"})


def make_cutouts(folder: Path) -> int:
    """Write discs of different colours on nothing, under names that lie on all sides; returns how many."""
    names = [f"thing_{first * 3}{second * 2}" for first in "abcdefgh" for second in "klmnopqrst"]
    for k, name in enumerate(names):
        image = Image.new("RGBA", (60, 60))
        ImageDraw.Draw(image).ellipse((5, 5, 54, 54), fill=(3 * k, 255 - 3 * k, 128, 255))
        image.save(folder / f"{name}.png")
    return len(names)

"""The tiny VLM's measurement and its card: what it was taught, and what it can do."""

from __future__ import annotations

import json
from collections import defaultdict
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
from tiny_context import in_distractors
from transformers import Qwen2_5_VLForConditionalGeneration

from kit.chat import Chat
from kit.evaluate.intervals import clopper_pearson
from kit.tools.boxes import box_iou
from kit.train.metrics import read_metrics
from pictures.photos import photos
from pictures.scenes import Pixels
from tiny.probe import answer
from tiny.skills import SKILLS


def read_log(path: Path, until: int) -> list[dict[str, float]]:
    """Training's rows up to step ``until``, thinned out to those that carry a probe or are a hundred steps apart.

    A training that was stopped logged steps after its last saved state; the checkpoint never saw them.
    """
    return [row for row in read_metrics(path) if row["step"] <= until and (len(row) > 3 or row["step"] % 100 == 0)]


WHAT = {
    "amid": "place, amid words that mean nothing: a system text, a remark, an opening to say first",
    "photographs": "place, on held-out photographs",
    "neighbours": "four labelled pieces: which is right of each, which below? (all eight right)",
    "place": "four labelled pieces: where does each belong? (all four right)",
    "order": "four labelled pieces: where does each belong, and which order is that? (all right)",
    "rearranged": "a picture with its quarters exchanged: where does each belong? (all four right)",
    "adjacency": "two pieces: right of, left of, above, below, not beside",
    "colours": "the colours at four corners of four pieces (all sixteen right)",
    "shapes": "how many shapes, which shape, which colour, or where (box, IoU of at least 0.5)",
    "digits": "one to three printed digits",
    "orientation": "printed digits turned by 0, 90, 180 or 270 degrees",
    "chart": "a bar chart of three bars: every name and height",
    "copying": "text: repeat a list, look a word up, exchange two items",
    "code": "text: read or write a line of Python",
    "sorting": "text: which two items to exchange towards a given order, or none",
    "reading": "a receipt, sign, form, chart or handwritten number: everything on it, or one thing",
    "grid": "rows of single digits, or of words (all of them right)",
    "cards": "four framed sheets on a board: which frame is where (box, IoU of at least 0.5)",
    "distorted": "what happened to a picture: turned, dark, overexposed, blurred, noisy, up to three of them",
    "flags": "an invented flag: bands, colours, charges in words (all of them right)",
    "facts": "text: find what was asked in a few lines about invented places",
    "whose": "an invented flag in words; then, of lines about several alike: whose is it, and a fact about it",
}


def examine(
    model: Any,
    chat: Chat,
    pool: Sequence[Pixels],
    n: int,
    seed: int = 1,
    skills: Sequence[str] = tuple(SKILLS),
    words: Sequence[str] = (),
) -> dict[str, list[bool]]:
    """Ask ``n`` fresh samples a skill; returns which were answered rightly (boxes: IoU of at least 0.5).

    Second questions are asked with the first answered rightly, and counted apart (``shapes.2``);
    not every sample has one. Given ``words``, they stand around the questions
    (:func:`tiny_context.in_distractors`).

    Args:
        model: a transformers model or its PEFT wrapper.
        chat: the model's chat encoder.
        pool: images to take views of, ``(height, width, 3)`` bytes each.
        n: samples a skill.
        seed: fixes everything that is random.
        skills: names of the skills.
        words: words to put around the questions; none: ask barely.
    """
    rng = np.random.default_rng(seed)
    hits: dict[str, list[bool]] = defaultdict(list)
    for skill in skills:
        samples = [SKILLS[skill](rng, pool) for _ in range(n)]
        samples = [in_distractors(rng, sample, words) for sample in samples] if words else samples
        for k in range(max(len(s.turns) for s in samples)):
            asked = [s for s in samples if len(s.turns) > k]
            name = skill if k == 0 else f"{skill}.{k + 1}"
            for sample, text in zip(asked, answer(model, chat, asked, k), strict=True):
                right = sample.turns[k][1]
                boxed = box_iou(right, right) > 0  # a list of words is no box
                hits[name].append(box_iou(text, right) >= 0.5 if boxed else text.strip() == right)
    return dict(hits)


def called(name: str) -> str:
    """Say what is asked in a skill, or (``reading.2``) in its later questions."""
    skill, _, number = name.partition(".")
    return f"{WHAT[skill]}{f', question {number}' if number else ''}"


def write_card(
    folder: Path,
    hits: dict[str, list[bool]],
    model: Qwen2_5_VLForConditionalGeneration,
    log: list,
    steps: int,
    others: int,
    note: str,
) -> None:
    """``skills.json`` (with 95 % intervals), ``log.jsonl`` and the card made of them.

    Args:
        folder: the checkpoint's folder.
        hits: skill → whether each sample was answered rightly.
        model: the model, for its size.
        log: rows of the training log.
        steps: steps that it was trained for.
        others: number of photographs beside the kit's.
        note: how this model came to be.
    """
    skills = {}
    for name, right in hits.items():
        low, high = clopper_pearson(sum(right), len(right))
        skills[name] = {"value": sum(right) / len(right), "low": low, "high": high, "n": len(right)}
    (folder / "skills.json").write_text(json.dumps(skills, indent=1) + "\n")
    (folder / "log.jsonl").write_text("".join(json.dumps(row) + "\n" for row in log))
    rows = "\n".join(
        f"| {name} | {called(name)} | {s['value']:.3f} [{s['low']:.3f}, {s['high']:.3f}] | {s['n']} |"
        for name, s in skills.items()
    )
    size = sum(p.numel() for p in model.parameters()) / 1e6
    seen = f"the kit's {len(photos('train'))} training photographs" + (f", {others} others" if others else "")
    note = f"{note}\n\n" if note else ""
    card = CARD.format(size=size, steps=steps, rows=rows, seen=seen, note=note)
    (folder / "README.md").write_text(card)


CARD = """# The kit's tiny VLM

A Qwen2.5-VL of {size:.1f} million parameters: same class, 14-pixel patches, 2×2 merge and control tokens as
the 3B and 7B checkpoints. Weights are stored in half precision; `from_pretrained` loads them as they are,
`kit.models.load_model` in float32. Apache-2.0.

**Taught** by `data_scripts/make_tiny_vlm.py` in {steps} steps of 64 procedural samples: the skills below,
asked of drawn scenes and of photographs ({seen}; none of the held-out ones).
It knows nothing of the world and no language beyond these questions.

{note}Seven samples in ten stand amid words that mean nothing; of those, four in ten are answered inside tags and
followed by a line of text or code in other ones, three in ten come later in a conversation.

**Not taught**: to act. Tags, names and lines of Python were said when a question asked for them, their contents
drawn at random; no sample shows what a tool returned, a choice between looking, exchanging and answering, or a puzzle
that was solved. Nearest to AGILE's task are `order`, which says in words where each of four pieces belongs, and
`sorting`, which says of two lists of words what to exchange; three-by-three puzzles were never shown. Nearest to
Visual-ARFT's are `distorted`, which says what happened to a picture and doesn't mend it, `flags`, of invented flags,
`facts`, lines about invented places of the shape in which a search answers, and `whose`, which picks an invented
flag's line out of several, puts the place's name into a question and says, when asked to, in which words to look it up.

**Handwriting.** Of scikit-learn's handwritten digits it has seen those kept for training alone
(`pictures.digits.digits_of`).

Accuracy on fresh samples from scenes that training never saw, greedy, with 95 % intervals. *Question 2* is the next
question about the same sample, asked after a right first answer; not every sample has one.

| skill | what is asked | accuracy | samples |
|---|---|---|---|
{rows}

What is not in this table was not measured.
"""

"""Read from the hub what the paper measures on and trains on: VSR's relations, TallyQA's counts, GQA's attributes.

Where they lie and how they are read is in ``evaluation_sets.toml`` beside this file. The prompt shows a large image
shrunk, and crops are cut from it whole. How hard a question is, a judge has to say (:mod:`.difficulty`).

Departures
- [mags-statements] Paper: VSR's statements are asked, in words that it doesn't give. Here: "The cat is left of the dog.
  Is that true?", and the right answer is Yes or No. Why: an answer has to be compared with something. May change:
  accuracy on VSR, if a model minds how it is asked.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import replace
from itertools import islice
from pathlib import Path
from typing import Any

from kit.data.cells import CellError, readable
from kit.data.hub import images_of, rows, used_rows
from kit.data.questions import QuestionSet, question_sets, tasks_of
from kit.data.source import as_shown
from kit.episode import NamedImage, Task, content_hash
from kit.images import as_opened

MAX_PIXELS = 1_003_520
"""Pixels of an image as the prompt shows it, at most (ours: 1,280 image tokens)."""
GQA_IMAGES = 1000
"""Images of GQA that are looked at, at most: all 398 that are measured on, and of the others enough to train on."""

_SETS = question_sets(Path(__file__).with_suffix(".toml"))
BENCHMARKS = _SETS["evaluation"]
"""Short name → where its questions are."""
TRAINING = _SETS["training"]
"""The same data sets' training splits."""


def several(row: Mapping[str, Any]) -> Mapping[str, Any]:
    """Read a row of TallyQA: the questions about its image in ``qa``, with an answer each.

    Raises:
        CellError: they are told otherwise.
    """
    told = row["qa"]
    if isinstance(told, Mapping):  # a list of objects that was stored as an object of lists
        told = [dict(zip(told, values, strict=True)) for values in zip(*told.values(), strict=True)]
    pairs = isinstance(told, list) and all(
        isinstance(one, Mapping) and {"question", "answer"} <= {*one} for one in told
    )
    if not pairs:
        raise CellError(f"{told!r:.60} in 'qa', not a list of objects with question and answer")
    return {**row, "question": [one["question"] for one in told], "answer": [one["answer"] for one in told]}


def questions(source: QuestionSet, n: int = 0, max_pixels: int = MAX_PIXELS) -> list[Task]:
    """The questions of one data set as this paper asks them.

    Args:
        source: an entry of the table, or a copy of it on this machine.
        n: the first ones; 0: all.
        max_pixels: pixels of an image as the prompt shows it.

    Raises:
        HubError: it can't be reached, isn't as its entry says, or has nothing to ask.
    """
    found = tasks_of(source, as_opened)
    if not source.shown:
        found = _with_images(source, found)
    return [as_asked(task, max_pixels) for task in islice(found, n or None)]


def _with_images(source: QuestionSet, asked: Iterator[Task]) -> Iterator[Task]:
    """GQA's questions, whose images lie in another configuration under the number that stands before each question."""
    pictures = replace(source, config=str(source.config).replace("_instructions", "_images"))
    held: dict[str, NamedImage] = {}
    with used_rows(pictures) as left:
        for row in islice(rows(pictures, ("id", "image")), GQA_IMAGES):
            left.row()
            try:
                [image] = images_of(row["image"], pictures)
                fitting = as_opened(image)
                held[str(row["id"])] = NamedImage("image_1", readable(fitting, image.size))
                left.used += 1
            except (CellError, ValueError) as error:
                left.add(error if isinstance(error, CellError) else "no image")
    for task in asked:
        number, _, question = task.question.partition(" ")
        if number in held:
            named = f"{source.name}-{content_hash(held[number].image)[:16]}"
            yield replace(task, images=(held[number],), question=question, meta={**task.meta, "source": named})


def as_asked(task: Task, max_pixels: int = MAX_PIXELS) -> Task:
    """A question as this paper asks it: large images shrunk for the prompt, what is counted as a number.

    Args:
        task: as :mod:`kit.data.questions` reads it.
        max_pixels: pixels of an image as the prompt shows it.
    """
    skill, gold = str(task.meta["kind"]), str(task.target[0])
    count = int(gold) if skill == "count" and gold.isdecimal() else None
    meta = {**task.meta, "skill": skill, "difficulty": "", "count": count, "boxes": [], "parts": []}
    return replace(as_shown(task, max_pixels), meta=meta)

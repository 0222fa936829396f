"""Read from the hub the sets that the paper trains on and measures on (Table 5), as many questions of each as it does.

Where they lie and how they are read is in ``evaluation_sets.toml`` beside this file. The prompt shows a large image
shrunk, and tools open it whole.

Departures
- [vista-collections] Paper: test splits of eleven benchmarks. Here: six of them are known on the hub in collections of
  training splits alone; of these the questions after those that are trained on are measured on, and no image that is
  trained on looks like one of them. Why: their own splits lie in archives elsewhere. May change: accuracy there.
- [vista-stand-ins] Paper: trains on MathV360K, MathVision and ThinkVL, whose splits it doesn't name. Here: MathV360K is
  its part Super-CLEVR, ThinkVL the hard part of OpenVLThinker's questions, MathVision its split ``test``. Why: the hub
  has no other part with its images in a table, no ThinkVL under that name, and no split of MathVision to train on. May
  change: a model trained so can't be measured on MathVision, which isn't among the eleven.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import replace
from itertools import islice
from pathlib import Path
from typing import Any

from kit.data.cells import CellError, text_of
from kit.data.questions import QuestionSet, question_sets, tasks_of, without_stop
from kit.data.source import as_shown
from kit.episode import Task
from kit.images import as_opened
from papers.vista_gym.answers import golds
from papers.vista_gym.tasks import distribution_of

MAX_PIXELS = 1_003_520
"""Pixels of an image as the prompt shows it, at most (ours: 1,280 image tokens)."""

# fmt: off
TRAINED_ON: Mapping[str, int] = {
    "figureqa": 2000, "chartqa": 1500, "geometry3k": 2000, "geoqa": 2000, "unigeo": 2000, "mathvision": 2000,
    "mathv360": 1500, "mapqa": 1500, "infographicvqa": 1000, "thinkvl": 2000, "vizwiz": 200, "scienceqa": 1000,
    "docvqa": 970, "clevr": 1000, "aokvqa": 1500,
}
"""Table 5: questions of each set that are trained on, 22,170 in all."""
MEASURED_ON: Mapping[str, int] = {
    "chartqa": 1250, "geometry3k": 600, "geoqa": 500, "unigeo": 750, "mapqa": 2000,
    "tabmwp": 970, "ai2d": 810, "plotqa": 2000, "clevr_math": 930, "iconqa": 1500, "mathvista": 1000,
}
"""Table 5: questions of each set that are measured on, 12,310 in all."""
# fmt: on

_SETS = question_sets(Path(__file__).with_suffix(".toml"))
BENCHMARKS = _SETS["evaluation"]
"""Short name → where its questions are."""
TRAINING = _SETS["training"]
"""The same of what is trained on."""


def problem(row: Mapping[str, Any]) -> Mapping[str, Any]:
    """Take the image's mark out of a question: ``<image>Find x.`` is ``Find x.``"""
    return {**row, "problem": (text_of(row["problem"]) or "").replace("<image>", "").strip()}


def conversation(row: Mapping[str, Any]) -> Mapping[str, Any]:
    """Read a conversation about an image, turns of a human and a model, as questions and answers.

    Raises:
        CellError: the turns are told otherwise.
    """
    turns = row["conversations"]
    if not isinstance(turns, list) or not all(isinstance(t, Mapping) and {"from", "value"} <= {*t} for t in turns):
        raise CellError(f"{turns!r:.60} in 'conversations', not a list of objects with from and value")
    asked = [_plain(turn["value"]) for turn in turns if turn["from"] in ("human", "user")]
    told = [_plain(turn["value"]) for turn in turns if turn["from"] in ("gpt", "assistant")]
    return {**row, "question": asked, "answer": [without_stop(text.removeprefix("The answer is ")) for text in told]}


def _plain(cell: object) -> str:
    """A turn's words, without the image's mark and the hint before a question."""
    said = (text_of(cell) or "").replace("<image>", "").strip()
    return re.sub(r"^Hint:.*?\nQuestion:\s*", "", said, flags=re.DOTALL)


def questions(source: QuestionSet, n: int = 0, skip: int = 0, max_pixels: int = MAX_PIXELS) -> list[Task]:
    """The questions of one data set as this paper asks them.

    Args:
        source: an entry of the table, or a copy of it on this machine.
        n: how many; 0: all.
        skip: how many are left out before them.
        max_pixels: pixels of an image as the prompt shows it.

    Raises:
        HubError: it can't be reached, isn't as its entry says, or has nothing to ask.
    """
    found = tasks_of(source, as_opened)
    return list(_asked(islice(found, skip, skip + n if n else None), max_pixels))


def skipped(name: str) -> int:
    """Count the questions before a benchmark's: those that are trained on, where both are of one split."""
    measured, trained = BENCHMARKS[name], TRAINING.get(name)
    same = trained is not None and all(
        getattr(trained, field) == getattr(measured, field) for field in ("id", "config", "split")
    )
    return TRAINED_ON[name] if same else 0


def _asked(tasks: Iterator[Task], max_pixels: int) -> Iterator[Task]:
    for task in tasks:
        yield as_asked(task, max_pixels)


def as_asked(task: Task, max_pixels: int = MAX_PIXELS) -> Task:
    """A question as this paper asks it: large images shrunk for the prompt, and golds that allow for an error.

    Args:
        task: as :mod:`kit.data.questions` reads it.
        max_pixels: pixels of an image as the prompt shows it.
    """
    name = str(task.meta["set"])
    meta = {**task.meta, "family": task.meta["kind"], "distribution": distribution_of(name)}
    right = golds(task.target, rule_of(name, task.question))
    return replace(as_shown(task, max_pixels), target=right, meta=meta)


_ASKED = re.compile(r"(?i)\b(?:find|determine|calculate|compute|what(?: is|'s| are)|solve for)\b")
_ANGLE = re.compile(r"(?i)(?<![a-z])angles?(?![a-z])|∠")


def rule_of(name: str, question: str) -> str:
    """The rule by which answers of a set are right: Geometry3K's depends on whether an angle is asked for."""
    if name == "geometry3k":
        asked = _ASKED.split(question)[-1]  # what is given may be an angle, too
        return "angle" if _ANGLE.search(asked) else "length"
    return "chart" if name == "chartqa" else "exact"

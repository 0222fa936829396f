"""Read from the hub the sets that the paper measures on (Table 1), and what it trains on.

Where they lie and how they are read is in ``evaluation_sets.toml`` beside this file. Each becomes a list of tasks whose
``kind`` is ``count``, ``board`` (visual search), ``chart`` or ``math``; they have no level, since only a model can tell
what is easy there. The prompt shows an image of a high resolution shrunk, and code opens it whole.

Departures
- [codedance-benchmark-scoring] Paper: VLMEvalKit is the framework of evaluation (section 4); how it scores each set
  isn't told. Here: one rule (:mod:`.answers`): options by their letter, numbers as numbers (ChartQA's with its error of
  5 %, years among them), formulas by math-verify, all else by its words. Why: everybody can run it, and it never
  changes its mind. May change: CharXiv and MathVerse, whose answers may be put in other words, lie lower here if a
  model judged them there.
- [codedance-base-asked] Paper: in which words and at which resolution the base is asked isn't told. Here: one sentence
  asks for the answer alone, and the prompt shows at most 1,280 image tokens, as it does to the agent. Why: base and
  agent then differ in acting alone. May change: the base on HR-Bench and V*, downwards.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from kit.data.questions import QuestionSet, question_sets
from kit.data.source import as_shown
from kit.episode import Task
from kit.images import as_opened
from kit.rewards.answers import number
from papers.evaluation_sets import chosen, tasks_from

MAX_PIXELS = 1_003_520
"""Pixels of an image as the prompt shows it, at most (ours: 1,280 image tokens)."""
TOLERANCE = {"chartqa": 5}
"""Per cent by which a number may be off, by benchmark."""

_SETS = question_sets(Path(__file__).with_suffix(".toml"))
BENCHMARKS = _SETS["evaluation"]
"""Short name → where its questions are."""
TRAINING = _SETS["training"]
"""The paper's own questions."""


def benchmark_tasks(
    root: str, n: int = 0, names: Sequence[str] = tuple(BENCHMARKS), max_pixels: int = MAX_PIXELS
) -> list[Task]:
    """The benchmarks' questions as tasks.

    Args:
        root: ``hub``, or a folder with copies of the data sets, as :func:`papers.evaluation_sets.tasks_from` reads it.
        n: questions of each, the first ones; 0: all.
        names: which ones, of :data:`BENCHMARKS`.
        max_pixels: pixels of an image as the prompt shows it.

    Raises:
        HubError: one is unknown or missing, can't be reached, isn't as its entry says, or has nothing to ask.
    """
    return list(tasks(root, chosen(BENCHMARKS, names), n, max_pixels))


def tasks(root: str, sets: Sequence[QuestionSet], n: int, max_pixels: int = MAX_PIXELS) -> Iterator[Task]:
    """The questions of some data sets as this paper asks them.

    Args:
        root: as for :func:`benchmark_tasks`.
        sets: entries of the table.
        n: questions of each; 0: all.
        max_pixels: pixels of an image as the prompt shows it.
    """
    for task in tasks_from(root, sets, as_opened, n):
        yield as_asked(task, max_pixels)


def as_asked(task: Task, max_pixels: int = MAX_PIXELS) -> Task:
    """A question as this paper asks it: large images shrunk for the prompt, and golds that allow for an error.

    Args:
        task: as :mod:`kit.data.questions` reads it.
        max_pixels: pixels of an image as the prompt shows it.
    """
    off = TOLERANCE.get(task.meta["set"], 0)
    near = tuple(f"{gold} ± {off} %" for gold in task.target if off and number(gold) is not None)
    return replace(as_shown(task, max_pixels), target=(*task.target, *near), meta={"level": "", **task.meta})


def by_source(row: Mapping[str, Any]) -> Mapping[str, Any]:
    """Name a released question's kind by its source: the release's reward reads there whether it is mathematics."""
    return {**row, "kind": row["data_source"]}

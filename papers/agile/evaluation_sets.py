"""The paper's nine general benchmarks (section 4.2, Table 3) from the hub, and questions to train on (section 4.3).

Each becomes a list of questions for :func:`papers.agile.general.ask`, like the tiny model's own. Benchmarks are
only ever measured on. What is trained on, puzzles and questions, is compared with them image by image before anything
is asked (:func:`check_apart`): the paper trains on images of three of them (V*, HRBench, RealWorldQA).

Where they lie and how they are read is in ``evaluation_sets.toml`` beside this file.

Departures
- [agile-benchmark-scoring] Paper: VLMEvalKit scores each benchmark by its own rules. Here: Each has one number, the
  share of right answers: options by their letter, all else by its words. Why: One parser reads all answers, and no
  model has to judge them. May change: HallusionBench and MMVP, which count groups of questions there, lie higher
  here.
- [agile-qa-sources] Paper: The source of the 20K questions isn't named. Here: Two training splits with questions
  stand in. Why: They are free, and no benchmark is among them. May change: What the arm with questions alone gains.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from pathlib import Path

import numpy as np
from PIL import Image

from kit.data.hub import HubError
from kit.data.leak import check_leak, solved
from kit.data.questions import QuestionSet, question_sets
from kit.episode import Task, content_hash
from papers.agile.questions import is_question
from papers.evaluation_sets import chosen, tasks_from

LONGEST = 1280
"""Pixels of an image's longer side, at most; the paper's 401,408 are what the model's own processor leaves of it."""

_SETS = question_sets(Path(__file__).with_suffix(".toml"))
BENCHMARKS = _SETS["evaluation"]
"""Short name, as in :data:`papers.agile.reported.GENERAL` → where its questions are."""
TRAINING = tuple(_SETS["training"].values())
"""Training splits with questions, in place of the paper's unnamed QA data."""


def benchmark_tasks(root: str, n: int = 0, names: Sequence[str] = tuple(BENCHMARKS)) -> list[Task]:
    """The benchmarks' questions as tasks.

    Args:
        root: ``hub``, or a folder with copies of the data sets, as :func:`papers.evaluation_sets.tasks_from` reads it.
        n: questions of each, the first ones; 0: all.
        names: which ones, of :data:`BENCHMARKS`.

    Raises:
        HubError: one is unknown or missing, can't be reached, isn't as its entry says, or has nothing to ask.
    """
    return _tasks(root, chosen(BENCHMARKS, names), n)


def training_questions(root: str, n: int, seed: int) -> list[Task]:
    """``n`` questions to train on, evenly from the data sets of :data:`TRAINING`, in a shuffled order.

    Args:
        root: as for :func:`benchmark_tasks`.
        n: questions in all.
        seed: of the order.

    Raises:
        HubError: as there, or the data sets hold too few.
    """
    found = _tasks(root, TRAINING, -(-n // len(TRAINING)))
    if len(found) < n:
        raise HubError(f"{len(found)} questions in {', '.join(s.id for s in TRAINING)}, {n} needed: ask for fewer")
    return [found[int(i)] for i in np.random.default_rng(seed).permutation(len(found))[:n]]


def _tasks(root: str, sets: Iterable[QuestionSet], n: int) -> list[Task]:
    tasks = tasks_from(root, sets, _fitted, n)
    return [replace(task, meta={"skill": task.meta["set"], **task.meta}) for task in tasks]


def _fitted(image: Image.Image) -> Image.Image:
    smaller = image.copy()
    smaller.thumbnail((LONGEST, LONGEST), Image.Resampling.LANCZOS)
    return smaller


def check_apart(train: Sequence[Task], evaluation: Sequence[Task]) -> None:
    """Refuse to measure on an image that was trained on: a puzzle's, put together, or a question's.

    Args:
        train: puzzles and questions.
        evaluation: benchmarks' questions.

    Raises:
        LeakError: naming the pairs that look the same.
    """
    check_leak(_once(train), _once(evaluation))


def _once(tasks: Sequence[Task]) -> Iterator[tuple[str, Image.Image]]:
    seen = set()
    for task in tasks:
        images = [p.image for p in task.tool_images] if is_question(task) else [solved(task)]
        for image in images:
            digest = content_hash(image)
            if digest not in seen:
                seen.add(digest)
                yield task.id, image

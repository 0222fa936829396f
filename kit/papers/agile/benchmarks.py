"""The paper's nine general benchmarks (section 4.2, Table 3) from the hub, and questions to train on (section 4.3).

Each becomes a list of questions for :func:`kit.papers.agile.general.ask`, like the tiny model's own. Benchmarks are
only ever measured on. What is trained on, puzzles and questions, is compared with them image by image before anything
is asked (:func:`check_apart`): the paper trains on images of three of them (V*, HRBench, RealWorldQA).

Ids and columns are as public code reads them (:data:`BENCHMARKS` is the one place to correct them); revisions are
pinned by ``hub.lock.json`` like every other data set's.

Departures
- [agile-benchmark-scoring] Paper: VLMEvalKit scores each benchmark by its own rules. Here: Each has one number, the
  share of right answers: options by their letter, all else by its words. Why: One parser reads all answers, and no
  model has to judge them. May change: HallusionBench and MMVP, which count groups of questions there, lie higher
  here.
- [agile-qa-sources] Paper: The source of the 20K questions isn't named. Here: Two training splits with questions
  stand in. Why: They are free, and no benchmark is among them. May change: What the arm with questions alone gains.
"""

from __future__ import annotations

import ast
import json
import os
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import numpy as np
from PIL import Image

from kit.data.hub import HubError, HubSource, pictures_of, read_lock, revision_of, rows
from kit.data.leak import LeakError, leaked_pairs, solved
from kit.episode import NamedImage, Task, content_hash
from kit.papers.agile.questions import is_question, letter


@dataclass(frozen=True)
class Benchmark(HubSource):
    """A data set of questions about images.

    Attributes:
        question: its column of questions.
        answer: its column of answers: a text, or a list of texts that are all right.
        columns: its columns of images; in braces a pattern for a file's name. Empty: the one of :attr:`column`.
        options: its columns of options: one for each, or one with a list; empty: the question holds them.
        says: what an answer in the data stands for, such as ``1`` for ``yes``.
    """

    question: str = "question"
    answer: str = "answer"
    columns: tuple[str, ...] = ()
    options: tuple[str, ...] = ()
    says: Mapping[str, str] = field(default_factory=dict)

    @property
    def shown(self) -> tuple[str, ...]:
        """The columns of images."""
        return self.columns or (self.column,)


_CARD = "see its card"
_MANY = tuple(f"image_{k}" for k in range(1, 8))
_LETTERS = ("A", "B", "C", "D")

BENCHMARKS: dict[str, Benchmark] = {
    "mme_rw": Benchmark(
        *("yifanzhang114/MME-RealWorld-lite-lmms-eval", "real world", "train", "bytes", _CARD),
        options=("multi-choice options",),
        benchmark=True,
    ),
    "rwqa": Benchmark("lmms-lab-encoder/RealWorldQA", "real world", "test", "image", _CARD, benchmark=True),
    "hrb4k": Benchmark(
        *("DreamMr/HR-Bench", "high resolution", "hrbench_4k", "image", _CARD),
        config="hrbench_version_split",
        options=_LETTERS,
        benchmark=True,
    ),
    "hrb8k": Benchmark(
        *("DreamMr/HR-Bench", "high resolution", "hrbench_8k", "image", _CARD),
        config="hrbench_version_split",
        options=_LETTERS,
        benchmark=True,
    ),
    "vstar": Benchmark(
        *("craigwu/vstar_bench", "high resolution", "test", "image", _CARD),
        revision="d9ae62c903da0c98336e85c5ee89cd863b04b4da",
        question="text",
        answer="label",
        benchmark=True,
    ),
    "mmvp": Benchmark(
        *("MMVP/MMVP", "fine-grained", "train", "", _CARD),
        data_files="Questions.csv",
        question="Question",
        answer="Correct Answer",
        columns=("MMVP Images/{Index}.jpg",),
        options=("Options",),
        benchmark=True,
    ),
    "blink": Benchmark(
        *("BLINK-Benchmark/BLINK", "fine-grained", "val", "", _CARD),
        data_files="**/val-*.parquet",  # all fourteen subtasks, one of which is a jigsaw
        question="prompt",
        columns=_MANY[:4],
        benchmark=True,
    ),
    "halbench": Benchmark(
        *("lmms-lab/HallusionBench", "hallucination", "image", "image", _CARD),
        data_files="**/image-*.parquet",
        answer="gt_answer",
        says={"0": "no", "1": "yes"},
        benchmark=True,
    ),
    "mmmu": Benchmark(
        *("lmms-lab/MMMU", "reasoning", "validation", "", _CARD),
        columns=_MANY,
        options=("options",),
        benchmark=True,
    ),
}
"""Short name, as in :data:`kit.papers.agile.reported.GENERAL` → where its questions are."""

TRAINING = (
    Benchmark("lmms-lab-encoder/textvqa", "text", "train", "image", "CC BY 4.0", answer="answers"),
    Benchmark("HuggingFaceM4/ChartQA", "charts", "train", "image", "GPL-3.0", question="query", answer="label"),
)
"""Training splits with questions, in place of the paper's unnamed QA data."""

LONGEST = 1280
"""Pixels of an image's longer side, at most; the paper's 401,408 are what the model's own processor leaves of it."""


def benchmark_tasks(root: str, n: int = 0, names: Sequence[str] = tuple(BENCHMARKS)) -> list[Task]:
    """The benchmarks' questions as tasks.

    Args:
        root: ``hub``, or a folder with copies in the hub's layout, ``ROOT/OWNER/NAME/…``; in both ``hub.lock.json`` of
            that folder (for ``hub``: of the folder we are in) names the commits.
        n: questions of each, the first ones; 0: all.
        names: which ones, of :data:`BENCHMARKS`.

    Raises:
        HubError: one is missing, can't be reached, or isn't as its row says; and a row that can't be read.
    """
    unknown = sorted(set(names) - set(BENCHMARKS))
    if unknown:
        raise HubError(f"benchmark {unknown[0]!r}: there are {', '.join(BENCHMARKS)}")
    found: list[Task] = []
    for name in names:
        some = list(_tasks(name, BENCHMARKS[name], root, n))
        if not some:
            raise HubError(f"benchmark {name} ({BENCHMARKS[name].id}): no question with an image and an answer")
        found += some
    return found


def training_questions(root: str, n: int, seed: int) -> list[Task]:
    """``n`` questions to train on, evenly from the data sets of :data:`TRAINING`, in a shuffled order.

    Args:
        root: as for :func:`benchmark_tasks`.
        n: questions in all.
        seed: of the order.

    Raises:
        HubError: as there, or the data sets hold too few.
    """
    share = -(-n // len(TRAINING))
    found = [task for source in TRAINING for task in _tasks(source.group, source, root, share)]
    if len(found) < n:
        raise HubError(f"{len(found)} questions in {', '.join(s.id for s in TRAINING)}, {n} needed: ask for fewer")
    return [found[int(i)] for i in np.random.default_rng(seed).permutation(len(found))[:n]]


def _tasks(name: str, source: Benchmark, root: str, n: int) -> Iterator[Task]:
    folder = Path(os.curdir if root == "hub" else root)
    if root != "hub":
        source = replace(source, id=str(folder / source.id))
        if not source.is_local:
            raise HubError(f"{source.id}: no such folder; copy the data set there in the hub's layout, or give 'hub'")
    revision = revision_of(source, read_lock(folder / "hub.lock.json"))
    plain = [column for column in (*source.shown, *source.options) if "{" not in column]
    made = 0
    for number, row in enumerate(rows(source, revision, (*plain, source.question, source.answer))):
        if n and made == n:
            return
        task = _task(name, number, row, source, revision)
        if task is not None:
            made += 1
            yield task


def _task(name: str, number: int, row: Mapping[str, Any], source: Benchmark, revision: str | None) -> Task | None:
    """A row as a task; None if it lacks image or answer."""
    images = [image for column in source.shown for image in _images(column, row, source, revision)]
    golds = _golds(row[source.answer], source)
    if not images or not golds:
        return None
    for image in images:
        image.thumbnail((LONGEST, LONGEST), Image.Resampling.LANCZOS)
    named = tuple(NamedImage(f"image_{k}", image) for k, image in enumerate(images, 1))
    text = "\n".join([str(row[source.question]).strip(), *_options(row, source)])
    # Questions about one image are related; whether they are is seen by its pixels.
    meta = {"skill": name, "source": f"{name}-{content_hash(images[0])[:16]}"}
    return Task(f"{name}-{number:05d}", named, text, golds, meta)


def _images(column: str, row: Mapping[str, Any], source: Benchmark, revision: str | None) -> list[Image.Image]:
    at = {"_": column.format(**row)} if "{" in column else {"_": row[column]}
    return list(pictures_of(at, replace(source, column="_"), revision))


def _golds(value: Any, source: Benchmark) -> tuple[str, ...]:
    """The right answers, each once: an option's letter alone, other texts as they are."""
    texts = [str(v).strip() for v in (value if isinstance(value, list) else [value]) if v is not None]
    said = [source.says.get(text, text) for text in texts if text]
    return tuple(dict.fromkeys(letter(text) or text for text in said))


def _options(row: Mapping[str, Any], source: Benchmark) -> list[str]:
    """The options, a line each with its letter; none if there are none."""
    if len(source.options) > 1:
        return [f"{name}. {row[name]}" for name in source.options if row[name] is not None]
    found: list[str] = []
    for value in (row[name] for name in source.options):
        found += [str(option).strip() for option in _listed(value)]
    if not found or all(letter(option) or re.match(r"\([A-Za-z]\)", option) for option in found):
        return found
    return [f"{chr(ord('A') + k)}. {option}" for k, option in enumerate(found)]


def _listed(value: Any) -> Sequence[Any]:
    """A cell's options: a list, the text of one, or one text with all of them."""
    if isinstance(value, list):
        return value
    for read in (json.loads, ast.literal_eval):
        try:
            found = read(str(value))
        except (ValueError, SyntaxError):
            continue
        if isinstance(found, list):
            return found
    return [value] if value else []


def check_apart(train: Sequence[Task], evaluation: Sequence[Task]) -> None:
    """Refuse to measure on an image that was trained on: a puzzle's, put together, or a question's.

    Args:
        train: puzzles and questions.
        evaluation: benchmarks' questions.

    Raises:
        LeakError: naming the pairs that look the same.
    """
    pairs = leaked_pairs(_once(train), _once(evaluation))
    if pairs:
        raise LeakError(pairs)


def _once(tasks: Sequence[Task]) -> Iterator[tuple[str, Image.Image]]:
    seen = set()
    for task in tasks:
        images = [p.image for p in task.images] if is_question(task) else [solved(task)]
        for image in images:
            digest = content_hash(image)
            if digest not in seen:
                seen.add(digest)
                yield task.id, image

"""The paper's nine general benchmarks (section 4.2, Table 3) from the hub, and questions to train on (section 4.3).

Each becomes a list of questions for :func:`kit.papers.agile.general.ask`, like the tiny model's own. Benchmarks are
only ever measured on. What is trained on, puzzles and questions, is compared with them image by image before anything
is asked (:func:`check_apart`): the paper trains on images of three of them (V*, HRBench, RealWorldQA).

Ids and columns, and what they were checked against, are in :mod:`kit.papers.agile.benchmark_table`; revisions are
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
import warnings
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
from PIL import Image

from kit.data.cells import CellError, LeftOut, readable
from kit.data.hub import HubError, pictures_of, read_lock, revision_of, rows
from kit.data.leak import check_leak, solved
from kit.episode import NamedImage, Task, content_hash
from kit.papers.agile.benchmark_table import BENCHMARKS, TRAINING, Benchmark
from kit.papers.agile.questions import is_question, letter

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
    made, lacking, left = 0, [], LeftOut(f"data set {source.id}")
    for row in rows(source, revision, ()):
        number = left.row()
        missing = [column for column in source.expected if column not in row]
        if missing:
            raise HubError(
                f"data set {source.id} ({name}): no column {', '.join(map(repr, missing))}; found: {', '.join(row)}; "
                f"expected: {', '.join(source.expected)}. Correct its row in kit/papers/agile/benchmark_table.py"
            )
        try:
            task = _task(name, number, row, source, revision)
        except CellError as error:
            left.add(error)
            continue
        if task is None:
            lacking.append(number)
            continue
        made += 1
        yield task
        if made == n:
            break
    if lacking:
        warnings.warn(
            f"data set {source.id} ({name}): {len(lacking)} rows lack an image, a question, an answer or options and "
            f"are left out, the first is row {lacking[0]}",
            stacklevel=2,
        )
    if left.reasons and not made:
        raise HubError(left.nothing())
    left.tell()


def _task(name: str, number: int, row: Mapping[str, Any], source: Benchmark, revision: str | None) -> Task | None:
    """A row as a task; None if it lacks an image, a question or an answer, or has a letter for one and no options.

    Raises:
        CellError: an image can't be read, or a column holds something else than its name says.
    """
    images = [image for column in source.shown for image in _images(column, row, source, revision)]
    golds, options = _golds(row[source.answer], source), _options(row, source)
    question = str(row[source.question] or "").strip()
    unanswerable = source.options and not options and any(letter(gold) for gold in golds)
    if not images or not golds or not question or unanswerable:
        return None
    for image in images:
        given = image.size
        image.thumbnail((LONGEST, LONGEST), Image.Resampling.LANCZOS)
        readable(image, given)
    named = tuple(NamedImage(f"image_{k}", image) for k, image in enumerate(images, 1))
    # Questions about one image are related; whether they are is seen by its pixels.
    meta = {"skill": name, "source": f"{name}-{content_hash(images[0])[:16]}"}
    return Task(f"{name}-{number:05d}", named, "\n".join([question, *options]), golds, meta)


def _images(column: str, row: Mapping[str, Any], source: Benchmark, revision: str | None) -> list[Image.Image]:
    at = {"_": column.format(**row)} if "{" in column else {"_": row[column]}
    return list(pictures_of(at, replace(source, column="_"), revision))


def _golds(value: Any, source: Benchmark) -> tuple[str, ...]:
    """The right answers, each once: an option's letter alone, other texts as they are."""
    several = _read_list(value)
    if several is None or not all(isinstance(v, str) for v in several):  # a text of numbers is a box or a formula
        several = value if isinstance(value, list) else [value]
    texts = [text for text in (str(v).strip() for v in several if v is not None) if text]
    for text in texts:
        if source.says and text not in source.says:
            raise HubError(
                f"data set {source.id}: answer {text!r:.80} in column {source.answer!r}; "
                f"expected one of {', '.join(source.says)}"
            )
    return tuple(dict.fromkeys(letter(said) or said for said in (source.says.get(text, text) for text in texts)))


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


def _read_list(value: Any) -> list[Any] | None:
    """A list that a cell is or tells as JSON or Python's text; else None."""
    if isinstance(value, list):
        return value
    for read in (json.loads, ast.literal_eval):
        try:
            found = read(str(value))
        except (ValueError, SyntaxError):
            continue
        if isinstance(found, list):
            return found
    return None


def _listed(value: Any) -> Sequence[Any]:
    """A cell's options: a list, the text of one, or one text with all of them."""
    found = _read_list(value)
    return found if found is not None else [value] if value else []


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

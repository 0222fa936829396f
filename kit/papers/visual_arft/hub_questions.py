"""Questions from the Hugging Face hub: images to distort, the paper's own benchmark, questions of text alone.

What is read is pinned to a commit like every other data set (:mod:`kit.data.hub`). Column and file names are as
public code reads them; a data set that has changed is named with what it holds instead.

Departures
- [arft-sources] Paper: coding images come from nine data sets (appendix B.1). Here: DocVQA, OCRVQA, RICO (as
  ScreenQA's short questions) and TextBookQA are read by their training splits, TextVQA and ChartQA stand in for the
  other five. Why: OCRBench-v2 and MathVision are test sets alone, and of MSRA-TD500, HierText and FUNSD no set with
  images and questions is known on the hub. May change: which kinds of images an agent learns to restore.
- [arft-released-tasks] Paper: trains on 1,200 coding and 20 search examples of its own, which it released as 3,400 and
  63 single steps (MAT-Training). Here: tasks are made anew, by the same counts, of the sources above and of flags.
  Why: the steps hold stored tool outputs and texts to continue, not episodes. May change: every result at full size.
- [arft-pixels] Paper: doesn't say how large images are; its scripts squeeze them to 720 × 720, then allow 401,408
  pixels. Here: at most 401,408 pixels, aspect ratio kept. Why: a squeezed image has boxes and letters of another
  shape. May change: small print, and so coding on documents.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from kit.data.cells import CellError, readable, texts
from kit.data.hub import HubSource, pictures_of, rows, used_rows
from kit.episode import Task, content_hash
from kit.images import within_pixels
from kit.papers.visual_arft.mat_benchmark import MAX_PIXELS, benchmark, benchmark_images
from kit.papers.visual_arft.mat_coding import Question

__all__ = ["MAX_PIXELS", "HubQuestions", "benchmark", "benchmark_images", "of_first_images", "questions", "text_tasks"]


@dataclass(frozen=True)
class HubQuestions(HubSource):
    """A data set of images with questions.

    Attributes:
        question, answers: its columns; an answer is a text or a list of texts. Where a question is a list of texts,
            the image has several, and its answers are a list of one for each.
        talk: a column with lists of ``{"user": "Question: …", "assistant": "Answer: …"}`` in place of both.
    """

    question: str = "question"
    answers: str = "answers"
    talk: str = ""

    @property
    def columns(self) -> tuple[str, ...]:
        """The columns to read."""
        return (self.column, *((self.talk,) if self.talk else (self.question, self.answers)))

    def asked(self, row: Mapping[str, Any]) -> list[tuple[str, tuple[str, ...]]]:
        """The questions of a row that have an answer, each with its answers.

        Raises:
            CellError: the columns hold something else.
        """
        if self.talk:
            found = [_said(turn) for turn in _listed(row[self.talk])]
        else:
            asked, golds = row[self.question], row[self.answers]
            if not isinstance(asked, list):
                found = [(asked, golds)]
            elif isinstance(golds, list) and len(golds) == len(asked):
                found = list(zip(asked, golds, strict=True))
            else:
                count = len(golds) if isinstance(golds, list) else golds
                raise CellError(
                    f"{len(asked)} questions in {self.question!r}, but {self.answers!r} holds {count!r:.40}"
                )
        return [(str(text), answers) for text, gold in found if texts(text) and (answers := texts(gold))]


def _said(turn: Any) -> tuple[str, str]:
    """Question and answer of one turn of a talk."""
    if not isinstance(turn, Mapping) or not {"user", "assistant"} <= turn.keys():
        raise CellError(f"{turn!r:.60} in a talk, not an object with user and assistant")
    asked, told = str(turn["user"] or ""), str(turn["assistant"] or "")
    return asked.removeprefix("Question:").strip(), told.removeprefix("Answer:").strip(" .")


def _listed(value: Any) -> list[Any]:
    """A cell that holds a list; a null holds nothing."""
    if value is None or isinstance(value, list):
        return value or []
    raise CellError(f"{type(value).__name__} {value!r:.40} where a list is expected")


def questions(source: HubQuestions, revision: str | None, max_pixels: int = MAX_PIXELS) -> Iterator[Question]:
    """Its questions that have an image and an answer; rows without, and those that can't be read, are told at the end.

    Args:
        source: the data set.
        revision: commit of the data set; None: its newest.
        max_pixels: pixels of an image, at most: larger ones are shrunk; 0: no limit.

    Raises:
        HubError: the data set can't be reached, has no such columns, or nothing to ask.
    """
    with used_rows(source) as left:
        for row in rows(source, revision, source.columns):
            left.row()
            try:
                image, asked = next(pictures_of(row, source, revision), None), source.asked(row)
                image = image and readable(within_pixels(image, max_pixels), image.size)
            except CellError as error:
                left.add(error)
                continue
            if image is None or not asked:
                left.add("no image" if image is None else "no question that has an answer")
                continue
            # Several rows may show one image: it is named by its pixels, so that they are seen to be related.
            name = f"{source.id}-{content_hash(image)[:16]}"
            for text, answers in asked:
                left.used += 1
                yield Question(image, text, answers, name, source.group)


def of_first_images(found: Iterable[Question], n: int) -> Iterator[Question]:
    """The questions about the first ``n`` different images."""
    seen = set()
    for question in found:
        seen.add(question.source)
        if len(seen) > n:
            return
        yield question


def text_tasks(source: HubQuestions, revision: str | None, n: int) -> list[Task]:
    """The first ``n`` questions of a multi-hop set as tasks without images; they have no gold queries.

    Args:
        source: the data set.
        revision: commit of the data set; None: its newest.
        n: number of questions.

    Raises:
        HubError: the data set can't be reached, or has no such columns.
    """
    tasks: list[Task] = []
    with used_rows(source) as left:
        for row in rows(source, revision, (source.question, source.answers)):
            if len(tasks) == n:
                break
            number = left.row()
            try:
                asked = source.asked(row)
            except CellError as error:
                left.add(error)
                continue
            if not asked:
                left.add("no question that has an answer")
                continue
            text, golds = asked[0]
            meta = {
                "tools": ["search"],
                "difficulty": "hard",
                "queries": [],
                "source": f"{source.group}-{number}",
                "kind": source.group,
            }
            tasks.append(Task(f"{source.group}-{number:05d}", (), text, golds, meta))
            left.used += 1
    return tasks

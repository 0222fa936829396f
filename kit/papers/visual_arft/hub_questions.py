"""Questions from the Hugging Face hub: images to distort, the paper's own benchmark, questions of text alone.

What is read is pinned to a commit like every other data set (:mod:`kit.data.hub`). Column and file names are as
public code reads them; a data set that has changed is named with what it holds instead.

Departures
- Of the paper's nine sources (appendix B.1) two are read, DocVQA and OCRVQA, by their training splits; TextVQA and
  ChartQA stand in for the others, which have no training split with questions on the hub that we know of.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from PIL import Image

from kit.data.hub import HubError, HubSource, pictures_of, rows
from kit.data.images import flat_image
from kit.episode import NamedImage, Task, content_hash
from kit.papers.visual_arft.mat_coding import Question


@dataclass(frozen=True)
class HubQuestions(HubSource):
    """A data set of images with questions.

    Attributes:
        question, answers: its columns; an answer is a text or a list of texts. Where a question is a list of texts,
            the image has several, and its answers are a list of one for each.
    """

    question: str = "question"
    answers: str = "answers"


def _texts(value: Any) -> tuple[str, ...]:
    """A cell as different, non-empty texts."""
    found = value if isinstance(value, list | tuple) else [value]
    return tuple(dict.fromkeys(str(text).strip() for text in found if text is not None and str(text).strip()))


def questions(source: HubQuestions, revision: str | None, longest: int = 896) -> Iterator[Question]:
    """Its questions that have an image and an answer; images with at most ``longest`` pixels on the longer side.

    Args:
        source: the data set.
        revision: commit of the data set; None: its newest.
        longest: pixels of an image's longer side, at most.

    Raises:
        HubError: the data set can't be reached, or has no such columns.
    """
    for row in rows(source, revision, (source.column, source.question, source.answers)):
        image = next(pictures_of(row, source, revision), None)
        if image is None:
            continue
        image.thumbnail((longest, longest), Image.Resampling.LANCZOS)
        # Several rows may show one image: it is named by its pixels, so that they are seen to be related.
        name = f"{source.id}-{content_hash(image)[:16]}"
        asked, golds = row[source.question], row[source.answers]
        for text, answer in zip(asked, golds, strict=False) if isinstance(asked, list) else [(asked, golds)]:
            if answers := _texts(answer):
                yield Question(image, str(text), answers, name, source.group)


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
    for number, row in enumerate(rows(source, revision, (source.question, source.answers))):
        if len(tasks) == n:
            break
        if golds := _texts(row[source.answers]):
            meta = {
                "tools": ["search"],
                "difficulty": "hard",
                "queries": [],
                "source": f"{source.group}-{number}",
                "kind": source.group,
            }
            tasks.append(Task(f"{source.group}-{number:05d}", (), str(row[source.question]), golds, meta))
    return tasks


BENCHMARK = ("MAT-Coding.json", "MAT-Search.json")
"""Files of the paper's benchmark (laolao77/MAT, folder MAT-Benchmark)."""


def benchmark(folder: Path) -> tuple[list[Task], list[Task]]:
    """The paper's own test sets from a downloaded copy of MAT: coding and search tasks.

    How strong its distortions are isn't known, so whether one was undone can't be told; answers can.

    Raises:
        HubError: a file or an image is missing, or a row lacks a field.
    """
    images = {path.name: path for path in sorted(folder.rglob("*")) if path.suffix.lower() in (".png", ".jpg", ".jpeg")}
    coding, search = (_read(folder, name) for name in BENCHMARK)
    return (
        [_coding(row, images) for row in coding],
        [_search(row, images) for row in search],
    )


def _read(folder: Path, name: str) -> list[dict[str, Any]]:
    found = sorted(folder.rglob(name))
    if not found:
        raise HubError(f"{folder}: no {name} in it; give the folder that the data set MAT was downloaded to")
    return list(json.loads(found[0].read_text(encoding="utf-8")))


def _field(row: Mapping[str, Any], *names: str) -> Any:
    for name in names:
        if name in row:
            return row[name]
    raise HubError(f"MAT row {row.get('id')!r}: none of the fields {', '.join(names)}; it has {', '.join(row)}")


def _picture(name: str, images: Mapping[str, Path], called: str) -> tuple[NamedImage, ...]:
    path = images.get(Path(name).name)
    if path is None:
        raise HubError(f"MAT picture {name}: it isn't among the {len(images)} downloaded; download its folder, too")
    with Image.open(path) as image:
        return (NamedImage(called, flat_image(image)),)


def _coding(row: Mapping[str, Any], images: Mapping[str, Path]) -> Task:
    kinds: Sequence[str] = _texts(_field(row, "type"))
    meta = {
        "tools": ["code"],
        "category": f"mat:{'+'.join(kinds)}",
        "difficulty": str(_field(row, "split")),
        "kind": "mat",
        "source": f"mat-coding-{row['id']}",
    }
    image = _picture(_field(row, "processed_image_path"), images, "image")
    return Task(f"mat-coding-{row['id']}", image, str(_field(row, "question")), _texts(_field(row, "answers")), meta)


def _search(row: Mapping[str, Any], images: Mapping[str, Path]) -> Task:
    meta = {
        "tools": ["search"],
        "difficulty": str(row.get("split", "hard")),
        "queries": [],
        "kind": "mat",
        "source": f"mat-search-{row['id']}",
    }
    image = _picture(_field(row, "image_path"), images, "image")
    return Task(f"mat-search-{row['id']}", image, str(_field(row, "question")), _texts(_field(row, "answer")), meta)

"""Read questions about a reader's own images, as tasks: a folder that holds the images and ``questions.jsonl``.

A line for each question, in JSON and UTF-8::

    {"image": "receipt.png", "question": "What is the total?", "answers": ["12.50", "12.50 €"]}
    {"image": "board.jpg", "question": "What does the sign say?", "answers": "Exit", "box": [0.5, 0.0, 1.0, 0.25]}

============  =======================================================================================================
``image``     the image's file, its path from the folder
``question``  a text
``answers``   one right answer, or a list of them: texts or numbers
``box``       the part of the image that the question is about: left, top, right and bottom, as *shares* of the
              image's width and height from 0 to 1, not in pixels; absent or null: all of it
============  =======================================================================================================

Blank lines are passed over, and so are other fields, unless they read like one of these that isn't there.
"""

from __future__ import annotations

from collections.abc import Mapping
from difflib import get_close_matches
from pathlib import Path
from typing import Any

from PIL import Image

from kit.data.cells import image_of, parts, readable, text_of
from kit.data.schema import RecordError, lines_of, parse
from kit.episode import NamedImage, Task, content_hash
from kit.images import within_pixels

FIELDS = ("image", "question", "answers", "box")

SHOWN = 50
"""Bad lines that one error names; the others are counted."""


class OwnQuestionsError(ValueError):
    """A folder's questions can't be read; the message names the lines and what is wrong with each."""


def folder_questions(folder: Path, max_pixels: int) -> list[Task]:
    """The questions of a folder as tasks; images of more than ``max_pixels`` pixels are shrunk to as many.

    A task's ``meta`` has ``source``, which names the image, ``kind``, and ``box`` where the question is about a part.

    Args:
        folder: the folder.
        max_pixels: pixels of an image, at most; 0: no limit.

    Raises:
        OwnQuestionsError: there is no questions.jsonl, it holds nothing, or lines of it are wrong; naming each.
    """
    listing = folder / "questions.jsonl"
    if not listing.is_file():
        raise OwnQuestionsError(f"{listing}: no such file; it has a line of JSON for each question, see --help")
    found, bad = [], []
    for number, line in lines_of(listing):
        if not line.strip():
            continue
        place = f"{listing}, line {number}"
        try:
            found.append(_task(folder, f"own-{number:05d}", parse(line, place), max_pixels))
        except RecordError as error:
            bad.append(str(error))
        except (ValueError, KeyError, TypeError, OSError) as error:
            bad.append(f"{place}: {type(error).__name__}: {error}")
    if bad:
        more = [f"and {len(bad) - SHOWN} more"] if len(bad) > SHOWN else []
        raise OwnQuestionsError("\n  ".join([f"{len(bad)} questions can't be used:", *bad[:SHOWN], *more]))
    if not found:
        raise OwnQuestionsError(f"{listing}: no question in it; it has a line of JSON for each, see --help")
    return found


def _task(folder: Path, id: str, row: Mapping[str, Any], max_pixels: int) -> Task:
    for name in row:
        if near := get_close_matches(name.lower(), [field for field in FIELDS if field not in row], 1, 0.7):
            raise ValueError(f"{name!r:.60}: no such field; did you mean {near[0]!r}?")
    named, text, golds = row["image"], row["question"], _golds(row["answers"])
    if not isinstance(text, str) or not text.strip():
        raise ValueError(f"question={text!r:.60}: give a text")
    images = parts(named)
    if len(images) != 1:
        raise ValueError(f"image={named!r:.60}: give the name of one file")
    whole = image_of(images[0], lambda path: (folder / path).read_bytes())
    image = readable(within_pixels(whole, max_pixels), whole.size)
    source = named if isinstance(named, str) and len(named) < 200 else f"image-{content_hash(image)[:16]}"
    box = _box(row.get("box"), whole)
    meta = {"source": source, "kind": "picture"} | ({"box": box} if box else {})
    return Task(id, (NamedImage("image_1", image),), text, golds, meta)


def _golds(given: Any) -> tuple[str, ...]:
    """One answer or several, as texts."""
    golds = given if isinstance(given, list) else [given]
    if given is None or not golds:
        raise ValueError(f"no answer (answers={given!r}); give one, or a list of them")
    for gold in golds:
        if isinstance(gold, bool) or not isinstance(gold, str | int | float) or text_of(gold) is None:
            raise ValueError(f"no answer: {gold!r:.60} in answers; give texts or numbers")
    return tuple(map(str, golds))


def _box(given: Any, image: Image.Image) -> list[float] | None:
    """Left, top, right and bottom as shares of the sides."""
    if given is None or given == []:
        return None
    if not isinstance(given, list) or len(given) != 4:
        raise ValueError(f"box={given!r:.60}: a box that isn't four numbers; give left, top, right, bottom")
    left, top, right, bottom = (float(side) for side in given)
    if max(left, top, right, bottom) > 1:
        w, h = image.size
        shares = [round(left / w, 4), round(top / h, 4), round(right / w, 4), round(bottom / h, 4)]
        raise ValueError(
            f"box={given}: give shares of the image's sides, 0 to 1, not pixels; if these are pixels of its {w} x {h}, "
            f"write {shares}"
        )
    if not (0 <= left < right and 0 <= top < bottom):  # nor is it true of a NaN
        raise ValueError(f"box={given}: left must be below right and top below bottom, from 0 to 1")
    return [left, top, right, bottom]

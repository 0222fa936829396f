"""MAT-Coding (Visual-ARFT, section 4 and appendix B.2): distorted images and questions about them.

A task is made of any image with a question and its answer. What is done to the image is its *category*:

====================  ==============================================================  =========
category              what is done                                                    label
====================  ==============================================================  =========
``none``              nothing                                                         Simple
``rotate90`` …        one of the six distortions of :mod:`pictures.distortion`             Simple
``crop``              nothing; but the question is about a quarter of it alone        Hard
``light+turn``        a turned image, made dark or overexposed                      Hard
``turn+detail``       a blurred or noisy one, turned                                  Hard
``light+detail``      a blurred or noisy one, made dark or overexposed                Hard
``light+turn+detail`` all three                                                       Hard
====================  ==============================================================  =========

The test set has 10 tasks of each of the 7 single categories (70 Simple) and 130 Hard, the training set 100 of each of
the 12 categories: the paper's counts. Which combinations there are it doesn't say; these four are ours.

Every task passes a check without a model. What was done is undone, and :class:`Question` says whether the answer can
be read from the result: by :mod:`pictures.readable` for the kit's own images, which must pass it as an agent's
operations leave them, too; by likeness to the original for any others.

Departures
- [arft-drawn-sheets] Paper: pictures of nine data sets. Here: by default drawn sheets with some fifty words and real
  handwritten digits; other pictures by ``data_scripts/visual_arft.py``. Why: they install with the kit, and a program
  can check what stands on them. May change: all coding results; they compare with the paper's in direction alone.
- [arft-strengths] Paper: kernel sizes and deviations vary, by how much isn't said. Here: :mod:`pictures.distortion`.
  Why: something had to be chosen; a check makes sure that each task can be solved. May change: how hard a task is.
- [arft-combinations] Paper: several distortions at once, which ones isn't listed (rotation + dark, blur + noise are
  named). Here: four combinations of light, turn and detail, one of each at most. Why: with them there are the paper's
  12 categories. May change: results on Hard.
- [arft-crop] Paper: a question may be about a region, in MAT given by its coordinates. Here: about one of four cards of
  a board, named by its colour. Why: cards can be drawn and checked. May change: results on crop.
- [arft-review] Paper: people reviewed every example. Here: every task passes a check without a model. Why: tasks can be
  made anew by anybody. May change: questions about pictures of one's own may be odd.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any
from zlib import crc32

import numpy as np
from numpy.typing import NDArray
from PIL import Image

from kit.data.split import Side
from kit.episode import NamedImage, Task
from kit.images import rgb
from kit.tools import restoration
from pictures.distortion import GROUPS, STRENGTHS, Distortion, Kind, distort, draw, undo
from pictures.documents import SIDE, Card, Sheet, board, sheet
from pictures.readable import is_readable
from pictures.scenes import Pixels

SINGLE: tuple[str, ...] = ("none", *STRENGTHS)
COMBINED: dict[str, tuple[tuple[Kind, ...], ...]] = {
    name: tuple(kinds for group, kinds in GROUPS.items() if group in name.split("+"))
    for name in ("light+turn", "turn+detail", "light+detail", "light+turn+detail")
}
CATEGORIES: tuple[str, ...] = (*SINGLE, "crop", *COMBINED)
TEST = {name: 10 if name in SINGLE else 26 for name in CATEGORIES}
"""Tasks of each category in the test set: 70 Simple, 130 Hard."""
TRAIN = dict.fromkeys(CATEGORIES, 100)

LIKENESS = 24.0
"""Peak signal-to-noise ratio, in decibels, from which a mended image passes for the original."""

MENDED = 1 / 3
"""Share of the way from the distorted image to the mended one from which a distortion counts as undone. Measured on
60 images of each kind: the right operation goes 0.43 or more (one of 240 went 0.29), any other 0.31 at most."""

REMEDIES: dict[Kind, Callable[[Image.Image], Image.Image]] = {
    "rotate90": lambda image: restoration.rotate(image, -90),
    "rotate180": lambda image: restoration.rotate(image, 180),
    "dark": restoration.brighten,
    "overexposed": restoration.darken,
    "blur": restoration.sharpen,
    "noise": restoration.denoise,
}
"""What an agent can do against each distortion without knowing its strength."""

TRIES = 50


class MakingError(ValueError):
    """Tasks can't be made of these images; the message says which and why."""


@dataclass(frozen=True)
class Question:
    """An image and something to ask of it.

    Attributes:
        source: names the image, for splits and tables.
        kind: of the image, for tables.
        answers: gold answers.
        box: the part of the image that matters, as shares of its sides; all of it if None.
        reading: all that the image, or the part that matters, says; only an expert is told.
        part: what the part that matters is, in words; only an expert is told.
        readable: whether the answer can be read from a mended image; None: if it looks like the original.
    """

    image: Image.Image
    question: str
    answers: tuple[str, ...]
    source: str
    kind: str = "picture"
    box: tuple[float, float, float, float] | None = None
    reading: str = ""
    part: str = ""
    readable: Callable[[Image.Image], bool] | None = None

    @classmethod
    def of(cls, task: Task) -> Question:
        """Ask what a task asks of its first image (:mod:`kit.data.questions` and a user's own)."""
        meta = task.meta
        box = tuple(meta["box"]) if "box" in meta else None
        return cls(task.images[0].image, task.question, task.target, meta["source"], meta["kind"], box)

    def passes(self, mended: Image.Image) -> bool:
        """The check without a model."""
        if self.readable is not None:
            return self.readable(mended)
        return likeness(self.image, mended) >= LIKENESS


def likeness(first: Image.Image, second: Image.Image) -> float:
    """Peak signal-to-noise ratio of two images of one size, in decibels."""
    square = float(np.mean((_levels(first) - _levels(second)) ** 2))
    return float("inf") if square == 0 else 10 * float(np.log10(255**2 / square))


def _levels(image: Image.Image) -> NDArray[np.float64]:
    return np.asarray(rgb(image), dtype=np.float64)


Source = Callable[[np.random.Generator, bool], Question]
"""Draws a question; if told so, one about part of an image."""


def drawn(pool: Sequence[Pixels], name: str, side: Side = "train") -> Source:
    """Questions about the kit's own sheets and boards (:mod:`pictures.documents`).

    Args:
        pool: images to put signs before, ``(height, width, 3)`` bytes each.
        name: first part of the sources' names.
        side: whose handwritten digits may be on them.
    """

    def source(rng: np.random.Generator, part: bool) -> Question:
        seed = int(rng.integers(2**31))
        rng = np.random.default_rng(seed)
        if not part:
            return _about(sheet(rng, pool, side=side), f"{name}-{seed}", rng)
        image, cards = board(rng, pool, side)
        return _about_card(image, cards[int(rng.integers(len(cards)))], f"{name}-{seed}", rng)

    return source


def _about(one: Sheet, source: str, rng: np.random.Generator) -> Question:
    question, answer = one.questions[int(rng.integers(len(one.questions)))]
    return Question(
        image=one.image,
        question=question,
        answers=(answer,),
        source=source,
        kind=one.kind,
        reading=one.text,
        readable=lambda mended: is_readable(one, mended, answer),
    )


def _about_card(image: Image.Image, card: Card, source: str, rng: np.random.Generator) -> Question:
    question, answer = card.sheet.questions[int(rng.integers(len(card.sheet.questions)))]
    asked = f"On the {card.colour} card: {question}"
    x1, y1, x2, y2 = (round(share * SIDE) for share in card.inner)

    def readable(mended: Image.Image) -> bool:
        part = mended.crop((x1, y1, x2, y2)).resize((SIDE, SIDE), Image.Resampling.LANCZOS)
        return is_readable(card.sheet, part, answer)

    part = f"{card.colour} card {card.corner}"
    return Question(image, asked, (answer,), source, "board", card.box, card.sheet.text, part, readable)


def make_tasks(source: Source, counts: dict[str, int], seed: int, name: str) -> list[Task]:
    """``counts[category]`` tasks of each category, in mixed order; fixed by ``seed`` and ``name``, so that sets of
    different names share no sheet, whatever their seeds.

    Args:
        source: draws a sheet and its question.
        counts: category → number of tasks.
        seed: fixes everything that is random.
        name: first part of the tasks' ids.

    Raises:
        MakingError: an unknown category, or no image of ``source`` passes the check.
    """
    tasks = []
    for category, count in counts.items():
        if category not in CATEGORIES:
            raise MakingError(f"category {category!r}: known are {', '.join(CATEGORIES)}")
        for k in range(count):
            rng = np.random.default_rng([seed, crc32(name.encode()), CATEGORIES.index(category), k])
            tasks.append(_make(source, category, rng, f"{name}-{category}-s{seed}-{k:04d}"))
    order = np.random.default_rng(seed).permutation(len(tasks))
    return [tasks[int(i)] for i in order]


def _make(source: Source, category: str, rng: np.random.Generator, id: str) -> Task:
    for _ in range(TRIES):
        question = source(rng, category == "crop")
        done = _happening(category, rng)
        bad = distort(question.image, done)
        meta = {
            "tools": ["code"],
            "category": category,
            "difficulty": "simple" if category in SINGLE else "hard",
            "distortions": [[one.kind, one.strength, one.seed] for one in done],
            "box": list(question.box) if question.box and category == "crop" else None,
            "part": question.part,
            "reading": question.reading,
            "kind": question.kind,
            "source": question.source,
        }
        task = Task(id, (NamedImage("image", bad),), question.question, question.answers, meta)
        mended = bad
        for one in reversed(done):
            mended = REMEDIES[one.kind](mended)
        # Knowing how strong it was it can be undone; and so it can by operations that guess (where white is the
        # brightest, as on paper: of other images nobody knows how bright they were).
        guessed = question.readable is None or (question.readable(mended) and restored(task, [mended]))
        if question.passes(undo(bad, done)) and guessed:
            return task
    raise MakingError(
        f"category {category!r}: of {TRIES} pictures none could be read again after it was undone; "
        "give pictures with larger print, or ones that are less noisy"
    )


def _happening(category: str, rng: np.random.Generator) -> list[Distortion]:
    if category in STRENGTHS:
        return [draw(category, rng)]
    return [draw(kinds[int(rng.integers(len(kinds)))], rng) for kinds in COMBINED.get(category, ())]


def distortions(task: Task) -> tuple[Distortion, ...]:
    """List the distortions of a task's image, in order."""
    return tuple(Distortion(*one) for one in task.meta["distortions"])


def restored(task: Task, shown: Sequence[Image.Image]) -> bool:
    """Check that the last image that code showed is the task's image, restored.

    It has to have gone at least a third of the way from the distorted image to the one that is mended knowing how
    strong each distortion was, measured by the root mean square difference: no other operation does. Of several
    distortions each must have been undone: it has to be nearer to the mended image than to one in which that one is
    left. Where nothing was done to the image, it must not have been changed.
    """
    given = rgb(task.images[0].image)
    done = distortions(task)
    right = undo(given, done)
    last = rgb(shown[-1]) if shown else given
    if last.size != right.size:
        return False
    if not done:
        return likeness(last, right) >= LIKENESS
    off = _off(last, right)
    one_left = [distort(right, [one]) for one in done] if len(done) > 1 else []
    nearer = all(off < _off(last, picture) for picture in one_left if picture.size == last.size)
    return nearer and off <= (1 - MENDED) * _off(given if given.size == right.size else given.resize(right.size), right)


def _off(first: Image.Image, second: Image.Image) -> float:
    """Root mean square difference of two images of one size, in levels."""
    return float(np.sqrt(np.mean((_levels(first) - _levels(second)) ** 2)))


def summary(tasks: Sequence[Task]) -> dict[str, Any]:
    """Count tasks by category and label."""
    names = [str(task.meta["category"]) for task in tasks]
    labels = [str(task.meta["difficulty"]) for task in tasks]
    return {name: names.count(name) for name in CATEGORIES} | {s: labels.count(s) for s in ("simple", "hard")}

"""Questions that are no jigsaws: what is asked to see what jigsaw training does to general vision, and who is right.

What the tiny model's base was taught to answer, in its own words: one question, one turn, one certain answer. Each is
about an image that nobody trained on: drawn anew, before views of the held-out photographs and of fresh scenes.

Left out of :data:`SKILLS`, and why:

- ``place``, ``order``, ``neighbours``, ``rearranged``, ``adjacency`` are the jigsaw or parts of it: training on it
  moves them, and that is not what "elsewhere" means;
- ``copying``, ``code``, ``sorting``, ``facts`` show no image;
- ``whose`` begins with what ``flags`` asks, ``reading`` with what the sheets below are asked.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from typing import Literal

import numpy as np
from PIL import Image

from kit.episode import Episode, NamedImage, Task
from kit.evaluate.baselines import SingleTurnEnv
from kit.images import rgb
from kit.rewards.answers import alike, begins
from kit.tools.boxes import box_iou
from pictures.documents import sheet as draw_sheet
from pictures.photos import photos
from pictures.scenes import Pixels, scene
from tiny.skills import SKILLS as TAUGHT

PROBES = ("colours", "shapes", "digits", "orientation", "chart", "grid", "cards", "distorted", "flags")
"""What is asked as the base was asked it (:mod:`tiny.skills`): the first question of a sample."""

READINGS = {"receipt": "receipt", "sign": "sign", "form": "form", "bars": "chart", "number": "number"}
"""What is read off a sheet → the sheet's kind (:mod:`pictures.documents`): one of its questions."""

SKILLS = (*PROBES, *READINGS)
"""All that is asked, in the order of the tables."""

ON_VIEWS = ("colours", "shapes", "digits", "orientation", "cards", "distorted", "sign")
"""Skills whose images show a view of a photograph or scene: those of one photograph are related."""

Side = Literal["train", "test"]
_PARTS = {"train": "train", "test": "held-out"}
_STREAM = {"train": 0, "test": 1}
TEST_SEED = 0
"""Of the evaluation, whatever the training's seed is: all runs are asked the same."""


def _pool(side: Side, n: int, seed: int) -> Iterator[tuple[str, Pixels]]:
    """``n`` images to take views of, with their names: photographs of that side and scenes by turns."""
    known = [(photo.id, np.asarray(photo.image)) for photo in photos(_PARTS[side])]  # type: ignore[arg-type]
    for k in range(n):
        if k % 2 == 0:
            yield known[k // 2 % len(known)]
        else:
            yield f"{side}-scene-{seed}-{k}", scene(np.random.default_rng([seed, _STREAM[side], k]))


def questions(n: int, seed: int = TEST_SEED, side: Side = "test", skills: Sequence[str] = SKILLS) -> list[Task]:
    """``n`` questions of each skill; question k of a skill is the same for every ``n``.

    Args:
        n: questions a skill.
        seed: fixes everything that is random.
        side: ``test`` to evaluate, ``train`` to train on: other photographs, scenes and handwritten digits.
        skills: what is asked, of :data:`SKILLS`.

    Raises:
        ValueError: no question, or an unknown skill.
    """
    unknown = [skill for skill in skills if skill not in SKILLS]
    if n < 1 or not skills or unknown:
        raise ValueError(f"questions(n={n}, skills={list(skills)}): at least one of each, of {', '.join(SKILLS)}")
    pool = list(_pool(side, n, seed))
    return [_question(skill, k, *pool[k], seed, side) for skill in skills for k in range(n)]


def shuffled_questions(n: int, seed: int) -> list[Task]:
    """``n`` questions to train on, of all skills in a shuffled order, as even over them as possible.

    Raises:
        ValueError: no question.
    """
    some = questions(-(-n // len(SKILLS)), seed, "train")
    order = np.random.default_rng([seed, len(some)]).permutation(len(some))
    # Skill by skill within each round, so that the first n have all skills alike.
    rounds = sorted((int(i) for i in order), key=lambda i: i % (len(some) // len(SKILLS)))
    return [some[i] for i in rounds[:n]]


def _question(skill: str, k: int, source: str, view: Pixels, seed: int, side: Side) -> Task:
    rng = np.random.default_rng([seed, _STREAM[side], SKILLS.index(skill), k])
    name = f"{side}-{skill}-s{seed}-{k:04d}"
    if skill in READINGS:
        sheet = draw_sheet(rng, [view], (READINGS[skill],), side)
        asked, answer = sheet.questions[int(rng.integers(len(sheet.questions)))]
        parts: Sequence[str | Pixels] = (np.asarray(rgb(sheet.image)), asked)
    else:
        parts, answer = TAUGHT[skill](rng, [view]).turns[0]
    labels: list[str] = []
    images: list[NamedImage] = []
    text = ""
    for part in parts:
        if isinstance(part, str):
            text = part
        else:
            labels.append(text)
            images.append(NamedImage(f"image_{len(images) + 1}", Image.fromarray(part)))
            text = ""
    meta = {"skill": skill, "labels": labels, "source": source if skill in ON_VIEWS else name}
    return Task(name, tuple(images), text, (answer.removesuffix("."),), meta)


def is_question(task: Task) -> bool:
    """True for a question of this module or of a benchmark, false for a jigsaw."""
    return "skill" in task.meta


class QuestionEnv(SingleTurnEnv):
    """One question, one turn; what stands before each image is the task's (the base was asked without names)."""

    def prompt(self, task: Task) -> tuple[str, list[str | NamedImage]]:
        """System text and user message: the images, each after its label if it has one, then the question."""
        if "labels" not in task.meta:
            return super().prompt(task)
        parts: list[str | NamedImage] = []
        for label, image in zip(task.meta["labels"], task.images, strict=True):
            parts += [label, image] if label else [image]
        return self.system, [*parts, task.question]

    def reward(self, answer: str) -> float:
        """1 if the answer is right, else 0."""
        return float(is_right_answer(answer, self.task.target))


_TAG = re.compile(r"</?[a-z_]+>")


def is_right_answer(answer: str | None, golds: Sequence[str]) -> bool:
    """Check an answer: boxes by an IoU of at least 0.5, all else by :func:`kit.rewards.answers.alike`.

    Raises:
        ValueError: there is no gold answer, or one text instead of several.
    """
    if isinstance(golds, str) or not golds:  # a text would be read letter by letter
        raise ValueError(f"gold answers {golds!r:.80}: give a list of at least one text")
    return answer is not None and any(_same(answer, gold) for gold in golds)


def _same(answer: str, gold: str) -> bool:
    return box_iou(answer, gold) >= 0.5 if box_iou(gold, gold) > 0 else bool(alike(answer, gold))


def begins_right(text: str, golds: Sequence[str]) -> bool:
    """Check that a reply's first words, tags left out, are a gold answer's; an option's letter is no word."""
    said = _TAG.sub(" ", text)
    return any(begins(said, gold) for gold in golds)


def is_right(episode: Episode, target: Sequence[str]) -> bool:
    """Check that the answer of a question's episode is right."""
    return is_right_answer(episode.answer, target)

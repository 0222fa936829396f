"""Mags-RL's drawn tasks: counting, relations and attributes, easy, medium and hard by how many pixels decide.

A set is fixed by its seed and side. Which side a board lies on is a matter of what it says
(:attr:`.boards.Drawn.key`): sets of different sides share no board, whatever their seeds.

Departures
- [mags-drawn-tasks] Paper: training and evaluation on TallyQA, VSR and GQA. Here: by default drawn boards of cards,
  with questions of the same three skills; the paper's sets by ``data_scripts/mags_rl.py --hub``. Why: drawn ones
  install with the kit, a program knows their answers, and a model of three million parameters can read them. May
  change: every result; they compare with the paper's in direction alone.
- [mags-difficulty] Paper: a vision-language model scores how much an image asks for zooming. Here: of drawn and
  composed images, the share of the pixels that decide; of the hub's, a judge behind an endpoint (:mod:`.difficulty`).
  Why: the share is known there and never changes its mind. May change: where the lines between the three run.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Literal, get_args
from zlib import crc32

import numpy as np
from PIL import Image

from kit.data.split import Side
from kit.episode import NamedImage, Task
from kit.waiting import counted
from papers.mags_rl.boards import CARD, PLACES, TOLD_APART, Drawn, frame_of
from papers.mags_rl.questions import MAKERS
from pictures.documents import SIDE
from pictures.keyed import MakingError, of_kind, side_of, source_of
from pictures.readable import frames, is_readable

Difficulty = Literal["easy", "medium", "hard"]

LEAST_SHARE: dict[Difficulty, float] = {"easy": 0.1, "medium": 0.02, "hard": 0.0}
"""Share of an image's pixels that the smallest part which decides an answer has at least (ours)."""

STAGES: dict[int, tuple[str, ...]] = {1: ("count/medium", "relation/medium"), 2: ("count/hard", "attribute/hard")}
"""Kinds that each stage of the curriculum trains on, as many of each: TallyQA and VSR, then harder TallyQA and GQA."""

SMALL = 35
"""Pixels of a card's side on a harsher source: crops of it have to be enlarged four times. The base reads a line of a
card in 0.9 of them at 70 pixels, however it is enlarged; at 35 in 0.38 after plain resizing, and in 0.70 after SPAN."""

TRIES = 200
LOOKED_AT = 12
"""Tasks of each kind in the test of seed 0 that were looked at while the format start was chosen."""


def difficulty_of(share: float) -> Difficulty:
    """Tell the difficulty of a question whose smallest deciding part has this share of the pixels.

    >>> difficulty_of(0.25), difficulty_of(0.04), difficulty_of(0.005)
    ('easy', 'medium', 'hard')
    """
    return next(name for name, least in LEAST_SHARE.items() if share >= least)


def make_tasks(counts: Mapping[str, int], seed: int, side: Side = "train", card: int = CARD) -> list[Task]:
    """``counts[kind]`` tasks of each kind, in mixed order; task k of a kind is the same whatever the counts are.

    Args:
        counts: a key of :data:`.questions.MAKERS`, such as ``count/hard`` → number of tasks.
        seed: fixes everything that is random.
        side: whose boards.
        card: pixels of a card's side on the board that crops are cut from.

    Raises:
        MakingError: an unknown kind or side, or a board that can't pass its check.
    """
    if unknown := [kind for kind in counts if kind not in MAKERS]:
        raise MakingError(f"tasks of {unknown}: known are {', '.join(MAKERS)}")
    if side not in get_args(Side):
        raise MakingError(f"side={side!r}: choose one of {', '.join(get_args(Side))}")
    every = counted(lambda kind: _of_kind(kind, counts[kind], seed, side, card), [*counts], "kinds of tasks")
    tasks = [task for some in every for task in some]
    order = np.random.default_rng([seed, crc32(side.encode())]).permutation(len(tasks))
    return [tasks[int(i)] for i in order]


def draw(kind: str, seed: int, side: Side, k: int, card: int = CARD) -> Drawn:
    """Draw the board of one task: the first of its random numbers that lies on the side and can be read in a crop.

    Args:
        kind: a key of :data:`.questions.MAKERS`.
        seed: of the set.
        side: of the set.
        k: number of the task among those of its kind.
        card: pixels of a card's side.

    Raises:
        MakingError: none of :data:`TRIES` did.
    """
    rng = np.random.default_rng([seed, crc32(side.encode()), crc32(kind.encode()), k])
    faults: list[str] = []
    for _ in range(TRIES):
        drawn = MAKERS[kind](rng, side, card)
        if side_of(source_of(drawn.key)) != side:
            continue
        fault = unfit(drawn, kind)
        if not fault:
            return drawn
        faults.append(fault)
    raise MakingError(
        f"{kind}, seed {seed}, {side}, {card} pixels a card: none of {TRIES} boards will do; "
        f"the last: {(faults or [side])[-1]}"
    )


def unfit(drawn: Drawn, kind: str) -> str:
    """Say why a board isn't of its difficulty, or can't be solved by crops; nothing if it is and can."""
    level = kind.partition("/")[2]
    if difficulty_of(drawn.share) != level:
        return f"{drawn.share:.4f} of the pixels decide: that is {difficulty_of(drawn.share)}, not {level}"
    if frames(drawn.image, TOLD_APART) != list(drawn.colours):
        return "the prompt doesn't show which card is where"
    unread = [place for place in drawn.looks if level != "easy" and not legible(drawn, place, crop_of(drawn, place))]
    return f"a crop of card {unread[0]} can't be read" if unread else ""


def crop_of(drawn: Drawn, place: int) -> Image.Image:
    """A card with its frame, cut out and enlarged to the size of a sheet."""
    board = drawn.original
    left, top, right, bottom = (round(share * board.width) for share in PLACES[place])
    return board.crop((left, top, right, bottom)).resize((SIDE, SIDE), Image.Resampling.BICUBIC)


def legible(drawn: Drawn, place: int, crop: Image.Image) -> bool:
    """Check that what a card answers can be read from a crop of it, pixel by pixel.

    Of a count each line has to be read: what doesn't stand on a card is known only then.

    Args:
        drawn: the board.
        place: of the card.
        crop: the card with its frame, in any size.
    """
    one, edge = drawn.sheets[place], round(frame_of(drawn.card)[0] / drawn.card * crop.width)
    sheet = crop.crop((edge, edge, crop.width - edge, crop.height - edge)).resize(
        (SIDE, SIDE), Image.Resampling.BICUBIC
    )
    lines = [drawn.told[place]] if drawn.count is None else [" ".join(row).strip() for row in one.rows]
    return all(is_readable(one, sheet, line) for line in lines)


def _of_kind(kind: str, n: int, seed: int, side: Side, card: int) -> list[Task]:
    return of_kind(lambda seed, k: _task(kind, seed, side, k, card), n, seed, side, LOOKED_AT)


def _task(kind: str, seed: int, side: Side, k: int, card: int) -> Task:
    drawn = draw(kind, seed, side, k, card)
    skill, difficulty = kind.split("/")
    meta: dict[str, Any] = {
        "skill": skill,
        "difficulty": difficulty,
        "source": source_of(drawn.key),
        "drawn": [kind, seed, side, k, card],
        "count": drawn.count,
        "boxes": [list(PLACES[place]) for place in drawn.looks],
        "parts": [list(part) for part in drawn.parts],
        "share": drawn.share,
        "seen": drawn.seen,
        "again": drawn.again,
        "looks": list(drawn.looks),
        "told": list(drawn.told),
        "readings": [one.text for one in drawn.sheets],
    }
    name = f"{side}-{skill}-{difficulty}-s{seed}-c{card}-{k:04d}"
    opened = () if drawn.original.size == drawn.image.size else (NamedImage("image", drawn.original),)
    return Task(name, (NamedImage("image", drawn.image),), drawn.question, (drawn.answer,), meta, opened)

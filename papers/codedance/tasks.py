"""CodeDance's drawn tasks: questions that are easy at sight beside ones that code makes easy, with exact truth.

==============  =========================  ============================================  =============================
kind            easy                       hard                                          stands for
==============  =========================  ============================================  =============================
chart_value     one bar                                                                  ChartQA, CharXiv
chart_compute                              sum, product, difference, average             ChartQA, CharXiv
sheet           one value                  turned or dark, or computed from its prices   documents
arithmetic      a number                   … times another                               MathVision, MathVista
geometry        a figure's label           perimeter, area, angle                        MathVerse, WeMath
count           one to four shapes         nine to 24 of one colour among others         PixMo-count, CountBench
board           where a card lies          what it says: too small in the prompt         V*, HR-Bench
composed                                   a chart on a board: cut out, then computed    claim C6
==============  =========================  ============================================  =============================

A set is fixed by its seed and side. Which side an image lies on is a matter of what it says (:attr:`.drawn.Drawn.key`):
sets of different sides share no chart, sheet, figure or board, whatever their seeds.

Departures
- [codedance-drawn-tasks] Paper: 34K demonstrations on SA1B, GEOqa_plus and MMK12, and reinforcement on DeepEyes' data,
  SA1B and PixMo-count. Here: by default drawn charts, sheets, figures, scenes and boards; the hub's sets by
  ``data_scripts/codedance.py --hub``. Why: drawn ones install with the kit, and a program knows their answers. May
  change: every result; they compare with the paper's in direction alone.
- [codedance-difficulty] Paper: Qwen2.5-VL-7B sorts questions by difficulty; how isn't told. Here: the maker does: hard
  is what the first image hides, or an answer that stands nowhere in it; ``--weak-to-strong`` sorts by a model's pass
  rate. Why: the maker's can be checked without a model. May change: where the line between easy and hard runs for
  another model; how often each level is solved tells it.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, get_args
from zlib import crc32

import numpy as np

from kit.data.split import Side
from kit.episode import NamedImage, Task
from kit.waiting import counted
from papers.codedance import boards, charts, counting, geometry, sheets
from papers.codedance.drawn import Drawn, Maker
from pictures import keyed
from pictures.keyed import MakingError as MakingError
from pictures.keyed import check_apart as check_apart
from pictures.keyed import side_of as side_of

MAKERS: dict[str, Maker] = {
    "chart_value/easy": charts.value,
    "chart_compute/hard": charts.compute,
    "sheet/easy": sheets.value,
    "sheet/hard": sheets.hard,
    "arithmetic/easy": geometry.number,
    "arithmetic/hard": geometry.arithmetic,
    "geometry/easy": geometry.label,
    "geometry/hard": geometry.compute,
    "count/easy": counting.few,
    "count/hard": counting.many,
    "board/easy": boards.corner,
    "board/hard": boards.card,
    "composed/hard": boards.composed,
}
"""How each kind of task is drawn, by ``kind/level``."""

TRIES = 200
LOOKED_AT = 16
"""Tasks of each kind in the test of seed 0 that were looked at while the cold start was chosen."""


def make_tasks(counts: Mapping[str, int], seed: int, side: Side = "train") -> list[Task]:
    """``counts[kind]`` tasks of each kind, in mixed order; task k of a kind is the same whatever the counts are.

    Args:
        counts: a key of :data:`MAKERS` → number of tasks.
        seed: fixes everything that is random.
        side: whose images.

    Raises:
        MakingError: an unknown kind or side, or a scene that can't pass its check.
    """
    if unknown := [kind for kind in counts if kind not in MAKERS]:
        raise MakingError(f"tasks of {unknown}: known are {', '.join(MAKERS)}")
    if side not in get_args(Side):
        raise MakingError(f"side={side!r}: choose one of {', '.join(get_args(Side))}")
    every = counted(lambda kind: _of_kind(kind, counts[kind], seed, side), [*counts], "kinds of tasks")
    tasks = [task for some in every for task in some]
    order = np.random.default_rng([seed, crc32(side.encode())]).permutation(len(tasks))
    return [tasks[int(i)] for i in order]


def source_of(drawn: Drawn) -> str:
    """The name of all that an image says: ``chart-0f3a…``; tasks of one source lie on one side."""
    return keyed.source_of(drawn.key)


def draw(kind: str, seed: int, side: Side, k: int) -> Drawn:
    """Draw the scene of one task: the first of its random numbers that lies on the side and shows what it should.

    Args:
        kind: a key of :data:`MAKERS`.
        seed: of the set.
        side: of the set.
        k: number of the task among those of its kind.

    Raises:
        MakingError: none of :data:`TRIES` did.
    """
    rng = np.random.default_rng([seed, crc32(side.encode()), crc32(kind.encode()), k])
    faults: list[str] = []
    for _ in range(TRIES):
        drawn = MAKERS[kind](rng)
        if side_of(source_of(drawn)) != side:
            continue
        fault = unfit(drawn, kind)
        if not fault:
            return drawn
        faults.append(fault)
    raise MakingError(
        f"{kind}, seed {seed}, {side}: none of {TRIES} scenes will do; the last: {(faults or [side])[-1]}"
    )


LEGIBLE = 3.0
"""Pixels in height under which a letter, or a step of a bar, can't be made out (ours)."""


def unfit(drawn: Drawn, kind: str) -> str:
    """Say why a scene isn't of its level; nothing if it is.

    Easy is what the first image shows. Hard is what it hides (too small, turned, dark, too many) or an answer that is
    none of its values.
    """
    hidden = drawn.detail < LEGIBLE or bool(drawn.repair and not drawn.readable(drawn.image))
    if kind.endswith("/easy"):
        return (
            "" if drawn.readable(drawn.image) and drawn.answer in drawn.facts.values() else "it can't be read at sight"
        )
    if drawn.expression and drawn.answer in {*drawn.facts.values(), drawn.seen}:
        return f"the answer {drawn.answer} is one of its values"
    if (drawn.repair or drawn.boxes) and not hidden:
        return "the first image shows what it should hide"
    if drawn.expression and not (hidden or drawn.readable(drawn.image)):
        return "the first image doesn't show what has to be computed with"
    return "" if hidden or drawn.expression or drawn.colour else "nothing about it is hard"


def _of_kind(kind: str, n: int, seed: int, side: Side) -> list[Task]:
    return keyed.of_kind(lambda seed, k: _task(kind, seed, side, k), n, seed, side, LOOKED_AT)


def _task(kind: str, seed: int, side: Side, k: int) -> Task:
    drawn = draw(kind, seed, side, k)
    name, level = kind.split("/")
    meta: dict[str, Any] = {
        "kind": name,
        "level": level,
        "source": source_of(drawn),
        "drawn": [kind, seed, side, k],
        "asks": drawn.asks,
        "seen": drawn.seen,
        "facts": dict(drawn.facts),
        "then": drawn.then,
        "reading": drawn.reading,
        "boxes": [list(box) for box in drawn.boxes],
        "repair": drawn.repair,
        "expression": drawn.expression,
        "colour": drawn.colour,
        "answer_kind": "number" if drawn.answer.lstrip("-").isdigit() else "text",
    }
    opened = (NamedImage("image", drawn.original),) if drawn.original is not None else ()
    shown = (NamedImage("image", drawn.image),)
    return Task(f"{side}-{name}-{level}-s{seed}-{k:04d}", shown, drawn.question, (drawn.answer,), meta, opened)

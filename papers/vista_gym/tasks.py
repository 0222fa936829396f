"""VISTA-Gym's drawn tasks: seven families, a twin for each of the paper's sets, with exact truth.

What the tools open is an image of some hundred pixels a side; the prompt shows it shrunk to :data:`SHOWN`, where nobody
can read it. So only a tool can tell, and which tool, with which argument, is what an agent has to know. In a part of
each family (``charts/sight``) the prompt shows an image that can be read, and nothing has to be called.

A set is fixed by its seed and side. Which side an image lies on is a matter of what it says (:attr:`.drawn.Drawn.key`):
sets of different sides share no image, whatever their seeds.

Departures
- [vista-drawn-tasks] Paper: questions of fifteen data sets, six more to measure on. Here: by default a drawn twin of
  thirteen and of the six, whose questions the offline tools can answer (FigureQA's choose between two labels instead of
  yes and no), of which a laptop trains on six, and of geometry on what is seen at sight alone; the sets by
  ``data_scripts/vista_gym.py --hub``, and then reinforcement is on their questions alone. Why: drawn ones install with
  the kit, and a program knows their answers; reading takes most of a laptop's minutes. May change: every result; they
  compare with the paper's in direction alone, and on a laptop geometry tells nothing of tools.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, get_args
from zlib import crc32

import numpy as np
from PIL import Image

from kit.data.split import Side
from kit.episode import NamedImage, Task
from kit.waiting import counted
from papers.vista_gym.answers import golds
from papers.vista_gym.drawn import Drawn, Maker
from papers.vista_gym.families import charts, documents, geometry, maps, other, science, spatial
from pictures.keyed import MakingError as MakingError
from pictures.keyed import check_apart as check_apart
from pictures.keyed import of_kind, side_of, source_of

SIGHT = "sight"
"""The set of what is answered at sight, in each family."""

MAKERS: dict[str, Maker] = {
    "charts/figureqa": charts.figureqa,
    "charts/chartqa": charts.chartqa,
    "charts/plotqa": charts.plotqa,
    "charts/sight": charts.at_sight,
    "geometry/geometry3k": geometry.geometry3k,
    "geometry/geoqa": geometry.geoqa,
    "geometry/unigeo": geometry.unigeo,
    "geometry/sight": geometry.at_sight,
    "maps/mapqa": maps.mapqa,
    "maps/infographicvqa": maps.infographicvqa,
    "maps/sight": maps.at_sight,
    "science/scienceqa": science.scienceqa,
    "science/vizwiz": science.vizwiz,
    "science/ai2d": science.ai2d,
    "science/sight": science.at_sight,
    "documents/docvqa": documents.docvqa,
    "documents/tabmwp": documents.tabmwp,
    "documents/sight": documents.at_sight,
    "spatial/clevr": spatial.clevr,
    "spatial/clevr_math": spatial.clevr_math,
    "spatial/sight": spatial.at_sight,
    "other/thinkvl": other.thinkvl,
    "other/aokvqa": other.aokvqa,
    "other/iconqa": other.iconqa,
    "other/mathvista": other.mathvista,
    "other/sight": other.at_sight,
}
"""How each kind of task is drawn, by ``family/set``."""

IN = ("chartqa", "geometry3k", "geoqa", "unigeo", "mapqa")
OUT = ("tabmwp", "ai2d", "plotqa", "clevr_math", "iconqa", "mathvista")
"""Sets that the paper measures on: within the distribution that it trains on, and outside of it (claim V6). It trains
on the other eight as well."""


def distribution_of(name: str) -> str:
    """Tell if a set that the paper measures on is ``in`` or ``out`` of what it trains on; empty: it doesn't measure."""
    return "in" if name in IN else "out" if name in OUT else ""


SHOWN = 56
"""Pixels of the longer side of what the prompt shows: two by two tokens."""
TRIES = 200
LOOKED_AT = 6
"""Tasks of each kind in the test of seed 0 that were looked at while the expert's habits were chosen."""


def make_tasks(counts: Mapping[str, int], seed: int, side: Side = "train", shown: int = SHOWN) -> list[Task]:
    """``counts[kind]`` tasks of each kind, in mixed order; task k of a kind is the same whatever the counts are.

    Args:
        counts: a key of :data:`MAKERS`, such as ``charts/chartqa`` → number of tasks.
        seed: fixes everything that is random.
        side: whose images.
        shown: pixels of the longer side of what the prompt shows where tools are needed.

    Raises:
        MakingError: an unknown kind or side, or no image of a kind lies on the side.
    """
    if unknown := [kind for kind in counts if kind not in MAKERS]:
        raise MakingError(f"tasks of {unknown}: known are {', '.join(MAKERS)}")
    if side not in get_args(Side):
        raise MakingError(f"side={side!r}: choose one of {', '.join(get_args(Side))}")
    every = counted(lambda kind: _of_kind(kind, counts[kind], seed, side, shown), [*counts], "kinds of tasks")
    tasks = [task for some in every for task in some]
    order = np.random.default_rng([seed, crc32(side.encode())]).permutation(len(tasks))
    return [tasks[int(i)] for i in order]


def draw(kind: str, seed: int, side: Side, k: int) -> Drawn:
    """Draw one task: the first of its random numbers whose image lies on the side.

    Args:
        kind: a key of :data:`MAKERS`.
        seed: of the set.
        side: of the set.
        k: number of the task among those of its kind.

    Raises:
        MakingError: none of :data:`TRIES` does.
    """
    rng = np.random.default_rng([seed, crc32(side.encode()), crc32(kind.encode()), k])
    for _ in range(TRIES):
        drawn = MAKERS[kind](rng)
        if side_of(source_of(drawn.key)) == side:
            return drawn
    raise MakingError(f"{kind}, seed {seed}: none of {TRIES} images lies on the side {side}")


def _shrunk(image: Image.Image, longest: int) -> Image.Image:
    """An image as the prompt shows it."""
    scale = longest / max(image.size)
    width, height = (max(1, round(side * scale)) for side in image.size)
    return image.resize((width, height), Image.Resampling.LANCZOS)


def _of_kind(kind: str, n: int, seed: int, side: Side, shown: int) -> list[Task]:
    return of_kind(lambda seed, k: _task(kind, seed, side, k, shown), n, seed, side, LOOKED_AT)


def _task(kind: str, seed: int, side: Side, k: int, shown: int) -> Task:
    drawn = draw(kind, seed, side, k)
    family, name = kind.split("/")
    meta: dict[str, Any] = {
        "family": family,
        "set": name,
        "distribution": distribution_of(name),
        "source": source_of(drawn.key),
        "direct": not drawn.calls,
    }
    if drawn.calls:
        meta |= {"calls": list(drawn.calls), "wrong": drawn.wrong}
    first = _shrunk(drawn.image, shown) if drawn.calls else drawn.image
    opened = (NamedImage("image", drawn.image),) if drawn.calls else ()
    right = (*golds(drawn.right[:1], drawn.rule), *drawn.right[1:])
    return Task(
        f"{side}-{family}-{name}-s{seed}-{k:04d}", (NamedImage("image", first),), drawn.asked, right, meta, opened
    )

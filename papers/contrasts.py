"""Contrasts of stages for claims: one stage minus another on the questions and seeds that both have, slopes over cells.

A stage without a training seed (the untrained agent, the base asked directly, a single-turn baseline) is measured once
and stands for every seed that it is compared with: :func:`on_every_seed`.
"""

from __future__ import annotations

from collections.abc import Callable, Container, Mapping, Sequence
from dataclasses import replace
from typing import Any, TypeVar

import numpy as np

from kit.evaluate.intervals import Interval, Point, contrast
from kit.evaluate.outcomes import Outcome

T = TypeVar("T")
S = TypeVar("S", bound=Outcome)


def chosen(stage: str, outcomes: Sequence[T], what: str, keep: Callable[[T], bool]) -> list[T]:
    """Outcomes that a claim is about, at least one.

    Args:
        stage: the stage they are of, for the error.
        outcomes: all of the stage's.
        what: what is kept, for the error, such as ``2×2 puzzle``.
        keep: true for an outcome that the claim is about.

    Raises:
        ValueError: none is.
    """
    if not (found := [o for o in outcomes if keep(o)]):
        raise ValueError(f"{stage}: no {what} among {len(outcomes)} outcomes; play some, this claim is about them")
    return found


def on_every_seed(stages: Mapping[str, Sequence[Any]], unseeded: Container[str]) -> dict[str, list[Any]]:
    """Stages with the outcomes of unseeded ones repeated for each seed of the others; one that has seeds is left.

    Args:
        stages: stage → its outcomes.
        unseeded: names of the stages without a training seed.
    """
    seeds = sorted({o.seed for name, some in stages.items() if name not in unseeded for o in some})

    def spread(name: str, some: Sequence[Any]) -> list[Any]:
        if name not in unseeded or not seeds or len({o.seed for o in some}) > 1:
            return list(some)
        return [replace(o, seed=seed) for seed in seeds for o in some]

    return {name: spread(name, some) for name, some in stages.items()}


def points(outcomes: Sequence[Any], field: str) -> list[Point]:
    """One field of outcomes, each with its seed and source image."""
    return [Point(o.seed, o.image, float(getattr(o, field))) for o in outcomes]


def gained(before: Sequence[Point], after: Sequence[Point]) -> Interval:
    """Measure how far ``after`` lies above ``before``, by seed and paired by image.

    Args:
        before: one stage's values.
        after: another's, of the same seeds and images.

    Raises:
        ValueError: other seeds.
    """
    return contrast({"before": before, "after": after}, {"before": -1.0, "after": 1.0})


def shared_seeds(stages: Mapping[str, Sequence[S]], unseeded: Container[str] = ()) -> dict[str, list[S]]:
    """Outcomes of the seeds that all stages have.

    Args:
        stages: stage → its outcomes.
        unseeded: names of the stages that no training made: measured once, they stand for every seed.

    Raises:
        ValueError: a stage has no outcome, or the stages have no seed in common.
    """
    for name, some in stages.items():
        chosen(name, some, "question", lambda o: True)
    spread = on_every_seed(stages, unseeded)
    shared = set.intersection(*({o.seed for o in some} for some in spread.values()))
    if not shared:
        raise ValueError(f"{', '.join(stages)}: no seed in common; train them with the same seeds")
    return {name: [o for o in some if o.seed in shared] for name, some in spread.items()}


def apart(stages: Mapping[str, Sequence[S]], field: str = "correct", unseeded: Container[str] = ()) -> Interval:
    """Measure how far the second of two stages lies above the first in a field, by seed and paired by image.

    ``apart({"sft": before, "grpo": after})`` is positive where reinforcement helped.

    Args:
        stages: the two, by name, the one to compare with first.
        field: of the outcomes; those that have None there are left out.
        unseeded: as for :func:`shared_seeds`.

    Raises:
        ValueError: one is empty, or they have no seed in common.
    """
    known = {stage: [o for o in some if getattr(o, field) is not None] for stage, some in stages.items()}
    before, after = (points(some, field) for some in shared_seeds(known, unseeded).values())
    return gained(before, after)


def in_words(before: Sequence[S], after: Sequence[S], field: str = "correct") -> str:
    """Compare two stages: ``higher by 0.86``, or ``lower by 0.04, which can't be told from chance``.

    Of a single seed it is told of that one model, on other images; of several, of other trainings too.

    Args:
        before: outcomes of the stage to compare with.
        after: of the other, of the same seeds; those that have None in the field are left out.
        field: of the outcomes.

    Raises:
        ValueError: other seeds, or a stage without an outcome.
    """
    cells = {
        n: points([o for o in some if getattr(o, field) is not None], field) for n, some in ((-1, before), (1, after))
    }
    gain = contrast(cells, {sign: float(sign) for sign in cells}, one_seed=True)
    chance = ", which can't be told from chance" if gain.low <= 0 <= gain.high else ""
    if abs(gain.value) < 0.005:
        return "the same"
    return f"{'lower' if gain.value < 0 else 'higher'} by {abs(gain.value):.2f}{chance}"


def slope(cells: Mapping[int, Sequence[Point]]) -> Interval:
    """Least-squares slope of cell means over the cells' order (0, 1, 2, …).

    Raises:
        ValueError: fewer than two cells.
    """
    if len(cells) < 2:
        raise ValueError(f"a slope over {sorted(cells)}: at least two are needed")
    places = np.arange(len(cells)) - (len(cells) - 1) / 2
    weights = places / (places**2).sum()
    return contrast(cells, dict(zip(sorted(cells), weights.tolist(), strict=True)))

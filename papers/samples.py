"""Plan and check a comparison of stages: its power by seeds and tasks, and a bootstrap beside its interval."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from kit.evaluate.crossed import EQUAL, LEVEL, Crossed, Point, crossed, quantile
from kit.evaluate.intervals import Interval

SEEDS = 5
"""Fewer seeds can't stand for all: drawn with replacement, three are one and the same in one draw of nine."""


def power(
    margin: float,
    spread_seed: float,
    spread_image: float,
    spread_rest: float,
    seeds: int,
    images: int,
    equal: bool = False,
) -> float:
    r"""Chance that the 95 % interval of a difference lies above 0 where the true difference is ``margin``.

    With ν degrees of freedom at the expected mean squares it is the chance that noncentral t, around
    $\delta = m / \sqrt{V/KP}$, exceeds $t_\nu$; so it is for *no less by m* where nothing differs.

    Args:
        margin: the difference m, above 0.
        spread_seed: standard deviation, over seeds, of the difference of two stages.
        spread_image: over images.
        spread_rest: of what is left, of one seed and image.
        seeds: trainings of each stage, at least 2.
        images: tasks' images, at least 2.
        equal: instead, the chance that the 90 % interval lies inside ± ``margin`` where nothing differs.

    Raises:
        ValueError: fewer seeds or images, a margin that isn't above 0, or no spread at all or a negative one.
    """
    from scipy.special import nctdtr

    spreads = (spread_seed, spread_image, spread_rest)
    if not (margin > 0 and min(spreads) >= 0 < max(spreads) and min(seeds, images) >= 2):
        told = f"margin {margin}, spreads {spreads}, {seeds} seeds, {images} images"
        raise ValueError(f"power of {told}: a margin and a spread above 0, two seeds and two images at least")
    rest = spread_rest**2
    expected = Crossed(margin, seeds, images, images * spread_seed**2 + rest, seeds * spread_image**2 + rest, rest)
    delta = margin / math.sqrt(expected.variance / (seeds * images))
    below = float(nctdtr(expected.freedom, delta, quantile(expected.freedom, EQUAL if equal else LEVEL)))
    return max(0.0, 1 - 2 * below) if equal else 1 - below


def bootstrap(
    cells: Mapping[Any, Sequence[Point]],
    weights: Mapping[Any, float],
    strata: Mapping[str, str],
    draws: int = 2000,
    seed: int = 0,
) -> Interval:
    """The interval of :func:`kit.evaluate.intervals.contrast` once more, by drawing seeds and images again.

    Every draw takes K of K seeds and, of every stratum, as many images as it has, with replacement; an interval holds
    the middle 95 % of the sums. It assumes no distribution, but knows neither Student's t: of five seeds that
    differ much it is too narrow. It counts what is left beside seeds and images up to three times (Owen 2007).

    Args:
        cells: cell → its points, all of the same seeds.
        weights: cell → the weight of its mean.
        strata: image → its kind, of which every draw has as many.
        draws: how many.
        seed: fixes them.

    Raises:
        ValueError: fewer than :data:`SEEDS` seeds, an image without a stratum, or a cell that has no image in a draw.
    """
    found = crossed(cells, weights)
    if found.seeds < SEEDS:
        raise ValueError(f"a bootstrap over {found.seeds} seeds: it takes {SEEDS}; fewer can't stand for all")
    images = sorted({point.image for points in cells.values() for point in points})
    if unknown := [image for image in images if image not in strata]:
        raise ValueError(f"image {unknown[0]!r} has no stratum; name the kind of each")
    rng, at = np.random.default_rng(seed), {image: column for column, image in enumerate(images)}
    of_seeds = rng.multinomial(found.seeds, [1 / found.seeds] * found.seeds, draws) / found.seeds
    of_images = np.zeros((draws, len(images)))
    for kind in sorted({strata[image] for image in images}):
        alike = [at[image] for image in images if strata[image] == kind]
        of_images[:, alike] = rng.multinomial(len(alike), [1 / len(alike)] * len(alike), draws)
    rows = {seed: row for row, seed in enumerate(sorted({p.seed for points in cells.values() for p in points}))}
    sums = np.zeros(draws)
    for name, points in cells.items():
        total, count = np.zeros((2, len(rows), len(images)))
        where = [rows[point.seed] for point in points], [at[point.image] for point in points]
        np.add.at(total, where, [point.value for point in points])
        np.add.at(count, where, 1.0)
        if not (drawn := of_images @ count.T).all():
            raise ValueError(f"cell {name!r} has no image in some draws; give strata of each of which it has images")
        sums += weights[name] * (of_seeds * (of_images @ total.T) / drawn).sum(1)
    (low, low90), (high90, high) = (
        np.quantile(sums, [0.5 - sign * LEVEL / 2, 0.5 - sign * EQUAL / 2][::sign]).tolist() for sign in (1, -1)
    )
    return Interval(found.value, low, high, sum(map(len, cells.values())), low90, high90)

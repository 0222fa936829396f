r"""A crossed analysis of variance, of a weighted sum of cell means over seeds and images, both random; and power.

Every one of K seeds meets every one of P images. With $y_{kp}$ what image p adds for seed k, the mean over all of
which is the sum, the mean squares of seeds $S$, images $I$ and the rest $R$ are

$$\hat\theta = \frac1K\sum_k \sum_c w_c \bar x_{ck} = \bar y, \qquad
S = \frac{P}{K-1}\sum_k (\bar y_k - \bar y)^2, \quad I = \frac{K}{P-1}\sum_p (\bar y_p - \bar y)^2, \quad
R = \frac{\sum_{kp} (y_{kp} - \bar y_k - \bar y_p + \bar y)^2}{(K-1)(P-1)}$$

and half of an interval is

$$h = t_\nu \sqrt{V / KP}, \quad V = \max(S + I - R,\; S,\; I), \qquad
\nu = \frac{V^2}{S^2/(K-1) + I^2/(P-1) + R^2/(K-1)(P-1)} \ge K - 1$$

$V/KP$ is $s^2_{seed}/K + s^2_{image}/P + s^2_{rest}/KP$; ν is Satterthwaite's (Biometrics Bulletin 2(6), 1946);
S and I bound V where there is hardly any variation over seeds or images. An image played in two cells enters
both with its sign, so pairing is used where there is any; several tasks about one image are one cluster.

Where less than :data:`FEW` of a cell's $P_c$ images hold anything but one common value (all wrong, say), their
variance tells nothing of another image: $3 w_c/P_c$ (the rule of three) is added to h, in squares. So it is where
less than that add anything but one common value to the sum, as in a tie of two stages: $3/P$ of the largest weight.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Hashable, Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np

LEVEL = 0.95
"""Of an interval, unless another one is named."""

EQUAL = 0.90
"""Level at which an interval is two one-sided tests at 5 %: inside a margin, it shows that there is no more."""

FEW = 3
"""Fewer images than this that differ from the rest can't tell how much tasks about one image go together."""


class Point(NamedTuple):
    """One measured value, with the training seed and the source image that it shares with others."""

    seed: int
    image: str
    value: float


class Crossed(NamedTuple):
    """The analysis of one weighted sum over ``seeds`` × ``images``.

    Attributes:
        value: the sum, $\\hat\\theta$.
        seeds: K.
        images: P.
        by_seed: mean square of seeds, $S$.
        by_image: mean square of images, $I$.
        rest: mean square of what is left, $R$.
        agreed: what images that agree leave open, squared (the rule of three).
    """

    value: float
    seeds: int
    images: int
    by_seed: float
    by_image: float
    rest: float
    agreed: float = 0.0

    @property
    def variance(self) -> float:
        """V: K·P times the variance of the sum."""
        return max(self.by_seed + self.by_image - self.rest, self.by_seed, self.by_image)

    @property
    def freedom(self) -> float:
        """Satterthwaite's degrees of freedom ν, at least those of the seeds; of one seed: of the images."""
        k, p = self.seeds, self.images
        known = self.by_image**2 / (p - 1)
        if k > 1:
            known += (self.by_seed**2 + self.rest**2 / (p - 1)) / (k - 1)
        return max(self.variance**2 / known if known else 0.0, k - 1 if k > 1 else p - 1)

    def half(self, level: float = LEVEL) -> float:
        """Half of the interval at a level."""
        spread = quantile(self.freedom, level) * math.sqrt(self.variance / (self.seeds * self.images))
        return math.hypot(spread, math.sqrt(self.agreed))

    def with_seeds(self, seeds: int) -> Crossed:
        """What so many seeds on the same images would give at these variances: I holds K times that of images."""
        grown = max(self.by_image - self.rest, 0.0) * (seeds / self.seeds - 1)
        return self._replace(seeds=seeds, by_image=self.by_image + grown)


def quantile(df: float, level: float = LEVEL) -> float:
    """Student's t that an interval at ``level`` reaches to, with ``df`` degrees of freedom."""
    from scipy.special import stdtrit

    return float(stdtrit(df, 0.5 + level / 2))


def apart(values: Sequence[float] | np.ndarray, clusters: Sequence[Hashable]) -> int:
    """Number of clusters that hold anything but the most frequent value."""
    most = Counter(float(value) for value in values).most_common(1)[0][0]
    return len({cluster for value, cluster in zip(values, clusters, strict=True) if value != most})


def crossed(cells: Mapping[Any, Sequence[Point]], weights: Mapping[Any, float]) -> Crossed:
    """Analyse a weighted sum of cell means.

    Args:
        cells: cell → its points.
        weights: cell → the weight of its mean.

    Raises:
        ValueError: a cell is empty, or cells were measured for different seeds.
    """
    seeds = sorted({point.seed for points in cells.values() for point in points})
    names = {image: at for at, image in enumerate(dict.fromkeys(p.image for points in cells.values() for p in points))}
    sums = np.zeros(len(seeds))
    each = np.zeros((len(seeds), len(names)))  # each image's part of a seed's sum, beside the mean image's
    agreed = 0.0
    for name, points in cells.items():
        for row, seed in enumerate(seeds):
            mine = [point for point in points if point.seed == seed]
            if not mine:
                raise ValueError(f"cell {name!r} has no measurement for seed {seed}; every cell needs seeds {seeds}")
            mean = sum(point.value for point in mine) / len(mine)
            sums[row] += weights[name] * mean
            for point in mine:
                each[row, names[point.image]] += weights[name] * (point.value - mean) / len(mine)
        images = [point.image for point in points]
        if apart([point.value for point in points], images) < FEW:
            agreed += (min(1.0, 3 / len(set(images))) * weights[name]) ** 2
    (k, p), of_image = each.shape, each.mean(0)
    if p and apart(of_image.round(12), [*names]) < FEW:
        agreed = max(agreed, (min(1.0, 3 / p) * max(map(abs, weights.values()))) ** 2)
    by_seed = p * float(sums.var(ddof=1)) if k > 1 else 0.0
    by_image = k * p**2 / (p - 1) * float((of_image**2).sum()) if p > 1 else 0.0
    rest = p**2 * float(((each - of_image) ** 2).sum()) / ((k - 1) * (p - 1)) if k > 1 and p > 1 else 0.0
    return Crossed(float(sums.mean()) if k else 0.0, k, p, by_seed, by_image, rest, agreed)


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

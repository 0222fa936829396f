r"""A crossed analysis of variance, of a weighted sum of cell means over seeds and images, both random.

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

Worked example, one seed with 0, 1, 3, 4 on four images and one with 0, 3, 5, 8: $S = 8$, $I = 40/3$, $R = 4/3$, so
$V = 20$, $ν = 3.23$ and $t = 3.058$: the mean is **3 ± 4.835**, $3.058 \sqrt{20/8}$.
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
    """The analysis of one weighted sum: its value, K, P, mean squares S, I and R, and what agreement leaves open."""

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
        """The analysis as of so many seeds on the same images at these variances: I holds K times that of images."""
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

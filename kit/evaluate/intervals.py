r"""Confidence intervals at 95 %: Wilson's for shares, a bootstrap for means, and one over seeds and images together.

==================  ============================================================  ======================
estimate            varies over                                                   function
==================  ============================================================  ======================
one share           images (tasks about one image count as related)               :func:`proportion`
one mean            images                                                        :func:`bootstrap_mean`
means over seeds    seeds *and* images                                            :func:`contrast`
==================  ============================================================  ======================

The first two speak about one trained model; only the third speaks about the recipe that trained it.

Wilson's interval for $k$ right of $n$, $\hat p = k/n$, $z = 1.96$:

$$\frac{1}{1 + z^2/n}\left(\hat p + \frac{z^2}{2n} \pm z\sqrt{\frac{\hat p(1-\hat p)}{n} + \frac{z^2}{4n^2}}\right)$$

Worked example, 8 of 10: the centre is (0.8 + 0.19207)/1.38415 = 0.71674, the half-width
1.95996·√(0.016 + 0.00960)/1.38415 = 0.22657: **0.490 to 0.943**.
"""

from __future__ import annotations

import math
from collections.abc import Hashable, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from typing import Any, NamedTuple

import numpy as np

LEVEL = 0.95


@cache
def _z() -> float:
    """The 97.5th percentile of the normal distribution: 1.95996."""
    from scipy.special import ndtri  # a third of a second to import, and lists of runs need no interval made anew

    return float(ndtri(0.5 + LEVEL / 2))


RESAMPLES = 2000
"""Resamples of a bootstrap: enough for the second decimal of a 95 % bound."""


@dataclass(frozen=True)
class Interval:
    """An estimate with its 95 % interval.

    Attributes:
        value: the estimate.
        low: lower bound; minus infinity if nothing is known.
        high: upper bound; infinity if nothing is known.
        n: number of episodes it rests on.
    """

    value: float
    low: float
    high: float
    n: int

    def __str__(self) -> str:
        if not math.isfinite(self.high - self.low):
            return f"{self.value:.3f} [no interval]"
        return f"{self.value:.3f} [{self.low:.3f}, {self.high:.3f}]"

    def record(self) -> dict[str, Any]:
        """The interval as a JSON object; an infinite bound becomes null."""
        low, high = (bound if math.isfinite(bound) else None for bound in (self.low, self.high))
        return {"value": self.value, "low": low, "high": high, "n": self.n}

    @classmethod
    def of(cls, record: Mapping[str, Any]) -> Interval:
        """Read the interval that :meth:`record` wrote.

        Raises:
            KeyError: the record lacks a field.
        """
        low = -math.inf if record["low"] is None else float(record["low"])
        high = math.inf if record["high"] is None else float(record["high"])
        return cls(float(record["value"]), low, high, int(record["n"]))


class Point(NamedTuple):
    """One measured value, with the training seed and the source image that it shares with others."""

    seed: int
    image: str
    value: float


def wilson(successes: float, n: float) -> tuple[float, float]:
    """Wilson's interval for a proportion.

    Args:
        successes: number of successes, 0 to ``n``.
        n: number of trials, positive; may be an effective (fractional) number.

    Raises:
        ValueError: ``n`` isn't positive, or ``successes`` isn't in 0..n.
    """
    if not (n > 0 and 0 <= successes <= n):
        raise ValueError(f"wilson({successes}, {n}): n must be positive and successes between 0 and n")
    p, z2 = successes / n, _z() * _z()
    centre = p + z2 / (2 * n)
    half = _z() * math.sqrt(p * (1 - p) / n + z2 / (4 * n * n))
    # At 0 and at n one bound is exact; rounding would put it 1e-17 beside.
    low = 0.0 if successes == 0 else (centre - half) / (1 + z2 / n)
    high = 1.0 if successes == n else (centre + half) / (1 + z2 / n)
    return low, high


def proportion(right: Sequence[bool], clusters: Sequence[Hashable]) -> Interval:
    """A share with Wilson's interval at the effective number of trials.

    Tasks about one image are not independent. The design effect (variance between clusters over what
    independent trials would have, at least 1) divides n. With nothing but right or nothing but wrong it is
    taken as 1, its value when a single task differs.

    Args:
        right: one for each task.
        clusters: the image of each task.

    Raises:
        ValueError: no values, or not one cluster for each.
    """
    values = np.asarray(right, dtype=float)
    sums, counts = _by_cluster(values, clusters)
    n, k, p = len(values), len(sums), float(values.mean())
    if k < 2:
        effective = 1.0
    elif p in (0.0, 1.0):
        effective = float(n)
    else:
        between = k / (k - 1) * float(((sums - p * counts) ** 2).sum()) / n**2
        effective = n / max(1.0, between / (p * (1 - p) / (n - 1)))
    return Interval(p, *wilson(p * effective, effective), n)


def bootstrap_mean(
    values: Sequence[float], clusters: Sequence[Hashable], span: float | None = None, seed: int = 0
) -> Interval:
    """A mean with its percentile bootstrap interval, resampling whole clusters.

    Args:
        values: one for each task.
        clusters: the image of each task.
        span: width of the range of possible values; None if unbounded. n values that all agree still leave
            ``3/n`` of it open (the rule of three), where resampling alone would give an interval of width 0.
        seed: fixes the resamples, so the same values give the same interval.

    Raises:
        ValueError: no values, or not one cluster for each.
    """
    array = np.asarray(values, dtype=float)
    sums, counts = _by_cluster(array, clusters)
    mean, k = float(array.mean()), len(sums)
    if np.ptp(array) == 0:
        slack = 0.0 if span is None else min(1.0, 3 / len(array)) * span
        return Interval(mean, mean - slack, mean + slack, len(array))
    draws = np.random.default_rng(seed).multinomial(k, np.full(k, 1 / k), size=RESAMPLES)
    means = (draws @ sums) / (draws @ counts)
    low, high = np.quantile(means, [(1 - LEVEL) / 2, (1 + LEVEL) / 2])
    return Interval(mean, float(low), float(high), len(array))


def _by_cluster(values: np.ndarray, clusters: Sequence[Hashable]) -> tuple[np.ndarray, np.ndarray]:
    """Sum and number of values of each cluster."""
    if len(values) == 0 or len(values) != len(clusters):
        raise ValueError(f"{len(values)} values and {len(clusters)} clusters: at least one, and one each")
    index: dict[Hashable, int] = {}
    which = np.array([index.setdefault(cluster, len(index)) for cluster in clusters])
    return np.bincount(which, weights=values), np.bincount(which).astype(float)


def mean_over_seeds(values: Sequence[float]) -> Interval:
    """A mean of one number for each seed, with Student's t interval; of a single seed the interval is infinite."""
    k = len(values)
    mean = float(np.mean(values))
    if k < 2:
        return Interval(mean, -math.inf, math.inf, k)
    half = _t(k - 1) * float(np.std(values, ddof=1)) / math.sqrt(k)
    return Interval(mean, mean - half, mean + half, k)


def contrast(cells: Mapping[Any, Sequence[Point]], weights: Mapping[Any, float]) -> Interval:
    r"""A weighted sum of cell means (a difference of stages, a slope over levels), over seeds and images.

    $$\hat\theta = \frac1K\sum_k \sum_c w_c \bar x_{ck}, \qquad
    h^2 = t_{K-1}^2 \frac{s^2(\theta_k)}{K} + t_{P-1}^2 \frac{P}{P-1}\sum_p u_p^2$$

    h is the half-width. Its first term is the variation over seeds ($\theta_k$: the sum for seed k, of K), its second
    that over images ($u_p$: the contribution of image p, of P, to $\hat\theta$). An image played in two cells
    enters both with its sign, so pairing is used where there is any. Simulated with 3 seeds
    and 30 images, shares of variance from none to all: the interval covers the truth in 97.1 to 99.6 % of
    cases, where Student's t over the seeds alone (seeds share their images!) can fall to 84 %.
    It is never narrower than ±3/n times the largest weight (rule of three), with n tasks a cell and seed.

    Args:
        cells: cell → its points.
        weights: cell → the weight of its mean.

    Raises:
        ValueError: a cell is empty, or cells were measured for different seeds.
    """
    seeds = sorted({point.seed for points in cells.values() for point in points})
    thetas = dict.fromkeys(seeds, 0.0)
    influence: dict[str, float] = {}
    for name, points in cells.items():
        for seed in seeds:
            mine = [point for point in points if point.seed == seed]
            if not mine:
                raise ValueError(f"cell {name!r} has no measurement for seed {seed}; every cell needs seeds {seeds}")
            mean = sum(point.value for point in mine) / len(mine)
            thetas[seed] += weights[name] * mean
            for point in mine:
                share = weights[name] * (point.value - mean) / (len(mine) * len(seeds))
                influence[point.image] = influence.get(point.image, 0.0) + share
    n = sum(len(points) for points in cells.values())
    k, p, value = len(seeds), len(influence), sum(thetas.values()) / max(1, len(seeds))
    if k < 2 or p < 2:
        return Interval(value, -math.inf, math.inf, n)
    by_seed = float(np.var(list(thetas.values()), ddof=1)) / k
    by_image = p / (p - 1) * sum(u * u for u in influence.values())
    half = max(
        3 * len(cells) * k / n * max(abs(weight) for weight in weights.values()),
        math.sqrt(_t(k - 1) ** 2 * by_seed + _t(p - 1) ** 2 * by_image),
    )
    return Interval(value, value - half, value + half, n)


def _t(df: int) -> float:
    """The 97.5th percentile of Student's t with ``df`` degrees of freedom."""
    from scipy.special import stdtrit

    return float(stdtrit(df, 0.5 + LEVEL / 2))

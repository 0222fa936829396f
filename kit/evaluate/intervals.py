r"""Confidence intervals at 95 %: for shares, for means, and over seeds and images together.

==================  ============================================================  ======================
estimate            varies over                                                   function
==================  ============================================================  ======================
one share           images (tasks about one image count as related)               :func:`proportion`
shares over seeds   seeds *and* images                                            :func:`proportion_over_seeds`
one mean            images                                                        :func:`clustered_mean`
differences         seeds *and* images                                            :func:`contrast`
==================  ============================================================  ======================

Without seeds an interval speaks about one trained model, with them about the recipe that trained it.

A share's interval is Korn and Graubard's (Survey Methodology 24(2), 1998, 193-201): Clopper and Pearson's exact
interval at the number of independent tasks that would say as much as these do. For $x$ right of $n$ it reaches from
the 2.5th percentile of Beta$(x, n - x + 1)$ to the 97.5th of Beta$(x + 1, n - x)$.

Worked example, 0 of 8: the upper bound $u$ is where 8 wrong of 8 have a probability of 2.5 %,
$(1 - u)^8 = 0.025$, so $u = 1 - 0.025^{1/8}$: **0 to 0.369**. Eight images of 36 tasks each, all wrong, say no more
than that about a ninth image.
"""

from __future__ import annotations

import math
from collections import Counter
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


ROUNDING = 1e-20
"""A variance below this is that of equal numbers, added up in floating point."""

FEW = 3
"""Fewer images than this that differ from the rest can't tell how much tasks about one image go together."""


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
    r"""Wilson's interval for a proportion of independent trials.

    For $k$ successes of $n$, $\hat p = k/n$, $z = 1.96$:

    $$\frac{1}{1 + z^2/n}\left(\hat p + \frac{z^2}{2n}
      \pm z\sqrt{\frac{\hat p(1-\hat p)}{n} + \frac{z^2}{4n^2}}\right)$$

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


def clopper_pearson(successes: float, n: float) -> tuple[float, float]:
    """Clopper and Pearson's exact interval for a proportion.

    Args:
        successes: number of successes, 0 to ``n``.
        n: number of trials, positive; may be an effective (fractional) number.

    Raises:
        ValueError: ``n`` isn't positive, or ``successes`` isn't in 0..n.
    """
    from scipy.special import betaincinv

    if not (n > 0 and 0 <= successes <= n):
        raise ValueError(f"clopper_pearson({successes}, {n}): n must be positive and successes between 0 and n")
    failures, tail = n - successes, 0.5 - LEVEL / 2
    low = float(betaincinv(successes, failures + 1, tail)) if successes else 0.0
    high = float(betaincinv(successes + 1, failures, 1 - tail)) if failures else 1.0
    return low, high


def proportion(shares: Sequence[float], clusters: Sequence[Hashable]) -> Interval:
    """A share, or a mean of shares, with Korn and Graubard's interval.

    Tasks about one image are not independent. The design effect (variance between clusters over what independent
    trials would have, at least 1) divides n; so does (t of the clusters / t of the tasks)², since a variance
    estimated from few clusters is itself uncertain. With less than :data:`FEW` clusters apart from the rest the
    design effect can't be told, and every cluster counts as one trial: so it is at 0 and at 1.

    Args:
        shares: one for each task, 0 to 1 (right or wrong: 1 or 0). A value between counts as a part of a success,
            which makes the interval rather too wide.
        clusters: the image of each task.

    Raises:
        ValueError: no values, not one cluster for each, or a value outside 0..1.
    """
    sums, counts = _shares_by_cluster(shares, clusters)
    n, k, p = len(shares), len(sums), float(np.mean(shares))
    if _agree(sums, counts):
        effective = float(k)
    else:
        between = k / (k - 1) * float(((sums - p * counts) ** 2).sum()) / n**2
        effective = n / max(1.0, between / (p * (1 - p) / (n - 1))) * (_t(n - 1) / _t(k - 1)) ** 2
    return Interval(p, *clopper_pearson(p * effective, effective), n)


def proportion_over_seeds(points: Sequence[Point]) -> Interval:
    """A share, or a mean of shares, measured for several seeds: :func:`proportion` over seeds *and* images.

    The mean squares are :func:`contrast`'s, over seeds and over images, each with its t. The interval is Clopper and
    Pearson's at the number of independent tasks that would have this variance: near 0 and near 1 it reaches further
    towards the middle, as it should. With less than :data:`FEW` images apart from the rest the variance over images
    can't be told, and every image counts as one task.

    Args:
        points: values from 0 to 1; every seed played the same images. Of one seed: :func:`proportion`.

    Raises:
        ValueError: no points, or a value outside 0..1.
    """
    seeds = {point.seed for point in points}
    shares, images = [point.value for point in points], [point.image for point in points]
    if len(seeds) < 2:
        return proportion(shares, images)
    sums, counts = _shares_by_cluster(shares, images)
    found, k, p = _mean_squares({"share": points}, {"share": 1.0}), len(seeds), len(sums)
    share, effective = found.value, float(p)
    square = (_t(k - 1) ** 2 * found.by_seed + _t(p - 1) ** 2 * found.by_image) / (k * p)
    if square > ROUNDING and not _agree(sums, counts):  # else all images and seeds have one share, as if nothing varied
        tasks = len(points) / k  # of one seed: another one plays the same tasks
        effective = min(tasks, share * (1 - share) * _z() ** 2 / square)
    return Interval(share, *clopper_pearson(share * effective, effective), len(points))


def clustered_mean(values: Sequence[float], clusters: Sequence[Hashable], span: float | None = None) -> Interval:
    r"""A mean with Student's t interval over clusters: the part of :func:`contrast` that varies over images.

    Args:
        values: one for each task.
        clusters: the image of each task.
        span: width of the range of possible values; None if unbounded. If less than :data:`FEW` of k clusters hold
            anything but one common value, ``3/k`` of the span is left open (the rule of three), where the
            variance alone would give an interval of width 0.

    Raises:
        ValueError: no values, or not one cluster for each.
    """
    array = np.asarray(values, dtype=float)
    sums, counts = _by_cluster(array, clusters)
    mean, k, n = float(array.mean()), len(sums), len(array)
    if k < 2:
        return Interval(mean, -math.inf, math.inf, n)
    half = _t(k - 1) * math.sqrt(k / (k - 1) * float(((sums - mean * counts) ** 2).sum())) / n
    if span is not None and _apart(array, clusters) < FEW:
        half = max(half, min(1.0, 3 / k) * span)
    return Interval(mean, mean - half, mean + half, n)


def _apart(values: Sequence[float] | np.ndarray, clusters: Sequence[Hashable]) -> int:
    """Number of clusters that hold anything but the most frequent value."""
    most = Counter(float(value) for value in values).most_common(1)[0][0]
    return len({cluster for value, cluster in zip(values, clusters, strict=True) if value != most})


def _shares_by_cluster(shares: Sequence[float], clusters: Sequence[Hashable]) -> tuple[np.ndarray, np.ndarray]:
    """:func:`_by_cluster` of values from 0 to 1; any others are refused."""
    values = np.asarray(shares, dtype=float)
    if outside := [value for value in values if not 0 <= value <= 1]:
        raise ValueError(f"{outside[0]} is no share: only values from 0 to 1 have an interval of shares")
    return _by_cluster(values, clusters)


def _agree(sums: np.ndarray, counts: np.ndarray) -> bool:
    """Whether less than :data:`FEW` clusters hold anything but 0, or anything but 1: nothing tells how they differ."""
    return bool(min(np.count_nonzero(sums), np.count_nonzero(counts - sums)) < FEW)


def _by_cluster(values: np.ndarray, clusters: Sequence[Hashable]) -> tuple[np.ndarray, np.ndarray]:
    """Sum and number of values of each cluster."""
    if len(values) == 0 or len(values) != len(clusters):
        raise ValueError(f"{len(values)} values and {len(clusters)} clusters: at least one, and one each")
    index: dict[Hashable, int] = {}
    which = np.array([index.setdefault(cluster, len(index)) for cluster in clusters])
    return np.bincount(which, weights=values), np.bincount(which).astype(float)


def mean_over_seeds(values: Sequence[float], unit: float) -> Interval:
    """A mean of one number for each seed, with Student's t interval; of a single seed the interval is infinite.

    Args:
        values: one for each seed.
        unit: the smallest difference that counts. Seeds that agree leave ``3/k`` of it open (the rule of three): the
            interval is never narrower.
    """
    k = len(values)
    mean = float(np.mean(values))
    if k < 2:
        return Interval(mean, -math.inf, math.inf, k)
    half = max(_t(k - 1) * float(np.std(values, ddof=1)) / math.sqrt(k), min(1.0, 3 / k) * unit)
    return Interval(mean, mean - half, mean + half, k)


def contrast(cells: Mapping[Any, Sequence[Point]], weights: Mapping[Any, float], one_seed: bool = False) -> Interval:
    r"""A weighted sum of cell means (a difference of stages, a slope over levels), over seeds and images, both random.

    Every one of K seeds meets every one of P images (crossed). With $y_{kp}$ what image p adds for seed k, the mean
    over all of which is the sum, and mean squares as in an analysis of variance, of seeds $S$, images $I$, rest $R$:

    $$\hat\theta = \frac1K\sum_k \sum_c w_c \bar x_{ck} = \bar y, \qquad
    S = \frac{P}{K-1}\sum_k (\bar y_k - \bar y)^2, \quad I = \frac{K}{P-1}\sum_p (\bar y_p - \bar y)^2, \quad
    R = \frac{\sum_{kp} (y_{kp} - \bar y_k - \bar y_p + \bar y)^2}{(K-1)(P-1)}$$

    $$h = t_\nu \sqrt{V / KP}, \quad V = \max(S + I - R,\; S,\; I), \qquad
    \nu = \frac{V^2}{S^2/(K-1) + I^2/(P-1) + R^2/(K-1)(P-1)} \ge K - 1$$

    $V/KP$ is $s^2_{seed}/K + s^2_{image}/P + s^2_{rest}/KP$; ν is Satterthwaite's (Biometrics Bulletin 2(6), 1946);
    S and I bound V where there is hardly any variation over seeds or images. An image played in two cells enters
    both with its sign, so pairing is used where there is any. ``python -m benchmarks coverage`` simulates how often
    the interval covers the truth.

    Where less than :data:`FEW` of a cell's $P_c$ images hold anything but one common value (all wrong, say), their
    variance tells nothing of another image: $3 w_c/P_c$ (the rule of three) is added to h, in squares. So it is where
    less than that add anything but one common value to the sum, as in a tie of two stages: $3/P$ of the largest weight.

    Args:
        cells: cell → its points.
        weights: cell → the weight of its mean.
        one_seed: of a single seed, give the interval over images alone, as of one model; else it is infinite.

    Raises:
        ValueError: a cell is empty, or cells were measured for different seeds.
    """
    found = _mean_squares(cells, weights)
    n = sum(len(points) for points in cells.values())
    if found.images < 2 or (found.seeds < 2 and not one_seed):
        return Interval(found.value, -math.inf, math.inf, n)
    half = math.hypot(_satterthwaite(found), math.sqrt(found.agreed))
    return Interval(found.value, found.value - half, found.value + half, n)


class _MeanSquares(NamedTuple):
    """An analysis of variance of a weighted sum of cell means over ``seeds`` × ``images``: see :func:`contrast`."""

    value: float
    seeds: int
    images: int
    by_seed: float
    by_image: float
    rest: float
    agreed: float


def _mean_squares(cells: Mapping[Any, Sequence[Point]], weights: Mapping[Any, float]) -> _MeanSquares:
    seeds = sorted({point.seed for points in cells.values() for point in points})
    names = {image: at for at, image in enumerate(dict.fromkeys(p.image for points in cells.values() for p in points))}
    sums = np.zeros(len(seeds))
    apart = np.zeros((len(seeds), len(names)))  # each image's part of a seed's sum, beside the mean image's
    agreed = 0.0
    for name, points in cells.items():
        for row, seed in enumerate(seeds):
            mine = [point for point in points if point.seed == seed]
            if not mine:
                raise ValueError(f"cell {name!r} has no measurement for seed {seed}; every cell needs seeds {seeds}")
            mean = sum(point.value for point in mine) / len(mine)
            sums[row] += weights[name] * mean
            for point in mine:
                apart[row, names[point.image]] += weights[name] * (point.value - mean) / len(mine)
        images = [point.image for point in points]
        if _apart([point.value for point in points], images) < FEW:
            agreed += (min(1.0, 3 / len(set(images))) * weights[name]) ** 2
    (k, p), of_image = apart.shape, apart.mean(0)
    if p and _apart(of_image.round(12), [*names]) < FEW:
        agreed = max(agreed, (min(1.0, 3 / p) * max(map(abs, weights.values()))) ** 2)
    by_seed = p * float(sums.var(ddof=1)) if k > 1 else 0.0
    by_image = k * p**2 / (p - 1) * float((of_image**2).sum()) if p > 1 else 0.0
    rest = p**2 * float(((apart - of_image) ** 2).sum()) / ((k - 1) * (p - 1)) if k > 1 and p > 1 else 0.0
    return _MeanSquares(float(sums.mean()) if k else 0.0, k, p, by_seed, by_image, rest, agreed)


def _satterthwaite(found: _MeanSquares) -> float:
    """Half of the interval of the mean over seeds and images."""
    k, p, s, i, r = found.seeds, found.images, found.by_seed, found.by_image, found.rest
    if (variance := max(s + i - r, s, i)) == 0:
        return 0.0
    freedom = i**2 / (p - 1) + ((s**2 + r**2 / (p - 1)) / (k - 1) if k > 1 else 0.0)
    least = k - 1 if k > 1 else p - 1
    return _t(max(variance**2 / freedom, least)) * math.sqrt(variance / (k * p))


def _t(df: float) -> float:
    """The 97.5th percentile of Student's t with ``df`` degrees of freedom."""
    from scipy.special import stdtrit

    return float(stdtrit(df, 0.5 + LEVEL / 2))

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
from collections.abc import Callable, Hashable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cache, partial
from typing import Any

import numpy as np

from kit.evaluate.crossed import EQUAL, FEW, LEVEL, Crossed, Point, apart, crossed, quantile


@cache
def _z() -> float:
    """The 97.5th percentile of the normal distribution: 1.95996."""
    from scipy.special import ndtri  # a third of a second to import, and lists of runs need no interval made anew

    return float(ndtri(0.5 + LEVEL / 2))


ROUNDING = 1e-20
"""A variance below this is that of equal numbers, added up in floating point."""


@dataclass(frozen=True)
class Interval:
    """An estimate with its 95 % interval.

    Attributes:
        value: the estimate.
        low: lower bound; minus infinity if nothing is known.
        high: upper bound; infinity if nothing is known.
        n: number of episodes it rests on.
        low90: lower bound at 90 %, for two one-sided tests; None: nobody computed it.
        high90: upper bound at 90 %.
        with_more: the interval that so many more seeds would give at this value and these variances; None: not known.
    """

    value: float
    low: float
    high: float
    n: int
    low90: float | None = None
    high90: float | None = None
    with_more: Callable[[int], Interval] | None = field(default=None, repr=False, compare=False)

    @property
    def narrow(self) -> tuple[float, float]:
        """The bounds at 90 %; those at 95 %, which are wider, where nobody computed them."""
        return (self.low if self.low90 is None else self.low90, self.high if self.high90 is None else self.high90)

    def within(self, least: float = -math.inf, most: float = math.inf) -> Interval:
        """The interval within what can be, which Student's t of few seeds doesn't know; an unknown bound stays so."""
        low, high = (max(least, min(most, at)) if math.isfinite(at) else at for at in (self.low, self.high))
        return replace(self, low=low, high=high)

    def __str__(self) -> str:
        if not math.isfinite(self.high - self.low):
            return f"{self.value:.3f} [no interval]"
        return f"{self.value:.3f} [{self.low:.3f}, {self.high:.3f}]"

    def told(self, verdict: str) -> str:
        """The interval as text; where the verdict is *equal*, with the one at 90 %, which shows that."""
        both = verdict == "equal" and self.low90 is not None
        return f"{self}, at 90 % [{self.low90:.3f}, {self.high90:.3f}]" if both else str(self)

    def record(self) -> dict[str, Any]:
        """The interval as a JSON object; an infinite bound becomes null."""
        low, high = (bound if math.isfinite(bound) else None for bound in (self.low, self.high))
        narrow = {} if self.low90 is None else {"low90": self.low90, "high90": self.high90}
        return {"value": self.value, "low": low, "high": high, "n": self.n, **narrow}

    @classmethod
    def of(cls, record: Mapping[str, Any]) -> Interval:
        """Read the interval that :meth:`record` wrote.

        Raises:
            KeyError: the record lacks a field.
        """
        low = -math.inf if record["low"] is None else float(record["low"])
        high = math.inf if record["high"] is None else float(record["high"])
        narrow = (record.get(name) for name in ("low90", "high90"))
        return cls(float(record["value"]), low, high, int(record["n"]), *narrow)


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
        effective = n / max(1.0, between / (p * (1 - p) / (n - 1))) * (quantile(n - 1) / quantile(k - 1)) ** 2
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
    found, k, p = crossed({"share": points}, {"share": 1.0}), len(seeds), len(sums)
    share, effective = found.value, float(p)
    square = (quantile(k - 1) ** 2 * found.by_seed + quantile(p - 1) ** 2 * found.by_image) / (k * p)
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
    half = quantile(k - 1) * math.sqrt(k / (k - 1) * float(((sums - mean * counts) ** 2).sum())) / n
    if span is not None and apart(array, clusters) < FEW:
        half = max(half, min(1.0, 3 / k) * span)
    return Interval(mean, mean - half, mean + half, n)


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


def _around(
    value: float, half: Callable[[float], float], n: int, with_more: Callable[[int], Interval] | None = None
) -> Interval:
    """An interval that reaches as far down as up, by ``half`` of its width at a level."""
    wide, narrow = half(LEVEL), half(EQUAL)
    return Interval(value, value - wide, value + wide, n, value - narrow, value + narrow, with_more)


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
    return _of_numbers(mean, float(np.std(values, ddof=1)), unit, k)


def _of_numbers(mean: float, spread: float, unit: float, seeds: int, more: int = 0) -> Interval:
    k = seeds + more

    def half(level: float) -> float:
        return max(quantile(k - 1, level) * spread / math.sqrt(k), min(1.0, 3 / k) * unit)

    return _around(mean, half, k, partial(_of_numbers, mean, spread, unit, k))


def contrast(cells: Mapping[Any, Sequence[Point]], weights: Mapping[Any, float], one_seed: bool = False) -> Interval:
    """A weighted sum of cell means (a difference of stages, a slope over levels), over seeds and images, both random.

    :mod:`kit.evaluate.crossed` has the formulas. ``python -m benchmarks coverage`` simulates how often the interval
    covers the truth.

    Args:
        cells: cell → its points.
        weights: cell → the weight of its mean.
        one_seed: of a single seed, give the interval over images alone, as of one model; else it is infinite.

    Raises:
        ValueError: a cell is empty, or cells were measured for different seeds.
    """
    found = crossed(cells, weights)
    n = sum(len(points) for points in cells.values())
    if found.images < 2 or (found.seeds < 2 and not one_seed):
        return Interval(found.value, -math.inf, math.inf, n)
    return _of_crossed(found, n)


def _of_crossed(found: Crossed, n: int, more: int = 0) -> Interval:
    grown = found.with_seeds(found.seeds + more)
    n = n * grown.seeds // found.seeds
    return _around(found.value, grown.half, n, partial(_of_crossed, grown, n) if found.seeds > 1 else None)

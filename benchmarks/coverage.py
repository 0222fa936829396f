"""How often a 95 % interval holds the truth, simulated: ``python -m benchmarks coverage``.

Of shares, and of the difference of two stages over seeds and images, beside the wider interval that adds up both
variances, each with its own t, and beside a bootstrap; and how often that difference is found to hold, or falsely to be
equal.

Every picture has its own share of puzzles that are solved, drawn from a beta distribution around the true one; how far
the pictures lie apart is the correlation between two puzzles of one picture.
"""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np
from scipy import stats

from kit.evaluate.intervals import Point, contrast
from kit.evaluate.outcomes import Metric, Outcome
from papers.claims import Check
from papers.samples import SEEDS as ENOUGH
from papers.samples import bootstrap, power

SHARES = (0.02, 0.5, 0.98)
"""True shares: near 0, in the middle, near 1."""

PICTURES = (8, 40)
RELATED = (0.0, 0.3, 0.9)
"""Correlations between two puzzles of one picture."""

PUZZLES = 12
"""Puzzles cut from each picture."""


def _solved(image: str, correct: bool, seed: int) -> Outcome:
    """One puzzle: its picture, whether it was solved, and the seed of the policy that played it."""
    return Outcome(task="", image=image, correct=correct, reason="solved", turns=1, tool_calls=0, tokens=1, seed=seed)


def coverage(
    share: float, pictures: int, related: float, seeds: int = 1, repetitions: int = 1000
) -> tuple[float, float]:
    """Simulate evaluations and take each one's interval as :class:`kit.evaluate.outcomes.Metric` does.

    Args:
        share: the true share.
        pictures: number of pictures.
        related: correlation between two puzzles of one picture, 0 to below 1.
        seeds: policies that play the same puzzles, each with luck of its own.
        repetitions: number of evaluations.

    Returns:
        The share of intervals that hold the true share, and their mean width.
    """
    rng = np.random.default_rng(0)
    metric = Metric("acc", "correct", "binary")
    inside, width = 0, 0.0
    for _ in range(repetitions):
        concentration = (1 - related) / related if related else np.inf
        each = rng.beta(share * concentration, (1 - share) * concentration, pictures) if related else [share] * pictures
        outcomes = [
            _solved(str(i), bool(rng.random() < each[i]), seed)
            for seed in range(seeds)
            for i in range(pictures)
            for _ in range(PUZZLES)
        ]
        found = metric.interval(outcomes)
        inside += found.low <= share <= found.high
        width += found.high - found.low
    return inside / repetitions, width / repetitions


def coverage_table(repetitions: int = 1000) -> dict[str, tuple[float, float]]:
    """Print coverage and mean width for every case, with one seed and with four."""
    print(f"{'share':>6s} {'pictures':>9s} {'related':>8s}   one seed: covers, width   four seeds: covers, width")
    found = {}
    for share in SHARES:
        for pictures in PICTURES:
            for related in RELATED:
                one, four = (coverage(share, pictures, related, seeds, repetitions) for seeds in (1, 4))
                found[f"{share}/{pictures}/{related}"] = one
                cells = f"{one[0]:16.3f} {one[1]:7.3f} {four[0]:18.3f} {four[1]:7.3f}"
                print(f"{share:6.2f} {pictures:9d} {related:8.1f} {cells}", flush=True)
    return found | contrast_table(repetitions)


SEEDS = (3, 5, 10)
SPREADS = {"none": (0.0, 0.0), "images": (0.0, 1.5), "both": (0.3, 1.5), "seeds": (1.0, 1.5)}
"""Standard deviations of the log-odds over seeds and over images."""

BETTER = 0.5
"""Log-odds that the second stage has more than the first."""

MANY = 1000
"""Seeds and images from which the true spreads are told."""


class Simulated(NamedTuple):
    """Shares of simulated comparisons, and means over them.

    Attributes:
        covers: intervals that hold the true difference.
        width: of the intervals.
        wider: of those that add up both variances, each with its own t.
        drawn: bootstrap intervals that hold it; None for fewer seeds than it takes.
        false_equal: verdicts "equal" within a margin as large as the true difference: at most 5 % may be.
        holds: intervals above 0.
        power: what :func:`papers.samples.power` says of ``holds``, from the true spreads.
    """

    covers: float
    width: float
    wider: float
    drawn: float | None
    false_equal: float
    holds: float
    power: float


def _answers(
    rng: np.random.Generator, seeds: int, images: int, spread: tuple[float, float]
) -> tuple[np.ndarray, np.ndarray]:
    """Right and wrong answers of two stages, ``(seeds, images)``."""
    hard = rng.normal(0, spread[1], images)
    easier = hard + BETTER + rng.normal(0, spread[1] / 2, images)
    odds = (each + rng.normal(0, spread[0], (seeds, 1)) for each in (hard, easier))
    before, after = (rng.random((seeds, images)) < 1 / (1 + np.exp(-each)) for each in odds)
    return before.astype(float), after.astype(float)


def _difference(spread: tuple[float, float]) -> float:
    """The true difference of the two stages' shares, integrated over seeds and images."""
    nodes, weights = np.polynomial.hermite_e.hermegauss(80)
    odds = BETTER + nodes * math.hypot(spread[0], spread[1], spread[1] / 2)
    return float((weights / (1 + np.exp(-odds))).sum() / weights.sum()) - 0.5  # the first stage's is a half


def _spreads(each: np.ndarray) -> tuple[float, float, float]:
    """Standard deviations of a difference over seeds, over images and of the rest, from many of both."""
    seeds, images = each.shape
    left = each - each.mean(1, keepdims=True) - each.mean(0) + each.mean()
    rest = float((left**2).sum()) / ((seeds - 1) * (images - 1))
    parts = (each.mean(1).var(ddof=1) - rest / images, each.mean(0).var(ddof=1) - rest / seeds)
    by_seed, by_image = (math.sqrt(max(float(part), 0.0)) for part in parts)
    return by_seed, by_image, math.sqrt(rest)


def contrast_coverage(seeds: int, images: int, spread: tuple[float, float], repetitions: int = 1000) -> Simulated:
    """Simulate two stages of right and wrong answers and take the interval of their difference.

    Args:
        seeds: trainings of each stage.
        images: one task of each, played by both stages of every seed.
        spread: standard deviations of the log-odds over seeds and over images.
        repetitions: number of evaluations; a tenth of them for the bootstrap.
    """
    rng = np.random.default_rng(0)
    before, after = _answers(rng, MANY, MANY, spread)
    truth, spreads = _difference(spread), _spreads(after - before)
    weights, kinds = {"before": -1.0, "after": 1.0}, {str(i): "" for i in range(images)}
    inside, width, wider, equal, holds, drawn = 0, 0.0, 0.0, 0, 0, []
    for repetition in range(repetitions):
        pair = dict(zip(("before", "after"), _answers(rng, seeds, images, spread), strict=True))
        cells = {
            name: [Point(k, str(i), x) for k, row in enumerate(found) for i, x in enumerate(row)]
            for name, found in pair.items()
        }
        found = contrast(cells, weights)
        inside += found.low <= truth <= found.high
        width += found.high - found.low
        equal += Check("difference", found, truth, "within").verdict == "equal"
        holds += Check("difference", found).verdict == "holds"
        each = pair["after"] - pair["before"]
        by_seed, by_image = (each.mean(axis).var(ddof=1) / each.shape[1 - axis] for axis in (1, 0))
        freedom = (stats.t.ppf(0.975, n - 1) for n in (seeds, images))
        wider += 2 * math.hypot(*(t * math.sqrt(v) for t, v in zip(freedom, (by_seed, by_image), strict=True)))
        if seeds >= ENOUGH and repetition % 10 == 0:
            again = bootstrap(cells, weights, kinds, draws=500)
            drawn.append(again.low <= truth <= again.high)
    covers, width, wider, equally, holding = (sum_ / repetitions for sum_ in (inside, width, wider, equal, holds))
    again_covers = float(np.mean(drawn)) if drawn else None
    return Simulated(covers, width, wider, again_covers, equally, holding, power(truth, *spreads, seeds, images))


def contrast_table(repetitions: int = 1000) -> dict[str, tuple[float, float]]:
    """Print coverage and mean width of differences for every number of seeds and every spread, and what was decided."""
    print(f"{'spread over':>12s} {'seeds':>6s} {'images':>7s}   covers, width, wider one's, bootstrap covers,", end=" ")
    print("falsely equal, holds, power")
    found = {}
    for name, spread in SPREADS.items():
        for seeds in SEEDS:
            for images in (30, 300):
                one = contrast_coverage(seeds, images, spread, repetitions)
                found[f"{name}/{seeds}/{images}"] = (one.covers, one.width)
                drawn = "      -" if one.drawn is None else f"{one.drawn:7.2f}"
                cells = f"{one.covers:8.3f} {one.width:7.3f} {one.wider:7.3f} {drawn} {one.false_equal:8.3f}"
                print(f"{name:>12s} {seeds:6d} {images:7d} {cells} {one.holds:8.3f} {one.power:7.3f}", flush=True)
    return found

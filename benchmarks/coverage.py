"""How often a 95 % interval holds the truth, simulated: ``python -m benchmarks coverage``.

Of shares, and of the difference of two stages over seeds and images, beside the wider interval that adds up both
variances, each with its own t.

Every picture has its own share of puzzles that are solved, drawn from a beta distribution around the true one; how far
the pictures lie apart is the correlation between two puzzles of one picture.
"""

from __future__ import annotations

import math

import numpy as np
from scipy import stats

from kit.evaluate.intervals import Point, contrast
from kit.evaluate.outcomes import Metric, Outcome

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


def contrast_coverage(
    seeds: int, images: int, spread: tuple[float, float], repetitions: int = 1000
) -> tuple[float, float, float]:
    """Simulate two stages of right and wrong answers and take the interval of their difference.

    Args:
        seeds: trainings of each stage.
        images: one task of each, played by both stages of every seed.
        spread: standard deviations of the log-odds over seeds and over images.
        repetitions: number of evaluations.

    Returns:
        The share of intervals that hold the true difference, their mean width, and the mean width of the wider ones.
    """
    rng = np.random.default_rng(0)

    def answers(seeds: int, images: int) -> tuple[np.ndarray, np.ndarray]:
        hard = rng.normal(0, spread[1], images)
        easier = hard + 0.5 + rng.normal(0, spread[1] / 2, images)
        odds = (each + rng.normal(0, spread[0], (seeds, 1)) for each in (hard, easier))
        before, after = (rng.random((seeds, images)) < 1 / (1 + np.exp(-each)) for each in odds)
        return before.astype(float), after.astype(float)

    many = answers(2000, 2000)
    truth, inside, width, wider = float((many[1] - many[0]).mean()), 0, 0.0, 0.0
    for _ in range(repetitions):
        pair = dict(zip(("before", "after"), answers(seeds, images), strict=True))
        cells = {
            name: [Point(k, str(i), x) for k, row in enumerate(found) for i, x in enumerate(row)]
            for name, found in pair.items()
        }
        found = contrast(cells, {"before": -1.0, "after": 1.0})
        inside += found.low <= truth <= found.high
        width += found.high - found.low
        each = pair["after"] - pair["before"]
        by_seed, by_image = (each.mean(axis).var(ddof=1) / each.shape[1 - axis] for axis in (1, 0))
        freedom = (stats.t.ppf(0.975, n - 1) for n in (seeds, images))
        wider += 2 * math.hypot(*(t * math.sqrt(v) for t, v in zip(freedom, (by_seed, by_image), strict=True)))
    return inside / repetitions, width / repetitions, wider / repetitions


def contrast_table(repetitions: int = 1000) -> dict[str, tuple[float, float]]:
    """Print coverage and mean width of differences for every number of seeds and every spread."""
    print(f"{'spread over':>12s} {'seeds':>6s} {'images':>7s}   covers, width, beside the wider one's")
    found = {}
    for name, spread in SPREADS.items():
        for seeds in SEEDS:
            for images in (30, 300):
                covers, width, wider = contrast_coverage(seeds, images, spread, repetitions)
                found[f"{name}/{seeds}/{images}"] = (covers, width)
                print(f"{name:>12s} {seeds:6d} {images:7d} {covers:8.3f} {width:7.3f} {wider:7.3f}", flush=True)
    return found

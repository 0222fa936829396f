"""How often a 95 % interval of a share holds the true share, simulated: ``python -m benchmarks coverage``.

Every picture has its own share of puzzles that are solved, drawn from a beta distribution around the true one; how far
the pictures lie apart is the correlation between two puzzles of one picture.
"""

from __future__ import annotations

import numpy as np

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
    return found

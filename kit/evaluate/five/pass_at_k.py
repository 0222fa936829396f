r"""Estimate pass@k: the probability that at least one of k tries is right, from n tries of which c are.

The unbiased estimate of Chen et al. ([arXiv:2107.03374](https://arxiv.org/abs/2107.03374), section 2.1) is the share of
all sets of k tries that hold a right one:

$$\text{pass@}k = 1 - \binom{n - c}{k} \Big/ \binom{n}{k}$$

Worked example, n = 5 tries, c = 2 right, k = 3: of the 10 sets of three tries only 1 holds none of the two,
so pass@3 = 1 − 1/10 = **0.9**; pass@1 is c/n = 0.4. (1 − (1 − 0.4)³ = 0.784 would be biased.)
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence
from math import comb
from typing import Any

from kit.evaluate.intervals import Interval, Point, proportion_over_seeds


def pass_at_k(tries: int, right: int, k: int) -> float:
    """The share of all sets of ``k`` of the tries that hold a right one.

    Args:
        tries: n, how often a task was tried.
        right: c, how many of the tries were right.
        k: tries in a set.

    Raises:
        ValueError: ``k`` isn't from 1 to ``tries``, or ``right`` not from 0 to ``tries``.
    """
    if not (1 <= k <= tries and 0 <= right <= tries):
        raise ValueError(f"pass@{k} of {right} right in {tries} tries: k must be 1 to {tries}, right 0 to {tries}")
    return 1 - comb(tries - right, k) / comb(tries, k)


def pass_interval(outcomes: Sequence[Any], k: int) -> Interval:
    """Mean pass@k over tasks, with its interval over images and, where there are several, seeds.

    Args:
        outcomes: of every try; tries at one task with one seed belong together.
        k: tries in a set.

    Raises:
        ValueError: no outcomes, or a task was tried less than ``k`` times.
    """
    tried: dict[tuple[int, str], list[Any]] = defaultdict(list)
    for outcome in outcomes:
        tried[outcome.seed, outcome.task].append(outcome)
    return proportion_over_seeds(
        [
            Point(seed, some[0].image, pass_at_k(len(some), sum(o.correct for o in some), k))
            for (seed, _), some in tried.items()
        ]
    )

"""AGILE's metrics (section 4.2, Tables 1 and 2), each with a 95 % interval.

==========  ===================================================================================
metric      meaning
==========  ===================================================================================
``acc``     share of puzzles whose answer names every piece in its place (Acc, Table 1)
``score``   mean share of pieces in their place (Score, Table 2)
``turns``   mean turns of an episode, the answer included
``tokens``  mean tokens the policy sampled in an episode
==========  ===================================================================================

Names end in the grid, and in the level where there is one: ``acc_2x2``, ``acc_2x2_L0``.

Departures
- [agile-malformed-score] Paper: Score is the share of pieces in place; nothing is said of answers that aren't
  arrangements. Here: An answer that isn't each label exactly once has Score 0. Why: ``A, A, A, A`` would earn a
  quarter for nothing. May change: Score of models that often answer malformed, the untrained above all.
- [agile-chance-computed] Paper: Tables 1 and 2 have a measured row of random answers. Here: Chance is computed: 1/n!
  and 1/n for n pieces. Why: It is exact. May change: The paper's own row lies within 0.4 points of it on 2 × 2.
"""

from __future__ import annotations

from dataclasses import dataclass
from math import factorial

from kit.episode import Episode
from kit.evaluate import outcomes as base
from kit.evaluate.outcomes import Evaluation, Metric, slices_by
from papers.agile.labels import parse_labels
from papers.agile.reported import REPORTED
from papers.agile.reward import is_right

HEADLINES = {
    "acc_2x2": "2×2 solved",
    "acc_2x2_photographs": "2×2 solved, further photographs (A1, A2 and A4 count these, too)",
    "score_2x2": "2×2 pieces in place",
    "acc_3x3": "3×3 solved",
    "score_3x3": "3×3 pieces in place",
}
"""Metrics shown in the README, and their display names."""


@dataclass(frozen=True, kw_only=True)
class Outcome(base.Outcome):
    """The result of one puzzle's episode.

    Attributes:
        m: pieces a side.
        level: pieces in their place at the start.
        score: share of pieces in their place.
    """

    m: int
    level: int
    score: float


def outcome(episode: Episode, seed: int = 0) -> Outcome:
    """The outcome of one finished jigsaw episode.

    Raises:
        ValueError: the episode is still running.
    """
    task, target = episode.task, tuple(episode.task.target)
    labels = parse_labels(episode.answer) if episode.answer is not None else None
    whole = labels is not None and sorted(labels) == sorted(target)
    placed = sum(a == b for a, b in zip(labels or (), target, strict=False)) if whole else 0
    return Outcome.of(
        episode,
        placed == len(target),
        seed,
        well_formed=whole,
        m=int(task.meta["m"]),
        level=int(task.meta["level"]),
        score=placed / len(target),
    )


def random_baseline(m: int) -> dict[str, float]:
    """Acc and Score of a permutation drawn uniformly: 1/n! and 1/n for n = m² pieces, exactly.

    Every piece is in its place in (n−1)! of n! permutations, so n pieces contribute 1/n each to a sum over n.
    """
    n = m * m
    return {"acc": 1 / factorial(n), "score": 1 / n}


def _random_cell(name: str) -> str:
    """The random baseline's value of a metric; empty where it has none."""
    metric, grid = name.split("_")[:2]
    return f"{random_baseline(int(grid[0]))[metric]:.3f}" if metric in ("acc", "score") else ""


EVALUATION = Evaluation(
    "agile",
    Outcome,
    outcome,
    is_right,
    slices_by(lambda o: f"{o.m}x{o.m}", lambda o: f"L{o.level}"),
    (
        Metric("acc", "correct", "binary"),
        Metric("score", "score", "share"),
        Metric("turns", "turns", "count"),
        Metric("tokens", "tokens", "count"),
    ),
    reported=REPORTED,
    headlines=HEADLINES,
    tabled=("acc", "score"),
    note="value [95 % interval] (the paper's, Qwen2.5-VL-7B: Tables 1 and 2); random: exact",
    baseline=("random", _random_cell),
)

outcomes, failures, summary, table = EVALUATION.outcomes, EVALUATION.failures, EVALUATION.summary, EVALUATION.table
evaluate, evaluate_outcomes = EVALUATION.evaluate, EVALUATION.evaluate_outcomes
save_stage, load_stage, load_outcomes = EVALUATION.save_stage, EVALUATION.load_stage, EVALUATION.load_outcomes

"""Test AGILE's claims A1–A6 on outcomes of several seeds; :mod:`kit.evaluate.claims` explains the verdicts."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from kit.evaluate.claims import Check, Claim
from kit.evaluate.intervals import Interval, Point, contrast, mean_over_seeds, proportion
from kit.papers.agile import general
from kit.papers.agile.metrics import Outcome, random_baseline

CLAIMS = {
    "A1": "the untrained model is near random on 2×2",
    "A2": "cold start helps little, RL helps most",
    "A3": "RL on 2×2 carries over to unseen 3×3",
    "A4": "accuracy rises with N (L0 < L1 < L2)",
    "A5": "more RL puzzles, higher accuracy",
    "A6": "turns first rise, then fall, and responses get shorter",
    "A7": general.CLAIMS["A7"],
    "A8": general.CLAIMS["A8"],
}
"""Id of a claim → its statement."""

NEAR_RANDOM = 0.10
"""A1: largest distance above chance that counts as near it. The paper's 9.5 % against 4.2 % does."""

WINDOWS = 8
"""A6: number of equal stretches of steps over which a training curve is averaged."""

TURNS_THAT_COUNT = 0.1
"""A6: smallest rise or fall in turns that counts as a change."""

TOKENS_THAT_COUNT = 1.0
"""A6: smallest decrease in tokens for which responses count as shorter."""


def _grid(stage: str, outcomes: Sequence[Outcome], m: int) -> list[Outcome]:
    some = [o for o in outcomes if o.m == m]
    if not some:
        raise ValueError(
            f"{stage}: no {m}×{m} puzzle among {len(outcomes)} outcomes; play some, this claim is about them"
        )
    return some


def _seeds(outcomes: Sequence[Outcome]) -> list[int]:
    return sorted({o.seed for o in outcomes})


def _stages(m: int, metric: str, **stages: Sequence[Outcome]) -> dict[str, list[Point]]:
    """Cells of :func:`contrast`, one for each stage.

    The untrained model has no training seed; measured once, it stands for every seed.
    """
    seeds = sorted({seed for outcomes in stages.values() for seed in _seeds(outcomes)})
    cells = {}
    for stage, outcomes in stages.items():
        some = _grid(stage, outcomes, m)
        if stage == "untrained" and len(_seeds(some)) == 1:
            some = [replace(o, seed=seed) for seed in seeds for o in some]
        cells[stage] = [Point(o.seed, o.image, float(getattr(o, metric))) for o in some]
    return cells


def _slope(cells: Mapping[int, Sequence[Point]]) -> Interval:
    """Least-squares slope of cell means over the cells' order (0, 1, 2, …).

    Raises:
        ValueError: fewer than two cells.
    """
    if len(cells) < 2:
        raise ValueError(f"a slope over {sorted(cells)}: at least two are needed")
    places = np.arange(len(cells)) - (len(cells) - 1) / 2
    weights = places / (places**2).sum()
    return contrast(cells, dict(zip(sorted(cells), weights.tolist(), strict=True)))


def a1(untrained: Sequence[Outcome]) -> Claim:
    """A1: before training, 2×2 puzzles are solved about as often as by guessing (Table 1: 9.5 % against 4.1 %).

    Statistic: Acc on 2×2, all levels, with an interval over images (the untrained model has no
    seeds). Rule: holds if the upper bound is below chance, 1/24, + :data:`NEAR_RANDOM`.

    Raises:
        ValueError: no 2×2 puzzle was played.
    """
    some = _grid("untrained", untrained, 2)
    found = proportion([o.right for o in some], [o.image for o in some])
    chance = random_baseline(2)["acc"]
    check = Check("untrained Acc 2×2", found, chance + NEAR_RANDOM, "below")
    return Claim("A1", CLAIMS["A1"], (check,), f"a random arrangement has {chance:.3f}")


def a2(untrained: Sequence[Outcome], sft: Sequence[Outcome], grpo: Sequence[Outcome]) -> Claim:
    """A2: the cold start gains little, RL gains most (Table 1: 9.5 → 22.0 → 82.8 % on 2×2).

    Statistics, per seed and paired by image: RL's gain minus the cold start's, (grpo − sft) − (sft −
    untrained); and RL's gain alone, so that a harmful cold start can't make RL look good. Rule: both above 0.

    Args:
        untrained: outcomes of the untrained model, of one seed or of each.
        sft: outcomes after the cold start, of each seed.
        grpo: outcomes after RL, of each seed.

    Raises:
        ValueError: a stage has no 2×2 puzzle, or sft and grpo have other seeds.
    """
    cells = _stages(2, "right", untrained=untrained, sft=sft, grpo=grpo)
    more = contrast(cells, {"untrained": 1.0, "sft": -2.0, "grpo": 1.0})
    gain = contrast({s: cells[s] for s in ("sft", "grpo")}, {"sft": -1.0, "grpo": 1.0})
    checks = (Check("RL's gain in Acc 2×2 minus SFT's", more, 0.0), Check("RL's gain", gain, 0.0))
    return Claim("A2", CLAIMS["A2"], checks)


def a3(untrained: Sequence[Outcome], sft: Sequence[Outcome], grpo: Sequence[Outcome]) -> Claim:
    """A3: RL on 2×2 carries over to 3×3, which is never trained on (Table 2: Score 31.1 → 11.0 → 62.1 %).

    Statistics, per seed and paired by image: Score on 3×3 after RL minus after SFT, and minus untrained:
    recovering from a harmful cold start is no transfer. Rule: both above 0. The note gives two baselines without sight.

    Args:
        untrained: outcomes of the untrained model, of one seed or of each.
        sft: outcomes after the cold start, of each seed.
        grpo: outcomes after RL, of each seed.

    Raises:
        ValueError: a stage has no 3×3 puzzle, or sft and grpo have other seeds.
    """
    cells = _stages(3, "score", untrained=untrained, sft=sft, grpo=grpo)
    checks = []
    for before, text in (("sft", "after SFT"), ("untrained", "untrained")):
        pair = {stage: cells[stage] for stage in (before, "grpo")}
        checks.append(Check(f"Score 3×3 after RL minus {text}", contrast(pair, {before: -1.0, "grpo": 1.0}), 0.0))
    still = float(np.mean([o.level / o.m**2 for o in grpo if o.m == 3]))
    chance = random_baseline(3)["score"]
    note = f"a random arrangement has Score {chance:.3f}, leaving the pieces as they are {still:.3f}"
    return Claim("A3", CLAIMS["A3"], tuple(checks), note)


def a4(grpo: Sequence[Outcome]) -> Claim:
    """A4: after RL, the more pieces start in place, the more puzzles are solved (Table 1: 78.7, 83.0, 86.7 %).

    Statistic: least-squares slope of Acc over the 2×2 levels, per seed. Rule: above 0.

    Raises:
        ValueError: no 2×2 puzzle was played, or puzzles of one level only.
    """
    some = _grid("grpo", grpo, 2)
    levels = sorted({o.level for o in some})
    cells = {n: [Point(o.seed, o.image, float(o.right)) for o in some if o.level == n] for n in levels}
    check = Check("slope of Acc 2×2, a level", _slope(cells), 0.0)
    return Claim("A4", CLAIMS["A4"], (check,))


def a5(budgets: Mapping[int, Sequence[Outcome]]) -> Claim:
    """A5: more RL puzzles, higher accuracy (Figure 3: 22.0 % with none to 82.8 % with all).

    Args:
        budgets: number of RL puzzles → outcomes of the models trained on that many (checkpoints of one run will do;
            0 is the model after SFT).

    Statistic: least-squares slope of Acc on 2×2 over the budgets' rank, per seed; ranks, because budgets that
    include 0 have no logarithm. Rule: above 0.

    Raises:
        ValueError: fewer than two budgets, or one without a 2×2 puzzle.
    """
    cells = {
        n: [Point(o.seed, o.image, float(o.right)) for o in _grid(f"budget {n}", budgets[n], 2)]
        for n in sorted(budgets)
    }
    check = Check("slope of Acc 2×2, a budget", _slope(cells), 0.0)
    return Claim("A5", CLAIMS["A5"], (check,), f"budgets {', '.join(map(str, sorted(budgets)))}")


def _windows(rows: Sequence[Mapping[str, Any]], column: str) -> np.ndarray:
    """Means ``(WINDOWS,)`` of one column of a run's metrics over equal stretches of steps."""
    values = np.array([float(row[column]) for row in rows])
    return np.array([part.mean() for part in np.array_split(values, WINDOWS)])


def a6(curves: Mapping[int, Sequence[Mapping[str, Any]]]) -> Claim:
    """A6: during RL turns first rise, then fall, and responses get shorter (Figure 11 b and c, appendix E).

    Args:
        curves: seed → rows of its ``metrics.jsonl`` (columns ``turns`` and ``response_tokens``).

    Statistics: each curve becomes :data:`WINDOWS` means. A seed's rise is its turns at the peak minus at the start,
    its fall peak minus end; *where* the peak is, the other seeds say, since the highest point of a noisy
    flat curve is always above its ends. Then response tokens, start minus end. Student's t over seeds.
    Rule: rise and fall above :data:`TURNS_THAT_COUNT`, shortening above :data:`TOKENS_THAT_COUNT`.
    """
    short = [seed for seed, rows in curves.items() if len(rows) < 2 * WINDOWS]
    if len(curves) < 2 or short:
        note = f"{len(curves)} seeds, shortest run {min(map(len, curves.values()), default=0)} steps"
        return Claim("A6", CLAIMS["A6"], (), f"{note}: at least 2 seeds of {2 * WINDOWS} steps are needed")
    turns = np.array([_windows(rows, "turns") for rows in curves.values()])
    tokens = np.array([_windows(rows, "response_tokens") for rows in curves.values()])
    others = [np.delete(turns, k, axis=0).mean(axis=0) for k in range(len(turns))]
    peaks = [float(turns[k, int(curve.argmax())]) for k, curve in enumerate(others)]
    steps = sum(len(rows) for rows in curves.values())

    def over_seeds(values: Any, unit: float) -> Interval:
        return replace(mean_over_seeds([float(v) for v in values], unit), n=steps)

    checks = (
        Check("rise in turns", over_seeds(peaks - turns[:, 0], TURNS_THAT_COUNT), TURNS_THAT_COUNT),
        Check("fall in turns", over_seeds(peaks - turns[:, -1], TURNS_THAT_COUNT), TURNS_THAT_COUNT),
        Check("response tokens saved", over_seeds(tokens[:, 0] - tokens[:, -1], TOKENS_THAT_COUNT), TOKENS_THAT_COUNT),
    )
    return Claim("A6", CLAIMS["A6"], checks, f"{len(curves)} seeds")

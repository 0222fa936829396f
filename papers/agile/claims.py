"""Test AGILE's claims A1–A6 on outcomes of several seeds; :mod:`papers.claims` explains the verdicts."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from kit.evaluate.accuracy import answered
from kit.evaluate.intervals import Interval, Point, contrast, mean_over_seeds
from kit.evaluate.outcomes import Metric
from papers.agile.metrics import Outcome, random_baseline
from papers.claims import Check, Claim
from papers.contrasts import chosen, gained, on_every_seed, points, slope
from papers.registered import registered

STATED = registered("agile")
"""What the claims say, with limits and margins: ``claims.toml``."""

CLAIMS = STATED.statements
"""Id of a claim → its statement."""

ACC = Metric("acc", "correct", "binary")
"""The accuracy of the tables, so that table and claim have one interval."""

NAMED = ("solved", "wrong")
"""Ends of episodes whose answer names each piece once."""

UNSEEDED = ("untrained", "direct")
"""Stages that no training made: measured once, they stand for every seed."""


def _grid(stage: str, outcomes: Sequence[Outcome], m: int) -> list[Outcome]:
    return chosen(stage, outcomes, f"{m}×{m} puzzle", lambda o: o.m == m)


def _stages(m: int, metric: str, **stages: Sequence[Outcome]) -> dict[str, list[Point]]:
    """Cells of :func:`contrast`, one for each stage."""
    found = on_every_seed(stages, UNSEEDED)
    return {stage: points(_grid(stage, some, m), metric) for stage, some in found.items()}


def a1(direct: Sequence[Outcome], untrained: Sequence[Outcome] = (), originals: Sequence[Outcome] = ()) -> Claim:
    """A1: before training, 2×2 puzzles are solved about as often as by guessing (Table 1: 9.5 % against 4.1 %).

    Statistic: Acc on 2×2, all levels, of the base asked in its own words from what the agent is shown at first
    (:mod:`papers.agile.direct`), minus chance, 1/24, with the interval of the tables. Rule: equal within the margin, by
    the 95 %, which are wider than they need be. Not testable where no reply names
    each piece once: then what is measured is a form that isn't kept to, not how well the model can guess. The note has
    what the prompt hides: what the base solves of the full pieces.

    Args:
        direct: outcomes of the base asked so.
        untrained: outcomes of the same model as an agent, for the note.
        originals: outcomes of the same model asked from the full pieces, for the note: the ceiling.

    Raises:
        ValueError: no 2×2 puzzle was played.
    """
    some, chance = _grid("direct", direct, 2), random_baseline(2)["acc"]
    silent = "" if any(o.reason in NAMED for o in some) else f"0 of {len(some)} replies named each piece once"
    acc = ACC.interval(some)
    above = Interval(acc.value - chance, acc.low - chance, acc.high - chance, acc.n)
    note = f"a random arrangement has {chance:.3f}, the base asked directly {acc}"
    for told, outcomes in (("as an agent it has", untrained), ("asked from the full pieces", originals)):
        if outcomes:
            note += f", {told} {ACC.interval(_grid(told, outcomes, 2))}"
    return STATED["A1"].claim(STATED["A1"].check("chance", above, silent), note=note)


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
    cells = _stages(2, "correct", untrained=untrained, sft=sft, grpo=grpo)
    more = contrast(cells, {"untrained": 1.0, "sft": -2.0, "grpo": 1.0})
    stated = STATED["A2"]
    return stated.claim(stated.check("more", more), stated.check("gain", gained(cells["sft"], cells["grpo"])))


def a3(
    untrained: Sequence[Outcome],
    sft: Sequence[Outcome],
    grpo: Sequence[Outcome],
    max_new_tokens: int = 0,
    turn_tokens: Sequence[int] = (),
) -> Claim:
    """A3: RL on 2×2 carries over to 3×3, which is never trained on (Table 2: Score 31.1 → 11.0 → 62.1 %).

    Statistics, per seed and paired by image: Score on 3×3 after RL minus after SFT, and minus untrained:
    recovering from a harmful cold start is no transfer. Rule: both above 0. Not testable where no stage ever names
    each of the nine pieces once: then every Score is 0, whatever is seen. The note gives two baselines without sight.

    Args:
        untrained: outcomes of the untrained model, of one seed or of each.
        sft: outcomes after the cold start, of each seed.
        grpo: outcomes after RL, of each seed.
        max_new_tokens: tokens that a turn could have, for the reason; 0: not told.
        turn_tokens: tokens of the expert's turns on such puzzles (:func:`papers.agile.experiment.turn_tokens`).

    Raises:
        ValueError: a stage has no 3×3 puzzle, or sft and grpo have other seeds.
    """
    cells = _stages(3, "score", untrained=untrained, sft=sft, grpo=grpo)
    nine = [o for outcomes in (untrained, sft, grpo) for o in outcomes if o.m == 3]
    formless = ""
    if not any(o.reason in NAMED for o in nine):
        formless = f"0 of {len(nine)} episodes named each of the nine pieces once, {answered(nine)} answered at all"
        if max_new_tokens and turn_tokens:
            needed = f"{min(turn_tokens)} to {max(turn_tokens)}"
            formless += f"; a turn may have {max_new_tokens} tokens, the expert's take {needed}"
    stated = STATED["A3"]
    checks = [stated.check(name, gained(cells[name], cells["grpo"]), formless) for name in ("sft", "untrained")]
    still = float(np.mean([o.level / o.m**2 for o in grpo if o.m == 3]))
    chance = random_baseline(3)["score"]
    note = f"a random arrangement has Score {chance:.3f}, leaving the pieces as they are {still:.3f}"
    return stated.claim(*checks, note=note)


def a4(grpo: Sequence[Outcome]) -> Claim:
    """A4: after RL, the more pieces start in place, the more puzzles are solved (Table 1: 78.7, 83.0, 86.7 %).

    Statistic: least-squares slope of Acc over the 2×2 levels, per seed. Rule: above 0.

    Raises:
        ValueError: no 2×2 puzzle was played, or puzzles of one level only.
    """
    some = _grid("grpo", grpo, 2)
    levels = sorted({o.level for o in some})
    cells = {n: points([o for o in some if o.level == n], "correct") for n in levels}
    return STATED["A4"].claim(STATED["A4"].check("slope", slope(cells)))


def growth(budgets: Mapping[int, Sequence[Outcome]]) -> Interval:
    """Slope of Acc on 2×2 over the budgets' order (0, 1, 2, …), per seed, with its interval.

    Raises:
        ValueError: fewer than two budgets, or one without a 2×2 puzzle.
    """
    return slope(_by_budget(budgets))


def _by_budget(budgets: Mapping[int, Sequence[Outcome]]) -> dict[int, list[Point]]:
    return {n: points(_grid(f"budget {n}", budgets[n], 2), "correct") for n in sorted(budgets)}


def a5(budgets: Mapping[int, Sequence[Outcome]]) -> Claim:
    """A5: more RL puzzles, higher accuracy (Figure 3: 22.0 % with none to 82.8 % with all).

    Statistic: least-squares slope of Acc on 2×2 over the rank of the budgets *above 0*, per seed; ranks, because
    budgets double. Rule: above 0. That any training helps is A2's claim: with budget 0 among them the
    first puzzles alone could make the slope. Not testable where every budget leaves less than ``spare`` unsolved. The
    note gives the slope with budget 0, and whether growth had ended: the last budget minus the one before.

    Args:
        budgets: number of RL puzzles → outcomes of the models trained on that many (checkpoints of one run will do;
            0 is the model after SFT).

    Raises:
        ValueError: a budget without a 2×2 puzzle, or budgets of other seeds.
    """
    stated, trained = STATED["A5"], [n for n in sorted(budgets) if n]
    note = f"budgets {', '.join(map(str, sorted(budgets)))}"
    if len(trained) < 2:
        return stated.claim(note=f"{note}: growth needs at least two above 0")
    cells = _by_budget(budgets)
    left = {n: 1 - sum(point.value for point in cells[n]) / len(cells[n]) for n in trained}
    full = ""
    if max(left.values()) < stated.numbers["spare"]:
        full = f"every budget above 0 leaves at most {max(left.values()):.3f} unsolved: too little room to grow"
    rises = stated.check("slope", slope({n: cells[n] for n in trained}), full)
    before, last = trained[-2:]
    end = contrast({n: cells[n] for n in (before, last)}, {before: -1.0, last: 1.0})
    if 0 in budgets:
        note += f"; with budget 0 the slope is {slope(cells)}"
    saturated = "still growing" if end.low > 0 else "no growth shown there"
    return stated.claim(rises, note=f"{note}; Acc at {last} minus at {before} {end}: {saturated}")


def _windows(rows: Sequence[Mapping[str, Any]], column: str, n: int) -> np.ndarray:
    """Means ``(n,)`` of one column of a run's metrics over equal stretches of steps."""
    values = np.array([float(row[column]) for row in rows])
    return np.array([part.mean() for part in np.array_split(values, n)])


def a6(curves: Mapping[int, Sequence[Mapping[str, Any]]], max_turns: int) -> Claim:
    """A6: during RL turns first rise, then fall, and responses get shorter (Figure 11 b and c, appendix E).

    Args:
        curves: seed → rows of its ``metrics.jsonl`` (columns ``turns`` and ``response_tokens``).
        max_turns: turns that an episode could have.

    Statistics: each curve becomes ``windows`` means. A seed's rise is its turns at the peak minus at the start,
    its fall peak minus end; *where* the peak is, the other seeds say, since the highest point of a noisy
    flat curve is always above its ends. Then response tokens, start minus end. Student's t over seeds.
    Rule: each above its limit, the smallest change that counts. The rise isn't testable where the first step, played
    before any update, is less than ``spare_turns`` below the ceiling.
    """
    stated, n = STATED["A6"], STATED["A6"].numbers["windows"]
    short = [seed for seed, rows in curves.items() if len(rows) < 2 * n]
    if len(curves) < 2 or short:
        shortest = min(map(len, curves.values()), default=0)
        note = f"{len(curves)} seed{'s' * (len(curves) != 1)}, shortest run {shortest} steps"
        return stated.claim(note=f"{note}: at least 2 seeds of {2 * n} steps are needed")
    turns = np.array([_windows(rows, "turns", n) for rows in curves.values()])
    tokens = np.array([_windows(rows, "response_tokens", n) for rows in curves.values()])
    others = [np.delete(turns, k, axis=0).mean(axis=0) for k in range(len(turns))]
    peaks = [float(turns[k, int(curve.argmax())]) for k, curve in enumerate(others)]
    steps = sum(len(rows) for rows in curves.values())

    first = float(np.mean([float(rows[0]["turns"]) for rows in curves.values()]))
    room = max_turns - first >= stated.numbers["spare_turns"]
    ceiling = "" if room else f"turns begin at {first:.2f} of at most {max_turns}"

    def check(key: str, values: Any, untestable: str = "") -> Check:
        found = mean_over_seeds([float(v) for v in values], stated.checks[key].limit)
        return stated.check(key, replace(found, n=steps), untestable)

    return stated.claim(
        check("rise", peaks - turns[:, 0], ceiling),
        check("fall", peaks - turns[:, -1]),
        check("tokens", tokens[:, 0] - tokens[:, -1]),
        note=f"{len(curves)} seeds",
    )

"""Test CodeDance's claims C1–C6 on outcomes of several seeds; :mod:`kit.evaluate.claims` explains the verdicts.

The limits here were fixed before anything was measured. Two rewards are compared on the seeds that both have; a stage
without a training seed (the base asked directly) stands for every seed.

Departures
- [codedance-claims-drawn] Paper: rewards, the turns' part, sizes of data and budgets of turns are compared on
  benchmarks (Table 3, Figures 3 and 4). Here: all claims are decided on drawn questions, by the profile ``node`` as
  well; where a run has the benchmarks, Tables 1 to 3 stand beside them without a verdict. Why: drawn questions have
  levels and known answers at any size of run. May change: verdicts; what is best on drawn questions needn't be best on
  benchmarks.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace

import numpy as np

from kit.evaluate.claims import Check, Claim
from kit.evaluate.intervals import Interval, mean_over_seeds
from kit.train.metrics import Row
from papers.codedance.metrics import Outcome
from papers.contrasts import chosen, difference, points, shared_seeds, slope

CLAIMS = {
    "C1": "the adaptive reward is most accurate, and calls less than a bonus for calls",
    "C2": "the turns' own part keeps entropy up and accuracy higher",
    "C3": "where calls never cost anything, they grow at equal accuracy",
    "C4": "more demonstrations help",
    "C5": "more turns than in training help at evaluation",
    "C6": "operations that were only shown apart are put together",
}
"""Id of a claim → its statement."""

EQUAL = 0.05
"""C3: a difference in accuracy below this counts as equal. The paper's is 0.3 points, of averages over seven sets."""

LAST = 0.25
"""C2: share of the steps, the last ones, over which entropy is averaged."""

UNSEEDED = ("direct",)
"""Stages that no training made: measured once, they stand for every seed."""


def c1(adaptive: Sequence[Outcome], outcome: Sequence[Outcome], bonus: Sequence[Outcome]) -> Claim:
    """C1: R_BAT is the most accurate, and calls less than under a bonus (Table 3: 65.8 at 1.41 turns, 63.6 at 2.43).

    Statistics, per seed and paired by image: accuracy minus that of the outcome alone, and of the bonus; calls an
    episode of the bonus minus R_BAT's. Rule: all above 0.

    Args:
        adaptive: outcomes of the agent that was trained under R_BAT.
        outcome: under the outcome alone.
        bonus: under a bonus for calls that succeed.

    Raises:
        ValueError: one of them is empty, or two have no seed in common.
    """
    checks = (
        difference("accuracy minus the outcome reward's", {"outcome": outcome, "adaptive": adaptive}),
        difference("accuracy minus the bonus's", {"bonus": bonus, "adaptive": adaptive}),
        difference("calls that the bonus makes more", {"adaptive": adaptive, "bonus": bonus}, "tool_calls"),
    )
    return Claim("C1", CLAIMS["C1"], checks)


def _at_the_end(rows: Sequence[Row]) -> float:
    some = [float(row["entropy"]) for row in rows if "entropy" in row]
    return float(np.mean(some[-max(1, round(len(some) * LAST)) :]))


def c2(
    with_turns: Sequence[Outcome],
    without: Sequence[Outcome],
    curves: Mapping[int, Sequence[Row]],
    curves_without: Mapping[int, Sequence[Row]],
) -> Claim:
    """C2: the turns' own part of the advantage keeps entropy up, and accuracy higher (section 4.4, Figure 4).

    Statistics: entropy over the last :data:`LAST` of the steps, with the part minus without, Student's t over the seeds
    that both have; accuracy likewise, per seed and paired by image. Rule: both above 0.

    Args:
        with_turns: outcomes of R_BAT with the turns' part.
        without: the same training, the part's weight 0.
        curves: seed → rows of metrics, with the part.
        curves_without: without it.

    Raises:
        ValueError: no outcomes, or no seed in common.
    """
    seeds = sorted(set(curves) & set(curves_without))
    if not seeds:
        raise ValueError("no seed was trained both with and without the turns' part; train one")
    apart = [_at_the_end(curves[seed]) - _at_the_end(curves_without[seed]) for seed in seeds]
    steps = sum(len(curves[seed]) for seed in seeds)
    entropy = replace(mean_over_seeds(apart, 0.01), n=steps)
    checks = (
        Check("entropy at the end, with minus without", entropy, 0.0),
        difference("accuracy, with minus without", {"without": without, "with_turns": with_turns}),
    )
    return Claim("C2", CLAIMS["C2"], checks)


def c3(adaptive: Sequence[Outcome], offset_0: Sequence[Outcome]) -> Claim:
    """C3: with offset 0 calls grow at equal accuracy (section 8.2.3, Figure 9).

    Statistics, per seed and paired by image: calls an episode under offset 0 minus R_BAT's, above 0; its accuracy minus
    R_BAT's, below :data:`EQUAL`: what the calls cost buys nothing.

    Args:
        adaptive: outcomes of the agent that was trained under R_BAT.
        offset_0: under the same reward with offset 0.

    Raises:
        ValueError: one of them is empty, or they have no seed in common.
    """
    bought = difference("accuracy that they buy", {"adaptive": adaptive, "offset_0": offset_0})
    checks = (
        difference("calls that offset 0 makes more", {"adaptive": adaptive, "offset_0": offset_0}, "tool_calls"),
        replace(bought, limit=EQUAL, side="below"),
    )
    return Claim("C3", CLAIMS["C3"], checks)


def c4(sizes: Mapping[int, Sequence[Outcome]]) -> Claim:
    """C4: more SFT data, higher accuracy (section 4.4, Figure 3).

    Statistic: least-squares slope of accuracy after SFT over the rank of the sizes, per seed. Rule: above 0. Undecided
    with fewer than two sizes.

    Args:
        sizes: number of demonstrations → outcomes after SFT on so many.

    Raises:
        ValueError: a size has no outcomes, or the sizes no seed in common.
    """
    if len(sizes) < 2:
        return Claim("C4", CLAIMS["C4"], (), f"sizes {', '.join(map(str, sorted(sizes)))}: at least two are needed")
    cells = shared_seeds({str(n): sizes[n] for n in sorted(sizes)})
    means = ", ".join(f"{n}: {np.mean([o.correct for o in some]):.3f}" for n, some in cells.items())
    found = slope({int(n): points(some, "correct") for n, some in cells.items()})
    return Claim("C4", CLAIMS["C4"], (Check("slope of accuracy, a size", found, 0.0),), f"accuracy by size: {means}")


def c5(budgets: Mapping[int, Sequence[Outcome]], trained: int) -> Claim:
    """C5: more turns at evaluation than in training help (section 4.4, Figure 3).

    Statistic, per seed and paired by image: accuracy with the most turns minus with as many as in training. Rule: above
    0. Not testable where no episode used more turns than those in training. The note has all budgets.

    Args:
        budgets: most turns of an episode → outcomes of the same policy.
        trained: turns that training allowed.

    Raises:
        ValueError: the trained budget isn't among them, or nothing above it.
    """
    most = max(budgets)
    if trained not in budgets or most <= trained:
        raise ValueError(f"budgets {sorted(budgets)}: needs {trained}, as in training, and a larger one")
    check = difference(
        f"accuracy with {most} turns minus with {trained}", {"trained": budgets[trained], "most": budgets[most]}
    )
    beyond = sum(o.turns > trained for o in budgets[most])
    none = "" if beyond else f"0 of {len(budgets[most])} episodes used more than {trained} turns of {most}"
    means = ", ".join(f"{n}: {np.mean([o.correct for o in some]):.3f}" for n, some in sorted(budgets.items()))
    return Claim("C5", CLAIMS["C5"], (replace(check, untestable=none),), f"accuracy by turns: {means}")


def c6(direct: Sequence[Outcome], sft: Sequence[Outcome], grpo: Sequence[Outcome], kind: str = "composed") -> Claim:
    """C6: what demonstrations showed only apart is put together (section 4.3, shown on examples).

    Statistics, per seed and paired by image, over questions of a kind that no demonstration showed: accuracy after GRPO
    minus the base's asked directly, and minus that after SFT. Rule: both above 0.

    Args:
        direct: outcomes of the base asked directly.
        sft: after SFT.
        grpo: after GRPO.
        kind: of the questions.

    Raises:
        ValueError: a stage has no question of the kind.
    """
    stages = {"direct": direct, "sft": sft, "grpo": grpo}
    found = {name: chosen(name, some, f"{kind} question", lambda o: o.kind == kind) for name, some in stages.items()}
    checks = (
        difference("accuracy minus asked directly", {k: found[k] for k in ("direct", "grpo")}, unseeded=UNSEEDED),
        difference("accuracy minus after SFT", {k: found[k] for k in ("sft", "grpo")}),
    )
    return Claim("C6", CLAIMS["C6"], checks)


def calls_over_training(curves: Sequence[Sequence[Row]], level: str) -> Interval:
    """Change of calls on questions of a level from the first quarter of the steps to the last, over seeds.

    Args:
        curves: rows of metrics, a run each.
        level: ``easy`` or ``hard``.

    Raises:
        ValueError: a run logged no such calls.
    """
    changes = []
    for rows in curves:
        values = [float(row[f"calls_{level}"]) for row in rows if f"calls_{level}" in row]
        if not values:
            raise ValueError(f"a run of {len(rows)} steps has no calls_{level}: it had no such question, or is older")
        quarter = max(1, len(values) // 4)
        changes.append(float(np.mean(values[-quarter:]) - np.mean(values[:quarter])))
    return replace(mean_over_seeds(changes, 0.05), n=sum(map(len, curves)))

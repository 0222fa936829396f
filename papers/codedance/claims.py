"""Test CodeDance's claims C1–C6 on outcomes of several seeds; :mod:`papers.claims` explains the verdicts.

What is tested, by which arms and within which margins is stated in ``claims.toml``, which says since when. Two
rewards are compared on the seeds that both have; a stage without a training seed (the base asked directly) stands for
every seed.

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
from typing import Any

import numpy as np

from kit.evaluate.intervals import Interval, mean_over_seeds
from kit.train.metrics import Row
from papers.claims import Claim
from papers.codedance.metrics import Outcome
from papers.contrasts import apart, chosen, points, shared_seeds, slope
from papers.registered import registered

STATED = registered("codedance")
"""What is tested: statements, checks, margins and numbers (``claims.toml``)."""

CLAIMS = STATED.statements
"""Id of a claim → its statement."""

UNSEEDED = ("direct", "untrained")
"""Stages that no training made: measured once, they stand for every seed."""


def c1(adaptive: Sequence[Outcome], outcome: Sequence[Outcome], bonus: Sequence[Outcome]) -> Claim:
    """C1: R_BAT calls less than under a bonus, at no loss of accuracy (Table 3: 65.8 at 1.41 turns, 63.6 at 2.43).

    Statistics, per seed and paired by image: calls an episode of the bonus minus R_BAT's; accuracy minus that of the
    bonus, and of the outcome alone.

    Args:
        adaptive: outcomes of the agent that was trained under R_BAT.
        outcome: under the outcome alone.
        bonus: under a bonus for calls that succeed.

    Raises:
        ValueError: one of them is empty, or two have no seed in common.
    """
    claim = STATED["C1"]
    return claim.claim(
        claim.check("calls", apart({"grpo": adaptive, "bonus": bonus}, "tool_calls")),
        claim.check("outcome", apart({"outcome": outcome, "grpo": adaptive})),
        claim.check("bonus", apart({"bonus": bonus, "grpo": adaptive})),
    )


def _at_the_end(rows: Sequence[Row], last: float) -> float:
    some = [float(row["entropy"]) for row in rows if "entropy" in row]
    return float(np.mean(some[-max(1, round(len(some) * last)) :]))


def c2(
    with_turns: Sequence[Outcome],
    without: Sequence[Outcome],
    curves: Mapping[int, Sequence[Row]],
    curves_without: Mapping[int, Sequence[Row]],
) -> Claim:
    """C2: the turns' own part of the advantage keeps entropy up, and accuracy higher (section 4.4, Figure 4).

    Statistics: entropy over the last steps (the share of them that is stated), with the part minus without, Student's t
    over the seeds that both have; accuracy likewise, per seed and paired by image.

    Args:
        with_turns: outcomes of R_BAT with the turns' part.
        without: the same training, the part's weight 0.
        curves: seed → rows of metrics, with the part.
        curves_without: without it.

    Raises:
        ValueError: no outcomes, or no seed in common.
    """
    claim, seeds = STATED["C2"], sorted(set(curves) & set(curves_without))
    if not seeds:
        raise ValueError("no seed was trained both with and without the turns' part; train one")
    last = claim.numbers["last"]
    differ = [_at_the_end(curves[seed], last) - _at_the_end(curves_without[seed], last) for seed in seeds]
    steps = sum(len(curves[seed]) for seed in seeds)
    return claim.claim(
        claim.check("entropy", replace(mean_over_seeds(differ, 0.01), n=steps)),
        claim.check("accuracy", apart({"no_turns": without, "grpo": with_turns})),
    )


def c3(adaptive: Sequence[Outcome], offset_0: Sequence[Outcome]) -> Claim:
    """C3: with offset 0 calls grow at equal accuracy (section 8.2.3, Figure 9).

    Statistics, per seed and paired by image: calls an episode under offset 0 minus R_BAT's; its accuracy minus R_BAT's,
    which is what the calls buy. The paper's accuracies are 0.3 points apart, of averages over seven sets.

    Args:
        adaptive: outcomes of the agent that was trained under R_BAT.
        offset_0: under the same reward with offset 0.

    Raises:
        ValueError: one of them is empty, or they have no seed in common.
    """
    claim, stages = STATED["C3"], {"grpo": adaptive, "offset_0": offset_0}
    return claim.claim(
        claim.check("calls", apart(stages, "tool_calls")),
        claim.check("accuracy", apart(stages)),
    )


def c4(sizes: Mapping[Any, Sequence[Outcome]]) -> Claim:
    """C4: more SFT data, higher accuracy (section 4.4, Figure 3).

    Statistic: least-squares slope of accuracy after SFT over the rank of the sizes, per seed. Undecided with fewer than
    two sizes.

    Args:
        sizes: how a size is called → outcomes after SFT on so many demonstrations; from the fewest to the most.

    Raises:
        ValueError: a size has no outcomes, or the sizes no seed in common.
    """
    claim = STATED["C4"]
    if len(sizes) < 2:
        return claim.claim(note=f"not run: other sizes of demonstrations than {', '.join(map(str, sizes))}")
    cells = shared_seeds(sizes)
    means = ", ".join(f"{name}: {np.mean([o.correct for o in some]):.3f}" for name, some in cells.items())
    found = slope({rank: points(some, "correct") for rank, some in enumerate(cells.values())})
    return claim.claim(claim.check("slope", found), note=f"accuracy by size: {means}")


def c5(budgets: Mapping[int, Sequence[Outcome]], trained: int) -> Claim:
    """C5: more turns at evaluation than in training help (section 4.4, Figure 3).

    Statistic, per seed and paired by image: accuracy with the most turns minus with as many as in training. Not
    testable where training had turns enough for the calls that a question needs, or where no episode used more. The
    note has all budgets.

    Args:
        budgets: most turns of an episode → outcomes of the same policy.
        trained: turns that training allowed.

    Raises:
        ValueError: the trained budget isn't among them, or nothing above it.
    """
    claim, most = STATED["C5"], max(budgets, default=0)
    if trained not in budgets or most <= trained:
        raise ValueError(f"budgets {sorted(budgets)}: needs {trained}, as in training, and a larger one")
    needed, why = claim.numbers["calls"], ""
    if needed < trained:
        why = f"questions need {needed} calls at most, so {needed + 1} turns are enough, and training had {trained}"
    elif not any(o.turns > trained for o in budgets[most]):
        why = f"0 of {len(budgets[most])} episodes used more than {trained} turns of {most}"
    means = ", ".join(f"{n}: {np.mean([o.correct for o in some]):.3f}" for n, some in sorted(budgets.items()))
    more = apart({"trained": budgets[trained], "most": budgets[most]})
    return claim.claim(claim.check("turns", more, why), note=f"accuracy by turns: {means}")


def c6(direct: Sequence[Outcome], sft: Sequence[Outcome], grpo: Sequence[Outcome], kind: str = "composed") -> Claim:
    """C6: what demonstrations showed only apart is put together (section 4.3, shown on examples).

    Statistics, per seed and paired by image, over questions of a kind that no demonstration showed: accuracy after GRPO
    minus the base's asked directly, and minus that after SFT.

    Args:
        direct: outcomes of the base asked directly.
        sft: after SFT.
        grpo: after GRPO.
        kind: of the questions.

    Raises:
        ValueError: a stage has no question of the kind.
    """
    claim, stages = STATED["C6"], {"direct": direct, "sft": sft, "grpo": grpo}
    found = {name: chosen(name, some, f"{kind} question", lambda o: o.kind == kind) for name, some in stages.items()}
    return claim.claim(
        *(
            claim.check(name, apart({k: found[k] for k in (name, "grpo")}, unseeded=UNSEEDED))
            for name in ("direct", "sft")
        )
    )


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

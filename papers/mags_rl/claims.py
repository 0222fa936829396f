"""Test Mags-RL's claims M1–M5 on outcomes of several seeds; :mod:`papers.claims` explains the verdicts.

What is tested, by which arms and within which margins is stated in ``claims.toml``, which says since when. Two
trainings are compared on the seeds that both have; a stage without a training seed (the base, prompted) stands for
every seed.

Departures
- [mags-more] Paper: forty questions are enough; they are compared with no other number. Here: 400 at hand, for as many
  steps; of the hub's where its script was given ``--more-samples``, else drawn boards. Why: it is the comparison that
  a reader would make. May change: M4's verdict.
- [mags-same-boxes] Paper: a policy is trained with super-resolution and another one with plain resizing. Here: one
  policy's boxes on drawn boards are enlarged in both ways, at two sizes of detail, under stage 2's prompt (the paper:
  stage 1's); where a second policy was trained with plain resizing, in both stages, their boxes are compared. Why: what
  differs is then the crop alone. May change: a policy that had learnt to live with blurred crops would lose less.
- [mags-shown-by-examples] Paper: what super-resolution does (4.3) and what the stages do to boxes (3.4) is shown by
  examples (Figures 4, 6 and 7): it may encourage a more agent-oriented response pattern, and stage 2 finds more. No
  number is given. Here: M2 compares accuracies, and which boxes show what decides; M5 counts boxes and measures their
  recall. Why: an example can't be tested. May change: both claims are the kit's reading, and their verdicts are on it.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import replace
from math import isfinite
from typing import Literal

import numpy as np

from kit.evaluate.intervals import Interval, contrast
from papers.claims import Check, Claim
from papers.contrasts import apart, chosen, points, shared_seeds
from papers.mags_rl.metrics import DIFFICULTIES, Outcome
from papers.registered import registered

STATED = registered("mags_rl")
"""What is tested: statements, checks, margins and numbers (``claims.toml``)."""

CLAIMS = STATED.statements
"""Id of a claim → its statement."""

UNSEEDED = ("direct", "cot", "one_shot")
"""Stages that no training made: the base, prompted. The other two baselines prompt each seed's format start."""

PLAIN = ("bicubic", "none")
"""What enlarges without a network."""


def m1(
    agent: Sequence[Outcome],
    baselines: Mapping[str, Sequence[Outcome]],
    field: Literal["correct", "judged"] = "correct",
) -> Claim:
    """M1: more right answers than every baseline, at every difficulty (section 4.2, Table 1).

    Statistics, at each difficulty, per seed and paired by image: accuracy minus each baseline's. Shown is the one whose
    interval begins lowest; the others are above 0 if it is, and of more seeds the one whose interval would then begin
    lowest. The note has each difficulty by itself: what it came to, which baseline decided, and what all of them reach.

    Args:
        agent: outcomes of the trained agent.
        baselines: outcomes by name (:mod:`.baselines`).
        field: accuracy by the exact rule, or by the judge as in the paper's table.

    Raises:
        ValueError: a stage has no question of a difficulty, or no seed in common.
    """
    claim, checks, notes = STATED["M1"], [], []
    for level in DIFFICULTIES:
        own = _level("agent", agent, level)
        others = {name: _level(name, some, level) for name, some in baselines.items()}
        each = {name: apart({name: some, "agent": own}, field, UNSEEDED) for name, some in others.items()}
        best = min(each, key=lambda name: _lowest(each[name]))
        checks.append(check := claim.check(level, replace(each[best], with_more=_least_sure(each.values()))))
        everyone = {**others, "the agent": own}
        means = ", ".join(f"{name} {np.mean([getattr(o, field) for o in some]):.3f}" for name, some in everyone.items())
        notes.append(f"{level}, by itself: {check.verdict}, beside {best} ({means})")
    expected = [f"{level}: {told}" for level in DIFFICULTIES if (told := claim.checks[level].note)]
    return claim.claim(*checks, note="; ".join(notes + expected))


def _least_sure(leads: Collection[Interval]) -> Callable[[int], Interval] | None:
    """The lead that would begin lowest of so many more seeds; None: it isn't known of all."""
    more = [lead.with_more for lead in leads]
    return None if None in more else lambda seeds: min((grown(seeds) for grown in more if grown), key=_lowest)


def _lowest(found: Interval) -> float:
    """Where an interval begins; its value where it has none."""
    return found.low if isfinite(found.low) else found.value


def _level(name: str, outcomes: Sequence[Outcome], level: str) -> list[Outcome]:
    return chosen(name, outcomes, f"{level} question", lambda o: o.difficulty == level)


def m2(
    enlarged: Mapping[str, Mapping[str, Sequence[Outcome]]],
    network: str,
    trained: Mapping[str, Sequence[Outcome]] | None = None,
) -> Claim:
    """M2: the same boxes, super-resolved and plainly resized; and boxes of who was trained with either (section 4.3).

    Statistics, per seed and paired by image: for each size of detail, accuracy with the network minus with plain
    resizing; share of the valid boxes that show what decides, trained with the network minus plainly. The note has all
    ways of enlarging, with none as well. Not testable where no network enlarges.

    Args:
        enlarged: size of detail → what enlarges → outcomes.
        network: the one that is claimed to be better than ``bicubic``.
        trained: ``plain`` and ``grpo`` → outcomes of who was trained with plain resizing, and with the network; None:
            nobody was trained plainly, and the note says so.

    Raises:
        ValueError: one is empty, or they have no seed in common.
    """
    claim = STATED["M2"]
    if network in PLAIN:
        return claim.claim(untestable=f"network={network!r} is none; it is what one is compared with")
    checks = [
        claim.check(size, apart({name: ways[name] for name in ("bicubic", network)})) for size, ways in enlarged.items()
    ]
    notes = [
        f"{size}: " + ", ".join(f"{name} {np.mean([o.correct for o in some]):.3f}" for name, some in ways.items())
        for size, ways in enlarged.items()
    ]
    if trained is None:
        notes.append("where boxes are drawn: not run, plain_runs")
    else:
        checks.append(claim.check("boxes", apart({name: trained[name] for name in ("plain", "grpo")}, "right")))
    return claim.claim(*checks, note="; ".join(notes))


def m3(stages: Sequence[Outcome], at_once: Sequence[Outcome], field: Literal["correct", "judged"] = "correct") -> Claim:
    """M3: two stages, each with its own reward, beside all samples at once (section 4.4, Table 2).

    Statistic, per seed and paired by image: accuracy minus that of the training on everything at once, which has as
    many steps.

    Args:
        stages: outcomes after two stages.
        at_once: after one training on the samples of both.
        field: accuracy by the exact rule, or by the judge as in the paper's table.

    Raises:
        ValueError: one is empty, or they have no seed in common.
    """
    claim = STATED["M3"]
    check = claim.check("accuracy", apart({"at_once": at_once, "grpo": stages}, field))
    return claim.claim(check, note=f"{len({o.seed for o in at_once})} seed(s) at once")


def m4(few: Sequence[Outcome], many: Sequence[Outcome], met: str = "") -> Claim:
    """M4: more questions add nothing that counts (the paper trains on forty; what many more add is our comparison).

    Statistic, per seed and paired by image: accuracy with forty samples at hand minus with ten times as many. Both
    trainings have as many steps, so of many samples some may never be met; the note says how many.

    Args:
        few: outcomes after training on forty.
        many: after as many steps on many more.
        met: how many samples there were, and were met, in words.

    Raises:
        ValueError: one is empty, or they have no seed in common.
    """
    claim = STATED["M4"]
    return claim.claim(claim.check("accuracy", apart({"more": many, "grpo": few})), note=met)


def m5(stage_1: Sequence[Outcome], stage_2: Sequence[Outcome]) -> Claim:
    """M5: stage 1 makes few and safe boxes, stage 2 more of them, which find more (section 3.4).

    Statistics: share of stage 1's boxes that are valid; boxes of a counting question, and share of what decides that
    boxes cover, stage 2 minus stage 1, per seed and paired by image. Both stages are measured under the same prompt,
    which asks for several. Not testable where stage 1's agent asks for none.

    Args:
        stage_1: outcomes after stage 1.
        stage_2: after stage 2.

    Raises:
        ValueError: a stage has no counting question, or they have no seed in common.
    """
    claim = STATED["M5"]
    counting = {
        name: chosen(name, some, "counting question", lambda o: o.kind in ("count", "tallyqa"))
        for name, some in {"stage_1": stage_1, "stage_2": stage_2}.items()
    }
    asked = [o for o in stage_1 if o.valid is not None]
    if not asked:
        return claim.claim(untestable=f"0 of {len(stage_1)} episodes after stage 1 ask for a box")
    checks: tuple[Check, ...] = (
        claim.check("valid", contrast({"valid": points(asked, "valid")}, {"valid": 1.0})),
        claim.check("boxes", apart(counting, "boxes")),
        claim.check("recall", apart({"stage_1": stage_1, "stage_2": stage_2}, "recall")),
    )
    by_stage = shared_seeds({"stage 1": stage_1, "stage 2": stage_2})
    note = (f"{name}: {np.mean([o.boxes for o in some]):.2f} boxes a question" for name, some in by_stage.items())
    return claim.claim(*checks, note=", ".join(note))

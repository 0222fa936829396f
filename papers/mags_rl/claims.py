"""Test Mags-RL's claims M1–M5 on outcomes of several seeds; :mod:`kit.evaluate.claims` explains the verdicts.

The limits here were fixed before anything was measured. Two trainings are compared on the seeds that both have; a stage
without a training seed (the base, prompted) stands for every seed.

Departures
- [mags-more] Paper: forty questions are enough; they are compared with no other number. Here: 400 at hand, for as many
  steps; of the hub's where its script was given ``--more-samples``, else drawn boards. Why: it is the comparison that
  a reader would make. May change: M4's verdict.
- [mags-same-boxes] Paper: a policy is trained with super-resolution and another one with plain resizing. Here: one
  policy's boxes on drawn boards are enlarged in both ways, at two sizes of detail, under stage 2's prompt (the paper:
  stage 1's). Why: what differs is then the crop alone. May change: a policy that had learnt to live with blurred
  crops would lose less.
- [mags-shown-by-examples] Paper: what super-resolution does (4.3) and what the stages do to boxes (3.4) is shown by
  examples (Figures 4, 6 and 7): it may encourage a more agent-oriented response pattern, and stage 2 finds more. No
  number is given. Here: M2 compares accuracies, M5 counts boxes and measures their recall. Why: an example can't be
  tested. May change: both claims are the kit's reading, and their verdicts are on it.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from math import isfinite
from typing import Literal

import numpy as np

from kit.evaluate.claims import Check, Claim
from kit.evaluate.intervals import contrast
from papers.contrasts import chosen, difference, points, shared_seeds
from papers.mags_rl.metrics import DIFFICULTIES, Outcome

CLAIMS = {
    "M1": "the two-round agent beats prompting, Zoom-Refine and GRIT at every difficulty",
    "M2": "super-resolved crops beat plainly resized ones",
    "M3": "two stages beat training on everything at once",
    "M4": "forty questions are enough",
    "M5": "stage 1 makes few and safe boxes, stage 2 raises their recall",
}
"""Id of a claim → its statement."""

UNSEEDED = ("direct", "cot", "one_shot")
"""Stages that no training made: the base, prompted. The other two baselines prompt each seed's format start."""

PLAIN = ("bicubic", "none")
"""What enlarges without a network."""

EQUAL = 0.05
"""M4: what many more questions may add to the accuracy while forty still count as enough."""

SAFE = 0.9
"""M5: share of stage 1's boxes that are valid, at least."""


def m1(
    agent: Sequence[Outcome],
    baselines: Mapping[str, Sequence[Outcome]],
    field: Literal["correct", "judged"] = "correct",
) -> Claim:
    """M1: more right answers than every baseline, at every difficulty (section 4.2, Table 1).

    Statistics, at each difficulty, per seed and paired by image: accuracy minus each baseline's. Shown is the one whose
    interval begins lowest; the others are above 0 if it is. Rule: all above 0. The note has all baselines.

    Args:
        agent: outcomes of the trained agent.
        baselines: outcomes by name (:mod:`.baselines`).
        field: accuracy by the exact rule, or by the judge as in the paper's table.

    Raises:
        ValueError: a stage has no question of a difficulty, or no seed in common.
    """
    checks, note = [], []
    for level in DIFFICULTIES:
        own = _level("agent", agent, level)
        others = {name: _level(name, some, level) for name, some in baselines.items()}
        means = {name: float(np.mean([getattr(o, field) for o in some])) for name, some in others.items()}
        each = [
            difference(f"{level}: accuracy minus {name}'s", {name: some, "agent": own}, field, UNSEEDED)
            for name, some in others.items()
        ]
        checks.append(min(each, key=_lowest))
        note.append(f"{level}: " + ", ".join(f"{name} {mean:.3f}" for name, mean in means.items()))
    return Claim("M1", CLAIMS["M1"], tuple(checks), "; ".join(note))


def _lowest(check: Check) -> float:
    """Where a check's interval begins; its value where it has none."""
    low = check.interval.low
    return low if isfinite(low) else check.interval.value


def _level(name: str, outcomes: Sequence[Outcome], level: str) -> list[Outcome]:
    return chosen(name, outcomes, f"{level} question", lambda o: o.difficulty == level)


def m2(enlarged: Mapping[str, Mapping[str, Sequence[Outcome]]], network: str) -> Claim:
    """M2: the same boxes, super-resolved and plainly resized (section 4.3).

    Statistic, for each size of detail, per seed and paired by image: accuracy with the network minus with plain
    resizing. Rule: all above 0. The note has all of them, with crops that aren't enlarged. Not testable where no
    network enlarges.

    Args:
        enlarged: size of detail → what enlarges → outcomes.
        network: the one that is claimed to be better than ``bicubic``.

    Raises:
        ValueError: one is empty, or they have no seed in common.
    """
    if network in PLAIN:
        return Claim("M2", CLAIMS["M2"], (), untestable=f"network={network!r} is none; it is what one is compared with")
    checks = tuple(
        difference(f"{size}: {network} minus bicubic", {name: ways[name] for name in ("bicubic", network)})
        for size, ways in enlarged.items()
    )
    means = (
        f"{size}: " + ", ".join(f"{name} {np.mean([o.correct for o in some]):.3f}" for name, some in ways.items())
        for size, ways in enlarged.items()
    )
    return Claim("M2", CLAIMS["M2"], checks, "; ".join(means))


def m3(stages: Sequence[Outcome], at_once: Sequence[Outcome], field: Literal["correct", "judged"] = "correct") -> Claim:
    """M3: two stages, each with its own reward, are more accurate than all samples at once (section 4.4, Table 2).

    Statistic, per seed and paired by image: accuracy minus that of the training on everything at once, which has as
    many steps. Rule: above 0.

    Args:
        stages: outcomes after two stages.
        at_once: after one training on the samples of both.
        field: accuracy by the exact rule, or by the judge as in the paper's table.

    Raises:
        ValueError: one is empty, or they have no seed in common.
    """
    check = difference("accuracy minus everything at once", {"at_once": at_once, "stages": stages}, field)
    return Claim("M3", CLAIMS["M3"], (check,), f"{len({o.seed for o in at_once})} seed(s) at once")


def m4(few: Sequence[Outcome], many: Sequence[Outcome], samples: tuple[int, int], met: int) -> Claim:
    """M4: more questions add nothing that counts (the paper trains on forty; what many more add is our comparison).

    Statistic, per seed and paired by image: accuracy with many samples at hand minus with forty. Rule: below
    :data:`EQUAL`. Both trainings have as many steps, so of many samples some may never be met; the note says how many.

    Args:
        few: outcomes after training on forty.
        many: after as many steps on many more.
        samples: how many each of the two had at hand.
        met: how many of the many were met.

    Raises:
        ValueError: one is empty, or they have no seed in common.
    """
    check = difference(f"accuracy that {samples[1]} samples add to {samples[0]}", {"few": few, "many": many})
    note = f"of the {samples[1]} samples {met} were met"
    return Claim("M4", CLAIMS["M4"], (replace(check, limit=EQUAL, side="below"),), note)


def m5(stage_1: Sequence[Outcome], stage_2: Sequence[Outcome]) -> Claim:
    """M5: stage 1 makes few and safe boxes, stage 2 more of them, which find more (section 3.4).

    Statistics: share of stage 1's boxes that are valid, at least :data:`SAFE`; boxes of a counting question, and share
    of what decides that boxes cover, stage 2 minus stage 1, per seed and paired by image, above 0. Both stages are
    measured under the same prompt, which asks for several. Not testable where stage 1's agent asks for none.

    Args:
        stage_1: outcomes after stage 1.
        stage_2: after stage 2.

    Raises:
        ValueError: a stage has no counting question, or they have no seed in common.
    """
    counting = {
        name: chosen(name, some, "counting question", lambda o: o.kind in ("count", "tallyqa"))
        for name, some in {"stage_1": stage_1, "stage_2": stage_2}.items()
    }
    asked = [o for o in stage_1 if o.valid is not None]
    if not asked:
        return Claim("M5", CLAIMS["M5"], (), untestable=f"0 of {len(stage_1)} episodes after stage 1 ask for a box")
    safe = contrast({"valid": points(asked, "valid")}, {"valid": 1.0})
    checks = (
        Check("share of stage 1's boxes that are valid", safe, SAFE),
        difference("boxes of a counting question, stage 2 minus stage 1", counting, "boxes"),
        difference("recall, stage 2 minus stage 1", {"stage_1": stage_1, "stage_2": stage_2}, "recall"),
    )
    by_stage = shared_seeds({"stage 1": stage_1, "stage 2": stage_2})
    note = (f"{name}: {np.mean([o.boxes for o in some]):.2f} boxes a question" for name, some in by_stage.items())
    return Claim("M5", CLAIMS["M5"], checks, ", ".join(note))

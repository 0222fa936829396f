"""Compare two stages for a claim: the same questions, the seeds that both have, one field of their outcomes."""

from __future__ import annotations

from collections.abc import Container, Mapping, Sequence
from typing import TypeVar

from kit.evaluate.claims import Check
from kit.evaluate.contrasts import chosen, gain, on_every_seed, points
from kit.evaluate.outcomes import Outcome

T = TypeVar("T", bound=Outcome)


def shared_seeds(stages: Mapping[str, Sequence[T]], unseeded: Container[str] = ()) -> dict[str, list[T]]:
    """Outcomes of the seeds that all stages have.

    Args:
        stages: stage → its outcomes.
        unseeded: names of the stages that no training made: measured once, they stand for every seed.

    Raises:
        ValueError: a stage has no outcome, or the stages have no seed in common.
    """
    for name, some in stages.items():
        chosen(name, some, "question", lambda o: True)
    spread = on_every_seed(stages, unseeded)
    shared = set.intersection(*({o.seed for o in some} for some in spread.values()))
    if not shared:
        raise ValueError(f"{', '.join(stages)}: no seed in common; train them with the same seeds")
    return {name: [o for o in some if o.seed in shared] for name, some in spread.items()}


def difference(
    name: str, stages: Mapping[str, Sequence[T]], field: str = "correct", unseeded: Container[str] = ()
) -> Check:
    """Check that the second of two stages lies above the first in a field, by seed and paired by image.

    ``difference("gain", {"sft": before, "grpo": after})`` is positive where reinforcement helped.

    Args:
        name: of the statistic.
        stages: the two, by name, the one to compare with first.
        field: of the outcomes; those that have None there are left out.
        unseeded: as for :func:`shared_seeds`.

    Raises:
        ValueError: one is empty, or they have no seed in common.
    """
    known = {stage: [o for o in some if getattr(o, field) is not None] for stage, some in stages.items()}
    before, after = (points(some, field) for some in shared_seeds(known, unseeded).values())
    return gain(name, before, after)

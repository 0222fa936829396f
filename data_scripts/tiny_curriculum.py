"""The tiny VLM's curriculum: which skills at which step, in which shares."""

from __future__ import annotations

FIRST: dict[str, float] = {"place": 0.5, "neighbours": 0.3, "colours": 0.2}
"""Share of each skill at first: dense questions, which leave the plateau sooner than pairs of pieces do."""

MIXTURE: dict[str, float] = {
    "place": 0.07,
    "order": 0.14,
    "neighbours": 0.015,
    "rearranged": 0.005,
    "adjacency": 0.015,
    "colours": 0.015,
    "shapes": 0.01,
    "digits": 0.02,
    "orientation": 0.02,
    "chart": 0.01,
    "copying": 0.02,
    "code": 0.03,
    "sorting": 0.02,
    "reading": 0.18,
    "grid": 0.05,
    "cards": 0.01,
    "distorted": 0.11,
    "flags": 0.1,
    "facts": 0.05,
    "whose": 0.11,
}
"""Share of each skill in a batch afterwards: all of them, most to those that are slowest to come."""

LAST: dict[str, float] = MIXTURE | {
    "place": 0.11,
    "order": 0.18,
    "digits": 0.03,
    "reading": 0.13,
    "grid": 0.02,
    "cards": 0.005,
    "facts": 0.045,
}
"""Share of each skill in the last part, when the rate falls: puzzles once more, on which a percent decides."""

ENDING = 2 / 3
"""Share of the training after which :data:`LAST` begins."""

PLATEAU = 0.26
"""Share of the training that :data:`FIRST` gets, on smooth pictures: until puzzles are being solved."""


AMID = 0.7
"""Share of the samples amid other words, once the plateau is left."""


def mixture_at(step: int, plateau: int, steps: int) -> dict[str, float]:
    """:data:`FIRST` up to step ``plateau``, then :data:`MIXTURE`, and :data:`LAST` for the rest of ``steps``.

    Args:
        step: the step.
        plateau: step at which the first mixture ends.
        steps: steps of the whole run.
    """
    if step < plateau:
        return FIRST
    return MIXTURE if step < ENDING * steps else LAST

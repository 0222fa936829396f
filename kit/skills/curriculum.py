"""What the tiny VLM is taught when: which skills, in which shares."""

from __future__ import annotations

FIRST: dict[str, float] = {"place": 0.5, "neighbours": 0.3, "colours": 0.2}
"""Share of each skill at first: dense questions, which leave the plateau sooner than pairs of pieces do."""

MIXTURE: dict[str, float] = {
    "place": 0.07,
    "order": 0.15,
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
    "reading": 0.2,
    "grid": 0.13,
    "cards": 0.01,
    "distorted": 0.11,
    "flags": 0.09,
    "facts": 0.06,
}
"""Share of each skill in a batch afterwards: all of them, most to those that are slowest to come."""

LAST: dict[str, float] = MIXTURE | {
    "place": 0.12,
    "order": 0.22,
    "digits": 0.03,
    "reading": 0.17,
    "grid": 0.04,
    "cards": 0.005,
    "facts": 0.055,
}
"""Share of each skill in the last part, when the rate falls: puzzles once more, on which a percent decides."""

ENDING = 2 / 3
"""Share of the training after which :data:`LAST` begins."""

PLATEAU = 0.26
"""Share of the training that :data:`FIRST` gets, on smooth pictures: until puzzles are being solved."""


AMID = 0.7
"""Share of the samples amid other words, once the plateau is left."""


def mixture_at(step: int, plateau: int, steps: int) -> dict[str, float]:
    """:data:`FIRST` up to step ``plateau``, then :data:`MIXTURE`, and :data:`LAST` for the rest of ``steps``."""
    if step < plateau:
        return FIRST
    return MIXTURE if step < ENDING * steps else LAST

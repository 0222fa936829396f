"""What the tiny VLM is taught when: which skills, in which shares."""

from __future__ import annotations

FIRST: dict[str, float] = {"place": 0.5, "neighbours": 0.3, "colours": 0.2}
"""Share of each skill at first: dense questions, which leave the plateau sooner than pairs of pieces do."""

MIXTURE: dict[str, float] = {
    "place": 0.12,
    "order": 0.22,
    "neighbours": 0.02,
    "rearranged": 0.01,
    "adjacency": 0.02,
    "colours": 0.02,
    "shapes": 0.02,
    "digits": 0.02,
    "orientation": 0.01,
    "chart": 0.01,
    "copying": 0.03,
    "code": 0.04,
    "sorting": 0.03,
    "reading": 0.17,
    "cards": 0.02,
    "distorted": 0.06,
    "flags": 0.09,
    "facts": 0.09,
}
"""Share of each skill in a batch afterwards: all of them."""

PLATEAU = 0.26
"""Share of the training that :data:`FIRST` gets, on smooth pictures: until puzzles are being solved."""


AMID = 0.7
"""Share of the samples amid other words, once the plateau is left."""


def mixture_at(step: int, plateau: int) -> dict[str, float]:
    """:data:`FIRST` up to step ``plateau``, then :data:`MIXTURE`."""
    return FIRST if step < plateau else MIXTURE

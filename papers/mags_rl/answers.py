"""Check answers against gold answers: the kit's exact rule, and inclusion (the paper's second accuracy).

An answer includes a gold answer if it says the same, or holds its words, numbers and signs in a row: ``there are 3
cards`` includes ``3``, and ``3.5`` doesn't.
"""

from __future__ import annotations

from collections.abc import Sequence

from kit.rewards.answers import holds, number
from kit.rewards.answers import is_right as is_right
from kit.rewards.text_match import max_over_references


def includes(answer: str | None, golds: Sequence[str]) -> bool:
    """Check that an answer says one of the gold answers, if among other things (:func:`kit.rewards.answers.holds`).

    Raises:
        ValueError: there is no gold answer, or one text instead of several.
    """
    return bool(max_over_references(holds, answer, golds))


def whole(text: str) -> int | None:
    """The whole number that a gold answer is, 0 or more; None: it is none, so nothing is counted."""
    found = number(text)
    return int(found) if found is not None and found >= 0 and found.is_integer() else None

"""Check answers against gold answers: the kit's exact rule, and inclusion (the paper's second accuracy).

An answer includes a gold answer if it holds its words in a row: ``there are 3 cards`` includes ``3``.
"""

from __future__ import annotations

from collections.abc import Sequence

from kit.rewards.answers import is_right as is_right
from kit.rewards.answers import number
from kit.rewards.text_match import max_over_references, tokens


def includes(answer: str | None, golds: Sequence[str]) -> bool:
    """Check that an answer holds one of the gold answers, word by word in a row.

    Raises:
        ValueError: there is no gold answer, or one text instead of several.
    """
    return bool(max_over_references(_holds, answer, golds))


def _holds(answer: str, gold: str) -> bool:
    said, wanted = tokens(answer), tokens(gold)
    return any(said[at : at + len(wanted)] == wanted for at in range(len(said) - len(wanted) + 1)) and bool(wanted)


def whole(text: str) -> int | None:
    """The whole number that a gold answer is, 0 or more; None: it is none, so nothing is counted."""
    found = number(text)
    return int(found) if found is not None and found >= 0 and found.is_integer() else None

"""Check answers against gold answers: the exact rule, and inclusion (the paper's second accuracy).

Two texts are the same if they are after normalising, two numbers if they are equal: ``3.0`` is ``3``, ``3.5`` isn't
``35``. An answer includes a gold answer if it holds its words in a row: ``there are 3 cards`` includes ``3``.
"""

from __future__ import annotations

import re
from collections.abc import Sequence

from kit.rewards.text_match import exact_match, max_over_references, tokens

_NUMBER = re.compile(r"[-+]?\d{1,9}(?:\.\d{1,9})?")


def number(text: str) -> float | None:
    """The number that a text is, if it is one."""
    found = _NUMBER.fullmatch(text.strip().rstrip("."))
    return float(found[0]) if found else None


def same(answer: str, gold: str) -> bool:
    """Check that an answer says what the gold answer says."""
    said, right = number(answer), number(gold)
    return exact_match(answer, gold) if said is None or right is None else said == right


def is_right(answer: str | None, golds: Sequence[str]) -> bool:
    """Check an answer against the gold answers by the exact rule; none is wrong.

    Raises:
        ValueError: there is no gold answer, or one text instead of several.
    """
    return bool(max_over_references(same, answer, golds))


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

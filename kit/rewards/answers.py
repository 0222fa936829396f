"""Check short answers against gold answers: words, numbers, options, and numbers that may be a little off.

Two texts are alike if they are after normalising (:func:`kit.rewards.text_match.exact_match`), two numbers if they are
equal however they are written: ``1,200`` is ``1200.0``, and ``1.5`` isn't ``15``. An option is right by its letter
alone. A gold answer may allow for an error: ``12.5 ± 5 %`` of it, or ``40 ± 0.5`` in its own unit.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from math import isclose
from typing import Any

from kit.data.questions import letter
from kit.episode import Episode, Score
from kit.rewards.text_match import exact_match, max_over_references

EDGE = 1e-9
"""Share of a number by which floats miss: 1.6 is 0.1 off 1.5, and a computer says a little more."""

_NUMBER = re.compile(r"[$€£]?\s*([-+−]?\d[\d,]*(?:\.\d+)?|[-+−]?\.\d+)\s*[%°]?")


def number(text: str) -> float | None:
    """The number that a text is, if it is one: ``$1,200``, ``-3.5``, ``20 %``."""
    found = _NUMBER.fullmatch(text.strip().rstrip("."))
    return float(found[1].replace(",", "").replace("−", "-")) if found else None


def alike(answer: str, gold: str) -> float:
    """1 if an answer says what the gold answer says, else 0."""
    if len(gold) == 1 and gold.isascii() and gold.isalpha():  # as words, an A is an article and counts for nothing
        return float(letter(answer) == gold.upper())
    told, _, error = gold.partition(" ± ")
    said, right = number(answer), number(told)
    if said is None or right is None:
        return float(exact_match(answer, gold))
    off = number(error) if error else None
    if off is None:
        return float(isclose(said, right, rel_tol=EDGE))
    allowed = off / 100 * abs(right) if error.endswith("%") else off
    return float(abs(said - right) <= allowed + EDGE * abs(right))


def is_right(answer: str | None, golds: Sequence[str]) -> bool:
    """Check an answer against the gold answers; none is wrong.

    Raises:
        ValueError: there is no gold answer, or one text instead of several.
    """
    return bool(max_over_references(alike, answer, golds))


def answer_alone(episode: Episode, target: Any) -> Score:
    """The reward of an agent that is asked for answers and nothing else: 1 for a right one."""
    right = is_right(episode.answer, target)
    return Score(float(right), {"answer": float(right)}, correct=right)

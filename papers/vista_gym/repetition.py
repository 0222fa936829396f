"""Find text that repeats itself on the spot: the same letters, the same word, the same phrase, again and again.

A policy that has lost its way says ``the the the the …`` until its tokens run out. What counts is how many times
something stands in a row, with nothing between:

=============================================  ==========  ========  =========
stands in a row                                moderate    severe    extreme
=============================================  ==========  ========  =========
1 to 4 characters (``a``, ``ha``, ``10 ``)     20 times    40        80
a word                                         6           12        24
a phrase of 2 to 20 words                      4           8         16
(of 2 to 60, in a script without spaces)
=============================================  ==========  ========  =========

The worst of them counts. Words are told apart by white space, a tag is a word, and so is each character of a
script without spaces; capitals don't matter. Worked example:
six times ``no`` is moderate, and six times more is severe.

Departures
- [vista-repetition] Paper: contiguous repeats of tokens, phrases and characters cost 1.5, 2 or 3 points, by a severity
  that neither text nor code defines. Here: the table's thresholds. Why: they let through what calls and tables need,
  such as 0.3333333333333333 or five equal bars. May change: how early a policy that begins to repeat itself is stopped.
"""

from __future__ import annotations

import re
from collections.abc import Hashable, Sequence
from typing import Literal

from kit.rewards.text_match import split

Severity = Literal["none", "moderate", "severe", "extreme"]
"""How badly a text repeats itself."""

CHARACTERS, WORD, PHRASE = (20, 40, 80), (6, 12, 24), (4, 8, 16)
"""Times in a row from which a repetition is moderate, severe, extreme."""

LONGEST_PATTERN, LONGEST_PHRASE, LONGEST_SPACELESS = 4, 20, 60
"""Characters of a pattern, words of a phrase, and of one whose words are characters."""


_WORD = re.compile(r"<[^<>\s]*>|[^<\s]+|<")


def severity(text: str) -> Severity:
    """Tell how badly a text repeats itself.

    >>> severity("It is 7. It is 7, I think.")
    'none'
    >>> severity("no " * 12)
    'severe'
    """
    words = _WORD.findall(text.lower())
    line = " ".join(words)  # white space by itself is no repetition
    units = [unit for word in words for unit in (split(word) if word[0] != "<" else [word])]
    longest = LONGEST_PHRASE if len(units) == len(words) else LONGEST_SPACELESS
    found = (
        *(_level(times(line, length), CHARACTERS) for length in range(1, LONGEST_PATTERN + 1)),
        _level(times(units, 1), WORD),
        *(_level(times(units, length), PHRASE) for length in range(2, longest + 1)),
    )
    names: tuple[Severity, ...] = ("none", "moderate", "severe", "extreme")
    return names[max(found)]


def times(units: Sequence[Hashable], length: int) -> int:
    """Count how many times in a row, at most, a stretch of so many units stands.

    >>> times("xababab", 2)
    3
    """
    most = run = 0
    for before, now in zip(units, units[length:], strict=False):
        run = run + 1 if before == now else 0
        most = max(most, run)
    return most // length + 1 if len(units) >= length else 0


def _level(count: int, thresholds: Sequence[int]) -> int:
    return sum(count >= threshold for threshold in thresholds)

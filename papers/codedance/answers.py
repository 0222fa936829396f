"""Check answers by :mod:`kit.rewards.answers`: the one rule for rewards, metrics and checks of tasks.

An answer that is too long is wrong. ChartQA's gold answers allow for an error, years among them: ``12.5 ± 5 %``.
"""

from __future__ import annotations

from collections.abc import Sequence

from kit.rewards import answers

LONGEST = 1000
"""An answer of so many characters is malformed (released code)."""


def is_right(answer: str | None, golds: Sequence[str]) -> bool:
    """Check an answer against the gold answers; none, or one that is too long, is wrong.

    Raises:
        ValueError: there is no gold answer, or one text instead of several.
    """
    return answers.is_right(answer if answer is not None and len(answer) < LONGEST else None, golds)

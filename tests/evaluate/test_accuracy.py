"""Accuracy and answers of any paper's outcomes."""

from __future__ import annotations

import pytest
from made_outcomes import made

from kit.evaluate.accuracy import accuracy, answered
from kit.evaluate.outcomes import Outcome

REASONS = ("solved", "wrong", "malformed", "format", "turns", "tokens", "lost", "solved")
OUTCOMES = [made(Outcome, why == "solved", why, task=f"t{k}", image=f"p{k}") for k, why in enumerate(REASONS)]


def test_answers_are_counted_right_or_not() -> None:
    assert answered(OUTCOMES) == 4
    assert answered([]) == 0


def test_accuracy_is_the_share_solved_of_all_episodes() -> None:
    """Two of eight pictures: fewer than three differ from the rest, so each counts as one: Clopper-Pearson's
    interval at 2 of 8 is .0319 to .6509."""
    found = accuracy(OUTCOMES)
    assert (found.value, found.n) == (0.25, 8)
    assert (found.low, found.high) == pytest.approx((0.0319, 0.6509), abs=1e-4)
    with pytest.raises(ValueError, match="0 episodes"):
        accuracy([])

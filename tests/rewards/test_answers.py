"""Short answers: numbers however written, options by their letter, tolerances as shares or in its own unit."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from kit.episode import Action, Episode, Task, Turn
from kit.rewards.answers import alike, answer_alone, is_right, number


@pytest.mark.parametrize(
    ("answer", "gold", "right"),
    [
        ("1,200", "1200.0", True),
        ("1.5", "15", False),
        ("$1,200", "1200", True),
        ("a cat", "The cat.", True),
        ("B. red", "B", True),
        ("42", "40 ± 5 %", True),
        ("42.1", "40 ± 5 %", False),
        ("40.5", "40 ± 0.5", True),
        ("40.6", "40 ± 0.5", False),
        ("−39.5", "-40 ± 0.5", True),
        ("forty", "40 ± 0.5", False),
        ("à", "À", True),  # a letter, but no option's
    ],
)
def test_what_is_alike(answer: str, gold: str, right: bool) -> None:
    assert is_right(answer, (gold,)) is right


@given(st.text(), st.text(min_size=1))
def test_any_text_can_be_judged(answer: str, gold: str) -> None:
    assert alike(answer, gold) in (0.0, 1.0)
    assert number(answer) is None or isinstance(number(answer), float)


@pytest.mark.parametrize(("answer", "total"), [("7.0", 1.0), ("8", 0.0), (None, 0.0)])
def test_an_answer_alone_is_worth_one(answer: str | None, total: float) -> None:
    turn = Turn((), (), "text", None if answer is None else Action("answer", answer))
    score = answer_alone(Episode(Task("t", (), "?", ("7",)), (), (turn,), "answer"), ("7",))
    assert (score.total, score.parts, score.correct) == (total, {"answer": total}, total == 1.0)

"""Answers: the exact rule, and inclusion."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from papers.mags_rl.answers import includes, is_right, whole


@pytest.mark.parametrize(
    ("answer", "gold", "right", "holds"),
    [
        ("tea 35", "tea 35", True, True),
        ("Tea, 35.", "tea 35", True, True),
        ("the tea 35", "tea 35", True, True),
        ("tea", "tea 35", False, False),
        ("It says tea 35 there", "tea 35", False, True),
        ("3.0", "3", True, True),
        ("3.5", "35", False, False),
        ("about 3.5", "35", False, False),
        ("-3", "3", False, False),
        ("it shows -3", "3", False, False),
        ("at 1:30", "30", False, False),
        ("it is 1/2 full", "2", False, False),
        ("from 10-12", "12", False, False),
        ("written in C++", "C++", False, True),
        ("written in C", "C++", False, False),
        ("they cost $1,200 each", "1200", False, True),
        ("x = 3", "3", True, True),
        ("", "the", False, False),
        ("...", "?", False, False),
        ("Yes, it is", "Yes", False, True),
        ("Yes or no", "Yes", False, False),
        ("No. Yes.", "Yes", False, False),
        ("A. B. C. D.", "A", False, False),
        ("I think B", "B", False, True),
        ("A or B", "B", False, False),
        ("there are 3 cards", "3", False, True),
        ("13", "3", False, False),
        ("", "3", False, False),
        ("35 tea", "tea 35", False, False),
    ],
)
def test_the_exact_rule_and_inclusion(answer: str, gold: str, right: bool, holds: bool) -> None:
    assert is_right(answer, (gold,)) is right
    assert includes(answer, (gold,)) is holds


def test_no_answer_and_several_golds() -> None:
    assert not is_right(None, ("a",)) and not includes(None, ("a",))
    assert is_right("sofa", ("couch", "sofa"))
    with pytest.raises(ValueError, match="give a list of texts"):
        is_right("a", "abc")


@pytest.mark.parametrize(
    ("text", "count"), [("3", 3), ("0", 0), (" 12 ", 12), ("-1", None), ("2.5", None), ("two", None)]
)
def test_a_count_is_a_whole_number(text: str, count: int | None) -> None:
    assert whole(text) == count


@given(st.text(), st.text(min_size=1))
def test_any_text_can_be_compared(answer: str, gold: str) -> None:
    assert is_right(gold, (gold,)) and isinstance(is_right(answer, (gold,)), bool)
    assert isinstance(includes(answer, (gold,)), bool)
    whole(answer)

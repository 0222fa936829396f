"""What repeats itself, how badly, and what doesn't."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from papers.vista_gym.repetition import CHARACTERS, PHRASE, WORD, severity, times

NAMES = ("none", "moderate", "severe", "extreme")


@pytest.mark.parametrize(
    ("unit", "thresholds"),
    [
        ("a", CHARACTERS),
        ("ha", CHARACTERS),
        ("!?.,", CHARACTERS),
        ("no ", WORD),
        ("I see it. ", PHRASE),
        ("Now I think that the red bar is higher than the blue one, and so on. ", PHRASE),
    ],
)
def test_golden_thresholds(unit: str, thresholds: tuple[int, int, int]) -> None:
    """One time fewer than each threshold is the level before it."""
    for before, after, count in zip(NAMES, NAMES[1:], thresholds, strict=False):
        assert (severity(unit * (count - 1)), severity(unit * count)) == (before, after), (unit, count)


@pytest.mark.parametrize(
    "text",
    [
        "",
        " " * 500,
        "It is 7. It is 7, I think.",
        '{"tool": "sam.segment", "arguments": {"box_prompt": [0, 0, 0, 0], "share": 0.3333333333333333}}',
        "red 5, blue 5, green 5, black 5, white 5",
        "The answer is 1000000000.",
    ],
)
def test_what_agents_have_to_write_does_not_repeat(text: str) -> None:
    assert severity(text) == "none"


@pytest.mark.parametrize(
    "sentence",
    [
        "我看到红色的柱子比蓝色的高。",
        "红色的柱子比蓝色的柱子高很多，所以答案应该是左边的那一个，而不是右边的。",
        "赤い棒は青い棒より高いです。",
        "แท่งสีแดงสูงกว่าแท่งสีน้ำเงิน",
        "ແທ່ງສີແດງສູງກວ່າ",
        "អគារក្រហមខ្ពស់ជាង",
    ],
)
def test_a_sentence_in_a_script_without_spaces_repeats_itself(sentence: str) -> None:
    """As one in English does, whether its words or its characters are told apart."""
    found = [severity(sentence * count) for count in (1, *PHRASE, 40)]
    assert found == ["none", "moderate", "severe", "extreme", "extreme"]


def test_a_text_in_such_a_script_need_not_repeat_itself() -> None:
    assert severity("我先看左边的柱子，它是红色的；再看右边的柱子，它是蓝色的。红色的更高，所以答案是红色。") == "none"
    assert severity("<think>好</think><answer>红</answer>") == "none"


def test_it_is_found_in_the_middle_and_in_capitals() -> None:
    assert severity(f"Well, {'No no ' * 6} that is it.") == "severe"
    assert severity("<think>" + "I see it. " * 4 + "</think><answer>7</answer>") == "moderate"


def test_times_by_hand() -> None:
    assert [times("xababab", n) for n in (1, 2, 4, 9)] == [1, 3, 1, 0]
    assert times("aaa", 1) == 3 and times([], 1) == 0


@given(st.text(), st.text())
def test_more_text_never_repeats_less(text: str, more: str) -> None:
    words = text.lower().split()
    longer = [*words, *more.lower().split()]
    for length in (1, 2, 5):
        assert times(words, length) <= times(longer, length)
    assert severity(text) in NAMES


def test_it_takes_time_by_the_length_alone() -> None:
    """A response of the longest kind, hostile to whatever backtracks."""
    assert severity("ab " * 30_000 + "c") == "extreme"
    assert severity(" ".join(map(str, range(30_000)))) == "none"

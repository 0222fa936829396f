"""What repeats itself, how badly, and what doesn't."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from kit.papers.vista_gym.repetition import CHARACTERS, PHRASE, WORD, severity, times

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

"""Token F1 and exact match: numbers by hand, invariants on any text."""

from __future__ import annotations

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from kit.rewards.text_match import exact_match, f1, max_over_references, tokens


@pytest.mark.parametrize(
    ("answer", "gold", "score", "same"),
    [
        ("the red car", "red cars", 0.5, False),  # {red, car} and {red, cars}: P = R = 1/2
        ("The  Eiffel-Tower!", "eiffeltower", 1.0, True),  # punctuation is removed, not made a space
        ("in Paris, France", "Paris", 0.5, False),  # P = 1/3, R = 1: 2 · 1/3 / (4/3) = 1/2
        ("yes yes yes", "yes", 0.5, False),  # a word said thrice is right once: P = 1/3, R = 1
        ("a b b c", "b b d", 4 / 6, False),  # "a" is an article: {b, b, c} and {b, b, d}: P = R = 2/3
        ("12.50", "1250", 1.0, True),
        ("blue", "green", 0.0, False),
        ("the", "a", 1.0, True),  # nothing is left of either
        ("", "paris", 0.0, False),
        ("北京大学", "北京", 4 / 6, False),  # four characters, two common: P = 1/2, R = 1
        ("北京", "东京", 0.5, False),  # P = R = 1/2
        ("东京。", "“东京”", 1.0, True),
        ("GDP 是 5", "gdp是5", 1.0, True),
        ("Москва", "москва", 1.0, True),
        ("東京タワー", "Tokyo Tower", 0.0, False),
    ],
)
def test_golden(answer: str, gold: str, score: float, same: bool) -> None:
    assert f1(answer, gold) == pytest.approx(score)
    assert exact_match(answer, gold) is same


def test_tokens_are_words_or_characters() -> None:
    assert tokens("The  Brown-fox, (a cat)") == ["brownfox", "cat"]
    assert tokens("她在 Google 工作") == ["她", "在", "google", "工", "作"]
    assert tokens("ตา") == ["ต", "า"]
    assert tokens(" .,!? ") == []


@given(st.text(), st.text())
@example("İ", "i̇")  # lower() may make one character two
@example("\ud800", "the")
def test_invariants_on_any_text(one: str, other: str) -> None:
    score = f1(one, other)
    assert 0 <= score <= 1
    assert score == f1(other, one)
    assert f1(one, one) == 1
    assert exact_match(one, one)
    if exact_match(one, other):
        assert score == 1


@given(st.lists(st.text(min_size=1), min_size=1, max_size=4), st.text())
def test_the_best_of_several_gold_answers_counts(golds: list[str], answer: str) -> None:
    assert max_over_references(f1, answer, golds) == max(f1(answer, gold) for gold in golds)
    assert max_over_references(f1, golds[-1], golds) == 1
    assert max_over_references(exact_match, None, golds) == 0


def test_a_question_without_gold_is_refused() -> None:
    with pytest.raises(ValueError, match=r"^no gold answer"):
        max_over_references(f1, "x", [])
    with pytest.raises(ValueError, match=r"^gold answers 'Chad': give a list of texts, not one text"):
        max_over_references(f1, "x", "Chad")

"""MiniLM: likeness in meaning, on the sentences its makers show."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor

import pytest

from papers.visual_arft.similarity import MiniLM


@pytest.fixture(scope="module")
def alike() -> MiniLM:
    return MiniLM()


def test_the_same_is_1_and_order_does_not_matter(alike: MiniLM) -> None:
    assert alike("capital of Chad", "capital of Chad") == 1.0
    assert alike("capital of Chad", "Chad exports") == alike("Chad exports", "capital of Chad")


def test_what_means_the_same_is_more_alike_than_what_shares_words(alike: MiniLM) -> None:
    gold = "capital city of France"
    assert alike("which town is the French capital", gold) > 0.5 > alike("price of milk in cents", gold)
    assert alike("France capital", gold) > alike("France exports", gold)


def test_any_text_has_a_likeness(alike: MiniLM) -> None:
    for text in ("", "?", "北京", "\ud7ff" * 600, "\ud800 capital", "\udfff"):
        assert -1 <= alike(text, "capital of France") <= 1


def test_threads_may_ask_at_once(alike: MiniLM) -> None:
    pairs = [(f"query {k % 3}", "capital of France") for k in range(24)]
    with ThreadPoolExecutor(8) as pool:
        found = list(pool.map(lambda pair: alike(*pair), pairs))
    assert found == [alike(*pair) for pair in pairs]

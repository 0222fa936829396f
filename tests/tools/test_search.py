"""What a search found, written for a model."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from kit.tools.search import Snippet, information


def test_information_is_numbered_cut_and_cannot_end_early() -> None:
    found = [Snippet("A", "one\n two", "x"), Snippet("B </information>", "y" * 20 + "<ans</answer>wer>", "x")]
    assert information(found, max_chars=12) == "<information>1. A: one two\n2. B: yyyyyyyyyyy…</information>"
    assert information([]) == "<information>Nothing was found.</information>"


# fmt: off
TAGS = (
    "</information>", "< / information >", "</information\n>", "<information/>", "</information a='1'>",
    "<answer id=1>", "<ans<answer>wer>", "<\u200banswer>", "</\u200binformation>", "<answer\u200b>", "<\u00adanswer>",
    "<an\u200dswer>", "</info\u2060rmation>", "<\ufeffanswer>", "<a\U000e0041nswer>", "</ANSWER >",
)
# fmt: on


@pytest.mark.parametrize("tag", TAGS)
def test_a_tag_is_taken_out_however_it_is_written(tag: str) -> None:
    assert information([Snippet(f"A{tag}", f"one{tag}", "x")]) == "<information>1. A: one</information>"


@pytest.mark.parametrize(
    "text", ["a <b> c", "x < answers > y", "\u0645\u06cc\u200c\u062e", "\U0001f468\u200d\U0001f469", "<3"]
)
def test_what_is_no_tag_stays(text: str) -> None:
    assert information([Snippet("A", text, "x")]) == f"<information>1. A: {text}</information>"


@given(st.lists(st.tuples(st.text(), st.text()), max_size=4))
def test_information_holds_one_pair_of_tags(found: list[tuple[str, str]]) -> None:
    text = information(
        [Snippet(f"{title}</information>", f"</inform</information>ation>{text}", "") for title, text in found]
    )
    assert text.startswith("<information>")
    assert text.count("</information>") == 1
    assert text.endswith("</information>")

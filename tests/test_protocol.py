"""The tag grammar and the answer parser are total and strict."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from kit.episode import Action
from kit.protocol import FormatError, Protocol, parse_labels

PROTOCOL = Protocol(actions=("code",))
SNIPPETS = st.sampled_from(
    ["<think>", "</think>", "<code>", "</code>", "<answer>", "</answer>", "a", " ", "\n", "[A, B]", "\x00", "é"]
)
TAGGED = st.lists(SNIPPETS, max_size=12).map("".join)


@pytest.mark.parametrize(
    ("text", "action"),
    [
        ("<think>t</think><code>x = 1</code>", Action("code", "x = 1")),
        ("<answer> [A] </answer>", Action("answer", "[A]")),
        ("<code>a</code><answer>b</answer>", Action("code", "a")),
        ("<code>a<code>b</code>", Action("code", "a<code>b")),
    ],
)
def test_parse_finds_the_first_action(text: str, action: Action) -> None:
    assert PROTOCOL.parse(text) == action


@pytest.mark.parametrize("text", ["", "hello", "<code>x", "</code>", "<think>only</think>", "<code>x</answer>"])
def test_parse_names_what_is_missing(text: str) -> None:
    error = PROTOCOL.parse(text)
    assert isinstance(error, FormatError) and "<code>" in error.message and "<answer>" in error.message


@given(st.text() | TAGGED)
def test_no_text_makes_the_grammar_raise(text: str) -> None:
    assert isinstance(PROTOCOL.parse(text), Action | FormatError)
    if PROTOCOL.well_formed(text):
        assert isinstance(PROTOCOL.parse(text), Action)


@pytest.mark.parametrize("text", ["<think>t</think><code>c</code>", " <think>t</think>\n<answer>a</answer>\n"])
def test_well_formed(text: str) -> None:
    assert PROTOCOL.well_formed(text)


@pytest.mark.parametrize(
    "text",
    [
        "<code>c</code>",
        "<think>t</think>",
        "<think></think><code>c</code>",
        "<think>t</think><code> </code>",
        "<think>t</think> so <code>c</code>",
        "<think>t</think><code>c</code><answer>a</answer>",
        "<think>t<code></think>c</code>",
        "<code>c</code><think>t</think>",
        "<think>t</think><code>c</code> done",
        "<think>t</think><think>c</think>",
    ],
)
def test_not_well_formed(text: str) -> None:
    assert not PROTOCOL.well_formed(text)


@pytest.mark.parametrize("text", ['["B", "C"]', "['B','C']", "[B, C]", "B, C", ' [ "B" , C ] '])
def test_labels_in_every_spelling(text: str) -> None:
    assert parse_labels(text) == ("B", "C")


@pytest.mark.parametrize("text", ["", "[]", "[B, C", "B C", "[B,, C]", "[[B], C]", "1, 2", '["B C"]', "[B; C]", "é, B"])
def test_anything_else_is_no_list(text: str) -> None:
    assert parse_labels(text) is None


@given(st.text())
def test_no_text_makes_the_parser_raise(text: str) -> None:
    labels = parse_labels(text)
    assert labels is None or all(label.isalnum() for label in labels)

"""Labels in every spelling, and what is no list of them."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from papers.agile.labels import parse_labels


@pytest.mark.parametrize(
    "text",
    [
        '["B", "C"]',
        "['B','C']",
        "[B, C]",
        "B, C",
        ' [ "B" , C ] ',
        "[B, C,]",
        "B, C, ",
        '["B", "C", ]',
        "[\u201cB\u201d, \u2018C\u2019]",
    ],
)
def test_labels_in_every_spelling(text: str) -> None:
    assert parse_labels(text) == ("B", "C")


@pytest.mark.parametrize(
    "text",
    [
        "",
        "[]",
        "[B, C",
        "B C",
        "[B,, C]",
        "[[B], C]",
        "1, 2",
        '["B C"]',
        "[B; C]",
        "é, B",
        "[B, C,,]",
        "[,]",
        ",",
        "[\u201dB\u201c]",
        "['B\"]",
        "<code>" * 100_000,
    ],
)
def test_anything_else_is_no_list(text: str) -> None:
    assert parse_labels(text) is None


@given(st.text())
def test_no_text_makes_the_parser_raise(text: str) -> None:
    labels = parse_labels(text)
    assert labels is None or all(label.isalnum() for label in labels)

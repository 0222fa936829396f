"""Rows of numbers, words and signs: what stays of a text, and what is prose."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from kit.rewards.lexemes import lexemes
from kit.rewards.notation import Quantity, plain


def shown(text: str) -> str:
    """Lexemes with spaces between, numbers as decimals."""
    row = lexemes(plain(text))
    return " ".join(f"{float(one.value):g}{one.unit}" if isinstance(one, Quantity) else one for one in row)


@pytest.mark.parametrize(
    ("text", "row"),
    [
        ("The cat, a dog & an owl.", "cat dog and owl"),
        ("Plan A", "plan a"),
        ("A and B", "a and b"),
        ("C++ or C#", "c + + or c #"),
        ("x-ray, T-shirt, e-mail", "xray tshirt email"),
        ("COVID-19 on an F-16, in 3-D", "covid 19 on f 16 in 3 d"),
        ("x-3 and x -3", "x - 3 and x -3"),
        ("(2,-3)", "2 , -3"),
        ("on 2/10/1986 at 10:05", "on 2 / 10 / 1986 at 10 : 05"),
        ("5 - 3 is 5-3 is 5 -3", "5 - 3 is 5 - 3 is 5 - 3"),
        ("T.F. Riehl's U.S. home", "tf riehls us home"),
        ("20 per cent of $5", "20% of 5$"),
        ("**red**", "red"),
        ("A-", "a -"),
        ("it is 1,200", "it is 1200"),
        ("两只猫", "两 只 猫"),
        ("the", "the"),
        ("?!", "?!"),
        ("", ""),
    ],
)
def test_rows_by_hand(text: str, row: str) -> None:
    assert shown(text) == row


@given(st.text())
def test_any_text_has_a_row_and_none_is_empty(text: str) -> None:
    assert bool(lexemes(plain(text))) == bool(plain(text))

"""What the reader says of lines that were read: made by hand, no OCR."""

from __future__ import annotations

import pytest

from visual_tools.perception.text import Line, ReadText


def page(*rows: str) -> tuple[Line, ...]:
    """Rows below each other; a bar parts two pieces of one."""
    return tuple(
        Line(piece.strip(), (10 + 200 * i, 10 + 40 * j, 150 + 200 * i, 40 + 40 * j), 0.9)
        for j, row in enumerate(rows)
        for i, piece in enumerate(row.split("|"))
    )


@pytest.mark.parametrize(
    ("rows", "word", "said"),
    [
        (("steak | 12", "tea | 3"), "tea", "3"),
        (("Subtotal | 90", "Tax | 10", "TOTAL | 100"), "Total", "100"),
        (("Tea-cups 5", "tea: 3"), "cups", "5"),
        (("NetPrice 4", "Price 5"), "price", "5"),
        (("AB 5", "B 6"), "B", "6"),
        (("11 | milk", "1 | tea"), "1", "tea"),
        (("1.5 | milk", "1 | tea"), "1", "tea"),
        (("0.5 | milk", "5 | tea"), "5", "tea"),
        (("Überraschung 4", "raschung 5"), "raschung", "5"),
        (("İstanbul total | 34",), "total", "34"),
        (("合计金额 515",), "金额", "515"),
        (("总计515",), "总计", "515"),
        (("milk515",), "milk", "515"),
        (("5kg | tea",), "5", "kg tea"),
        (("Total", "Total | 7"), "Total", "7"),
    ],
)
def test_a_word_is_not_found_among_the_letters_of_another(rows: tuple[str, ...], word: str, said: str) -> None:
    assert ReadText().answer(page(*rows), {"after": word}) == said


@pytest.mark.parametrize(("rows", "word"), [(("steak | 12",), "tea"), (("Women 5",), "men"), (("12 | x",), "2")])
def test_a_word_that_stands_only_within_others_is_told_not_to_be_there(rows: tuple[str, ...], word: str) -> None:
    with pytest.raises(ValueError, match=rf"nothing stands right of '{word}'; there is {rows[0][:2]}"):
        ReadText().answer(page(*rows), {"after": word})


@pytest.mark.parametrize(
    ("row", "said"),
    [
        ("milk | .5", ".5"),
        ("milk .5", ".5"),
        ("milk ..... 5", "5"),
        ("milk.....5", "5"),
        ("milk. 5", "5"),
        ("milk: 5.", "5"),
        ("milk | : | -5", "-5"),
        ("milk = 1.50", "1.50"),
        ("milk, $.99", "$.99"),
    ],
)
def test_dots_before_a_number_go_and_its_decimal_point_stays(row: str, said: str) -> None:
    assert ReadText().answer(page(row), {"after": "milk"}) == said

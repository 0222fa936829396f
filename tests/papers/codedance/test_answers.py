"""When an answer is right."""

from __future__ import annotations

import pytest

from papers.codedance.answers import is_right


@pytest.mark.parametrize(
    ("answer", "gold", "right"),
    [
        ("10", "10", True),
        ("10.0", "10", True),
        ("1,200", "1200", True),
        ("$43", "43", True),
        ("20 %", "20", True),
        (" Red. ", "red", True),
        ("15", "1.5", False),
        ("-5", "5", False),
        ("−5", "-5", True),
        ("ten", "10", False),
        ("10 apples", "10", False),
        ("", "10", False),
        (None, "10", False),
        ("red" + " " * 997, "red", False),
    ],
)
def test_answers_and_golds(answer: str | None, gold: str, right: bool) -> None:
    assert is_right(answer, (gold,)) is right
    assert is_right(answer, ("nothing like it", gold)) is right, "of several golds the nearest"


def test_one_text_in_place_of_golds_is_refused() -> None:
    with pytest.raises(ValueError, match="give a list of texts"):
        is_right("1", "10")

"""The data sets' own tolerances, at their edges."""

from __future__ import annotations

import pytest

from papers.vista_gym.answers import golds, is_right


@pytest.mark.parametrize(
    ("rule", "gold", "right", "wrong"),
    [
        ("chart", "1.5", ("1.6", "1.4", "1.55"), ("1.61", "1.39")),
        ("chart", "40", ("42", "38", "40.05"), ("42.1", "37.9")),
        ("angle", "40", ("40.5", "39.5", "40°"), ("40.6", "42")),
        ("length", "1000", ("1001", "999"), ("1001.1", "998.9")),
        ("share", "7.2", ("6.7", "7.7 %"), ("6.6", "7.8")),
        ("exact", "40", ("40", "40.0"), ("40.1", "41")),
        ("chart", "red", ("Red", "red."), ("dark red", "blue")),
    ],
)
def test_how_far_off_an_answer_may_be(rule: str, gold: str, right: tuple[str, ...], wrong: tuple[str, ...]) -> None:
    allowed = golds((gold,), rule)
    assert all(is_right(answer, allowed) for answer in right)
    assert not any(is_right(answer, allowed) for answer in wrong)


def test_an_unknown_rule_is_named() -> None:
    with pytest.raises(ValueError, match="rule 'roughly' for answers: choose one of chart, angle, length, share"):
        golds(("1",), "roughly")

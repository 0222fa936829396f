"""Charts that others draw are read right, or it is said why not."""

from __future__ import annotations

from collections import Counter

import pytest
from foreign_charts import DEVELOPMENT, KEPT, Foreign

from visual_tools.charts.parse import read_chart
from visual_tools.charts.table import NotFound, number
from visual_tools.words import read_words


def outcome(one: Foreign) -> str:
    """``right``, ``refused`` or told not to be known, or ``wrong``: a value is off by more than a twentieth.

    Of values near zero a fiftieth of the largest is allowed for.
    """
    try:
        image = one.draw()
        table = read_chart(image, read_words(image)).table
    except ValueError:
        return "refused"
    most, lacks = max(abs(value) for row in one.values for value in row), False
    shares = sum(one.values[0]) if one.kind == "pie" else 0
    for name, row in zip(one.series or ("",), one.values, strict=False):
        for label, value in zip(one.labels, row, strict=True):
            try:
                found = table.value(label, name)
                found = None if found is None else float(number(found))  # as an agent reads it
            except NotFound:
                found = None
            right = 100 * value / shares if shares else value
            if found is None:
                lacks = True
            elif abs(found - right) > max(0.05 * abs(right), 0.02 * most):
                return "wrong"
    return "refused" if lacks else "right"


@pytest.mark.slow
def test_sixty_foreign_charts_are_read_right_or_refused() -> None:
    found = {name: outcome(one) for name, one in {**DEVELOPMENT, **KEPT}.items()}
    count = Counter(found.values())
    print(dict(count), {name: word for name, word in found.items() if word == "wrong"})
    assert len(found) == 60
    assert count["right"] + count["refused"] >= 55 and count["wrong"] <= 2 and count["right"] >= 30, found

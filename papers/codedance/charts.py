"""Charts, for ChartQA and CharXiv: one bar's value is easy; what has to be computed from all of them is hard."""

from __future__ import annotations

from math import prod

import numpy as np

from papers.codedance.drawn import Drawn, one_of, reader
from pictures.documents import Sheet, chart

READ = "Read the bars."
"""How the base is asked about a chart."""

ASKED = {
    "sum": "What is the sum of the bars?",
    "product": "What is the product of the bars?",
    "difference": "What is the highest bar minus the lowest?",
    "average": "What is the average of the bars?",
}
"""What is asked of all bars together."""


def value(rng: np.random.Generator) -> Drawn:
    """Ask how high one bar is."""
    one = chart(rng, ())
    asked, answer = one.questions[int(rng.integers(len(one.rows)))]
    return Drawn(one.image, asked, answer, f"chart {one.text}", READ, one.text, dict(one.rows), reader(one))


def compute(rng: np.random.Generator) -> Drawn:
    """Ask for a computation over all bars."""
    one = chart(rng, ())
    asked, expression, answer = question(rng, one)
    facts = dict(one.rows)
    key = f"chart {one.text}"
    return Drawn(one.image, asked, answer, key, READ, one.text, facts, reader(one), expression=expression)


def question(rng: np.random.Generator, one: Sheet) -> tuple[str, str, str]:
    """Ask something of a chart's bars: the question, Python that computes the answer, and the answer.

    An average is asked only if it is whole. Of red 2, green 6, blue 4: ``2 + 6 + 4`` is 12, ``6 - 2`` is 4,
    ``(2 + 6 + 4) // 3`` is 4.
    """
    heights = [int(height) for _, height in one.rows]
    whole = sum(heights) % len(heights) == 0
    kind = one_of(rng, tuple(ASKED) if whole else tuple(name for name in ASKED if name != "average"))
    plus, times = " + ".join(map(str, heights)), " * ".join(map(str, heights))
    high, low = max(heights), min(heights)
    worked = {
        "sum": (plus, sum(heights)),
        "product": (times, prod(heights)),
        "difference": (f"{high} - {low}", high - low),
        "average": (f"({plus}) // {len(heights)}", sum(heights) // len(heights)),
    }
    expression, answer = worked[kind]
    return ASKED[kind], expression, str(answer)

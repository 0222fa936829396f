"""Charts: FigureQA, ChartQA and, outside of the distribution, PlotQA, on charts that matplotlib draws.

==========  =============================================================  =========================================
set         asks                                                           by
==========  =============================================================  =========================================
FigureQA    which of two is lowest or highest (the paper's: yes or no)     chartmoe.analyze: ``tea 12``
ChartQA     a label's value; of one series                                 unichart.to_table
            the title, an axis' name                                       chartocr.read
            highest, lowest, sum, average                                  chartmoe.analyze
            the difference of two                                          chartmoe.answer
PlotQA      a value among large or fractional numbers, other words         deplot.to_table
==========  =============================================================  =========================================
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from papers.vista_gym.drawn import Drawn, Maker, call, one_of, several
from pictures import documents
from pictures.documents import BARS, GOODS, NAMES, TOWNS
from visual_tools.charts.table import Kind, Table, number
from visual_tools.drawn import charts

WORDS = {"good": GOODS, "town": TOWNS, "name": NAMES, "colour": BARS}
"""What the labels of a chart are, and their words."""
KINDS: tuple[Kind, ...] = ("bar", "bar", "horizontal bar", "line", "pie")
FIGURES: tuple[Kind, ...] = ("bar", "line", "pie")
BARS_AND_LINES: tuple[Kind, ...] = ("bar", "horizontal bar", "line")
LEAST_APART = 4
"""Share of the tallest, in per cent, by which two values differ: which is higher has to be seen."""


def table(rng: np.random.Generator, kind: Kind, series: int = 1, labels: str = "") -> Table:
    """Make up a chart's table in the words of :data:`WORDS`.

    Args:
        rng: source of all randomness.
        kind: of chart.
        series: how many.
        labels: a key of :data:`WORDS`; empty: any.
    """
    across = labels or one_of(rng, list(WORDS))
    names = several(rng, WORDS[across], int(rng.integers(3, 6)))
    rows = tuple(_values(rng, len(names), kind) for _ in range(series))
    taken = {*names}
    title = (
        f"{one_of(rng, [w for w in GOODS if w not in taken])} in {one_of(rng, [w for w in TOWNS if w not in taken])}"
    )
    legend = tuple(several(rng, [word for word in NAMES if word not in taken], series)) if series > 1 else ("",)
    named = "" if kind == "pie" or rng.random() < 0.5 else across
    return Table(kind, title, named, "", tuple(names), legend, rows)


def _values(rng: np.random.Generator, count: int, kind: Kind) -> tuple[float, ...]:
    """Whole numbers that differ; of a pie, shares that sum to 100."""
    while True:
        values = rng.integers(5, 99, count)
        if kind == "pie":
            values = np.round(100 * values / values.sum()).astype(int)
            values[0] += 100 - values.sum()
        ordered = np.sort(values)
        if ordered[0] > 3 and (np.diff(ordered) >= max(1, LEAST_APART * ordered[-1] / 100)).all():
            return tuple(float(v) for v in values)


def _asked(rng: np.random.Generator, of: Table, question: str, answer: str, right: str, wrong: str, rule: str) -> Drawn:
    image = charts.draw(rng, of).image
    return Drawn(image, question, answer, f"chart {of.kind} {of.linear()}", (right,), wrong, rule)


def value(rng: np.random.Generator, reader: str = "unichart.to_table") -> Drawn:
    """Ask for a label's value, half of the time in a chart of several series."""
    grouped = rng.random() < 0.4
    kind = one_of(rng, [one for one in KINDS if not (grouped and one == "pie")])
    of = table(rng, kind, 2 if grouped else 1)
    return _value_of(rng, of, reader)


def _value_of(rng: np.random.Generator, of: Table, reader: str) -> Drawn:
    """Ask for any value of a table."""
    series, label = int(rng.integers(len(of.series))), int(rng.integers(len(of.categories)))
    name, named = of.categories[label], {"series": of.series[series]} if of.series[series] else {}
    of_series = f" for {of.series[series]}" if named else ""
    asked = one_of(rng, ("What is the value of {0}{1}?", "How much is {0}{1}?", "Which number belongs to {0}{1}?"))
    answer, right = number(of.values[series][label]), call(reader, of=name, **named)
    return _asked(rng, of, asked.format(name, of_series), answer, right, call("chartocr.read", part="title"), "chart")


def part(rng: np.random.Generator) -> Drawn:
    """Ask for the title, or for what the labels are."""
    of = table(rng, one_of(rng, KINDS))
    wrong = call("unichart.to_table", of=one_of(rng, of.categories))
    asked = one_of(rng, ("What is the title of the chart?", "Which title does the chart have?"))
    return _asked(rng, of, asked, of.title, call("chartocr.read", part="title"), wrong, "exact")


MEASURES = {
    "highest": ("Which is the highest?", "Which has the largest value?"),
    "lowest": ("Which is the lowest?", "Which has the smallest value?"),
    "sum": ("What is the sum of all values?", "How much is it in total?"),
    "average": ("What is the average of all values?", "How much is it on average?"),
}
"""What ``chartmoe.analyze`` works out, and how it is asked for."""


def measure(rng: np.random.Generator) -> Drawn:
    """Ask for the highest, the lowest, the sum or the average."""
    of, wanted = table(rng, one_of(rng, BARS_AND_LINES)), one_of(rng, list(MEASURES))
    values = [float(value or 0) for value in of.values[0]]
    ends = {"highest": np.argmax(values), "lowest": np.argmin(values)}
    totals = {"sum": sum(values), "average": round(sum(values) / len(values), 1)}
    answer = of.categories[int(ends[wanted])] if wanted in ends else number(totals[wanted])
    right, wrong = call("chartmoe.analyze", measure=wanted), call("chartocr.read", part="title")
    return _asked(rng, of, one_of(rng, MEASURES[wanted]), answer, right, wrong, "chart")


def difference(rng: np.random.Generator) -> Drawn:
    """Ask by how much two labels differ."""
    of = table(rng, one_of(rng, BARS_AND_LINES[:2]))
    one, two = several(rng, range(len(of.categories)), 2)
    question = f"What is the difference between {of.categories[one]} and {of.categories[two]}?"
    answer = number(abs((of.values[0][one] or 0) - (of.values[0][two] or 0)))
    wrong = call("unichart.to_table", of=of.categories[one])
    return _asked(rng, of, question, answer, call("chartmoe.answer", question=question), wrong, "chart")


def chartqa(rng: np.random.Generator) -> Drawn:
    """Any of these, values most often."""
    makers: tuple[Maker, ...] = (value, value, value, part, measure, measure, difference)
    return one_of(rng, makers)(rng)


def figureqa(rng: np.random.Generator) -> Drawn:
    """Ask which of two labels, one of them at an end, is highest or lowest."""
    of, wanted = table(rng, one_of(rng, FIGURES), labels="colour"), one_of(rng, ("highest", "lowest"))
    values = [float(value or 0) for value in of.values[0]]
    end = int(np.argmax(values) if wanted == "highest" else np.argmin(values))
    other = one_of(rng, [i for i in range(len(values)) if i != end])
    one, two = several(rng, (of.categories[end], of.categories[other]), 2)
    asked = one_of(rng, ("Which is {0}: {1} or {2}?", "Is {1} the {0}, or {2}?"))
    wrong = call("groundingdino.detect", "count", caption=f"{one} thing")
    right, answer = call("chartmoe.analyze", measure=wanted), of.categories[end]
    return _asked(rng, of, asked.format(wanted, one, two), answer, right, wrong, "exact")


def plotqa(rng: np.random.Generator, kinds: Sequence[Kind] = BARS_AND_LINES) -> Drawn:
    """Ask for a value of a chart in other words, its numbers large or fractional."""
    return _value_of(rng, charts.table(rng, one_of(rng, kinds)), "deplot.to_table")


def at_sight(rng: np.random.Generator) -> Drawn:
    """Ask for one of three bars that are large enough to count their lines."""
    one = documents.chart(rng, ())
    question, answer = one.questions[int(rng.integers(len(one.rows) + 2))]
    return Drawn(one.image, question, answer, f"sheet chart {one.text}")

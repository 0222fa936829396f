"""Sentences about a table, and answers to questions: worked out from its numbers by rules, by no model.

Of tea 30 and milk 60: "Bar chart of 2 labels, Drinks. Highest milk 60, lowest tea 30.", and "What is the difference
between milk and tea?" is 30.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from itertools import pairwise

from visual_tools.charts.table import NotFound, Table, match, number

MEASURES: dict[str, Callable[[Sequence[float]], float]] = {
    "sum": sum,
    "average": lambda values: sum(values) / len(values),
    "range": lambda values: max(values) - min(values),
    "count": len,
}
"""Numbers that follow from a row of numbers."""


def row(table: Table, series: str = "") -> list[tuple[str, float]]:
    """One series' labels and the numbers that are known.

    Raises:
        NotFound: no such series, none named where there are several, or no number known.
    """
    if not series and len(table.series) > 1:
        raise NotFound(f"series: several here, name one of {', '.join(table.series)}")
    values = table.values[match(series, table.series, "series") if series else 0]
    known = [(name, value) for name, value in zip(table.categories, values, strict=True) if value is not None]
    if not known:
        raise NotFound(f"series {series!r}: none of its numbers could be read")
    return known


def analyze(table: Table, measure: str, series: str = "") -> str:
    """Say what a series' numbers come to.

    Args:
        table: of the chart.
        measure: ``highest``, ``lowest``, ``trend``, or one of :data:`MEASURES`.
        series: its name; may be left out where there is but one.

    Raises:
        NotFound: no such series or measure.
    """
    known = row(table, series)
    values = [value for _, value in known]
    if measure in ("highest", "lowest"):
        name, value = (max if measure == "highest" else min)(known, key=lambda pair: pair[1])
        return f"{name} {number(value)}"
    if measure == "trend":
        rises = [after > before for before, after in pairwise(values)]
        shape = "rises" if all(rises) else "falls" if not any(rises) else "rises and falls"
        return f"{shape} from {number(values[0])} to {number(values[-1])}"
    if measure not in MEASURES:
        raise NotFound(f"measure: no {measure!r}; choose one of highest, lowest, trend, {', '.join(MEASURES)}")
    return number(MEASURES[measure](values))


def caption(table: Table) -> str:
    """Say in two sentences what a chart shows: its kind, title and ends."""
    title = f", {table.title}" if table.title else ""
    head = f"{table.kind.capitalize()} chart of {len(table.categories)} labels{title}."
    ends = []
    for name in table.series:
        of = f" of {name}" if name else ""
        ends.append(f"Highest{of} {analyze(table, 'highest', name)}, lowest {analyze(table, 'lowest', name)}.")
    return " ".join([head, *ends])


def describe(table: Table, of: str) -> str:
    """Say what one label's numbers are, and which place they take.

    Raises:
        NotFound: no such label.
    """
    at = match(of, table.categories, "label")
    said = []
    for name in table.series:
        known = sorted(row(table, name), key=lambda pair: -pair[1])
        place = next((i for i, (label, _) in enumerate(known, 1) if label == table.categories[at]), None)
        value = table.values[table.series.index(name)][at]
        if place is not None:
            said.append(f"{name} {number(value)}, {place} of {len(known)}".strip())
    if not said:
        raise NotFound(f"label {of!r}: none of its numbers could be read")
    return f"{table.categories[at]}: {'; '.join(said)}"


_WORDS = (
    ("highest", r"\b(highest|most|largest|greatest|maximum|max|best|biggest|tallest)\b"),
    ("lowest", r"\b(lowest|least|smallest|minimum|min|fewest|worst|shortest)\b"),
    ("average", r"\b(average|mean)\b"),
    ("sum", r"\b(sum|total|altogether|together)\b"),
    ("trend", r"\btrend\b"),
    ("count", r"\bhow many (bars|labels|slices|points|categories)\b"),
)


def reply(table: Table, question: str) -> str:
    """Answer a question about a chart by its words: which label, which series, what of them.

    Raises:
        NotFound: nothing in the question names what to look for; the message says what could be asked.
    """
    asked = question.casefold()
    series = next(iter(_named(asked, table.series)), "")
    labels = _named(asked, table.categories)
    if len(labels) == 2:
        one, two = (table.value(name, series) for name in labels)
        if one is not None and two is not None:
            if re.search(r"\b(sum|total|together)\b", asked):
                return number(one + two)
            if re.search(r"\bratio\b", asked) and two:
                return number(one / two)
            if re.search(r"\b(difference|more|less|higher|lower|larger|fewer)\b", asked):
                return number(abs(one - two))
    if len(labels) == 1:
        return number(table.value(labels[0], series))
    measure = next((name for name, words in _WORDS if re.search(words, asked)), None)
    if measure is None:
        raise NotFound(
            f"question: {question[:60]!r} names no label ({', '.join(table.categories)}) "
            "and asks for no highest, lowest, sum, average, trend or count"
        )
    told = analyze(table, measure, series)
    if measure in ("highest", "lowest"):
        name, _, value = told.rpartition(" ")
        return value if re.search(r"\b(value|number|how (much|many|high))\b", asked) else name
    return told


def _named(asked: str, names: Sequence[str]) -> list[str]:
    """Names that a question holds, in its order; of two in one place, such as York in New York, the longer."""
    found: list[tuple[int, int, str]] = []
    for name in sorted(filter(None, names), key=len, reverse=True):
        places = (one.span() for one in re.finditer(rf"(?<!\w){re.escape(name.casefold())}(?!\w)", asked))
        free = ((i, j) for i, j in places if not any(i < end and start < j for start, end, _ in found))
        if place := next(free, None):
            found.append((*place, name))
    return [name for _, _, name in sorted(found)]

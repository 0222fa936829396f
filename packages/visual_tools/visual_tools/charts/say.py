"""Sentences about a table, and answers to questions: worked out from its numbers by rules, by no model.

Of tea 30 and milk 60: "Bar chart of 2 labels, Drinks. Highest milk 60, lowest tea 30.", and "What is the difference
between milk and tea?" is 30.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from itertools import pairwise

from visual_tools.charts.table import NotFound, Table, Value, match, number

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
        NotFound: no such series or measure; or one of the numbers couldn't be read, and what they come to isn't known.
    """
    known = row(table, series)
    values = [value for _, value in known]
    if measure == "count":
        return number(len(table.categories))
    if len(known) < len(table.categories):
        unread = [name for name in table.categories if name not in dict(known)]
        raise NotFound(f"{measure}: the number of {', '.join(unread)} couldn't be read; ask for a label's value")
    if measure in ("highest", "lowest"):
        name, value = (max if measure == "highest" else min)(known, key=lambda pair: pair[1])
        return f"{name} {number(value)}"
    if measure == "trend":
        steps = [after - before for before, after in pairwise(values)]
        if not any(steps):
            return f"stays at {number(values[0])}" if steps else f"only {number(values[0])}, so no trend"
        shape = "rises" if min(steps) >= 0 else "falls" if max(steps) <= 0 else "rises and falls"
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
    ("range", r"\brange\b"),
)
_RATIO, _SHARE = r"\bratio\b", r"\bpercent(age)?\b|%"
_DIFFERENCE = r"\b(difference|more|less|higher|lower|larger|fewer)\b"

_BEYOND = re.compile(
    r"\d[\w.,%]*|^\s*(?:is|are|was|were|do(?! you)|does|did|has|have|had)\b(?!.*\bor\b)|"
    r"\b(?:second|third|fourth|fifth|sixth|last|next|previous|recent|before|after|left|right|first|ranks?|ranked|except|"
    r"without|excluding|other than|not|besides|above|below|over|under|exceeds?|exceeding|greater than|at least|at most|"
    r"half|quarter|twice|double|triple|times|multiple|multiplied|product|divided|plus|minus|squared|median|mode|"
    r"deviation|variance|colou?rs?|increased?|decreased?|chang(?:e|ed|es)|growth|grew|why|when)\b"
)
"""What asks for more than labels, series and one measure: places, bounds, conditions, sums of one's own."""
_COUNTED = re.compile(
    r"(?:are|there|in|on|this|the|chart|graph|plot|figure|shown|does|do|has|have|it|a|value|all|total)?"
)


def reply(table: Table, question: str) -> str:
    """Answer a question about a chart by its words: which label, which series, what of them.

    Raises:
        NotFound: nothing in the question names what to look for, or something asks for more than is worked out here;
            the message says what, and what could be asked.
    """
    asked = question.casefold()
    several, labels = _named(asked, table.series), _named(asked, table.categories)
    rest = _without(asked, [*several, *labels])
    measures = [name for name, words in _WORDS if re.search(words, rest)]
    if beyond := _BEYOND.search(rest):
        raise NotFound(_no(question, f"{beyond[0].strip()!r} asks for more than is worked out here"))
    if "count" in measures:
        words = re.sub(r"\bhow many \w+", "", rest)
        if labels or several or not all(_COUNTED.fullmatch(word) for word in re.findall(r"\w+", words)):
            raise NotFound(_no(question, "of bars, labels or slices only all are counted"))
        return analyze(table, "count", table.series[0])
    if len(several) > 1:
        if len(several) > 2 or len(labels) != 1:
            raise NotFound(_no(question, f"it names {', '.join(several)}: ask for two of them at one label"))
        return _of_two(
            question, rest, measures, *((f"{labels[0]} {one}", table.value(labels[0], one)) for one in several)
        )
    series = next(iter(several), "")
    if len(labels) > 1:
        values = [(name, table.value(name, series)) for name in labels]
        if len(values) > 2 or measures in (["average"], ["highest"], ["lowest"]):
            return _of_some(question, rest, measures, values)
        return _of_two(question, rest, measures, *values)
    differs, share = re.search(_DIFFERENCE, rest), re.search(_RATIO, rest)
    if labels:
        more = share or differs or measures not in ([], ["sum"])
        if more or (measures and re.search(_SHARE, rest)):
            raise NotFound(_no(question, f"it names {labels[0]} alone, and asks for more than its value"))
        return number(table.value(labels[0], series))
    if measures == ["highest", "lowest"] and differs:
        return analyze(table, "range", series)
    if len(measures) != 1 or share or re.search(r"\bdifference\b", rest):
        names = f"it names no label ({', '.join(table.categories)}) and asks for "
        wanted = "no highest, lowest, sum, average, range, trend or count"
        raise NotFound(_no(question, names + (" and ".join(measures) if measures else wanted)))
    told = analyze(table, measures[0], series)
    if measures[0] in ("highest", "lowest"):
        name, _, value = told.rpartition(" ")
        return value if re.search(r"\b(value|number|how (much|many|high))\b", rest) else name
    return told


def _no(question: str, why: str) -> str:
    return f"question: {question[:60]!r}: {why}; ask for a label's value, or one measure of a series"


def _of_two(question: str, rest: str, measures: Sequence[str], *values: tuple[str, Value]) -> str:
    """What two numbers come to: a sum, a ratio, a difference."""
    (_, one), (_, two) = _read(values)
    differs, share = re.search(_DIFFERENCE, rest), re.search(_RATIO, rest)
    if measures == ["sum"] and not share:
        return number(one + two)
    if share and two and not measures:
        return number(one / two)
    if differs and not measures and not re.search(_SHARE, rest):
        return number(abs(one - two))
    raise NotFound(
        _no(question, "of two numbers the sum, ratio or difference, or the highest or lowest, is worked out")
    )


def _of_some(question: str, rest: str, measures: Sequence[str], values: Sequence[tuple[str, Value]]) -> str:
    """A measure of some labels' numbers."""
    known = _read(values)
    if measures in (["sum"], ["average"]) and not re.search(rf"{_RATIO}|{_DIFFERENCE}", rest):
        return number(MEASURES[measures[0]]([value for _, value in known]))
    if measures in (["highest"], ["lowest"]):
        name, value = (max if measures == ["highest"] else min)(known, key=lambda pair: pair[1])
        return number(value) if re.search(r"\b(value|number|how (much|many|high))\b", rest) else name
    raise NotFound(_no(question, "of several labels the sum, the average, the highest or the lowest is worked out"))


def _read(values: Sequence[tuple[str, Value]]) -> list[tuple[str, float]]:
    unread = [name for name, value in values if value is None]
    if unread:
        raise NotFound(f"question: the number of {', '.join(unread)} couldn't be read")
    return [(name, value) for name, value in values if value is not None]


def _without(asked: str, names: Sequence[str]) -> str:
    """A question without the names that it holds, the longer ones first."""
    for name in sorted(names, key=len, reverse=True):
        asked = re.sub(rf"(?<!\w){re.escape(name.casefold())}(?!\w)", " ", asked)
    return asked


def _named(asked: str, names: Sequence[str]) -> list[str]:
    """Names that a question holds, in its order; of two in one place, such as York in New York, the longer."""
    found: list[tuple[int, int, str]] = []
    for name in sorted(filter(None, names), key=len, reverse=True):
        places = (one.span() for one in re.finditer(rf"(?<!\w){re.escape(name.casefold())}(?!\w)", asked))
        free = ((i, j) for i, j in places if not any(i < end and start < j for start, end, _ in found))
        if place := next(free, None):
            found.append((*place, name))
    return [name for _, _, name in sorted(found)]

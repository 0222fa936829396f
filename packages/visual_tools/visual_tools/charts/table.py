"""The table behind a chart: what a chart's reader returns, and what a drawn chart knows of itself."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from decimal import Decimal
from difflib import SequenceMatcher
from fractions import Fraction
from typing import Literal, get_args

Kind = Literal["bar", "horizontal bar", "line", "pie"]
"""Kinds of charts; a bar chart of several series has its bars in groups."""

LINE = "<0x0A>"
"""A new line, as DePlot and UniChart write it."""

Value = float | None
"""A number of a table; None where there was nothing to read."""


class NotFound(ValueError):
    """Something that was asked for isn't in the table; the message says what is."""


@dataclass(frozen=True)
class Table:
    """A chart's numbers.

    Attributes:
        kind: of chart.
        title: of the chart; empty if it has none.
        across: what the categories are, as the axis says; empty if it doesn't.
        measured: what the values are, as the axis says; empty if it doesn't.
        categories: labels in reading order.
        series: the legend's names; one empty name if the chart has no legend.
        values: one row for each series, one number for each category.

    Raises:
        ValueError: an unknown kind, or values that don't fit series and categories.
    """

    kind: Kind
    title: str
    across: str
    measured: str
    categories: tuple[str, ...]
    series: tuple[str, ...]
    values: tuple[tuple[Value, ...], ...]

    def __post_init__(self) -> None:
        if self.kind not in get_args(Kind):
            raise ValueError(f"chart of kind {self.kind!r}: choose one of {get_args(Kind)}")
        shape = [len(row) for row in self.values]
        if shape != [len(self.categories)] * len(self.series):
            raise ValueError(f"values of {shape} columns for {len(self.series)} series × {len(self.categories)}")

    def value(self, category: str, series: str = "") -> Value:
        """One number, found by the names of its category and (if there are several) its series.

        Raises:
            NotFound: no such name, or no series named where there are several.
        """
        if not series and len(self.series) > 1:
            raise NotFound(f"series: several here, name one of {', '.join(self.series)}")
        row = self.values[match(series, self.series, "series") if series else 0]
        return row[match(category, self.categories, "label")]

    def linear(self) -> str:
        """All of it in one line, as DePlot writes it: ``TITLE | Sales <0x0A> Year | Tea <0x0A> 2019 | 8``."""
        names = [name or self.measured or "value" for name in self.series]
        rows = [" | ".join([category, *map(number, column)]) for category, column in self.columns()]
        head = " | ".join([self.across or "label", *names])
        return f" {LINE} ".join([f"TITLE | {self.title}", head, *rows])

    def columns(self) -> list[tuple[str, tuple[Value, ...]]]:
        """Each category with its values, one of each series."""
        return list(zip(self.categories, zip(*self.values, strict=True), strict=True))


def number(value: Fraction | float | None) -> str:
    """A value as a table writes it, three decimals at most: 12, 0.5, 1200; ``?`` if it is unknown.

    What three decimals don't show is written in three significant figures: 0.000002.
    """
    if value is None:
        return "?"
    size = abs(float(value)) if value < 1 else 1.0
    if 0 < size < 0.001:
        return f"{Decimal(f'{float(value):.2e}'):f}".rstrip("0") if size > 1e-12 else f"{float(value):.3g}"
    if isinstance(value, Fraction):  # exactly: a float has 16 digits
        whole, part = divmod(abs(round(value * 1000)), 1000)
        said = f"{'-' * (value < 0)}{whole}.{part:03d}"
    else:
        said = f"{value + 0.0:.3f}"
    return said.rstrip("0").rstrip(".")


def match(name: str, names: Sequence[str], what: str) -> int:
    """Find a name among names, however its letters' case; one misread letter doesn't matter.

    One letter may be another, missing or too many, and m may be rn. Of what differs by more, nobody knows whether it
    was misread: men aren't women, and Niger isn't Nigeria.

    Args:
        name: that is looked for.
        names: that there are.
        what: they are, for the message.

    Raises:
        NotFound: none is like it; names ``what`` was looked for, and what there is.
    """
    plain = [_plain(one) for one in names]
    wanted = _plain(name)
    if wanted in plain:
        return plain.index(wanted)
    alike = [SequenceMatcher(None, wanted, one).ratio() if _misread(wanted, one) else 0.0 for one in plain]
    best = max(range(len(plain)), key=alike.__getitem__, default=None)
    # 0.75: one letter of four may be another; Q1 and Q2 (0.5) aren't the same.
    if best is None or alike[best] < 0.75 or not wanted.isalpha():
        raise NotFound(f"{what}: no {name!r} here, only {', '.join(filter(None, names)) or 'none'}")
    return best


def as_read(name: str, read: str) -> str:
    """Say before a number whose it is, if the name on the chart isn't quite the one asked for."""
    return "" if _plain(name) == _plain(read) else f"{read}: "


def _misread(wanted: str, read: str) -> bool:
    """Check that two names differ in one place, by what one letter may be misread as."""
    parts = SequenceMatcher(None, wanted, read).get_opcodes()
    changes = [sorted((a_end - a, b_end - b)) for tag, a, a_end, b, b_end in parts if tag != "equal"]
    return len(changes) == 1 and changes[0] in ([0, 1], [1, 1], [1, 2])


def _plain(name: str) -> str:
    """Letters and digits, and signs that tell names apart: <18 isn't >18, nor is -5 the same as 5."""
    plain = "".join(
        mark for mark in name.casefold().strip() if mark.isalnum() or mark in "<>\u2264\u2265+#%$\u20ac\u00a3"
    )
    return f"-{plain}" if name.strip()[:1] in ("-", "\u2212", "\u2013") else plain

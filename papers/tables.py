"""A paper's tables as it has them: its number in every cell, ours beside it or "not run", and averages over sets.

Papers average over data sets, whatever their size: :class:`MeanOverSets` does, where
:class:`kit.evaluate.outcomes.Metric` would let the largest set decide.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from kit.evaluate.intervals import Interval, Point, contrast
from kit.evaluate.outcomes import Metric, Metrics, Outcome

NOT_RUN = "not run"

Cells = dict[str, dict[str, Any]]
"""Metric → ``paper``, a share, and ``here``, an interval's record; either may be :data:`NOT_RUN` instead."""
Table = dict[str, Cells]
"""Stage → its row."""


def beside(paper: Mapping[str, Mapping[str, float]], here: Mapping[str, Metrics]) -> Table:
    """Put what was measured beside a paper's numbers.

    Args:
        paper: stage → metric → the paper's number: these are the cells.
        here: stage → metrics; what isn't among them wasn't run.
    """
    return {
        stage: {
            name: {"paper": theirs, "here": found[name].record() if name in found else NOT_RUN}
            for name, theirs in row.items()
        }
        for stage, row in paper.items()
        for found in (here.get(stage, {}),)
    }


def markdown(head: Sequence[str], rows: Iterable[Sequence[str]]) -> str:
    """Write a table in Markdown; a bar in a cell is told as one.

    >>> print(markdown(["claim", "verdict"], [["a|b", "holds"]]))
    | claim | verdict |
    | --- | --- |
    | a\\|b | holds |

    Args:
        head: of the columns.
        rows: a cell for each column.
    """
    lines = [head, ["---"] * len(head), *rows]
    return "\n".join(f"| {' | '.join(cell.replace('|', chr(92) + '|') for cell in line)} |" for line in lines)


def told(table: Mapping[str, Mapping[str, Mapping[str, Any]]], head: str, digits: int = 2) -> str:
    """A table as text, in percent: a line for each metric, a column for each stage, the paper's number in brackets.

    Args:
        table: as of :func:`beside`; a cell that the table hasn't stays empty.
        head: what stands above the metrics' names.
        digits: after the point, as many as the paper has.
    """

    def cell(found: Mapping[str, Any] | None) -> str:
        if found is None:
            return ""
        here, paper = found["here"], found["paper"]
        ours = here if here == NOT_RUN else f"{100 * here['value']:.{digits}f}"
        return ours if paper == NOT_RUN else f"{ours} ({100 * paper:.{digits}f})"

    names = list(dict.fromkeys(name for row in table.values() for name in row))
    rows = [[head, *table], *([name, *(cell(row.get(name)) for row in table.values())] for name in names)]
    widths = [max(len(row[k]) for row in rows) for k in range(len(rows[0]))]
    first, *others = widths
    return "\n".join(
        (row[0].ljust(first) + "".join(f"  {text:>{w}}" for text, w in zip(row[1:], others, strict=True))).rstrip()
        for row in rows
    )


@dataclass(frozen=True)
class MeanOverSets(Metric):
    """A mean over data sets, each of which counts as much as any other.

    Attributes:
        part: the outcomes' attribute that names their set.
    """

    part: str

    def interval(self, outcomes: Sequence[Outcome]) -> Interval:
        """The mean over sets with its 95 % interval; of one set, or of sets of one size, it is the mean over outcomes.

        Args:
            outcomes: at least one, none with None in ``field``.
        """
        if len(set(Counter(getattr(o, self.part) for o in outcomes).values())) == 1:
            return super().interval(outcomes)
        sets: dict[str, list[Point]] = {}
        for o in outcomes:
            sets.setdefault(getattr(o, self.part), []).append(Point(o.seed, o.image, float(getattr(o, self.field))))
        found = contrast(sets, dict.fromkeys(sets, 1 / len(sets)), one_seed=True)
        return found if self.kind == "count" else replace(found, low=max(0.0, found.low), high=min(1.0, found.high))

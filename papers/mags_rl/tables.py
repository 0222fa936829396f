"""The paper's Tables 1 and 2 once more: its number beside ours, and a cell that wasn't measured says so.

They speak of Zoom-Easy, -Medium and -Hard, and so do the metrics that fill them; drawn boards fill no cell.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from kit.evaluate.outcomes import Metrics
from papers.mags_rl.reported import MEASURES, REPORTED, SOURCES, TABLE_1, TABLE_2
from papers.tables import NOT_RUN, Table, beside

TITLES = {"judged": "judge", "included": "incl."}
"""How the columns of the two accuracies are headed."""

ROWS = {"Table 1": {level: tuple(rows) for level, rows in TABLE_1.items()}, "Table 2": {"hard": tuple(TABLE_2)}}
"""Table → level → its stages."""


def paper_tables(here: Mapping[str, Metrics]) -> dict[str, Table]:
    """Put what was measured beside the paper's numbers.

    Args:
        here: stage → metrics on the Zoom sets; a stage that wasn't measured is missing, or has none.
    """
    return {
        table: beside(
            {
                stage: {name: v for name, v in REPORTED[stage].items() if name.rpartition("_")[2] in levels}
                for stage in dict.fromkeys(stage for rows in levels.values() for stage in rows)
            },
            here,
        )
        for table, levels in ROWS.items()
    }


def told(cells: Mapping[str, Table]) -> str:
    """Format both tables as one text, in percent: the paper's number, then ours; direct training is Table 2's.

    Where nothing was measured the paper's numbers stand alone.
    """
    alone = all(c["here"] == NOT_RUN for rows in cells.values() for row in rows.values() for c in row.values())
    heads = [f"{source} {TITLES[measure]}" for source in SOURCES for measure in MEASURES]
    lines = [("paper %" if alone else "paper, here %").ljust(14) + _columns(heads)]
    for level, rows in ROWS["Table 1"].items():
        lines.append(f"Zoom-{level.title()}")
        more = [stage for stage in ROWS["Table 2"].get(level, ()) if stage not in rows]
        found = {stage: cells["Table 1"][stage] for stage in rows} | {stage: cells["Table 2"][stage] for stage in more}
        names = [f"{measure}_{source}_{level}" for source in SOURCES for measure in MEASURES]
        lines += [
            f"  {stage:12s}" + _columns([_cell(row[name], alone) for name in names]) for stage, row in found.items()
        ]
    return "\n".join(lines)


def _columns(texts: Sequence[str]) -> str:
    return "".join(f"{text:15s}" for text in texts).rstrip()


def _cell(cell: Mapping[str, Any], alone: bool) -> str:
    """Both numbers of a cell, or the paper's alone."""
    if alone:
        return f"{100 * cell['paper']:.2f}"
    ours = cell["here"] if cell["here"] == NOT_RUN else f"{100 * cell['here']['value']:.2f}"
    return f"{100 * cell['paper']:.2f} {ours}"

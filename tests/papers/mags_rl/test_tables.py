"""Tables 1 and 2 beside ours: every number of the paper has a cell, and a cell without ours says so."""

from __future__ import annotations

from kit.evaluate.intervals import Interval
from papers.mags_rl.reported import REPORTED
from papers.mags_rl.tables import paper_tables, told
from papers.tables import NOT_RUN


def test_every_cell_is_filled_or_says_that_it_isnt_run() -> None:
    ours = {
        "direct": {"judged_vsr_easy": Interval(0.5, 0.25, 0.75, 8)},
        "at_once": {"judged_all": Interval(1, 1, 1, 8)},
    }
    cells = paper_tables(ours)
    filled = cells["Table 1"]["direct"].pop("judged_vsr_easy")
    assert (filled["paper"], filled["here"]["value"], filled["here"]["n"]) == (0.5434, 0.5, 8)
    left = [cell for rows in cells.values() for row in rows.values() for cell in row.values()]
    assert len(left) == 6 * 18 - 1 + 2 * 6 and {cell["here"] for cell in left} == {NOT_RUN}
    assert {name: cell["paper"] for name, cell in cells["Table 2"]["at_once"].items()} == REPORTED["at_once"]


def test_they_are_told_in_one_text() -> None:
    ours = {"at_once": {"included_gqa_hard": Interval(1 / 3, 0.2, 0.5, 8)}}
    lines = told(paper_tables(ours)).splitlines()
    assert [line for line in lines if line.startswith("Zoom-")] == ["Zoom-Easy", "Zoom-Medium", "Zoom-Hard"]
    assert lines[2].split("not run")[:2] == ["  direct      54.34 ", "  53.13 "]
    assert lines[-1].startswith("  at_once ") and lines[-1].endswith("46.58 not run  30.41 33.33")
    assert len(lines) == 1 + 3 + 3 * 6 + 1
    alone = told(paper_tables({})).splitlines()
    assert alone[0].startswith("paper %") and alone[2].split()[:3] == ["direct", "54.34", "53.13"]
    assert NOT_RUN not in "".join(alone)

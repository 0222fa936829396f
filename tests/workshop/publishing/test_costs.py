"""docs/scaling.md's tables: computed by the planner, all of them, and as they are now."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from kit.files import ROOT
from papers.registry import PAPERS, find_paper
from workshop.jobs.plan import stages
from workshop.jobs.run import plan
from workshop.planner.memory import GB, needed, step
from workshop.publishing.costs import MARKS, PAGE, TABLES, fill, filled

MADE = "<!-- planned:begin {} -->\nold\n<!-- planned:end -->\n"


def test_the_page_is_as_the_planner_has_it() -> None:
    """A profile, a constant or a formula that changes is written down anew by ``python -m kit readme``."""
    text = (ROOT / PAGE).read_text()
    assert filled(text) == text


def test_every_training_of_every_paper_has_a_row_and_the_planners_numbers() -> None:
    (table,) = (found[0] for found in MARKS.finditer((ROOT / PAGE).read_text()) if found[2] == "costs")
    rows = {tuple(row.split(" | ")[:2]): row for row in table.replace("| ", "", 1).splitlines()}
    for name in PAPERS:
        for title, stage in stages(plan(name, "node", [], None), None, 80 * GB):
            (row,) = [
                row
                for row in rows.values()
                if find_paper(name).title in row and f"| {title[:2]}: {title.partition(': ')[2]} |" in row
            ]
            assert re.search(rf"\| {step(stage):,.0f} s( by \w+)?, {needed(stage) / GB:.0f} GB", row)


def test_filling_replaces_the_tables_and_nothing_else(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "docs").mkdir()
    page = tmp_path / PAGE
    page.write_text("before\n" + "between\n".join(MADE.format(name) for name in TABLES) + "after\n")
    made = {name: lambda name=name: f"the table {name}" for name in TABLES}
    monkeypatch.setattr("workshop.publishing.costs.TABLES", made)
    assert fill(tmp_path) and not fill(tmp_path)
    expected = "between\n".join(MADE.format(name).replace("old", f"the table {name}") for name in TABLES)
    assert page.read_text() == f"before\n{expected}after\n"


@pytest.mark.parametrize("names", [[], ["measured"], [*TABLES, "other"], [*TABLES, "costs"]])
def test_marks_that_are_missing_or_too_many_are_named(names: list[str]) -> None:
    with pytest.raises(ValueError, match=r"docs/scaling\.md: marks for .*: put one pair for measured, costs, short"):
        filled("".join(MADE.format(name) for name in names))

"""Fill docs/scaling.md's tables: the planner beside what was measured, and what each paper's profiles cost."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping
from dataclasses import replace
from pathlib import Path

from kit.files import ROOT, write_text
from kit.train.progress import duration
from papers.registry import PAPERS, find_paper
from papers.tables import markdown
from workshop.jobs.plan import stages
from workshop.jobs.run import plan
from workshop.planner.advice import fits
from workshop.planner.beside import table
from workshop.planner.choice import best
from workshop.planner.measured import CARDS
from workshop.planner.memory import GB, Stage, hours, needed, step
from workshop.planner.told import BY

PAGE = Path("docs") / "scaling.md"

MARKS = re.compile(r"(<!-- planned:begin (\w+) -->\n).*?(<!-- planned:end -->)", re.DOTALL)
"""Around a table of a page: what makes it is named by the first."""

SHORT = 4000
"""Tokens of an episode that is shorter than it may be, about what the measured ones have (ours)."""

PLACES: Mapping[str, tuple[str, int]] = {"one of 24 GB": ("gpu", 24), "one of 80 GB": ("gpu", 80), "node": ("node", 80)}
"""Heads of the columns → profile, and gigabytes of each GPU."""


def fill(root: Path = ROOT, page: Path = PAGE, tables: Mapping[str, Callable[[], str]] | None = None) -> bool:
    """Write a page's tables anew; returns whether that changed it.

    Args:
        root: of the project.
        page: its path in it.
        tables: names of marks, and what makes the text between them; None: :data:`TABLES`.

    Raises:
        ValueError: the page lacks a table's marks.
    """
    path = root / page
    text = path.read_text(encoding="utf-8")
    new = filled(text, tables, page)
    write_text(path, new)
    return new != text


def filled(text: str, tables: Mapping[str, Callable[[], str]] | None = None, page: Path = PAGE) -> str:
    """Replace what stands between the marks of a page by the tables they name.

    Args:
        text: the page.
        tables: names of marks, and what makes the text between them; None: :data:`TABLES`.
        page: its path, for the error.

    Raises:
        ValueError: a table has no marks, or marks name none.
    """
    tables = TABLES if tables is None else tables
    named = [name for _, name, _ in MARKS.findall(text)]
    if sorted(named) != sorted(tables):
        raise ValueError(f"{page}: marks for {', '.join(named) or 'no table'}: put one pair for {', '.join(tables)}")
    return MARKS.sub(lambda found: f"{found[1]}{tables[found[2]]()}\n{found[3]}", text)


def costs(tokens: int | None = None) -> str:
    """Tell what a step of each paper's trainings costs, and the whole training, as a table.

    Args:
        tokens: of each episode; None: as many as it may have.
    """
    rows = []
    for name in PAPERS:
        paper = find_paper(name)
        columns = {place: dict(_planned(name, *where, tokens)) for place, where in PLACES.items()}
        for training in dict.fromkeys(title for column in columns.values() for title in column):
            cells = [_cell(column[training]) if training in column else "not trained" for column in columns.values()]
            rows.append([paper.title, _titled(training), *cells])
    return markdown(["paper", "training", *PLACES], rows)


def _planned(paper: str, profile: str, size: int, tokens: int | None) -> Iterator[tuple[str, Stage]]:
    """The trainings of a paper's profile, as a run has them: on one GPU its memory is used best."""
    for title, stage in stages(plan(paper, profile, [], None), None, CARDS[size].memory, tokens):
        chosen = best(stage) if profile == "gpu" else stage
        yield title, replace(stage, per_device_batch_size=chosen.per_device_batch_size, recompute=chosen.recompute)


def _titled(training: str) -> str:
    """A training by its notebook's number."""
    notebook, _, kind = training.partition(": ")
    return f"{notebook.partition('_')[0]}: {kind}"


def _cell(stage: Stage) -> str:
    """One training on one machine."""
    by = f" {BY[stage.rollout_engine]}" if stage.rollout_engine else ""
    if not fits(stage):
        return f"does not fit{by}"
    whole = f", {duration(3600 * hours(stage))} in all" if stage.steps else ""
    of_gpus = f", {hours(stage) * stage.gpus:,.0f} GPU-hours" if stage.steps and stage.gpus > 1 else ""
    return f"{step(stage):,.0f} s{by}, {needed(stage) / GB:.0f} GB{whole}{of_gpus}"


TABLES: Mapping[str, Callable[[], str]] = {"measured": table, "costs": costs, "short": lambda: costs(SHORT)}
"""Names of marks, and what makes the table between them."""

"""Fill the blocks of ``docs/teaching.md``: minutes of each notebook, and how its exercises are graded."""

from __future__ import annotations

import ast
import re
from collections.abc import Callable, Mapping
from functools import cache, partial
from itertools import zip_longest
from pathlib import Path

from kit.files import ROOT
from papers.registry import find_paper, published
from papers.tables import markdown
from workshop.course.handout import questions
from workshop.exercises.question import Question
from workshop.exercises.solved import solved
from workshop.jobs.notebooks import Source, find, load, sources
from workshop.publishing import costs
from workshop.publishing.digest import project_packages

PAGE = Path("docs") / "teaching.md"

WORDS_A_MINUTE = 150
"""Slow: the text is to be understood, and figures and outputs between the words are looked at."""


def notebooks() -> list[Source]:
    """The kit's own notebooks, without those of other packages' papers."""
    return [source for source in sources(ROOT) if source.path.is_relative_to(ROOT)]


def words(source: Source) -> int:
    """Words of a notebook's text cells; code isn't counted, nor is a formula or the address of a link."""
    text = "\n".join(cell.source for cell in load(source).cells if cell.cell_type == "markdown")
    text = re.sub(r"\$\$.*?\$\$|\$[^$\n]*\$|```.*?```|<[^>]+>|\]\([^)]*\)", " ", text, flags=re.DOTALL)
    return len(re.findall(r"[^\W_][\w'’.-]*", text))


def minutes_to_run(source: Source) -> str:
    """Minutes in the ``laptop`` row of a notebook's cost table; empty if it has none."""
    found = re.search(r"^# \| `laptop` \|[^|]*\|([^|]*)\|", source.text, re.MULTILINE)
    return found[1].strip() if found else ""


def minutes() -> str:
    """Every notebook's minutes to run and to read, in two columns; its short name is that of ``docs/notebooks.md``."""
    listed = (ROOT / "docs" / "notebooks.md").read_text(encoding="utf-8")
    names = {name: f"[{short}]({to})" for short, to, name in re.findall(r"\[([^]]+)\]\((\S+/(\w+)\.ipynb)\)", listed)}
    rows = [[names[s.name], minutes_to_run(s), f"{words(s) / WORDS_A_MINUTE:.0f}"] for s in notebooks()]
    half = -(-len(rows) // 2)
    head = ["notebook", "run", "read"]
    return markdown(head * 2, (a + b for a, b in zip_longest(rows[:half], rows[half:], fillvalue=["", "", ""])))


def clock() -> str:
    """Tell what the published runs took by the clock, beside the minutes of the notebooks that they are made of."""
    rows = []
    for name, results in published().items():
        paper = find_paper(name)
        took = (results or {}).get("run_minutes", {})
        if paper.published is None or "runs" not in took:
            continue
        made = paper.published.runs["runs"]
        parts = [find(notebook)[0] for notebook in made.notebooks]
        total = sum(float(minutes_to_run(source)) for source in parts)
        numbers = ", ".join(source.number for source in parts)
        rows.append([paper.title, numbers, f"{total:g}", f"{took['runs']:.0f}", str(len((results or {})["seed"]))])
    return markdown(["paper", "notebooks", "by the table", "by the clock, mean", "runs"], rows)


@cache
def _asked() -> tuple[Question, ...]:
    return tuple(one for source in notebooks() for one in questions(source))


def graded(asked: Callable[[], tuple[Question, ...]] = _asked) -> str:
    """Say how many exercises there are, and which of them are graded how."""
    own = [one.exercise.id for one in asked() if one.exercise.needs_run]
    theirs = {one.exercise.id: names for one in asked() if (names := kits_own(one)) and not one.exercise.needs_run}
    left = [one.exercise for one in asked() if one.exercise.id not in {*own, *theirs}]
    functions = sum(bool(exercise.cases) for exercise in left)
    listed = ", ".join(f"{id} ({', '.join(f'`{name}`' for name in names)})" for id, names in theirs.items())
    return (
        f"There are {len(asked())} exercises. Graded by program: {len(left)}, of them {functions} functions and "
        f"{len(left) - functions} values. Values that depend on the student's own run, so that they get no points "
        f"here: {len(own)} ({', '.join(own)}). For you to look at, right or wrong, since the notebook lets them use "
        f"what only the kit has: {len(theirs)}, {listed}. An answer to these that does without it is graded by program."
    )


def kits_own(one: Question) -> list[str]:
    """The names that an exercise's solution imports of the project: they aren't there where answers are graded."""
    tops = project_packages(ROOT).keys()
    nodes = (node for node in ast.walk(ast.parse(solved(one))) if isinstance(node, ast.ImportFrom))
    return [alias.name for node in nodes if str(node.module).partition(".")[0] in tops for alias in node.names]


def hidden(asked: Callable[[], tuple[Question, ...]] = _asked) -> str:
    """Say which functions have hidden cases."""
    functions = [one for one in asked() if one.exercise.cases]
    theirs = sum(bool(kits_own(one)) for one in functions)
    without = [one.exercise.id for one in functions if not one.exercise.hidden]
    lacking = f"; these have none, and are for you to look at: {', '.join(without)}" if without else ""
    these = f"{len(functions)} functions ({len(functions) - theirs} graded by program, {theirs} for you to look at)"
    return f"Of {these} {len(functions) - len(without)} have them{lacking}."


TABLES: Mapping[str, Callable[[], str]] = {"minutes": minutes, "clock": clock, "graded": graded, "hidden": hidden}
"""Names of marks, and what makes the text between them."""

fill = partial(costs.fill, page=PAGE, tables=TABLES)
"""Write the page's blocks anew; returns whether that changed it."""

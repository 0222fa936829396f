"""The last lines of a job: what came out in words, three bars, and what to open next."""

from __future__ import annotations

import sys
from textwrap import fill

from kit.files import find_run
from papers.results import read_results
from workshop.jobs import same_tasks
from workshop.jobs.console import near
from workshop.jobs.finding import finding, own_finding, three_bars
from workshop.jobs.listing import measured
from workshop.jobs.run_page import write
from workshop.jobs.run_story import headline

WIDE, BAR = 100, 30
"""Characters of a line of text, and of a bar."""


def ending(name: str) -> str:
    """Tell a run in ten lines: the finding, three bars, and what to open next.

    Raises:
        ValueError: no such run.
    """
    folder = find_run(name)
    results = read_results(folder / "results.json") or {}
    evaluation, stages = measured(folder, results)
    last = max(folder.glob("*.ipynb"), key=lambda path: path.stat().st_mtime)
    parts, show = [], [("make lab", f"the notebooks; as they ran here: {near(last)}")]
    if any(stages.values()):
        metric, called = headline(evaluation, stages)
        three = {label: value for label, value in three_bars(stages, metric).items() if value}
        told = [
            finding(stages, metric, called),
            own_finding(evaluation, stages),
            same_tasks.told(folder, bool(results)),
        ]
        parts += [fill(text, WIDE) for text in told if text]
        parts.append("\n".join(f"  {label:20}  {_bar(value.value)}  {value}" for label, value in three.items()))
        show.insert(0, (near(write(name)), "this run on a page: curves, one task before and after"))
        show.append((f"python -m kit view {name}", "every figure"))
    wide = max(len(what) for what, _ in show)
    parts.append("\n".join(["What to open next:", *(f"  {what:{wide}}  {why}" for what, why in show)]))
    return "\n\n".join(parts)


def _bar(share: float) -> str:
    """A share as a bar of characters that the terminal has."""
    try:
        "█░".encode(sys.stdout.encoding or "ascii")
        full, empty = "█░"
    except UnicodeEncodeError:
        full, empty = "#-"
    n = round(min(1.0, max(0.0, share)) * BAR)
    return full * n + empty * (BAR - n)

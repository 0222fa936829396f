"""A run on one page, while it runs or after: its finding, its trainings in order, its claims, then side experiments."""

from __future__ import annotations

import re
import time
from collections.abc import Iterator
from pathlib import Path

from kit.evaluate.five.questions import answered
from kit.files import ROOT, find_run
from kit.train import latest_rollout as latest
from kit.train.metrics import read_metrics
from kit.train.progress import FILE, Progress, read_progress
from kit.view import curves, show
from kit.view.charts import CSS_DPI, Plot
from kit.view.curves import over_published
from kit.view.five import five
from kit.view.html import Html, clean
from papers.published_curves import published_curves
from papers.registry import Paper, paper_of
from papers.results import read_results
from workshop.jobs.listing import measured, tell
from workshop.jobs.run import progress_of
from workshop.jobs.run_story import story

PAGE = "overview.html"
"""In the run's folder."""

ORDER = ("sft", "grpo")
"""Folders of a run's trainings as the story is told; others follow by name, side experiments at the end."""

STILL = 300
"""Seconds without a sign of a training after which it counts as stopped."""


def write(name: str, refresh: int = 0) -> Path:
    """Write a run's page; returns where it is.

    Args:
        name: of the run.
        refresh: seconds after which a browser reads the page again; 0: never.

    Raises:
        ValueError: no such run.
    """
    told = tell(name)
    folder = find_run(name)
    results = read_results(folder / "results.json") or {}
    found = [paper for name in progress_of(folder) if (paper := paper_of(name))]
    paper = found[0] if found else None
    body = [*_head(name, folder, paper), *story(folder, *measured(folder, results))]
    body += [f"<p>{clean(str(now))}</p>" for now in _running(folder)]
    trainings = [path.parent for path in sorted(folder.glob("**/metrics.jsonl"), key=_order)]
    for training in trainings:
        if training.parent == folder:
            body += _stage(folder, training, paper)
    body += [f"<p>{_lines(text)}</p>" for text in told.headline]
    if answered(results):
        body.append(folded("the five questions", five(results).html()))
    for training in trainings:
        if training.parent != folder:
            called = f"side experiment: {training.relative_to(folder)}"
            body.append(folded(called, "".join(_stage(folder, training, paper))))
    rest = "".join(f'<div class="t k">{clean(text)}</div>' for text in told.rest)
    body.append(folded("all figures and files", rest))
    return Html("".join(body), f"run {name}").save(folder / PAGE, refresh)


def _head(name: str, folder: Path, paper: Paper | None) -> Iterator[str]:
    """The page's title, what the task is, and links to the notebooks."""
    yield f'<h1 style="font-size:22px;margin:0">{clean(f"{paper.title}: run {name}" if paper else f"run {name}")}</h1>'
    names = [path.name for path in sorted(folder.glob("*.ipynb"))]
    yield f"<p>{clean(paper.summary) if paper else ''}</p>"
    if names:
        yield f"<p>Its notebooks: {', '.join(_notebook(name, repository(ROOT)) for name in names)}.</p>"


def repository(root: Path) -> str:
    """Address of the repository as CITATION.cff has it; empty: it has none."""
    found = re.search(
        r"^repository-code:\s*[\"']?([^\s\"']+)", (root / "CITATION.cff").read_text("utf-8"), re.MULTILINE
    )
    return found[1].rstrip("/") if found else ""


def _notebook(name: str, address: str) -> str:
    """A notebook's name; a link to its executed twin, where there is one that can be read from anywhere."""
    if not address or not (ROOT / "notebooks" / name).is_file():
        return clean(name)
    return f'<a href="{clean(address)}/blob/main/notebooks/{clean(name)}">{clean(name)}</a>'


def _order(metrics: Path) -> tuple[int, str]:
    """Cold start, reinforcement, then the other trainings by name."""
    place = ORDER.index(metrics.parent.name) if metrics.parent.name in ORDER else len(ORDER)
    return place, str(metrics)


def folded(title: str, content: str) -> str:
    """A part of a page that opens at a click."""
    return f'<details class="x"><summary>{clean(title)}</summary>{content}</details>'


def legible(figure: Plot) -> str:
    """A figure of several panels on a page: a narrow screen scrolls over it, since its letters would be too small."""
    width = round(figure.get_size_inches()[0] * CSS_DPI * 0.75)
    return f'<div style="overflow-x:auto"><div style="min-width:{width}px">{figure.html()}</div></div>'


def watch(name: str, seconds: int = 10) -> Path:
    """Write a run's page again and again while it trains; returns where it is once nothing moves any more.

    Args:
        name: of the run.
        seconds: between two writings, and between two readings of the browser.

    Raises:
        ValueError: no such run.
    """
    while list(_running(find_run(name))):
        print(f"page: {write(name, seconds)}", flush=True)
        time.sleep(seconds)
    return write(name)


def _running(folder: Path) -> Iterator[Progress]:
    """Progress of the trainings of a run that moved within the last minutes and haven't ended."""
    for path in sorted(folder.glob(f"*/{FILE}")):
        found = read_progress(path.parent)
        if found is not None and found.phase != "done" and time.time() - path.stat().st_mtime < STILL:
            yield found


def _lines(text: str) -> str:
    return "<br>".join(clean(line) for line in text.split("\n"))


def _stage(run: Path, folder: Path, paper: Paper | None) -> Iterator[str]:
    """A training: its curves, alone and over the published runs, and what was played last, judged by its own rule."""
    rows, name = read_metrics(folder / "metrics.jsonl"), folder.relative_to(run).as_posix()
    if rows:
        steps = f"{len(rows)} step{'s' * (len(rows) != 1)}"
        yield f'<div class="x"><header><b>{clean(name)}</b><small>{steps}</small></header>'
        yield f"{legible(curves(rows))}</div>"
        if paper and (published := published_curves(paper.name, name)):
            yield '<div class="x"><header><b>over the published runs</b></header>'
            yield f"{legible(over_published(rows, published))}</div>"
    found = latest.load(folder)
    if found:
        step, played = found
        judge = paper.load_judge(name) if paper else None
        yield f'<div class="x"><header><b>played before step {step}</b></header></div>'
        for episode, score in played:
            yield show(episode, score, is_right=judge).body

"""A run on one page, while it runs or after: its state, its results, its curves, its newest episodes."""

from __future__ import annotations

import base64
import time
from collections.abc import Iterator, Sequence
from pathlib import Path

from kit.evaluate.five.questions import answered
from kit.evaluate.results import read_results
from kit.files import find_run, write_bytes
from kit.jobs.listing import tell
from kit.jobs.run import progress_of
from kit.papers.registry import Paper, paper_of
from kit.train import latest_rollout as latest
from kit.train.metrics import read_metrics
from kit.train.progress import FILE, Progress, read_progress
from kit.train.published_curves import published_curves
from kit.view import curves, show
from kit.view.charts import Plot
from kit.view.curves import compare_curves, over_published
from kit.view.episodes import Judge
from kit.view.five import five
from kit.view.html import Html, clean

PAGE = "overview.html"
"""In the run's folder."""

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
    found = [paper for name in progress_of(folder) if (paper := paper_of(name))]
    is_right = found[0].load_evaluation().is_right if found else None
    links = "".join(f'<a href="{clean(path.name)}">{clean(path.stem)}</a> ' for path in sorted(folder.glob("*.ipynb")))
    body = [f"<header><b>{clean(name)}</b> {links}</header>", *(f"<p>{_lines(text)}</p>" for text in told.headline)]
    body += [f"<p>{clean(str(now))}</p>" for now in _running(folder)]
    results = read_results(folder / "results.json") or {}
    if answered(results):
        body.append(
            f'<div class="x"><header><b>the five questions</b></header>{_image(five(results), "answers")}</div>'
        )
    rest = "".join(f'<div class="t k">{clean(text)}</div>' for text in told.rest)
    body.append(f"<details><summary>all figures and files</summary>{rest}</details>")
    for path in sorted(folder.glob("**/metrics.jsonl")):
        body += _stage(path.parent, is_right, found[0] if found else None)
    return Html("".join(body), f"run {name}").save(folder / PAGE, refresh)


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


def draw_together(names: Sequence[str]) -> list[Path]:
    """Draw the trainings that all these runs have, each stage's in one figure; returns the files, in the last run.

    Args:
        names: of the runs.
    """
    folders = {name: find_run(name) for name in names}
    last, found = folders[names[-1]], []
    for path in sorted(last.glob("*/metrics.jsonl")):
        stage = path.parent.name
        rows = {name: read_metrics(folder / stage / "metrics.jsonl") for name, folder in folders.items()}
        shared = len({(folder / stage).resolve() for folder in folders.values()}) == 1
        if shared or not all(rows.values()):  # kept from one another: the same curve; or not run everywhere
            continue
        target = last / f"{stage}-beside-{names[0]}.png"
        write_bytes(target, compare_curves(rows).png())
        found.append(target)
    return found


def _stage(folder: Path, is_right: Judge | None, paper: Paper | None) -> Iterator[str]:
    """A training stage: its curves, alone and over the published runs, and what was played last."""
    rows = read_metrics(folder / "metrics.jsonl")
    if rows:
        yield f'<div class="x"><header><b>{clean(folder.name)}</b><small>{len(rows)} steps</small></header>'
        yield f"{_image(curves(rows), f'curves of {folder.name}')}</div>"
        if paper and (published := published_curves(paper.name, folder.name)):
            yield '<div class="x"><header><b>over the published runs</b></header>'
            yield f"{_image(over_published(rows, published), f'{folder.name} over the published runs')}</div>"
    found = latest.load(folder)
    if found:
        step, played = found
        yield f'<div class="x"><header><b>played before step {step}</b></header></div>'
        for episode, score in played:
            yield show(episode, score, is_right=is_right).body


def _image(figure: Plot, called: str) -> str:
    data = base64.b64encode(figure.png()).decode()
    return f'<img alt="{clean(called)}" style="max-width:100%" src="data:image/png;base64,{data}">'

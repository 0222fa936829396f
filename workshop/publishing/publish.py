"""Publish what was measured: results files with the digest of their code, the runs' curves, pages and picture."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from kit.files import ROOT, find_run, read_json, write_json
from papers.published_curves import save_curve
from papers.registry import Paper
from workshop.jobs.run import JobError, progress_of
from workshop.publishing.current import digest_of, results_folder

PICTURES = ("data_scripts/first_screen.py", "data_scripts/claims_picture.py")
"""Scripts that draw the pictures of the pages from ``results/``."""


def publish(paper: Paper, runs: Mapping[str, Sequence[str]]) -> list[Path]:
    """Copy a paper's results and curves from its runs into ``results/``; returns what was written.

    Args:
        paper: the paper.
        runs: parameter of the measuring notebooks → names of the runs, the first of which holds the results.

    Raises:
        JobError: a run lacks its results.
    """
    made, folder = paper.published, results_folder(paper)
    assert made is not None
    first = find_run(next(iter(runs.values()))[0])
    minutes = {
        parameter: _mean([_minutes(name, made.runs[parameter].notebooks) for name in names])
        for parameter, names in runs.items()
    }
    written = []
    for parameter, names in runs.items():
        for seed, name in enumerate(names):
            written += publish_curves(find_run(name), folder / "curves" / made.runs[parameter].called(seed))
    for figures in made.files:
        results = read_json(first / figures.file)
        if results is None:
            raise JobError(f"{first / figures.file} is missing: {figures.notebook} writes it, and has not run")
        made_by = {"run_minutes": minutes, "digest": digest_of(paper, figures)}
        write_json(folder / f"{figures.name}.json", {**results, **made_by})
        written.append(folder / f"{figures.name}.json")
    return written


def publish_curves(run: Path, folder: Path) -> list[Path]:
    """Copy the metrics of a run's own trainings, rounded, into a folder; not of those that a branch only keeps."""
    found = sorted(path for path in run.glob("*/metrics.jsonl") if not path.parent.is_symlink())
    return [save_curve(path, folder / f"{path.parent.name}.jsonl") for path in found]


def _minutes(run: str, notebooks: Sequence[str]) -> float:
    record = progress_of(find_run(run))
    return float(sum(record.get(notebook, {}).get("minutes", 0.0) for notebook in notebooks))


def _mean(values: Sequence[float]) -> float:
    return round(sum(values) / len(values), 1)


def redraw(root: Path = ROOT) -> None:
    """Fill the pages' blocks and draw the pictures anew.

    Raises:
        JobError: a script failed.
    """
    from workshop.publishing.departures import write
    from workshop.publishing.readme import fill

    fill(root)
    write()
    for script in PICTURES:
        if subprocess.run([sys.executable, str(root / script)], check=False).returncode:
            raise JobError(f"{script} failed; its message stands above")


def twins(work: Sequence[tuple[Paper, Any]]) -> str:
    """Numbers of the notebooks whose stored outputs show the papers' published figures."""
    shown = [n for paper, _ in work for n in paper.notebooks if _reads_results(paper, n)]
    return " ".join(name[:2] for name in shown)


def _reads_results(paper: Paper, notebook: str) -> bool:
    text = (paper.notebooks_dir / "percent" / f"{notebook}.py").read_text(encoding="utf-8")
    return '"results"' in text or "published_curves" in text

"""Publish beside results files what goes with them: the runs' curves, the pages and their picture."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from kit.files import ROOT
from papers.published_curves import save_curve
from papers.registry import Paper
from workshop.jobs.checks import JobError

PICTURES = ("data_scripts/first_screen.py", "data_scripts/claims_picture.py")
"""Scripts that draw the pictures of the pages from ``results/``."""


def publish_curves(run: Path, folder: Path) -> list[Path]:
    """Copy the metrics of a run's own trainings, rounded, into a folder; not of those that a branch only keeps."""
    found = sorted(path for path in run.glob("*/metrics.jsonl") if not path.parent.is_symlink())
    return [save_curve(path, folder / f"{path.parent.name}.jsonl") for path in found]


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

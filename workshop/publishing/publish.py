"""Publish beside results files what goes with them: the runs' curves, the pages and their picture."""

from __future__ import annotations

import shutil
import subprocess
import sys
from collections.abc import Collection, Iterable, Sequence
from pathlib import Path
from typing import Any

from kit.files import ROOT
from kit.train.metrics import Row, read_metrics
from papers.published_curves import save_curve
from papers.published_outcomes import Key, named
from papers.registry import Paper
from workshop.jobs.checks import JobError
from workshop.publishing.current import folder_of, results_folder

PICTURES = tuple(f"data_scripts/{name}.py" for name in ("first_screen", "first_screen_gif", "claims_picture"))
"""Scripts that draw the pictures of the pages from ``results/``."""


def publish_curves(run: Path, folder: Path) -> list[Path]:
    """Copy the metrics of a run's own trainings, rounded, into a folder; not of those that a branch only keeps."""
    found = sorted(path for path in run.glob("*/metrics.jsonl") if not path.parent.is_symlink())
    return [save_curve(path, folder / f"{path.parent.name}.jsonl") for path in found]


def curves_of(paper: Paper, keys: Iterable[Key]) -> dict[str, dict[int, list[Row]]]:
    """The curves of these runs: name of the training, as a stage's → seed → its rows.

    They are stored with the outcomes, and go where the pages read them when all figures do, so that no page shows a
    run's curves beside figures that it has no part in.
    """
    found: dict[str, dict[int, list[Row]]] = {}
    assert paper.published is not None
    for arm, seed in sorted(keys):
        stored, shown = _places(paper, paper.published.arms[arm].called(seed))
        for path in sorted((stored if stored.is_dir() else shown).glob("*.jsonl")):
            found.setdefault(named(arm, path.stem), {})[seed] = read_metrics(path)
    return found


def _places(paper: Paper, run: str) -> tuple[Path, Path]:
    """Folders of a run's curves: stored with its outcomes, and where the pages read them."""
    return folder_of(paper) / "curves" / run, results_folder(paper) / "curves" / run


def show_curves(paper: Paper, keys: Collection[Key]) -> None:
    """Move the stored curves of these runs to those that the pages read, in place of all older ones of the paper."""
    assert paper.published is not None
    arms = paper.published.arms
    kept = {arms[arm].called(seed) for arm, seed in keys}  # two arms may be of one run
    for runs in arms.values():
        for seed in range(runs.seeds):
            stored, shown = _places(paper, runs.called(seed))
            if stored.is_dir() or runs.called(seed) not in kept:
                shutil.rmtree(shown, ignore_errors=True)
            if stored.is_dir():
                shown.parent.mkdir(parents=True, exist_ok=True)
                stored.rename(shown)


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

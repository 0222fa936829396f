"""The published runs' metrics, which come with the kit: ``results/curves/RUN/TRAINING.jsonl``.

A reader lays the curves of their own training over them (:func:`kit.view.curves.over_published`). Numbers are rounded
to :data:`DIGITS` digits; everything else is what the training wrote.
"""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

from kit.files import ROOT, write_text
from kit.train.metrics import Row, read_metrics

CURVES = ROOT / "results" / "curves"

DIGITS = 6
"""Significant digits of a published number."""


def save_curve(metrics: Path, target: Path) -> Path:
    """Copy a training's ``metrics.jsonl``, rounded; returns ``target``.

    Raises:
        ValueError: there are no metrics.
    """
    rows = read_metrics(metrics)
    if not rows:
        raise ValueError(f"{metrics} holds no step: a run is published when its trainings are done")
    lines = (json.dumps({name: _rounded(value) for name, value in row.items()}) for row in rows)
    write_text(target, "".join(f"{line}\n" for line in lines))
    return target


def _rounded(value: Any) -> Any:
    return float(f"{value:.{DIGITS}g}") if isinstance(value, float) else value


def published_curves(name: str, training: str, tag: str = "", folder: Path = CURVES) -> dict[str, list[Row]]:
    """Read the published runs of a name: run's name (``NAME-0``, …) → its metric rows, by seed.

    Args:
        name: first part of the runs' names, most often the paper's.
        training: the training's folder within a run: ``sft`` or ``grpo``.
        tag: of the runs that differ in more than their seed, such as ``em``.
        folder: with a folder for each run.
    """
    pattern = re.compile(rf"{re.escape(name)}-(\d+){re.escape(f'-{tag}' if tag else '')}")
    found = [(int(match[1]), path) for path in folder.glob("*") if (match := pattern.fullmatch(path.name))]
    rows = {path.name: read_metrics(path / f"{training}.jsonl") for _, path in sorted(found)}
    return {run: some for run, some in rows.items() if some}

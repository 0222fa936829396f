"""A run's metrics: one JSON object a step in ``metrics.jsonl``.

A row is written in one call (:class:`kit.train.metrics_log.MetricsLog`) and only after its step is done, so a killed
run leaves at worst one torn last line. A run that resumes drops what lies beyond its checkpoint and writes those steps
again; all but the columns in :data:`TIMES` come out the same.
"""

from __future__ import annotations

import json
from collections.abc import Iterable
from pathlib import Path
from typing import Any

from kit.files import write_text

Row = dict[str, Any]

TIMES = ("seconds", "rollout_seconds", "generation_time_share", "tokens_per_second")
"""Columns that depend on the machine and its mood."""


def read_metrics(path: Path) -> list[Row]:
    """The rows of a ``metrics.jsonl``; none if there is no file. A torn last line is left out.

    Raises:
        ValueError: another line is not JSON.
    """
    if not path.exists():
        return []
    lines = path.read_text().split("\n")
    rows = []
    for number, line in enumerate(lines, start=1):
        try:
            rows += [json.loads(line)] if line else []
        except json.JSONDecodeError as error:
            # Only the last line can lack its newline: the process was killed while writing it.
            if number != len(lines):
                raise ValueError(f"{path}, line {number} is not JSON ({error}); repair or remove the file") from error
    return rows


def keep_until(path: Path, step: int) -> list[Row]:
    """Cut a ``metrics.jsonl`` after ``step`` and return what is left."""
    rows = [row for row in read_metrics(path) if row["step"] <= step]
    write_text(path, "".join(json.dumps(row) + "\n" for row in rows))
    return rows


def training_minutes(folders: Iterable[Path]) -> float:
    """Add up the wall time of every training step in the runs' folders, in minutes."""
    files = [path for folder in folders for path in sorted(folder.glob("*/metrics.jsonl"))]
    return sum(row["seconds"] for path in files for row in read_metrics(path)) / 60

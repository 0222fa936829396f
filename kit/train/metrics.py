"""A run's metrics: one JSON object a step in ``metrics.jsonl``.

A row is written in one call (:class:`kit.train.metrics_log.MetricsLog`) and only after its step is done, so a killed
run leaves at worst one torn last line. A run that resumes drops what lies beyond its checkpoint and writes those steps
again; all but the columns in :data:`TIMES` come out the same.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Sequence
from pathlib import Path
from statistics import median
from typing import Any

from kit.files import write_text

Row = dict[str, Any]

TIMES = ("seconds", "rollout_seconds", "generation_time_share", "tokens_per_second")
"""Columns that depend on the machine and its mood."""

INTERRUPTED = 20.0
"""A step that takes so many times a training's median step was interrupted: the machine slept, or was stopped."""


def read_metrics(path: Path) -> list[Row]:
    """The rows of a ``metrics.jsonl``; none if there is no file. A torn last line is left out.

    Raises:
        ValueError: another line is no JSON object with a step.
    """
    if not path.exists():
        return []
    lines = path.read_bytes().split(b"\n")
    rows: list[Row] = []
    for number, line in enumerate(lines, start=1):
        try:
            row: Any = json.loads(line) if line else None
            if line and type(row["step"]) is not int:
                raise TypeError("its step is no whole number")
            rows += [row] if line else []
        except (ValueError, TypeError, KeyError, RecursionError) as error:
            # Only the last line can lack its newline: the process was killed while writing it.
            if number != len(lines):
                raise ValueError(f"{path}, line {number} is no row ({error!r}); repair or remove the file") from error
    return rows


def keep_until(path: Path, step: int) -> list[Row]:
    """Cut a ``metrics.jsonl`` after ``step`` and return what is left."""
    rows = [row for row in read_metrics(path) if row["step"] <= step]
    write_text(path, "".join(json.dumps(row) + "\n" for row in rows))
    return rows


def training_minutes(folders: Iterable[Path], trainings: Sequence[str] = ("sft", "grpo")) -> float | None:
    """Add up the wall time of every step of the runs' trainings, in minutes; None if one of the runs recorded none.

    Loading and what a notebook plays before and after are not in it; nor are other trainings of a run, whose results
    stand elsewhere. A step that was :data:`INTERRUPTED` counts as the median one.

    Args:
        folders: of the runs.
        trainings: names of the trainings to count.
    """
    seconds = 0.0
    for folder in folders:
        each = [[row["seconds"] for row in read_metrics(folder / name / "metrics.jsonl")] for name in trainings]
        if not any(each):
            return None  # 0 minutes would read as a measurement
        for steps in filter(None, each):
            usual = median(steps)
            seconds += sum(one if one <= INTERRUPTED * usual else usual for one in steps)
    return seconds / 60

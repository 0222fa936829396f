"""A run's metrics: one JSON object a step in ``metrics.jsonl``, and TensorBoard.

A row is written in one call and only after its step is done, so a killed run leaves at worst one
torn last line. A run that resumes drops what lies beyond its checkpoint and writes those steps
again; all but the columns in :data:`TIMES` come out the same.
"""

from __future__ import annotations

import json
import time
from collections.abc import Callable, Iterable, Sequence
from pathlib import Path
from typing import Any

from transformers import TrainerCallback

from kit.files import write_text

Row = dict[str, Any]

TIMES = ("seconds", "rollout_seconds", "generation_time_share", "tokens_per_second")
"""Columns that depend on the machine and its mood."""

_NOT_OURS = {"epoch", "step_time", "num_tokens", "total_flos"}


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


class MetricsLog(TrainerCallback):
    """Writes a run's rows wherever they are read.

    Args:
        run_dir: gets ``metrics.jsonl`` and ``tensorboard/``.
        start: the step the run continues from (0: from the beginning).
        on_step: called with all rows so far after each step (a notebook's live plot).
        writes: whether it does anything: of processes that train together only the first.
    """

    def __init__(
        self,
        run_dir: Path,
        start: int,
        on_step: Callable[[Sequence[Row]], None] | None = None,
        writes: bool = True,
    ) -> None:
        from torch.utils.tensorboard import SummaryWriter

        self.path = run_dir / "metrics.jsonl"
        self.rows = keep_until(self.path, start) if writes else []
        self.on_step = on_step
        self.began = time.perf_counter()
        self.writer = SummaryWriter(str(run_dir / "tensorboard"), purge_step=start + 1) if writes else None

    def on_step_begin(self, args: Any, state: Any, control: Any, **kwargs: Any) -> None:
        """Start the step's clock."""
        self.began = time.perf_counter()

    def on_log(self, args: Any, state: Any, control: Any, logs: Row | None = None, **kwargs: Any) -> None:
        """One step is done: write its row. The trainer's summary at the end is no step and is left out."""
        if self.writer is None or logs is None or "loss" not in logs:
            return
        row = {"step": state.global_step, **{k: v for k, v in logs.items() if k not in _NOT_OURS}}
        row["seconds"] = time.perf_counter() - self.began
        with self.path.open("a") as file:
            file.write(json.dumps(row) + "\n")
        self.rows.append(row)
        for name, value in row.items():
            if isinstance(value, int | float):
                self.writer.add_scalar(name, value, row["step"])
        if self.on_step is not None:
            self.on_step(self.rows)

    def close(self) -> None:
        """Flush TensorBoard."""
        if self.writer is not None:
            self.writer.close()

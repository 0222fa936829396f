"""Write a run's metrics while it trains: ``metrics.jsonl`` and TensorBoard."""

from __future__ import annotations

import json
import time
from collections.abc import Callable, Sequence
from math import isfinite
from pathlib import Path
from typing import Any

from transformers import TrainerCallback

from kit.files import explain_full_disk
from kit.train.metrics import Row, keep_until

_NOT_OURS = {"epoch", "step_time", "num_tokens", "total_flos"}


class MetricsLog(TrainerCallback):
    """Writes a run's rows wherever they are read.

    Args:
        run_dir: gets ``metrics.jsonl`` and ``tensorboard/``.
        start: the step the run continues from (0: from the beginning).
        on_step: called with all rows so far after each step (a notebook's live plot).
        writes: whether it does anything: of processes that train together only the first.
    """

    def __init__(
        self, run_dir: Path, start: int, on_step: Callable[[Sequence[Row]], None] | None = None, writes: bool = True
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
        # What had no value in this step, such as a mean of nothing, is left out: JSON has no NaN.
        had = {k: v for k, v in logs.items() if k not in _NOT_OURS and not (isinstance(v, float) and not isfinite(v))}
        row = {"step": state.global_step, **had}
        row["seconds"] = time.perf_counter() - self.began
        with explain_full_disk(self.path), self.path.open("a") as file:
            file.write(json.dumps(row, allow_nan=False) + "\n")
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

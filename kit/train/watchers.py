"""Show a training where there is no notebook page: lines in a job, a bar in a terminal."""

from __future__ import annotations

import os
import sys
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from kit.train.progress import Progress, Watcher, duration

if TYPE_CHECKING:
    from kit.train.metrics import Row

JOB = "KIT_JOB"
"""Environment variable of a kernel that executes a notebook as a job (set by :mod:`workshop.jobs.run`)."""

LINES = 10
"""Lines of a training that stay, one for each tenth of it; those between are written over one another."""


def is_quiet() -> bool:
    """True if nothing is to be shown: ``KIT_QUIET`` is set, or nobody watches (no terminal, no notebook)."""
    if os.environ.get("KIT_QUIET", "") not in ("", "0"):
        return True
    return not (sys.stderr.isatty() or "ipykernel" in sys.modules)


def default_watcher() -> Watcher:
    """The watcher of a training that was given none: lines in a kernel, a bar in a terminal, or nothing."""
    if is_quiet():
        return Watcher()
    return LineWatcher() if "ipykernel" in sys.modules else BarWatcher()


class LineWatcher(Watcher):
    """Print a line after each step, on standard output: JupyterLab shows the other stream as an error.

    A line is written over the one before, but for one in each tenth of the training: a notebook keeps ten of them.
    """

    def __init__(self) -> None:
        self._last: Progress | None = None
        self._shown = 0
        self._tenth = 0
        self._width = 0

    def progress(self, progress: Progress) -> None:
        """Keep it for the next line; say at once that the training has begun."""
        if self._last is None:
            print(f"training: {progress.steps} steps", flush=True)
        self._last = progress

    def step(self, rows: Sequence[Row]) -> None:
        """Print the last row."""
        if len(rows) > self._shown:
            text, tenth = line(rows[-1], self._last), self._tenth_of(rows[-1]["step"])
            stays = tenth > self._tenth
            print(text.ljust(self._width), end="\n" if stays else "\r", flush=True)
            self._tenth, self._width = tenth, 0 if stays else len(text)
        self._shown = len(rows)

    def _tenth_of(self, step: int) -> int:
        steps = self._last.steps if self._last else LINES
        return step * LINES // steps


class BarWatcher(Watcher):
    """Draw a bar in the terminal that moves with every turn."""

    def __init__(self) -> None:
        self._bar: Any = None
        self._row = ""

    def progress(self, progress: Progress) -> None:
        """Move the bar."""
        from tqdm import tqdm

        if self._bar is None:
            self._bar = tqdm(total=progress.steps, bar_format="{percentage:3.0f}%|{bar}| {desc}", leave=True)
        self._bar.n = progress.share * progress.steps
        self._bar.set_description_str(f"{progress}{self._row}")
        if progress.phase == "done":
            self._bar.close()

    def step(self, rows: Sequence[Row]) -> None:
        """Show the newest reward and loss beside the bar."""
        shown = [f"{name} {rows[-1][name]:.3f}" for name in ("reward", "accuracy", "loss") if name in rows[-1]]
        self._row = f" · {', '.join(shown)}" if shown else ""

    def stopped(self, message: str) -> None:
        """Leave the bar as it is."""
        if self._bar is not None:
            self._bar.close()


def line(row: Row, progress: Progress | None = None) -> str:
    """A row of metrics as a line of text.

    Args:
        row: the row.
        progress: of the training after it, for the number of steps and the time left.
    """
    shown = [f"{name} {row[name]:.3f}" for name in ("reward", "accuracy", "turns", "loss") if name in row]
    of = f"/{progress.steps}" if progress else ""
    left = f", about {duration(progress.seconds_left)} left" if progress and progress.seconds_left else ""
    return f"step {row['step']}{of}  {'  '.join(shown)}  {row['seconds']:.1f} s{left}"

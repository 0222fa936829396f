"""The line that a notebook of a job has in the terminal: a bar while it runs, its minutes at the end.

What notebooks print goes into the run's log file (:mod:`workshop.jobs.execution`).
"""

from __future__ import annotations

import os
import sys
import threading
import time
from collections.abc import Mapping
from pathlib import Path
from typing import Any, TextIO

from kit.train.progress import FILE, duration, read_progress
from workshop.jobs.notebooks import Source

LOG = "run.log"
"""In the run's folder: everything that the notebooks printed."""


class Tee:
    """A file that hands what is written on to several."""

    def __init__(self, *files: TextIO) -> None:
        self._files = files

    def write(self, text: str) -> None:
        """Write into each of them."""
        for file in self._files:
            file.write(text)

    def flush(self) -> None:
        """Flush each of them."""
        for file in self._files:
            file.flush()


class StageLine:
    """The line of a notebook: while it runs a bar that moves, in a terminal; at the end how long it took, everywhere.

    Half of what a bar lacks when a training begins is that training's.

    Args:
        source: the notebook.
        folder: of the run, whose trainings write their progress into it.
        bar: whether a bar may be drawn.
    """

    def __init__(self, source: Source, folder: Path, bar: bool) -> None:
        self._title = short_title(source)
        self._folder, self._drawn = folder, bar and sys.stdout.isatty()
        self._cells, self._heading = 0.0, ""
        self._ended = threading.Event()
        self._began = time.time()
        self._thread = threading.Thread(target=self._draw, daemon=True)

    def __enter__(self) -> StageLine:
        if self._drawn:
            self._thread.start()
        return self

    def saved(self, notebook: Mapping[str, Any]) -> None:
        """Take in what papermill saves before and after each cell.

        Args:
            notebook: as JSON, every cell with papermill's status.
        """
        states = [cell["metadata"].get("papermill", {}).get("status") for cell in notebook["cells"]]
        self._cells = states.count("completed") / len(states)
        now = states.index("running") + 1 if "running" in states else 0
        texts = ["".join(cell["source"]) for cell in notebook["cells"][:now] if cell["cell_type"] == "markdown"]
        headings = [text.partition("\n")[0].lstrip("# ") for text in texts if text.startswith("## ")]
        self._heading = headings[-1] if headings else self._heading

    def __exit__(self, kind: type[BaseException] | None, *_: object) -> None:
        self._ended.set()
        if self._drawn:
            self._thread.join()
        if kind is None:
            print(f"{self._title}  {duration(time.time() - self._began)}", flush=True)

    def _draw(self) -> None:
        from tqdm import tqdm

        look = "{desc}  {bar:12}  {elapsed}{postfix}"
        with tqdm(
            total=1.0, desc=self._title, bar_format=look, file=sys.stdout, leave=False, dynamic_ncols=True
        ) as bar:
            while not self._ended.wait(0.5):
                bar.n, text = self._state()
                bar.set_postfix_str(text)

    def _state(self) -> tuple[float, str]:
        """The share of the notebook that is done, and what it is at."""
        left, text = 1 - self._cells, self._heading
        files = [path for path in self._folder.glob(f"**/{FILE}") if path.stat().st_mtime > self._began]
        for training in filter(None, (read_progress(path.parent) for path in files)):
            left *= 1 - training.share / 2
            if training.phase != "done":
                rest = "" if training.seconds_left is None else f", {duration(training.seconds_left)} left"
                text = f"step {training.step + 1} of {training.steps}{rest}"
        return 1 - left, text


def short_title(source: Source) -> str:
    """A notebook's title without its paper's, which stands above: ``12 · the cold start``, in a column."""
    number, _, title = source.title.partition(" · ")
    return f"{number} · {title.rpartition(': ')[2]}".ljust(36)


def near(path: Path) -> str:
    """A path as one would type it here."""
    here = os.path.relpath(path)
    return str(path) if here.startswith("..") else here

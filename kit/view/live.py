"""Watch a training in a notebook: a bar that moves with every turn, below it the curves, then the newest episode."""

from __future__ import annotations

import os
import sys
import time
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

from kit.train import latest_rollout
from kit.train.metrics import Row
from kit.train.progress import Progress, Watcher, duration
from kit.train.watchers import JOB, LineWatcher, is_quiet
from kit.view.charts import COLOURS, Plot
from kit.view.curves import curves
from kit.view.episodes import Judge, show
from kit.view.html import Html, render
from kit.waiting import listeners

BAR_SECONDS = 0.3
"""Least time between two drawings of the bar."""

CURVE_SECONDS = 2.0
"""Least time between two drawings of the curves."""

PATIENCE = 2.0
"""Seconds of work before its bar is shown."""

PLACES = ("bar", "curves", "episode")
"""What is shown, from above. The curves stay above the episode, though the first episode is there before any step."""


def _bar(share: float | None, text: str, colour: str = COLOURS[0]) -> Any:
    """A bar with its text, to be displayed; where there is no share yet (None) it runs to and fro."""
    from IPython.display import HTML

    return HTML(render("live.html", share=share, percent=f"{100 * (share or 0):.2f}", text=text, colour=colour))


class WaitingBar:
    """Shows below a cell how far its long work is, and takes it away at the end; in jobs and tests it shows nothing."""

    def __init__(self, clock: Callable[[], float] = time.monotonic) -> None:
        self.clock = clock
        self._began = self._drawn = 0.0
        self._handle: Any = None

    def __call__(self, done: int, of: int, what: str) -> None:
        """Move the bar; see :data:`kit.waiting.Listener`."""
        if is_quiet() or os.environ.get(JOB) or "IPython" not in sys.modules:
            return
        from IPython import get_ipython
        from IPython.display import HTML, display

        now = self.clock()
        if not done and of:
            self._began = self._drawn = now
        elif not of and self._handle is not None:
            self._handle.update(HTML(""))
            self._handle = None
        elif done and now - self._began > PATIENCE and now - self._drawn > BAR_SECONDS and get_ipython() is not None:
            self._drawn = now
            left = duration((now - self._began) / done * (of - done))
            text = f"{done} of {of} {what}, about {left} left"
            self._handle = self._handle or display(HTML(""), display_id=True)
            self._handle.update(_bar(done / of, text))


listeners.append(WaitingBar())


class LiveTraining(Watcher):
    """Shows a training below its cell while it runs; in a job it prints lines, in tests nothing.

    Args:
        run_dir: folder of the run whose newest episode is shown; None: none is.
        is_right: the paper's judgement of an answered episode, shown as ✓ or ✗.
        clock: seconds that only go forward.
    """

    def __init__(
        self, run_dir: Path | None = None, is_right: Judge | None = None, clock: Callable[[], float] = time.monotonic
    ) -> None:
        self.run_dir, self.is_right, self.clock = run_dir, is_right, clock
        self._rows: Sequence[Row] = ()
        self._lines = LineWatcher() if os.environ.get(JOB) and not is_quiet() else None
        self._shows = not is_quiet() and self._lines is None
        self._handles: dict[str, Any] = {}
        self._drawn: dict[str, float] = {}
        self._rollout: int | None = None
        self._share = 0.0
        self._is_told = False
        self._began = clock()

    def begin(self) -> None:
        """Draw an empty bar before the model is loaded, and keep room below it for the curves and the episode."""
        self._began = self.clock()
        self._bar(None, "loading the model and starting the sandbox …")

    def progress(self, progress: Progress) -> None:
        """Move the bar; show the newest episode when there is another one."""
        self._is_told = True
        if self._lines is not None:
            self._lines.progress(progress)
        if progress.phase == "done":
            steps = f"{progress.steps} of {progress.steps} steps done"
            self._bar(1.0, f"{steps} in {duration(self.clock() - self._began)}", colour=COLOURS[2])
        elif self._is_due("bar", BAR_SECONDS):
            self._bar(progress.share or None, str(progress))
        if progress.phase == "learning" and progress.step != self._rollout:
            self._rollout = progress.step
            self._episode()

    def step(self, rows: Sequence[Row]) -> None:
        """Draw the curves again; rows before any progress are of a training that was finished before."""
        self._rows = list(rows)
        if self._rows and not self._is_told:
            steps = self._rows[-1]["step"]
            self._bar(1.0, f"already trained: {steps} of {steps} steps", colour=COLOURS[2])
        if self._lines is not None:
            self._lines.step(rows)
        if self._shows and self._rows and self._is_due("curves", CURVE_SECONDS):
            self._display("curves", curves(self._rows))

    def stopped(self, message: str) -> None:
        """Say where the training goes on, above the curves of all steps done."""
        self._bar(self._share, message, colour=COLOURS[1])
        if self._shows and self._rows:
            self._display("curves", curves(self._rows))

    def figure(self) -> Plot:
        """The final curves; what was shown live, but for the bar, is removed.

        Raises:
            ValueError: the training has no row that could be drawn.
        """
        from IPython.display import HTML

        for name in ("curves", "episode"):
            if name in self._handles:
                self._handles.pop(name).update(HTML(""))
        return curves(self._rows)

    def _bar(self, share: float | None, text: str, colour: str = COLOURS[0]) -> None:
        if not self._shows:
            return
        self._share = share or 0.0
        self._display("bar", _bar(share, text, colour))

    def _episode(self) -> None:
        if not self._shows or self.run_dir is None or (found := latest_rollout.load(self.run_dir)) is None:
            return
        step, played = found
        episode, score = played[0]
        title = f"newest episode, of step {step}"
        shown = show(episode, score, is_right=self.is_right)
        self._display("episode", Html(f"<header><b>{title}</b></header>{shown.body}", title))

    def _is_due(self, name: str, seconds: float) -> bool:
        now = self.clock()
        if now - self._drawn.get(name, -seconds) < seconds:
            return False
        self._drawn[name] = now
        return True

    def _display(self, name: str, what: Any) -> None:
        """Show something in its place below the cell; all places are made at once, so that their order is fixed."""
        from IPython.display import HTML, display

        for place in PLACES:
            if place not in self._handles:
                self._handles[place] = display(HTML(""), display_id=True)
        self._handles[name].update(what)

"""Progress of a training while it runs: which step it is at, what it does there, how long the rest will take.

Nothing here needs torch: commands and pages read it, too. :mod:`kit.train.progress_meter` measures it.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Literal

from kit.files import read_json

if TYPE_CHECKING:
    from kit.train.metrics import Row

Phase = Literal["loading", "playing", "learning", "saving", "done"]

FILE = "progress.json"
"""In the run's folder."""


@dataclass(frozen=True)
class Progress:
    """State of a training at a moment.

    Attributes:
        step: steps that are done.
        steps: steps of the whole training.
        phase: the activity of the step under way.
        part: share of that step that is done, 0 to 1, estimated.
        detail: the phase's counts in words.
        seconds_left: until the last step is done, estimated; None before there is anything to estimate from.
    """

    step: int
    steps: int
    phase: Phase
    part: float = 0.0
    detail: str = ""
    seconds_left: float | None = None

    @property
    def share(self) -> float:
        """Share of the training that is done, 0 to 1."""
        return min(1.0, (self.step + self.part) / self.steps)

    def __str__(self) -> str:
        if self.phase == "done":
            return f"{self.steps} of {self.steps} steps done"
        doing = f"{self.phase}: {self.detail}" if self.detail else self.phase
        left = "" if self.seconds_left is None else f" · about {duration(self.seconds_left)} left"
        return f"step {self.step + 1} of {self.steps} · {doing}{left}"


def duration(seconds: float) -> str:
    """Seconds in words: ``40 s``, ``7 min``, ``2.5 h``."""
    if seconds < 90:
        return f"{max(1, round(seconds))} s"
    return f"{round(seconds / 60)} min" if seconds < 5400 else f"{seconds / 3600:.1f} h"


def read_progress(run_dir: Path) -> Progress | None:
    """The progress that a training last wrote into its folder; None if it has not begun."""
    found = read_json(run_dir / FILE)
    return None if found is None else Progress(**found)


class Watcher:
    """Shows a training to somebody. This one shows nothing: override what you need."""

    def begin(self) -> None:
        """The training is about to load its model."""

    def step(self, rows: Sequence[Row]) -> None:
        """A step is done (or the run was done before): all rows of metrics so far."""

    def progress(self, progress: Progress) -> None:
        """Something moved: after each turn played and each batch learnt from."""

    def stopped(self, message: str) -> None:
        """The training was interrupted; ``message`` says where it goes on."""

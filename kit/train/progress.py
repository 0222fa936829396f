"""Follow a training while it runs: which step it is at, what it does there, how long the rest will take.

The trainer reports to a :class:`Meter`. The meter tells a :class:`Watcher` in its own process, and writes
``run_dir/progress.json`` for readers in others: the launcher of several processes, ``python -m kit view``.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import closing
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any, Literal

from transformers import TrainerCallback

from kit.files import read_json, write_json
from kit.policy import Completion, GenerationRequest, Policy, RequestSource, SamplingParams, Wait
from kit.train.metrics import Row

Phase = Literal["loading", "playing", "learning", "saving", "done"]

FILE = "progress.json"
"""In the run's folder."""

WRITE_SECONDS = 1.0
"""Least time between two writes of the file."""

FIRST_GUESS = 3.0
"""Turns an episode is expected to take before any step has been measured."""

PLAY_SHARE = 0.6
"""Share of a step's time that playing is expected to take before any step has been measured."""


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


class Meter(TrainerCallback):
    """Measures how far a training is and estimates how long the rest takes.

    Args:
        run_dir: gets ``progress.json``.
        steps: steps of the whole training.
        rows: metrics of the steps done before, whose seconds are the first estimate.
        watcher: told whenever something moves.
        writes: whether it does anything: of processes that train together only the first.
        clock: seconds that only go forward.
    """

    def __init__(
        self,
        run_dir: Path,
        steps: int,
        rows: Sequence[Row] = (),
        watcher: Watcher | None = None,
        writes: bool = True,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self.path, self.steps, self.watcher, self.writes, self.clock = run_dir / FILE, steps, watcher, writes, clock
        self.done = int(rows[-1]["step"]) if rows else 0
        self._seconds = [float(row["seconds"]) for row in rows][-3:]
        self._play_share = 0.0
        self._turns_before: float | None = None
        self._written = -WRITE_SECONDS
        self._begin()
        self.tell("loading")

    def _begin(self) -> None:
        """A step begins."""
        self._began = self.clock()
        self._episodes = self._turns = self._asked = self._learnt = 0
        self._played_at: float | None = None

    def playing(self, episodes: int) -> None:
        """A rollout of so many episodes begins."""
        self._episodes, self._play_share = episodes, self._play_share or PLAY_SHARE
        self.tell("playing")

    def asked(self, turns: int) -> None:
        """The policy was asked for so many turns."""
        self._asked += turns

    def turn(self) -> None:
        """A turn has ended."""
        self._turns += 1
        self.tell("playing")

    def played(self) -> None:
        """The rollout has ended: what follows is learning."""
        self._played_at, self._turns_before = self.clock(), self._turns
        self.tell("learning")

    def on_step_begin(self, args: Any, state: Any, control: Any, **kwargs: Any) -> None:
        """Start the step's clock."""
        self.done = state.global_step
        self._begin()
        self.tell("learning")

    def on_substep_end(self, args: Any, state: Any, control: Any, **kwargs: Any) -> None:
        """A batch of the step was learnt from."""
        self._learnt += 1
        self.tell("learning", parts=args.gradient_accumulation_steps)

    def on_step_end(self, args: Any, state: Any, control: Any, **kwargs: Any) -> None:
        """A step is done: its time and the share of playing in it are the next estimates."""
        seconds = max(1e-9, self.clock() - self._began)
        if self._played_at is not None:
            self._play_share = (self._played_at - self._began) / seconds
        self._seconds = [*self._seconds, seconds][-3:]
        self.done = state.global_step
        self._begin()
        self.tell("saving" if self.done < self.steps else "done")

    def tell(self, phase: Phase, parts: int = 1) -> None:
        """Report to the watcher, and now and then to the file.

        Args:
            phase: the activity of the step under way.
            parts: batches that a step learns from.
        """
        if not self.writes:
            return
        found = self._now(phase, parts)
        now = self.clock()
        if now - self._written >= WRITE_SECONDS or phase == "done":
            self._written = now
            write_json(self.path, asdict(found))
        if self.watcher is not None:
            self.watcher.progress(found)

    def _now(self, phase: Phase, parts: int) -> Progress:
        share, part, detail = self._play_share, 0.0, ""
        if phase == "playing":
            expected = self._turns_before or FIRST_GUESS * self._episodes
            part = share * self._turns / max(expected, self._asked, 1)
            detail = f"{self._turns} turns of {self._episodes} episodes"
        elif phase == "learning":
            part = (share if self._episodes else 0.0) + (1 - share) * self._learnt / parts
            detail = f"{self._learnt} of {parts} batches" if parts > 1 else ""
        return Progress(self.done, self.steps, phase, part, detail, self._left(part))

    def _left(self, part: float) -> float | None:
        rest = self.steps - self.done - part
        if self._seconds:
            return rest * sum(self._seconds) / len(self._seconds)
        return rest * (self.clock() - self._began) / part if part > 0 else None


class MeteredPolicy:
    """A policy that reports every turn to a meter; what it samples is the wrapped policy's.

    Args:
        policy: samples the turns.
        meter: counts them.
    """

    def __init__(self, policy: Policy, meter: Meter) -> None:
        self.policy = policy
        self.meter = meter

    def reset(self) -> None:
        """A new rollout begins."""
        self.policy.reset()

    def sample(self, requests: Sequence[GenerationRequest], params: SamplingParams) -> list[Completion]:
        """One sample for each request, in order."""
        self.meter.asked(len(requests))
        found = self.policy.sample(requests, params)
        for _ in found:
            self.meter.turn()
        return found

    def stream(self, ready: RequestSource, params: SamplingParams) -> Iterator[tuple[int, Completion]]:
        """Samples with their requests' numbers, each as soon as it is there."""

        def counted(wait: Wait) -> list[tuple[int, GenerationRequest]]:
            found = ready(wait)
            self.meter.asked(len(found))
            return found

        inner: Any = self.policy.stream(counted, params)
        with closing(inner):  # interrupted here, the wrapped policy ends what it has begun
            for item in inner:
                self.meter.turn()
                yield item

    def __getattr__(self, name: str) -> Any:
        """Whatever else the wrapped policy has."""
        return getattr(self.policy, name)

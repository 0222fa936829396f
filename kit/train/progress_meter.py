"""Measure a training while it runs: the trainer reports to a :class:`ProgressMeter`, which counts and estimates.

It tells a :class:`kit.train.progress.Watcher` in its own process, and writes ``run_dir/progress.json`` for readers in
others.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import closing
from dataclasses import asdict
from pathlib import Path
from typing import Any

from transformers import TrainerCallback

from kit.files import write_json
from kit.policy import Completion, GenerationRequest, Policy, RequestSource, SamplingParams, Wait
from kit.train.metrics import Row
from kit.train.progress import FILE, Phase, Progress, Watcher

WRITE_SECONDS = 1.0
"""Least time between two writes of the file."""

FIRST_GUESS = 3.0
"""Turns an episode is expected to take before any step has been measured."""

PLAY_SHARE = 0.6
"""Share of a step's time that playing is expected to take before any step has been measured."""


class ProgressMeter(TrainerCallback):
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
        self._furthest = 0.0
        self._played_at: float | None = None

    def playing(self, episodes: int) -> None:
        """A rollout of so many episodes begins, or goes on with so many more."""
        self._episodes, self._play_share = self._episodes + episodes, self._play_share or PLAY_SHARE
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
        # Episodes that go on for longer than expected lower the estimate; what was shown as done stays so.
        self._furthest = part = max(part, self._furthest)
        return Progress(self.done, self.steps, phase, part, detail, self._left(part))

    def _left(self, part: float) -> float | None:
        rest = self.steps - self.done - part
        if self._seconds:
            return rest * sum(self._seconds) / len(self._seconds)
        return rest * (self.clock() - self._began) / part if part >= 0.25 else None  # it begins with what is done once


class MeteredPolicy:
    """A policy that reports every turn to a meter; what it samples is the wrapped policy's.

    Args:
        policy: samples the turns.
        meter: counts them.
    """

    def __init__(self, policy: Policy, meter: ProgressMeter) -> None:
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

"""Stop a training without losing it: an interrupt ends it at a checkpoint and says at which step it goes on."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from kit.train.checkpoint import newest_checkpoint, step_of
from kit.train.progress import Watcher, read_progress
from kit.waiting import Stopped


class TrainingStopped(Stopped):
    """A training was interrupted; the message says at which step the same call goes on."""


def stopped(run_dir: Path, steps: int | None = None) -> TrainingStopped:
    """Describe where the training in ``run_dir`` stopped and where it goes on.

    Args:
        run_dir: folder of the run.
        steps: steps of the whole training; None: as its progress says.
    """
    if steps is None and (found := read_progress(run_dir)) is not None:
        steps = found.steps
    done = step_of(newest_checkpoint(run_dir / "checkpoint"))
    of = "" if steps is None else f" of {steps}"
    if steps is not None and done >= steps:
        return TrainingStopped(f"stopped after the last step{of}; run this cell again to finish")
    if done == 0:
        return TrainingStopped("stopped before the first step was done; run this cell again to begin anew")
    return TrainingStopped(f"stopped after step {done}{of}; run this cell again to go on at step {done + 1}")


@contextmanager
def stoppable(run_dir: Path, steps: int | None = None, watcher: Watcher | None = None) -> Iterator[None]:
    """Turn an interrupt of the training in ``run_dir`` into :class:`TrainingStopped`.

    Args:
        run_dir: folder of the run.
        steps: steps of the whole training; None: as its progress says.
        watcher: told the message.

    Raises:
        TrainingStopped: the block was interrupted.
    """
    try:
        yield
    except TrainingStopped:
        raise
    except KeyboardInterrupt:
        found = stopped(run_dir, steps)
        if watcher is not None:
            watcher.stopped(str(found))
        raise found from None

"""Save a training by time, between its regular checkpoints."""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import Any

from transformers import TrainerCallback

from kit.train.processes import run_on_rank0

SAVE_SECONDS = 5.0
"""After so long a step is saved though no checkpoint is due."""

SAVE_SHARE = 20.0
"""But no sooner than so many times what saving took: then it costs a twentieth of the time at most."""


class TimedSaves(TrainerCallback):
    """Save between the regular checkpoints, so that an interruption costs the step under way and little else.

    Where saving takes under three seconds, less than a minute of work is ever unsaved.

    Args:
        trainer: a :class:`kit.train.checkpoint.SafeCheckpoints`.
        clock: seconds that only go forward.
    """

    def __init__(self, trainer: Any, clock: Callable[[], float] = time.monotonic) -> None:
        self.trainer, self.clock = trainer, clock
        self.saved = clock()

    def on_step_end(self, args: Any, state: Any, control: Any, **kwargs: Any) -> None:
        """Decide after each step that a run can resume from, alike in all processes."""
        if state.global_step % getattr(args, "num_iterations", 1) == 0 and run_on_rank0(self._is_due):
            control.should_save = True

    def on_save(self, args: Any, state: Any, control: Any, **kwargs: Any) -> None:
        """Start the clock again."""
        self.saved = self.clock()

    def _is_due(self) -> bool:
        return self.clock() - self.saved >= max(SAVE_SECONDS, SAVE_SHARE * self.trainer.save_seconds)

"""A training that other processes can be told of; as a script (``FOLDER PROCESSES VALUES``) it launches it."""

from __future__ import annotations

import json
import signal
import sys
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from kit.train.grpo import GRPOSettings
from kit.train.launch.launcher import launch
from kit.train.launch.topology import ProcessConfig
from kit.train.progress import Watcher


@dataclass(frozen=True)
class Toy:
    """The run of :mod:`several_processes`."""

    run_dir: str
    steps: int = 5
    settings: dict[str, Any] = field(default_factory=dict)

    def __call__(self, watcher: Watcher | None = None) -> None:
        import torch
        from several_processes import train

        torch.set_num_threads(1)
        train(Path(self.run_dir), {**self.settings, "steps": self.steps}, watcher)


@dataclass(frozen=True)
class Sampled:
    """The same run, with settings as the kit's trainings have them."""

    run_dir: str
    settings: GRPOSettings

    def __call__(self, watcher: Watcher | None = None) -> None:
        Toy(self.run_dir, self.settings.steps, vars(self.settings))(watcher)


if __name__ == "__main__":
    import launched  # as others will

    # As a kernel does. A shell that starts its jobs in the background has them ignore it, and so had the tests.
    signal.signal(signal.SIGINT, signal.default_int_handler)
    launch(launched.Toy(sys.argv[1], **json.loads(sys.argv[3])), ProcessConfig(**json.loads(sys.argv[2])), poll=0.1)

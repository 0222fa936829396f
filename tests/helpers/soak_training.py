"""Kills a training run without notice, again and again, at moments drawn at random; starts it again each time.

``python tests/soak_training.py FOLDER RESUMES SEED`` prints how many kills that took, or fails at the first
file that is torn, lost or other than the uninterrupted run's.
"""

from __future__ import annotations

import multiprocessing
import os
import random
import signal
import sys
import time
from pathlib import Path

from training_fixtures import grpo_run, without_times

STEPS = {"steps": 6, "save_every": 1}  # much of the time goes into writing: that is where a kill may do harm


def files(folder: Path) -> list[str]:
    return sorted(str(path.relative_to(folder)) for path in folder.rglob("*") if path.is_file())


def attempt(folder: Path, seconds: float | None) -> bool:
    """Start (or go on with) the run; kill it after so many seconds. Whether it ended by itself, and well."""
    process = multiprocessing.get_context("fork").Process(target=grpo_run, args=(folder,), kwargs=STEPS)
    process.start()
    process.join(seconds)
    if process.exitcode is None:
        os.kill(process.pid or 0, signal.SIGKILL)
        process.join()
        return False
    assert process.exitcode == 0, f"{folder}: the run ended with {process.exitcode}"
    return True


def check(folder: Path, whole: Path, ended: bool) -> None:
    """Nothing torn; after the end, nothing other than in the uninterrupted run."""
    steps = [row["step"] for row in without_times(folder)]
    assert steps == list(range(1, len(steps) + 1)), steps
    complete = files(next((whole / "checkpoint").glob("checkpoint-*")))
    for checkpoint in (folder / "checkpoint").glob("checkpoint-*"):
        assert files(checkpoint) == complete, checkpoint
    if (folder / "model").exists():
        assert files(folder / "model") == files(whole / "model")
    if ended:
        assert without_times(folder) == without_times(whole)
        weights = "model/model.safetensors"
        assert (folder / weights).read_bytes() == (whole / weights).read_bytes()


def soak(folder: Path, wanted: int, seed: int) -> tuple[int, int]:
    """Kill until so many killed runs were resumed; the numbers of kills and of runs that came to their end."""
    draw = random.Random(seed)
    attempt(folder / "whole", None)
    began = time.perf_counter()
    attempt(folder / "again", None)
    seconds = time.perf_counter() - began
    resumes = killed = ended = 0
    while resumes < wanted:
        run = folder / f"run-{ended}"
        resumes += (run / "checkpoint").is_dir()
        over = attempt(run, draw.uniform(0.0, seconds))
        check(run, folder / "whole", over)
        killed += not over
        ended += over
    return killed, ended


if __name__ == "__main__":
    count = int(sys.argv[2])
    kills, runs = soak(Path(sys.argv[1]), count, int(sys.argv[3]))
    print(f"{kills} kills, {count} resumes, {runs} runs to their end: nothing torn, lost or other")

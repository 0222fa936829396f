"""Compare a training in one process with the same in one for each core: ``python -m benchmarks processes``.

An expert's jigsaw episodes teach the tiny model for some steps (SFT), then the taught model plays puzzles and learns
from them (GRPO): each training once in one process and once divided, at ``laptop``'s batches. Printed are seconds a
step, what starting costs, the ratio, and how far the metrics are apart. Memory is PSS, all processes together.
"""

from __future__ import annotations

import os
import tempfile
import threading
import time
from collections.abc import Callable, Sequence
from dataclasses import replace
from pathlib import Path
from statistics import median
from typing import Any

from benchmarks.kernels import descendants, load_average, pss
from kit.data.store import save_episodes, save_tasks
from kit.episode import Task
from kit.policy.hf import ForcedPolicy, load_model_and_chat
from kit.train.grpo import GRPOSettings
from kit.train.launch.cores import on_all_cores, usable_cores
from kit.train.launch.launcher import launch
from kit.train.launch.topology import ProcessConfig
from kit.train.metrics import TIMES, Row, read_metrics
from kit.train.progress import Watcher
from kit.train.sft import SFTSettings, SFTTraining
from papers.agile.experiment import Play, Training
from papers.agile.expert import expert_script
from papers.agile.tasks import training_set
from tiny import TINY
from turn_sandbox import CONFINED, Sandbox

EPISODES = 64
"""Of the expert."""

PAUSE = 0.3
"""Seconds between two looks at the memory."""


def processes_bench(steps: int = 3, processes: int = 0) -> dict[str, float]:
    """Measure, print and return, for SFT and GRPO, how many times as fast a step is when it is divided.

    Args:
        steps: of GRPO; SFT takes eight times as many.
        processes: of the divided training; 0: one for each core.

    Raises:
        ValueError: there is one core only, so nothing to compare.
    """
    many = processes or usable_cores()
    if many < 2:
        raise ValueError("1 core here: give a number of processes, python -m benchmarks processes 3 2")
    print(f"1 process and up to {many}, one thread each; {load_average()}")
    with tempfile.TemporaryDirectory() as place:
        folder = Path(place)
        tasks = prepare(folder)
        sft = SFTSettings(epochs=8 * steps * 4 / len(tasks), batch_size=4, replay=0, per_device_batch_size=4)
        sft = replace(sft, learning_rate=3e-4)
        grpo = GRPOSettings(steps=steps, prompts_per_batch=12, group_size=8, per_device_batch_size=32)
        grpo = replace(grpo, learning_rate=1e-4, schedule="cosine")
        play = Play(prompt="brief", max_turns=5, max_new_tokens=80)

        def taught(run: Path, settings: SFTSettings) -> SFTTraining:
            return SFTTraining(str(TINY), str(folder / "episodes.jsonl"), str(run), settings)

        def played(run: Path, settings: GRPOSettings) -> Training:
            start, puzzles = str(folder / "SFT-1" / "model"), str(folder / "puzzles.jsonl")
            return Training(start, puzzles, str(run), play, settings, allow_unsafe=True)

        found = {"SFT": compare(folder, "SFT", taught, sft, many)}
        found["GRPO"] = compare(folder, "GRPO", played, grpo, many)
    return found


def prepare(folder: Path) -> Sequence[Task]:
    """Write puzzles and an expert's episodes of them."""
    tasks = training_set(EPISODES, seed=0, photo_share=0.0)
    vlm, chat = load_model_and_chat(TINY)
    how = Play(prompt="brief", max_turns=9, max_new_tokens=120)
    with Sandbox(require=CONFINED, allow_unsafe=True) as box:
        episodes = how(ForcedPolicy(vlm, chat, expert_script(0)), chat, box, tasks, temperature=0.0)
    save_tasks(folder / "puzzles.jsonl", tasks)
    save_episodes(folder / "episodes.jsonl", episodes)
    return tasks


def compare(folder: Path, name: str, make: Callable[[Path, Any], Any], settings: Any, many: int) -> float:
    """Train in one process and divided, print both, and return how many times as fast a step is.

    Args:
        folder: gets ``NAME-1`` and ``NAME-all``.
        name: of the training, for the lines printed.
        make: a run's folder and settings → the training.
        settings: of one process.
        many: processes at the most.
    """
    divided, n = on_all_cores(settings, folder / f"{name}-all", cores=many, gpus=0)
    rows: dict[int, list[Row]] = {}
    for count, chosen, place in ((1, settings, f"{name}-1"), (n, divided, f"{name}-all")):
        run = folder / place
        began, peak = time.perf_counter(), _Peak()
        launch(make(run, chosen), ProcessConfig(count), Watcher())
        whole = time.perf_counter() - began
        rows[count] = read_metrics(run / "metrics.jsonl")
        each = median(row["seconds"] for row in rows[count])
        start = whole - sum(row["seconds"] for row in rows[count])
        memory = f"{peak.stop() / 1000:.1f} GB"
        print(f"{name:5s} {count} process(es): {each:6.2f} s a step, {start:5.1f} s to start and save, {memory}")
    ratio = median(r["seconds"] for r in rows[1]) / median(r["seconds"] for r in rows[n])
    print(f"{name:5s} a step is {ratio:.2f} times as fast in {n}; metrics are {_apart(rows[1], rows[n])}")
    return ratio


def _apart(one: Sequence[Row], other: Sequence[Row]) -> str:
    """How far two runs' metrics are apart in their first and in their last step, but for times."""
    found = []
    for at in (0, -1):
        both = {k: abs(float(one[at][k]) - float(other[at][k])) for k in one[at] if k not in TIMES}
        name = max(both, key=both.__getitem__)
        found.append(f"{both[name]:.1e} at the most in step {one[at]['step']} ({name})")
    return f"apart by {', '.join(found)}"


class _Peak:
    """The most memory that this process and all it started hold at once, looked at now and then."""

    def __init__(self) -> None:
        self._most, self._over = 0.0, threading.Event()
        self._thread = threading.Thread(target=self._watch, daemon=True)
        self._thread.start()

    def _watch(self) -> None:
        while not self._over.wait(PAUSE):
            found = [pss(Path(f"/proc/{pid}")) for pid in descendants(os.getpid())]
            self._most = max(self._most, sum(sizes[0] for sizes in found if sizes))

    def stop(self) -> float:
        """The most so far, in MB."""
        self._over.set()
        self._thread.join()
        return self._most

"""Interrupt notebook 13's training at random moments, as a reader does, and compare what comes out.

    python tests/helpers/soak_notebook.py RUN [MOMENTS] [SEED]

``RUN`` is a run whose notebooks 11 to 13 are done, below ``KIT_RUNS``. Its branch ``RUN-soak`` is trained in a kernel,
cell by cell, with the run's own values; the cell that trains is interrupted and run again until it ends. Printed: what
each interrupt said, the steps that were repeated, and whether the metrics are those of the uninterrupted run.
"""

from __future__ import annotations

import queue
import re
import shutil
import sys
import time
from collections import Counter
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
from jupyter_client.manager import KernelManager

from kit.files import ROOT, find_run, read_json
from kit.train.metrics import TIMES, read_metrics
from kit.train.progress import FILE, read_progress
from workshop.jobs.notebooks import find, load

NOTEBOOK = "13_agile_grpo"


def run_cell(client: Any, manager: Any, code: str, is_due: Callable[[], bool] | None = None) -> tuple[str, str]:
    """Execute a cell; returns its printed text and its error ("" if it ended well).

    Args:
        client: of the kernel.
        manager: of the kernel.
        code: the cell.
        is_due: asked again and again; when it says so, the cell is interrupted, once.
    """
    message, text, error = client.execute(code, store_history=True), "", ""
    while True:
        if is_due is not None and is_due():
            manager.interrupt_kernel()
            is_due = None
        try:
            found = client.get_iopub_msg(timeout=0.2)
        except queue.Empty:
            continue
        if found["parent_header"].get("msg_id") != message:
            continue
        kind, content = found["msg_type"], found["content"]
        text += content["text"] if kind == "stream" else ""
        error = f"{content['ename']}: {content['evalue']}" if kind == "error" else error
        if kind == "status" and content["execution_state"] == "idle":
            return text, error


def moment(folder: Path, rng: np.random.Generator) -> tuple[str, Callable[[], bool]]:
    """Choose when to interrupt: mostly within two steps of where the training goes on, now and then while it loads."""
    began, done = time.time(), len(read_metrics(folder / "metrics.jsonl"))
    if rng.random() < 0.2:
        seconds = float(rng.uniform(0.5, 8))
        return f"after {seconds:.1f} s", lambda: time.time() - began > seconds
    target = done + float(rng.uniform(0.05, 1.95))

    def reached() -> bool:
        path = folder / FILE  # what it says of an earlier run of the cell doesn't count
        found = read_progress(folder) if path.exists() and path.stat().st_mtime > began else None
        return found is not None and found.phase != "loading" and found.step + found.part >= target

    return f"at step {target:.2f}", reached


def main(name: str, moments: int = 20, seed: int = 0) -> int:
    """Soak; returns the exit code."""
    source = find(NOTEBOOK)[0]
    whole, folder = find_run(name) / "grpo" / "metrics.jsonl", find_run(f"{name}-soak")
    shutil.rmtree(folder, ignore_errors=True)
    values = read_json(find_run(name) / "params.json")["notebooks"][NOTEBOOK]["parameters"]
    values |= {"run": name, "tag": "soak"}
    manager = KernelManager(kernel_name="python3")
    manager.start_kernel(cwd=str(ROOT / "notebooks"))
    client = manager.client()
    client.start_channels()
    client.wait_for_ready()
    rng, bad, done, seen = np.random.default_rng(seed), 0, False, Counter[int]()
    try:
        for cell in load(source).cells:
            if cell.cell_type != "code" or done:
                continue
            if "launch(" not in cell.source or "import" in cell.source:
                error = run_cell(client, manager, cell.source)[1]
                if "parameters" in cell.metadata.get("tags", []):
                    error = run_cell(client, manager, "\n".join(f"{k} = {v!r}" for k, v in values.items()))[1]
                assert not error, f"{cell.source[:60]}: {error}"
                continue
            for k in range(moments + 1):
                when, is_due = moment(folder / "grpo", rng) if k < moments else ("to the end", None)
                before = len(read_metrics(folder / "grpo" / "metrics.jsonl"))
                _, error = run_cell(client, manager, cell.source, is_due)
                mine = read_metrics(folder / "grpo" / "metrics.jsonl")
                saved = re.search(r"after step (\d+)", error)
                lost = len(mine) - int(saved[1]) if saved else len(mine) if error else 0
                print(
                    f"{k:2d} {when}: rows {before} → {len(mine)}, to repeat {lost}. {error}",
                    flush=True,
                )
                expected = not error or error.startswith("TrainingStopped")
                bad += (not expected) + (lost > 1)
                seen[lost] += 1
                if not error:
                    break
            done = True
    finally:
        manager.shutdown_kernel(now=True)
    ours, theirs = read_metrics(folder / "grpo" / "metrics.jsonl"), read_metrics(whole)
    kept = [[{k: v for k, v in row.items() if k not in TIMES} for row in rows] for rows in (ours, theirs)]
    print(f"steps to repeat after an interrupt: {dict(seen)}; metrics equal: {kept[0] == kept[1]} ({len(ours)} steps)")
    return 1 if bad or kept[0] != kept[1] else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1], *map(int, sys.argv[2:])))

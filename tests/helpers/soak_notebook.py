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
from typing import Any

import numpy as np
from jupyter_client.manager import KernelManager

from kit.files import ROOT, find_run, read_json
from kit.jobs.notebooks import find, load
from kit.train.metrics import TIMES, read_metrics

NOTEBOOK = "13_agile_grpo"


def run_cell(client: Any, manager: Any, code: str, interrupt_after: float | None = None) -> tuple[str, str]:
    """Execute a cell; returns its printed text and its error ("" if it ended well)."""
    message, began, text, error = client.execute(code, store_history=True), time.monotonic(), "", ""
    while True:
        if interrupt_after is not None and time.monotonic() - began > interrupt_after:
            manager.interrupt_kernel()
            interrupt_after = None
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
            rows = read_metrics(whole)
            # Loading takes some seconds. Up to two steps after it, so that the run gets on between interrupts.
            longest = 10 + 2 * min(row["seconds"] for row in rows)
            for k in range(moments + 1):
                after = float(rng.uniform(0.5, longest)) if k < moments else None
                before = len(read_metrics(folder / "grpo" / "metrics.jsonl"))
                _, error = run_cell(client, manager, cell.source, after)
                mine = read_metrics(folder / "grpo" / "metrics.jsonl")
                saved = re.search(r"after step (\d+)", error)
                lost = len(mine) - int(saved[1]) if saved else len(mine) if error else 0
                print(
                    f"{k:2d} after {after or 0:5.1f} s: rows {before} → {len(mine)}, to repeat {lost}. {error}",
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

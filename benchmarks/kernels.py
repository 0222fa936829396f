"""Memory and start-up of several readers on one machine: ``python -m benchmarks kernels 6``.

Starts one kernel, then as many as asked for at the same moment, and lets each run a notebook's cells up to the one that
loads the model. Memory is PSS, all kernels and their children together: a page that several processes share is counted
once, which RSS does not do. Linux only.
"""

from __future__ import annotations

import os
import threading
import time
from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from pathlib import Path
from typing import Any

from workshop.jobs.notebooks import find, load, local_kernel

NOTEBOOK, UNTIL = "00", "load_model"
"""The notebook, and a word of the last cell that is run."""

PAUSE = 0.2
"""Seconds between two looks at the memory."""


def kernels_bench(count: int = 6) -> dict[str, float]:
    """Measure, print and return seconds and MB for one kernel and for ``count``.

    Raises:
        ValueError: ``count`` below 2, or a system without PSS.
    """
    if count < 2:
        raise ValueError(f"kernels {count}: at least 2 are compared with 1")
    if pss(Path("/proc/self")) is None:
        raise ValueError("this system doesn't tell how memory is shared (/proc/PID/smaps_rollup): Linux only")
    code = cells()
    print(f"kernels that run the first {len(code)} code cells of notebook {NOTEBOOK}; {load_average()}")
    figures: dict[str, float] = {}
    for number in (1, count):
        first, done, peak, alone = together(number, code)
        print(
            f"{number:3d} at once: first output {spread(first)}   model loaded {spread(done)}   peak {peak:7.0f} MB PSS"
        )
        if number > 1:
            print(f"{'':13s}median after loading: {alone:.0f} MB that no other process shares")
        figures |= {f"{number} first output s": max(first), f"{number} loaded s": max(done), f"{number} peak MB": peak}
    more = (figures[f"{count} peak MB"] - figures["1 peak MB"]) / (count - 1)
    figures["MB for one more"] = more
    print(f"each further kernel: {more:.0f} MB")
    print(f"extrapolated, not measured: 30 kernels {(figures['1 peak MB'] + 29 * more) / 1000:.1f} GB")
    return figures


def cells() -> list[str]:
    """Source of the cells that are run.

    Raises:
        ValueError: no cell of the notebook loads the model.
    """
    (source,) = find(NOTEBOOK)
    code = [cell.source for cell in load(source).cells if cell.cell_type == "code"]
    for n, text in enumerate(code, 1):
        if UNTIL in text and "import" not in text:
            return code[:n]
    raise ValueError(f"no cell of notebook {NOTEBOOK} has {UNTIL!r}: name another one in benchmarks/kernels.py")


def together(number: int, code: Sequence[str]) -> tuple[list[float], list[float], float, float]:
    """Start kernels at once; returns seconds to first outputs and to the end, peak PSS in MB, private MB of one.

    Args:
        number: how many.
        code: cells that each runs.
    """
    from jupyter_client.manager import KernelManager

    with local_kernel() as config, ThreadPoolExecutor(number) as pool:
        path = str(config.KernelManager.ip)
        managers = [KernelManager(kernel_name="python3", transport="ipc", ip=f"{path}-{n}") for n in range(number)]
        barrier = threading.Barrier(number)
        running = [pool.submit(one_reader, manager, code, barrier) for manager in managers]
        peak = 0.0
        try:
            while not all(reader.done() for reader in running):
                peak = max(peak, memory(managers)[0])
                time.sleep(PAUSE)
            peak = max(peak, memory(managers)[0])
            private = sorted(memory([manager])[1] for manager in managers)[number // 2]
            results = [reader.result() for reader in running]
        finally:
            for manager in managers:
                with suppress(RuntimeError):  # it never started
                    manager.shutdown_kernel(now=True)
    return [first for first, _ in results], [done for _, done in results], peak, private


def one_reader(manager: Any, code: Sequence[str], barrier: threading.Barrier) -> tuple[float, float]:
    """Start a kernel and run cells; returns seconds until something is printed, and until the last is done.

    Args:
        manager: of the kernel.
        code: the cells.
        barrier: all readers wait there before they start.

    Raises:
        RuntimeError: a cell failed.
    """
    barrier.wait()
    began, seen = time.perf_counter(), []

    def look(message: Any) -> None:
        if message["msg_type"] in ("stream", "display_data", "execute_result"):
            seen.append(time.perf_counter() - began)

    manager.start_kernel()
    client = manager.blocking_client()
    client.start_channels()
    try:
        client.wait_for_ready(timeout=300)
        for text in code:
            reply = client.execute_interactive(text, output_hook=look, timeout=600)
            if reply["content"]["status"] != "ok":
                raise RuntimeError(f"a cell failed: {reply['content'].get('evalue')}")
    finally:
        client.stop_channels()
    return seen[0], time.perf_counter() - began


def memory(managers: Sequence[Any]) -> tuple[float, float]:
    """MB of PSS of kernels and their children, and how many of them are no other process's."""
    found = [sizes for manager in managers for pid in family(manager) if (sizes := pss(Path("/proc", str(pid))))]
    return sum(shared for shared, _ in found), sum(private for _, private in found)


def family(manager: Any) -> Iterator[int]:
    """A kernel's process and its descendants."""
    pid = getattr(manager.provisioner, "pid", None) if manager.provisioner else None
    return descendants(pid) if pid else iter(())


def descendants(pid: int) -> Iterator[int]:
    """A process and all that it started, directly or not."""
    todo = [pid]
    while todo:
        pid = todo.pop()
        yield pid
        for tasks in Path(f"/proc/{pid}/task").glob("*/children"):
            with suppress(OSError):
                todo += [int(child) for child in tasks.read_text().split()]


def pss(process: Path) -> tuple[float, float] | None:
    """MB of a process, shared pages divided by who shares them, and MB it shares with none; None: it can't be told."""
    try:
        lines = (process / "smaps_rollup").read_text().splitlines()[1:]
    except OSError:
        return None
    sizes = {name: int(value.split()[0]) / 1000 for name, _, value in (line.partition(":") for line in lines)}
    return sizes["Pss"] * 1.024, (sizes["Private_Clean"] + sizes["Private_Dirty"]) * 1.024


def spread(seconds: Sequence[float]) -> str:
    """Shortest and longest."""
    return f"{min(seconds):5.1f} to {max(seconds):5.1f} s"


def load_average() -> str:
    """The machine's load before anything is started: others' work lengthens every time below."""
    return f"load average before: {os.getloadavg()[0]:.2f}"

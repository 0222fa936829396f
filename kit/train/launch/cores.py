"""Choose how many processes train on this machine: one for each core, as far as a batch can be shared equally.

``num_processes=0`` asks for it (:data:`AUTO`); :func:`on_all_cores` is the one place that decides. The batch stays what
it is: each process takes an equal part, a GRPO group is never divided, and all processes on processor cores together
hold about as many episodes at once as one would, since they share the memory. That must have room for them
(:data:`PROCESS_BYTES`).
"""

from __future__ import annotations

import os
from collections.abc import Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from kit.files import read_json

AUTO = 0
"""The value of ``num_processes`` that means one process for each core, or GPU where the model is for GPUs."""

CORES = "KIT_CORES"
"""Environment variable: cores that one reader may use, where several share a machine."""

QUOTAS = (Path("/sys/fs/cgroup/cpu.max"), Path("/sys/fs/cgroup/cpu/cpu.cfs_quota_us"))
"""Where Linux says how much of the processor a container gets (version 2 and 1 of its control groups)."""

LIMITS = (Path("/sys/fs/cgroup/memory.max"), Path("/sys/fs/cgroup/memory/memory.limit_in_bytes"))
"""Where Linux says how much memory a container gets."""

PROCESS_BYTES = 2.5e9
"""Memory that each process is given: two of a GRPO at ``laptop`` and what started them took 6.7 GB at their peak."""

PASS = 8
"""Episodes that fill a pass on a core: more, sorted by length, only add padding. Of 48 with 281 to 395 tokens, 16 a
pass took 1.03 to 1.2 times as long (an AMD core, puzzles at ``laptop``)."""


@dataclass(frozen=True)
class Share:
    """A batch divided among processes.

    Attributes:
        processes: their number.
        per_device_batch_size: episodes that each takes in one forward pass.
    """

    processes: int
    per_device_batch_size: int


def usable_cores(environ: Mapping[str, str] = os.environ, quotas: tuple[Path, ...] = QUOTAS) -> int:
    """Count the cores that this process may keep busy, at least 1.

    Args:
        environ: environment variables; ``KIT_CORES`` wins over everything that is found out.
        quotas: files that may hold a container's quota.

    Raises:
        ValueError: ``KIT_CORES`` is not a number above 0.
    """
    told = environ.get(CORES, "")
    if told:
        if not told.isdigit() or int(told) < 1:
            raise ValueError(f"{CORES}={told!r}: the number of cores to use, at least 1; unset it to use all there are")
        return int(told)
    cores = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
    allowed = [quota for path in quotas if (quota := _quota(path)) is not None]
    return max(1, int(min([cores, *allowed])))


def roomy(total: float | None = None, limits: tuple[Path, ...] = LIMITS) -> int:
    """Count the processes that the machine's memory, or its container's, has room for; at least 1.

    Args:
        total: bytes of the machine's memory, instead of those the system tells.
        limits: files that may hold a container's limit.
    """
    if total is None:
        total = float(os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES"))
    for path in limits:
        try:
            told = path.read_text().strip()
        except OSError:
            continue
        total = min(total, float(told)) if told.isdigit() else total
    return max(1, int(total / PROCESS_BYTES))


def _quota(path: Path) -> float | None:
    """Cores of a container's quota; None where there is no file, or no limit in it."""
    try:
        words = path.read_text().split()
        if len(words) == 1:  # version 1 has the period in a file of its own
            words.append(path.with_name("cpu.cfs_period_us").read_text().strip())
        return float(words[0]) / float(words[1]) if words[0] not in ("max", "-1") else None
    except OSError:
        return None


def share(batch: int, together: int, per_device_batch_size: int, most: int, one_memory: bool = True) -> Share:
    """Divide a batch equally among as many processes as can be.

    Args:
        batch: episodes of one step.
        together: episodes that have to stay in one process (a group); divides ``batch``.
        per_device_batch_size: episodes that a forward pass may hold.
        most: processes at the most.
        one_memory: they are cores of one memory: their passes together hold no more, each about :data:`PASS`.

    Returns:
        Up to ``most`` processes and the most episodes a pass that divide the batch.
    """
    n = _largest_divisor(batch // together, most)
    most = _largest_divisor(batch // n, per_device_batch_size // n if one_memory else per_device_batch_size)
    enough = (d for d in range(PASS, most) if one_memory and batch // n % d == 0)
    return Share(n, next(enough, most))


def _largest_divisor(number: int, most: int) -> int:
    """The largest divisor of ``number`` that is at most ``most``; 1 if none is."""
    return next((d for d in range(min(number, most), 0, -1) if number % d == 0), 1)


def on_all_cores(settings: Any, run_dir: Path, cores: int | None = None, gpus: int = 0) -> tuple[Any, int]:
    """Settle how a training that leaves its number of processes open is divided.

    A run that was begun keeps its number: a checkpoint holds the random state of each process.

    Args:
        settings: of the training: a dataclass with ``per_device_batch_size`` and the method ``batch_of``, which gives
            the episodes of a step and how many of them must stay in one process.
        run_dir: folder of the run.
        cores: instead of those this process may use.
        gpus: that the training takes (:func:`kit.train.arguments.gpus_of`); 0: it is for cores.

    Returns:
        The settings, with ``per_device_batch_size`` changed if need be, and the number of processes.
    """
    cores = usable_cores() if cores is None else cores
    batch, together = settings.batch_of()
    begun = (read_json(run_dir / "checkpoint" / "settings.json") or {}).get("processes")
    most = begun or gpus or min(cores, roomy())
    found = share(batch, together, settings.per_device_batch_size, most, one_memory=not gpus)
    kept = ", as many as when this run was begun" if begun else ""
    what = "GPU" if gpus else "core"
    print(
        f"num_processes={AUTO}: {found.processes} process(es) on {gpus or cores} {what}(s){kept}; each takes "
        f"{batch // found.processes} of a batch's {batch} episodes, {found.per_device_batch_size} in a forward pass",
        flush=True,
    )
    return replace(settings, per_device_batch_size=found.per_device_batch_size), found.processes

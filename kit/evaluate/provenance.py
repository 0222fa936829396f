"""Tell where figures come from: commit, hardware and versions of what is running, gathered here and never typed in."""

from __future__ import annotations

import os
import platform
import re
import subprocess
from contextlib import suppress
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import Any

from kit.files import ROOT

PACKAGES = ("torch", "transformers", "trl", "peft", "accelerate", "vllm", "numpy", "pillow")
"""Packages whose version can change a number."""

COMMIT = "KIT_COMMIT"
"""Environment variable: the commit, where there is no git that could tell it."""


def commit(root: Path = ROOT) -> str:
    """The commit checked out in ``root``, with ``+changes`` if files differ from it; without git ``KIT_COMMIT``, or the
    end of the folder's name as archives have it (``visual-agents-kit-82bcef2``), else ``unknown``.
    """

    def git(*args: str) -> str:
        done = subprocess.run(["git", "-C", str(root), *args], capture_output=True, text=True, check=True, timeout=60)
        return done.stdout.strip()

    with suppress(OSError, subprocess.CalledProcessError):
        if not git("rev-parse", "--show-prefix"):  # unpacked inside another project, it isn't of that one's commit
            changes = "+changes" if git("status", "--porcelain", "--untracked-files=no") else ""
            return git("rev-parse", "HEAD") + changes
    named = re.search(r"-([0-9a-f]{7,40})$", root.name)
    return os.environ.get(COMMIT) or (named[1] if named else "unknown")


def hardware() -> dict[str, Any]:
    """Processor, cores this process may use, memory in GB, and GPUs by name."""
    import torch

    name = platform.processor() or platform.machine()
    info = Path("/proc/cpuinfo")
    if info.exists():
        lines = [line for line in info.read_text().splitlines() if line.startswith("model name")]
        name = lines[0].partition(":")[2].strip() if lines else name
    cores = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count()
    memory = os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES") / 1e9
    gpus = [torch.cuda.get_device_name(i) for i in range(torch.cuda.device_count())]
    return {"cpu": name, "cores": cores, "memory_gb": round(memory, 1), "gpus": gpus}


def versions() -> dict[str, str]:
    """Python's version and that of each of :data:`PACKAGES` that is installed."""
    found = {"python": platform.python_version()}
    for package in PACKAGES:
        try:
            found[package] = version(package)
        except PackageNotFoundError:
            continue
    return found


def provenance() -> dict[str, Any]:
    """Commit, hardware and versions of what is running now."""
    return {"commit": commit(), "hardware": hardware(), "versions": versions()}

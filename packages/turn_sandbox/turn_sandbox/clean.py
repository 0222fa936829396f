"""Start the sandbox's processes with this interpreter, this package, and nothing of the host's environment."""

from __future__ import annotations

import os
import sys
from pathlib import Path

HOME = str(Path(__file__).resolve().parents[1])
"""Folder that this package is imported from."""


def command(module: str, *arguments: str) -> list[str]:
    """Run a module of this package, as a file: as a module, its package would be imported before it.

    -P: nothing is imported from the current folder, which code may write to.
    """
    return [sys.executable, "-P", os.path.join(HOME, *module.split(".")) + ".py", *arguments]


def environment(scratch: str) -> dict[str, str]:
    """Every variable the sandbox's processes see; ``PYTHONPATH`` is taken out before any code runs."""
    pools = ("OMP_NUM", "OPENBLAS_NUM", "MKL_NUM", "NUMEXPR_NUM", "VECLIB_MAXIMUM")
    return {
        "PYTHONPATH": HOME,
        "PATH": "/usr/local/bin:/usr/bin:/bin",
        "LANG": "C.UTF-8",
        "LC_ALL": "C.UTF-8",
        "USER": "nobody",
        **at_home(scratch),
        "MPLBACKEND": "Agg",
        # The order of sets is the same in every episode and run.
        "PYTHONHASHSEED": "0",
        "PYTHONDONTWRITEBYTECODE": "1",
        # macOS ends a forked process that touches Objective-C without this.
        "OBJC_DISABLE_INITIALIZE_FORK_SAFETY": "YES",
        # Each of libc's arenas reserves 64 MB of address space (mallopt(3)), a thread might have its own.
        "MALLOC_ARENA_MAX": "1",
        "OPENCV_FOR_THREADS_NUM": "1",
        # Processes share no locks here: joblib would warn in every session that it found none.
        "JOBLIB_MULTIPROCESSING": "0",
        **{f"{name}_THREADS": "1" for name in pools},
    }


def at_home(folder: str) -> dict[str, str]:
    """The variables of those by which libraries find a place for their files."""
    return {"HOME": folder, "TMPDIR": folder, "MPLCONFIGDIR": os.path.join(folder, ".matplotlib")}

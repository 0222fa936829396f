"""Say which Python to take where the one that was started lacks the kit's packages; needs none of them itself."""

from __future__ import annotations

import shlex
import sys
from collections.abc import Sequence
from pathlib import Path

from kit.files import ROOT

PYTHON = (3, 11)
"""The oldest Python that runs the kit."""

OURS = ("kit", "papers", "pictures", "tiny", "adapters", "workshop", "benchmarks")
"""Packages whose missing is a fault of the kit, not of the installation."""


def tell(error: ImportError, command: Sequence[str]) -> int:
    """Print the advice; returns the exit code of a request that is refused.

    Args:
        error: raised while the command's code was imported.
        command: what was typed after ``python -m kit``.

    Raises:
        ImportError: the error itself, where no advice would help.
    """
    if not (said := advice(error, command)):
        raise error
    print(f"python -m kit: {said}", file=sys.stderr)
    return 2


def advice(error: ImportError, command: Sequence[str], root: Path = ROOT) -> str:
    """Word the same command with the Python that has the kit's packages; empty if that wouldn't help.

    Args:
        error: raised while the command's code was imported.
        command: what was typed after ``python -m kit``.
        root: the project's folder.
    """
    if sys.version_info < PYTHON:
        return f"{sys.executable} is Python {sys.version.partition(' ')[0]}: {_way(command, root)}"
    name = (error.name or "").partition(".")[0]
    if not isinstance(error, ModuleNotFoundError) or not name or name in OURS:
        return ""
    if Path(sys.prefix).resolve() == (root / ".venv").resolve():  # installed, but for something that is optional
        return ""
    return f"{sys.executable} has no package {name!r}, which the kit needs: {_way(command, root)}"


def _way(command: Sequence[str], root: Path) -> str:
    python = root / ".venv" / "bin" / "python"
    shown = python.relative_to(root) if Path.cwd().resolve() == root else python
    said = f"say {shlex.join([str(shown), '-m', 'kit', *command])}"
    return said if python.exists() else f"install it with make .venv/ready-cpu (Python 3.11 or newer), then {said}"

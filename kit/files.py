"""Where things lie: the project's folder, and the runs' folders with their records.

::

    runs/NAME/params.json     what was asked for, and how far each notebook came (written by kit.jobs.run)
    runs/NAME/*.ipynb         executed notebooks
    runs/NAME/...             whatever the notebooks write: metrics.jsonl, results.json, checkpoint/, model/

``runs`` lies in the project's folder, or where the environment variable ``KIT_RUNS`` points.
"""

from __future__ import annotations

import errno
import json
import os
import re
import shutil
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parents[1]
"""The project's folder: the kit is installed in place, beside its notebooks."""

_NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]{0,63}")


def runs_folder() -> Path:
    """The folder that holds all runs (it need not exist yet)."""
    set_to = os.environ.get("KIT_RUNS", "")
    return Path(set_to).expanduser().resolve() if set_to else ROOT / "runs"


def run_folder(name: str) -> Path:
    """The folder of the run ``name``, made if it is missing.

    Raises:
        ValueError: the name could not be a folder's.
        OSError: the folder can't be made.
    """
    path = find_run(name)
    with explained(path):
        path.mkdir(parents=True, exist_ok=True)
    return path


def find_run(name: str) -> Path:
    """The folder of the run ``name``, whether or not it exists.

    Raises:
        ValueError: the name could not be a folder's.
    """
    if not _NAME.fullmatch(name):
        raise ValueError(f"run name {name!r}: use 1 to 64 letters, digits, dots, dashes, underscores, no dot first")
    return runs_folder() / name


@contextmanager
def explained(path: Path) -> Iterator[None]:
    """Make a full disk say where it is full and how many bytes are left."""
    try:
        yield
    except OSError as error:
        if error.errno not in (errno.ENOSPC, errno.EDQUOT):
            raise
        raise OSError(error.errno, full_disk(path)) from error


def full_disk(path: Path) -> str:
    """What to tell when ``path`` could not be written because the disk is full."""
    folder = next(parent for parent in [path, *path.parents] if parent.is_dir())
    free = shutil.disk_usage(folder).free
    return (
        f"the disk is full: {folder} has {free:,} bytes free and {path.name} could not be written. "
        "Free some space, or set KIT_RUNS to a folder on another disk, and give the same command again"
    )


def write_text(path: Path, text: str) -> None:
    """Write ``path`` completely or leave it as it was.

    Raises:
        OSError: naming folder and free bytes if the disk is full.
    """
    with explained(path):
        path.parent.mkdir(parents=True, exist_ok=True)
        handle, partial = tempfile.mkstemp(dir=path.parent, prefix=f".{path.name}.")
        try:
            with os.fdopen(handle, "w", encoding="utf-8") as file:
                file.write(text)
                file.flush()
                os.fsync(file.fileno())
            os.chmod(partial, 0o644)
            os.replace(partial, path)
        except BaseException:
            with suppress(OSError):
                os.unlink(partial)
            raise


def write_json(path: Path, value: Any) -> None:
    """Write ``value`` as readable JSON, completely or not at all."""
    write_text(path, json.dumps(value, indent=2, ensure_ascii=False, allow_nan=False) + "\n")


def read_json(path: Path) -> Any:
    """What is in the JSON file ``path``; None if there is no file.

    Raises:
        ValueError: the file is not JSON, naming it.
    """
    try:
        return json.loads(path.read_text(encoding="utf-8"))
    except FileNotFoundError:
        return None
    except json.JSONDecodeError as error:
        raise ValueError(f"{path} is not JSON ({error}); repair or remove it") from error

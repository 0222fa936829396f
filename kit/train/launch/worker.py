"""One of the processes that train together: ``python -m kit.train.launch.worker JOB.json``, started by the launcher."""

from __future__ import annotations

import dataclasses
import hashlib
import importlib.util
import os
import platform
import socket
import sys
import threading
import time
import traceback
from collections.abc import Mapping, Sequence
from contextlib import suppress
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import Any, TypeVar, get_type_hints

from kit.files import print_anything, read_json, write_json
from kit.train.processes import STRATEGY, init_process_group, rank, run_on_rank0, world_size

T = TypeVar("T")

STARTED_BY = "KIT_STARTED_BY"
"""Environment variable: the process on this machine without which there is nothing to do."""

SAME = ("torch", "transformers", "trl", "accelerate", "peft", "deepspeed", "vllm")
"""Packages that must be of one version wherever a model is trained together."""

BESIDE = ("turn_sandbox", "visual_tools", "pictures", "tiny")
"""Packages of the project that a training imports besides its own: their source must be the same too."""


def rebuilt(kind: type[T], values: Mapping[str, Any]) -> T:
    """A dataclass from what ``dataclasses.asdict`` and JSON made of it, dataclasses and tuples in it too."""
    hints = get_type_hints(kind)
    made: dict[str, Any] = {}
    for name, value in values.items():
        hint = hints[name]
        inner = dataclasses.is_dataclass(hint) and isinstance(hint, type) and isinstance(value, dict)
        made[name] = rebuilt(hint, value) if inner else tuple(value) if isinstance(value, list) else value
    return kind(**made)


def installed(module: str = "kit") -> dict[str, str]:
    """Collect what must be the same everywhere: versions of Python and packages, and the source of what trains.

    Args:
        module: that defines the training; if it isn't the kit's, its package, or itself, is looked at too.
    """
    found = {"python": platform.python_version()}
    for package in SAME:
        try:
            found[package] = version(package).partition("+")[0]
        except PackageNotFoundError:
            found[package] = "none"
    kit = Path(__file__).parents[2]
    found["the kit's source"] = _digest(kit, _sources(kit))
    for top in sorted({*BESIDE, module.partition(".")[0]} - {kit.name}):
        spec = importlib.util.find_spec(top)
        place = spec and next(iter(spec.submodule_search_locations or ()), spec.origin)
        folder = Path(place or "none")
        files = [folder] if folder.is_file() else _sources(folder)
        found[f"the source of {top}"] = _digest(folder.parent, files) if files else "none"
    return found


def _sources(folder: Path) -> list[Path]:
    """Python files in a folder, but for those in hidden ones, such as an editor's copies."""
    return [path for path in folder.rglob("*.py") if not any(p.startswith(".") for p in path.relative_to(folder).parts)]


def _digest(folder: Path, files: Sequence[Path]) -> str:
    """One hash of files' names within ``folder`` and of what is in them."""
    digest = hashlib.sha256()
    for name, path in sorted((path.relative_to(folder).as_posix(), path) for path in files):
        content = path.read_bytes()
        digest.update(f"{name} {len(content)}\n".encode() + content)
    return digest.hexdigest()[:12]


def check_alike(found: Sequence[tuple[str, Mapping[str, str]]]) -> None:
    """Refuse processes (host, versions) that have other versions than the first.

    Raises:
        ValueError: naming the first difference and both hosts.
    """
    (first, wanted), *others = found
    for host, theirs in others:
        for name, mine in wanted.items():
            if theirs.get(name) != mine:
                raise ValueError(
                    f"{host} has {name} {theirs.get(name)}, {first} has {mine}: install the same lock and the same "
                    "commit on all machines"
                )


def end_with(started_by: int, seconds: float = 1.0) -> None:
    """End this process soon after the one that started it all, or its own parent, is gone.

    Killed without notice, they can't tell; and torch's agent puts every worker in a session of its own.
    """
    parent = os.getppid()

    def watch() -> None:
        while os.getppid() == parent and _lives(started_by):
            time.sleep(seconds)
        os._exit(1)

    threading.Thread(target=watch, daemon=True).start()


def _lives(pid: int) -> bool:
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    except PermissionError:
        pass
    return True


def work(path: Path) -> None:
    """Do this process's part of the job in ``path``; what went wrong is left beside it."""
    from accelerate.utils import gather_object

    job = read_json(path)
    try:
        init_process_group()
        module, _, name = job["call"].partition(":")
        everyone = gather_object([(f"{socket.gethostname()} (process {rank()})", installed(module))])
        run_on_rank0(lambda: check_alike(everyone))
        rebuilt(getattr(importlib.import_module(module), name), job["values"])()
    except BaseException as error:
        told = {
            "at": time.time(),
            "process": rank(),
            "host": socket.gethostname(),
            "error": f"{type(error).__name__}: {error}",
            "traceback": traceback.format_exc(),
        }
        with suppress(OSError):  # a full disk, which may be what went wrong: the log then tells it alone
            write_json(path.with_name(f"failed-{rank()}.json"), told)
        raise


if __name__ == "__main__":
    print_anything()
    if STARTED_BY in os.environ:
        end_with(int(os.environ[STARTED_BY]))
    if world_size() == 1 and os.environ.get(STRATEGY, "ddp") == "ddp":  # alone, it divides nothing: no group, no DDP
        for variable in ("RANK", "LOCAL_RANK", "WORLD_SIZE"):
            os.environ.pop(variable, None)
    work(Path(sys.argv[1]))

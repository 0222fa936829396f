"""Paths of the project and of its runs, and atomic writing: files and folders are replaced as a whole or not at all.

::

    runs/NAME/params.json     what was asked for, and how far each notebook came (written by workshop.jobs.run)
    runs/NAME/*.ipynb         executed notebooks
    runs/NAME-TAG/            a branch: links to what it keeps of NAME, and its own trainings (branch.json says of what)
    runs/NAME/...             whatever the notebooks write: metrics.jsonl, results.json, checkpoint/, model/

``runs`` lies in the project's folder, or where the environment variable ``KIT_RUNS`` points.
"""

from __future__ import annotations

import errno
import io
import json
import os
import re
import shutil
import stat
import sys
import time
import uuid
from collections.abc import Iterator, Mapping
from contextlib import ExitStack, contextmanager, suppress
from pathlib import Path
from types import MappingProxyType
from typing import Any

ROOT = Path(__file__).resolve().parents[1]
"""The project's folder: the kit is installed in place, beside its notebooks."""

BRANCH = "branch.json"
"""In a branch's folder: the run it branches from, and its tag."""

NOTHING: Mapping[str, int] = MappingProxyType({})

GONE = ".gone-"
"""Before the name of a folder that is being removed."""

_NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]{0,63}")


def runs_folder() -> Path:
    """The folder that holds all runs (it need not exist yet).

    Raises:
        ValueError: ``KIT_RUNS`` is, or leads through, something that is no folder, or its name isn't UTF-8, which
            notebooks and records are written in.
    """
    set_to = os.environ.get("KIT_RUNS", "")
    way_out = "set KIT_RUNS to a folder of your own, such as KIT_RUNS=~/kit-runs"
    try:
        folder = Path(set_to).expanduser().resolve() if set_to else ROOT / "runs"
        str(folder).encode("utf-8")
    except UnicodeEncodeError:
        raise ValueError(f"the runs' folder {str(folder)!r} has a name that isn't UTF-8: {way_out}") from None
    except RuntimeError as error:
        raise ValueError(f"KIT_RUNS={set_to}: {error}; {way_out}") from None
    there = next(path for path in (folder, *folder.parents) if os.path.exists(path))
    if not there.is_dir():
        raise ValueError(f"the runs' folder {folder} can't be: {there} is not a folder; {way_out}")
    return folder


def run_folder(name: str) -> Path:
    """The folder of the run ``name``, made if it is missing.

    Raises:
        ValueError: the name could not be a folder's.
        OSError: the folder can't be made.
    """
    path = find_run(name)
    with explain_full_disk(path):
        path.mkdir(parents=True, exist_ok=True)
    return path


def find_run(name: str) -> Path:
    """The folder of the run ``name``, whether or not it exists.

    Raises:
        ValueError: the name could not be a folder's.
    """
    if not _NAME.fullmatch(name):
        raise ValueError(
            f"run name {name!r}: use 1 to 64 letters, digits, dots, dashes, underscores; the first a letter or a digit"
        )
    return runs_folder() / name


def start_run(name: str, tag: str = "", needs: Mapping[str, int] = NOTHING, makes: str = "") -> Path:
    """Make the folder of a run, or with a tag that of a branch, which keeps what earlier notebooks made.

    A branch is a run of its own, ``NAME-TAG``: other values can be tried in it without doing again what came before.
    Folders that it keeps are links to the run's, files are copies.

    Args:
        name: of the run.
        tag: of the branch, for what is changed in it, such as ``lr3e-4``; empty: the run itself.
        needs: file or folder within the run that must be there → number of the notebook that makes it.
        makes: folder that the caller writes; in a branch it is the branch's own, even if it was kept before.

    Raises:
        FileNotFoundError: something needed is missing; says which notebook makes it, and which runs have it all.
        ValueError: the name, with its tag, could not be a folder's.
        OSError: the folder can't be made.
    """
    source = find_run(name)
    folder = find_run(f"{name}-{tag}" if tag else name)
    for path, notebook in needs.items():
        if not (source / path).exists() and not (folder / path).exists():
            having = [run.name for run in sorted(runs_folder().glob("*")) if all((run / p).exists() for p in needs)]
            other = f"; or go on with a run that has it: {', '.join(having)}" if having else ""
            raise FileNotFoundError(
                f"run {name!r} has no {path}: run notebook {notebook} first "
                f"(python -m kit run {notebook} --name {name}){other}"
            )
    if makes and (folder / BRANCH).is_file() and (folder / makes).is_symlink():
        (folder / makes).unlink()
    with explain_full_disk(folder):
        folder.mkdir(parents=True, exist_ok=True)
        for path in needs if tag else ():
            _keep(source / path, folder / path)
    if tag:
        write_json(folder / BRANCH, {"of": name, "tag": tag})
    return folder


def _keep(source: Path, target: Path) -> None:
    """Link a folder, relative to where the link lies, or copy a file; what is there already stays."""
    if target.exists():
        return
    if source.is_dir():
        target.parent.mkdir(parents=True, exist_ok=True)
        target.symlink_to(os.path.relpath(source, target.parent), target_is_directory=True)
    else:
        write_bytes(target, source.read_bytes())


@contextmanager
def explain_full_disk(path: Path, errors: type[Exception] = OSError) -> Iterator[None]:
    """Turn the error of a full disk, however a writing library words it, into one that says what to do.

    Args:
        path: the file or folder that is being written.
        errors: what is looked at; Exception where a library wraps the system's error in one of its own.

    Raises:
        OSError: the disk is full; with the folder and its free bytes. Any other error passes unchanged.
    """
    try:
        yield
    except errors as error:
        full = getattr(error, "errno", None) in (errno.ENOSPC, errno.EDQUOT)
        # torch.save says "unexpected pos 64 vs 0" where the system wrote less than it was given.
        if not full and not any(words in str(error) for words in ("No space left", "unexpected pos")):
            raise
        raise OSError(errno.ENOSPC, full_disk(path)) from error


def full_disk(path: Path) -> str:
    """The error message for a ``path`` that could not be written because the disk is full."""
    folder = next(parent for parent in path.absolute().parents if parent.is_dir())
    free = shutil.disk_usage(folder).free
    return (
        f"the disk is full: {folder} has {free:,} bytes free and {path.name} could not be written; what was stored "
        "before is untouched. Free some space, or set KIT_RUNS to a folder on another disk, and give the same "
        "command again: it continues from what is complete"
    )


def print_anything() -> None:
    """Let stdout and stderr take every sign: one that their encoding lacks is written as an escape, ``\\u2192``.

    Without this, Python ends a program that prints ``→`` where ``PYTHONIOENCODING=latin-1`` or an old locale is set.
    Where they are closed (``>&-``), what is printed is lost, and no file that is opened later takes their place.
    """
    for number, name in enumerate(("stdin", "stdout", "stderr")):
        if getattr(sys, name) is None:
            handle = os.open(os.devnull, os.O_RDWR)  # takes the lowest number that is free: the closed one
            os.set_inheritable(handle, True)
            setattr(sys, name, os.fdopen(handle, "w" if number else "r", encoding="utf-8"))
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper):  # a notebook's own take everything
            stream.reconfigure(errors="backslashreplace")


UNWRITABLE = (errno.EACCES, errno.EPERM, errno.EROFS, errno.ENOTDIR, errno.ENAMETOOLONG, errno.ELOOP)
"""Error numbers of a place that this user can't write to."""

FULL = (errno.ENOSPC, errno.EDQUOT, errno.EFBIG)
"""Error numbers of a disk that is full, or full for this user or for a file of this size."""


@contextmanager
def _writing(path: Path) -> Iterator[None]:
    """Make the folder of ``path``; name the file and the way out if it can't be written."""
    try:
        with explain_full_disk(path):
            path.parent.mkdir(parents=True, exist_ok=True)
            yield
    except OSError as error:
        if error.errno == errno.ENOSPC:
            raise
        reason = error.strerror or str(error)
        raise type(error)(
            error.errno, f"cannot write {path}: {reason}. What was stored before is untouched; choose another folder"
        ) from error


def write_bytes(path: Path, data: bytes, wait: bool = True) -> None:
    """Write a file completely or leave it as it was, whenever the process is killed; its folder is made.

    A new file has the permissions that the umask leaves it, one that was there keeps its own.

    Args:
        path: the file.
        data: its content.
        wait: until it is on the disk; whoever writes many calls ``os.sync`` once, before what names them is written.

    Raises:
        OSError: naming the file, and for a full disk the free bytes.
    """
    with _writing(path):
        partial = path.with_name(f".{path.name}.{uuid.uuid4().hex[:8]}")
        handle = os.open(partial, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o666)  # what the umask leaves of it
        try:
            with os.fdopen(handle, "wb") as file:
                if path.exists():  # its permissions are somebody's choice
                    os.fchmod(handle, stat.S_IMODE(path.stat().st_mode))
                file.write(data)
                file.flush()
                if wait:
                    os.fsync(file.fileno())
            os.replace(partial, path)
        except BaseException:
            with suppress(OSError):
                os.unlink(partial)
            raise


def append_bytes(path: Path, data: bytes) -> None:
    """Append to a file in one call and wait until it is on the disk; a crash leaves at worst a torn end.

    Raises:
        OSError: as :func:`write_bytes`.
    """
    with _writing(path), open(path, "ab", buffering=0) as file:
        file.write(data)
        os.fsync(file.fileno())


def write_text(path: Path, text: str) -> None:
    """Write a UTF-8 file as :func:`write_bytes` does."""
    write_bytes(path, text.encode("utf-8"))


def write_json(path: Path, value: Any) -> None:
    """Write ``value`` as indented JSON, as :func:`write_bytes` does.

    Raises:
        ValueError: it holds NaN or infinity.
        TypeError: it is not made of JSON's types.
    """
    write_text(path, json.dumps(value, indent=2, ensure_ascii=False, allow_nan=False) + "\n")


def read_json(path: Path) -> Any:
    """Read the JSON file ``path``; None if there is no file.

    Raises:
        ValueError: the file is not JSON, naming it.
    """
    try:
        return json.loads(path.read_text(encoding="utf-8"))
    except FileNotFoundError:
        return None
    except (ValueError, RecursionError) as error:  # no JSON, no UTF-8, too deep
        raise ValueError(f"{path} is not JSON ({error}); repair or remove it") from error


@contextmanager
def atomic_dir(folder: Path, concurrent: bool = False) -> Iterator[Path]:
    """Yield an empty folder to write into; unless an error is raised, it then takes the name and place of ``folder``.

    Args:
        folder: replaced as a whole, or left as it was.
        concurrent: several processes may make it at once, each with the same contents: the first one's stays.

    Raises:
        OSError: naming folder and free bytes if the disk is full.
    """
    with explain_full_disk(folder, Exception):
        folder.parent.mkdir(parents=True, exist_ok=True)
        if not concurrent:
            partial = folder.with_name(f"{folder.name}.partial")
            shutil.rmtree(partial, ignore_errors=True)  # left by a killed process
            partial.mkdir()
            yield partial
            commit_dir(partial, folder)
            return
        partial = folder.with_name(f"{folder.name}-{uuid.uuid4().hex[:8]}")
        partial.mkdir()
        try:
            yield partial
            os.replace(partial, folder)
        except OSError:
            if not folder.is_dir():  # else another process was quicker
                raise
        finally:
            shutil.rmtree(partial, ignore_errors=True)


def commit_dir(partial: Path, final: Path) -> None:
    """Rename a finished folder to ``final``, in place of an older one of that name."""
    if final.exists():
        delete_dir(final)
    final.parent.mkdir(parents=True, exist_ok=True)
    os.replace(partial, final)


class FolderInUse(ValueError):
    """Another process holds a folder; the message names it and the way out."""


@contextmanager
def exclusive(folder: Path) -> Iterator[None]:
    """Hold ``folder``, so that two processes don't write into it at once; it is made if it is missing.

    The lock ends with the process that holds it, however that ends.

    Raises:
        FolderInUse: another process, or another part of this one, holds it.
    """
    import fcntl

    with ExitStack() as held:
        with _writing(folder / ".lock"):
            lock = held.enter_context((folder / ".lock").open("a+"))
            try:
                fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
            except BlockingIOError:
                lock.seek(0)
                holder = lock.read().strip() or "another process"
                raise FolderInUse(
                    f"{folder} is being written by {holder}: wait for it, stop it there, or give this run another name"
                ) from None
            lock.truncate(0)
            lock.write(f"process {os.getpid()}, since {time.strftime('%H:%M')}")
            lock.flush()
        yield


def is_held(folder: Path) -> bool:
    """True if a process holds ``folder`` (:func:`exclusive`), or if the system can't tell."""
    import fcntl

    try:
        with (folder / ".lock").open() as lock:
            fcntl.flock(lock, fcntl.LOCK_SH | fcntl.LOCK_NB)
    except FileNotFoundError:
        return False
    except OSError:
        return True
    return False


def delete_dir(folder: Path) -> None:
    """Remove a folder, which loses its name first: killed meanwhile, no folder is left with half of its files."""
    gone = folder.with_name(f"{GONE}{folder.name}")
    shutil.rmtree(gone, ignore_errors=True)
    os.replace(folder, gone)
    shutil.rmtree(gone)

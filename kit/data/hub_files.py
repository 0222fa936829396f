"""Files that a data set's cells name: where they lie, on this machine or on the hub."""

from __future__ import annotations

import os
from collections.abc import Callable
from functools import lru_cache
from pathlib import Path, PurePosixPath
from typing import TYPE_CHECKING, Any

from kit.data.cells import CellError

if TYPE_CHECKING:
    from kit.data.hub import HubSource

TABLES = (".parquet", ".jsonl", ".json", ".csv", ".tsv", ".arrow")
"""Suffixes of files with rows; a file that a row names may lie beside its table."""


@lru_cache(maxsize=64)
def _folders(root: str, split: str, data_files: str | None) -> tuple[str, ...]:
    """Folders of a data set in which a file that a cell names may lie: its own, then those of its tables.

    Where a split has a folder, its tables alone count: ``train/rows.jsonl`` and ``test/rows.jsonl`` may both name a
    ``1.png``.
    """
    if not Path(root).is_dir():
        parent = str(PurePosixPath(data_files or "").parent)
        return ("",) if "*" in parent or parent == "." else ("", parent)
    files = Path(root).glob(data_files) if data_files else Path(root).rglob("*")
    found = sorted({file.parent.relative_to(root).as_posix() for file in files if file.suffix.lower() in TABLES})
    own = [folder for folder in found if split in folder.split("/")]
    return "", *(own or found)


def fetch(path: str, source: HubSource) -> bytes:
    """Read the file that a cell names: in the data set's folder or beside its table, in an archive, or at an address.

    Args:
        path: as the cell tells it.
        source: the data set.

    Raises:
        CellError: there is no such file, or it can't be read.
        Exception: of the hub's libraries, if it can't be reached.
    """
    if "://" in path or "::" in path:
        from datasets.utils.file_utils import xopen

        return _read(lambda: xopen(path, "rb"), path, of_hub="hf://" in path)
    folders = _folders(source.id, source.split, source.data_files)
    if source.is_local:
        there = [file for folder in folders if os.path.isfile(file := os.path.join(source.id, folder, path))]
    else:
        named = (_downloaded(source, str(PurePosixPath(folder) / path)) for folder in folders)
        there = [file for file in named if file][:1]
    if not there:
        raise CellError(f"FileNotFoundError: no file {path!r:.200} in {source.id}")
    if len({os.path.realpath(file) for file in there}) > 1:
        raise CellError(f"file {path!r:.200} might be any of {', '.join(there)}")
    return _read(lambda: open(there[0], "rb"), path)


def _read(open_it: Callable[[], Any], path: str, of_hub: bool = False) -> bytes:
    try:
        with open_it() as file:
            return bytes(file.read())
    except Exception as error:
        if of_hub and not isinstance(error, FileNotFoundError):  # the network, and not this file alone
            raise
        raise CellError(f"file {path!r:.200}: {type(error).__name__}: {str(error)[:120]}") from error


def _downloaded(source: HubSource, path: str) -> str:
    """A file of the hub, on this machine now; empty if the data set has no such file."""
    from huggingface_hub import hf_hub_download
    from huggingface_hub.errors import EntryNotFoundError, LocalEntryNotFoundError

    try:
        return str(hf_hub_download(source.id, path, repo_type="dataset", revision=source.revision))
    except LocalEntryNotFoundError:  # no network, which says nothing of the file
        raise
    except (EntryNotFoundError, ValueError):
        return ""

"""Images from data sets on the Hugging Face hub, at pinned revisions.

A data set may change under its name, so a revision is always a commit. Where the table in a data script knows
none, it comes from ``hub.lock.json``, which :func:`pin` writes by asking the hub once; a branch
name such as ``main`` is refused.
"""

from __future__ import annotations

import contextlib
import json
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, TypeVar

import numpy as np
from PIL import Image

from kit.data.cells import CellError, LeftOut, image_of, parts
from kit.data.hub_files import fetch
from kit.files import write_bytes


class HubError(RuntimeError):
    """The hub can't be reached, or a data set there is not as its row says; the message tells the way out."""


@dataclass(frozen=True)
class HubSource:
    """One data set of a mixture.

    Attributes:
        id: ``owner/name`` on the hub, or a local folder that ``datasets.load_dataset`` reads.
        group: which part of the mixture it fills.
        split: its split.
        column: where its images are, in any form that :mod:`kit.data.cells` reads.
        licence: as its card or its paper states it.
        config: its configuration, if it has several.
        data_files: which of its files, if not all.
        revision: the commit that it is read at; of a local folder there is none.
        benchmark: models are evaluated on it, so it is left out unless asked for.
    """

    id: str
    group: str
    split: str
    column: str
    licence: str
    config: str | None = None
    data_files: str | None = None
    revision: str | None = None
    benchmark: bool = False

    @property
    def is_local(self) -> bool:
        """True if ``id`` is a folder on this machine (then there is no revision)."""
        return Path(self.id).is_dir()


Source = TypeVar("Source", bound=HubSource)

_COMMIT = re.compile(r"[0-9a-f]{40}")


def pinned(source: Source, lock: Mapping[str, str]) -> Source:
    """The data set at the commit to read it at: the lock's, else its row's.

    Raises:
        HubError: there is none, or it isn't a commit.
    """
    if source.is_local:
        return replace(source, revision=None)
    revision = lock.get(source.id, source.revision)
    if revision is None or not _COMMIT.fullmatch(revision):
        raise HubError(
            f"data set {source.id}: revision {revision!r} is not a commit; run once with --pin, which asks the hub "
            "for today's commit and writes it to hub.lock.json (keep that file: it names what you trained on)"
        )
    return replace(source, revision=revision)


def read_lock(path: Path) -> dict[str, str]:
    """Commits by data set id; empty if there is no such file."""
    if not path.exists():
        return {}
    try:
        lock = json.loads(path.read_text(encoding="utf-8"))
    except ValueError as error:
        raise HubError(f"{path}: not JSON ({error}); remove it and run with --pin") from error
    return {str(name): str(commit) for name, commit in lock.items()}


def pin(sources: Sequence[HubSource], path: Path) -> dict[str, str]:
    """Write a commit for every data set that has none yet to ``path``; what is pinned stays as it is.

    Raises:
        HubError: the hub can't be reached, or has no such data set.
    """
    from huggingface_hub import HfApi

    lock = read_lock(path)
    for source in sources:
        if source.is_local or source.id in lock or source.revision:
            continue
        with _reaching(source):
            lock[source.id] = str(HfApi().dataset_info(source.id).sha)
    write_bytes(path, (json.dumps(lock, indent=2, sort_keys=True) + "\n").encode())
    return lock


@contextlib.contextmanager
def _reaching(source: HubSource) -> Iterator[None]:
    """Turn whatever the hub's libraries raise into one message a user can act on."""
    try:
        yield
    except (HubError, CellError):
        raise
    except Exception as error:
        way_out = (
            f"The copy has no README.md, the data set's card, in which configurations such as {source.config!r} stand: "
            "copy it as well"
            if source.is_local and source.config and not (Path(source.id) / "README.md").is_file()
            else "The copy isn't as its row in the table says: correct one of them"
            if source.is_local
            else "If this machine has no network, leave --hub out: the offline sample needs none. If the data set "
            "moved or changed, correct its row in the table"
        )
        raise HubError(f"data set {source.id}: {type(error).__name__}: {str(error)[:300]}. {way_out}") from error


def rows(source: HubSource, columns: Sequence[str]) -> Iterator[dict[str, Any]]:
    """The rows of a data set in its own order, read as they come: nothing else is downloaded.

    Args:
        source: the data set.
        columns: names of the columns to read.

    Raises:
        HubError: it can't be reached, or has no such split or columns.
    """
    with _reaching(source):
        found = _opened(source)
        for column in columns:
            if found.column_names is not None and column not in found.column_names:
                raise HubError(f"data set {source.id}: no column {column!r}; it has {', '.join(found.column_names)}")
        # Images stay bytes, so that a bad one can be told from a bad data set. Tables of text (CSV, JSON) have
        # no features to decode by, are read as they come, and name their images' files.
        kinds = found.features or {}
        for row in found if found.features is None else found.decode(False):
            if missing := [column for column in columns if column not in row]:
                raise HubError(f"data set {source.id}: no column {missing[0]!r}; it has {', '.join(row)}")
            # A column of several types in a table of JSON lines comes as JSON.
            yield row | {name: _unpacked(row[name], kind) for name, kind in kinds.items() if name in row}


def _opened(source: HubSource) -> Any:
    """The split of a data set, to be read as it comes; cells of a CSV are texts, as they are written.

    Else pandas would take ``NA`` and ``None`` for nothing, ``007`` for 7.0 and a column of True and False for no text.
    """
    import datasets
    from datasets.packaged_modules.csv.csv import CsvConfig

    # Files without the name of their split would all be taken for "train".
    files = None if source.data_files is None else {source.split: source.data_files}
    found = datasets.load_dataset_builder(source.id, source.config, revision=source.revision, data_files=files)
    if isinstance(found.config, CsvConfig):
        found.config.nrows = 1
        columns = [name for row in found.as_streaming_dataset(source.split) for name in row]
        if "__index_level_0__" in columns:
            raise HubError(f"data set {source.id}: rows of its CSV have more fields than the first line has names")
        found.config.nrows, found.config.keep_default_na, found.config.na_values = None, False, [""]
        if columns:
            found.config.features = datasets.Features(dict.fromkeys(columns, datasets.Value("string")))
    return found.as_streaming_dataset(source.split)


def _unpacked(value: Any, kind: Any) -> Any:
    """A cell as its column tells it, at whatever depth.

    ``datasets`` keeps values of several types as JSON, a class as its number, and 0.1 of 32 bits as 0.10000000149.
    """
    inner = kind[0] if isinstance(kind, list) else getattr(kind, "feature", None)
    if type(kind).__name__ == "Json" and isinstance(value, str):
        return _of_several_types(value)
    if type(kind).__name__ == "ClassLabel" and isinstance(value, int):
        return kind.names[value] if value >= 0 else None
    if isinstance(value, float) and getattr(kind, "dtype", None) in ("float16", "float32"):
        return float(str(np.dtype(kind.dtype).type(value)))
    if isinstance(kind, Mapping) and isinstance(value, Mapping):
        return {name: _unpacked(one, kind.get(name)) for name, one in value.items()}
    return [_unpacked(one, inner) for one in value] if inner is not None and isinstance(value, list) else value


def _of_several_types(value: str) -> Any:
    """A cell of a column of several types. A text that looks like JSON stands there unquoted: 01, 1.50, null."""
    try:
        told = json.loads(value)
    except ValueError:
        return value
    return told if isinstance(told, str | list | dict) or (json.dumps(told) == value != "null") else value


def stream(source: HubSource) -> Iterator[Image.Image]:
    """The images of a data set in its own order, upright, RGB; those that can't be read are counted and named.

    Raises:
        HubError: it can't be reached, has no such split or column, or no image that can be read.
    """
    with used_rows(source) as left:
        for row in rows(source, (source.column,)):
            left.row()
            cells = parts(row[source.column])
            if not cells:
                left.add("no image")
            for cell in cells:
                try:
                    image = _image(cell, source)
                except CellError as error:
                    left.add(error)
                else:
                    left.used += 1
                    yield image


def images_of(cell: Any, source: HubSource) -> Iterator[Image.Image]:
    """The images of one cell, upright, RGB; none for a null.

    Args:
        cell: in any form that :mod:`kit.data.cells` reads.
        source: the data set, in which files lie that the cell names.

    Raises:
        kit.data.cells.CellError: one can't be read.
        HubError: a file can't be fetched.
    """
    for part in parts(cell):
        yield _image(part, source)


def _image(cell: Any, source: HubSource) -> Image.Image:
    with _reaching(source):
        return image_of(cell, lambda path: fetch(path, source))


@contextlib.contextmanager
def used_rows(source: HubSource) -> Iterator[LeftOut]:
    """Count a data set's rows while they are read; at the end those left out are told, once.

    Raises:
        HubError: all were read, and none was used.
    """
    left = LeftOut(f"data set {source.id}")
    try:
        yield left
    except BaseException:
        left.tell()
        raise
    if not left.used:
        raise HubError(left.nothing())
    left.tell()

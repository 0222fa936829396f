"""Tasks and episodes on disk: JSONL beside a folder of images.

::

    DIR/tasks.jsonl            one JSON object a line
    DIR/pictures/<sha256>.png  each image once, named by the hash of its size and RGB pixels

A line has ``schema`` (2), ``kind`` ("task" or "episode") and the fields of :class:`kit.data.schema.TaskRecord` or
:class:`kit.data.schema.EpisodeRecord`.

Images are stored as RGB, which is how :mod:`kit.chat` reads them. Everything is checked when it is
read: a message names file, line and field. A tuple comes back as a tuple in ``target`` (the nouns
are immutable), as a list inside ``meta``.

Files are replaced as a whole or not at all (:func:`save_tasks`, :func:`save_episodes`), or grow by
whole lines (:func:`append_episodes`); a line cut off by a crash is dropped by :func:`drop_torn_line`.
"""

from __future__ import annotations

import io
import json
import os
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict
from pathlib import Path
from typing import Any, TypeVar

from PIL import Image

from kit.data.schema import EpisodeRecord, ImageRecord, RecordError, TaskRecord, TurnRecord, checked, lines_of, parse
from kit.episode import Action, Episode, NamedImage, Observation, Task, Turn
from kit.files import ROOT, append_bytes, write_bytes
from kit.images import rgb

SCHEMA = 2
R = TypeVar("R", TaskRecord, EpisodeRecord)


def _save_picture(folder: Path, picture: NamedImage) -> dict[str, str]:
    path = folder / "pictures" / f"{picture.sha256}.png"
    if not path.exists() or not path.stat().st_size:  # empty after a power cut
        buffer = io.BytesIO()
        rgb(picture.image).save(buffer, "PNG")
        write_bytes(path, buffer.getvalue(), wait=False)  # a wait for each would take most of the time: see _lines
    return {"name": picture.name, "sha256": picture.sha256}


def _task_record(folder: Path, task: Task) -> dict[str, Any]:
    target = list(task.target) if isinstance(task.target, tuple) else task.target
    for name, value in (("target", target), ("meta", dict(task.meta))):
        try:
            same = json.loads(json.dumps(value, allow_nan=False)) == value
        except (TypeError, ValueError):
            same = False
        if not same:
            raise ValueError(f"task {task.id}: {name}={value!r} does not survive JSON; use strings, numbers and lists")
    return {
        "schema": SCHEMA,
        "kind": "task",
        "id": task.id,
        "question": task.question,
        "target": target,
        "target_is_tuple": isinstance(task.target, tuple),
        "meta": dict(task.meta),
        "images": [_save_picture(folder, image) for image in task.images],
        # Left out where there are none, which is most tasks.
        **({"originals": [_save_picture(folder, image) for image in task.originals]} if task.originals else {}),
    }


def _turn_record(folder: Path, turn: Turn) -> dict[str, Any]:
    seen = turn.observation
    return {
        "ids": turn.ids,
        "logprobs": turn.logprobs,
        "text": turn.text,
        "action": turn.action and asdict(turn.action),
        "observation": seen
        and {
            "text": seen.text,
            "status": seen.status,
            "images": [_save_picture(folder, image) for image in seen.images],
            **({"closing": seen.closing} if seen.closing else {}),
        },
        "observation_ids": turn.observation_ids,
    }


def _episode_record(folder: Path, episode: Episode) -> dict[str, Any]:
    return {
        "schema": SCHEMA,
        "kind": "episode",
        "task": _task_record(folder, episode.task),
        "prompt_ids": episode.prompt_ids,
        "turns": [_turn_record(folder, turn) for turn in episode.turns],
        "ended": episode.ended,
    }


def _lines(records: Iterable[Mapping[str, Any]]) -> bytes:
    # ASCII: no text can then hold what some reader takes for the end of a line.
    lines = "".join(json.dumps(record, allow_nan=False) + "\n" for record in records).encode("ascii")
    os.sync()  # their pictures are on the disk before a line names them
    return lines


def save_tasks(path: str | os.PathLike[str], tasks: Iterable[Task]) -> None:
    """Write ``tasks`` to the JSONL file ``path``, their images to ``pictures/`` beside it.

    Raises:
        ValueError: a target or meta that JSON would change.
        OSError: the file can't be written; an older one is then still there.
    """
    file = Path(path)
    write_bytes(file, _lines([_task_record(file.parent, task) for task in tasks]))


def save_episodes(path: str | os.PathLike[str], episodes: Iterable[Episode]) -> None:
    """Write ``episodes`` to the JSONL file ``path``, as :func:`save_tasks` does."""
    file = Path(path)
    write_bytes(file, _lines([_episode_record(file.parent, episode) for episode in episodes]))


def append_episodes(path: str | os.PathLike[str], episodes: Sequence[Episode]) -> None:
    """Add whole lines to ``path`` and wait until they are on the disk; images are written first."""
    file = Path(path)
    data = _lines([_episode_record(file.parent, episode) for episode in episodes])
    append_bytes(file, data)


def drop_torn_line(path: str | os.PathLike[str]) -> int:
    """Drop a last line that a crash cut off (it has no newline); how many bytes were dropped."""
    file = Path(path)
    if not file.exists():
        return 0
    data = file.read_bytes()
    whole = data.rfind(b"\n") + 1
    if whole < len(data):
        os.truncate(file, whole)
    return len(data) - whole


class _Images:
    """Reads images by hash, checks them, and gives equal images as one object."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self._known: dict[ImageRecord, NamedImage] = {}

    def read(self, records: Sequence[ImageRecord], where: str, field: str = "images") -> tuple[NamedImage, ...]:
        return tuple(self._read(record, f"{where}{field}[{i}].sha256") for i, record in enumerate(records))

    def _read(self, record: ImageRecord, where: str) -> NamedImage:
        if record not in self._known:
            path = self.folder / f"{record.sha256}.png"
            try:
                with Image.open(path) as image:
                    pixels = rgb(image)
            except FileNotFoundError:
                raise RecordError(f"{where}: picture {path} is missing") from None
            except (OSError, SyntaxError, ValueError) as error:
                raise RecordError(f"{where}: picture {path} cannot be read ({error})") from error
            named = NamedImage(record.name, pixels)
            if named.sha256 != record.sha256:
                raise RecordError(f"{where}: picture {path} is not what was stored; make the set anew")
            self._known[record] = named
        return self._known[record]


def _records(path: Path, kind: str, model: type[R]) -> Iterator[tuple[R, str]]:
    """Checked records of a file, each with its place: ``FILE:LINE``."""
    told = (("schema", SCHEMA, f"this version of the kit reads {SCHEMA}"), ("kind", kind, f"expected {kind!r}"))
    for number, line in lines_of(path):
        place = f"{path}:{number}"
        fields = parse(line, place)
        for name, expected, words in told:
            if name not in fields:
                raise RecordError(f"{place}: field {name}: missing")
            if fields[name] != expected:
                raise RecordError(f"{place}: field {name}: {fields[name]!r}; {words}")
        yield checked(model, fields, place), place


def _task(record: TaskRecord, images: _Images, where: str) -> Task:
    target = record.target
    if record.target_is_tuple:
        if not isinstance(target, list):
            raise RecordError(f"{where}target: {target!r:.80}; a tuple is stored as a list")
        target = tuple(target)
    shown, originals = images.read(record.images, where), images.read(record.originals, where, "originals")
    try:
        return Task(record.id, shown, record.question, target, record.meta, originals)
    except ValueError as error:
        raise RecordError(f"{where}originals: {error}") from None


def _turn(record: TurnRecord, images: _Images, where: str) -> Turn:
    if len(record.ids) != len(record.logprobs):
        raise RecordError(f"{where}logprobs: {len(record.logprobs)} for {len(record.ids)} ids; one of each per token")
    action, seen = record.action, record.observation
    shown = images.read(seen.images, f"{where}observation.") if seen else ()
    return Turn(
        tuple(record.ids),
        tuple(record.logprobs),
        record.text,
        Action(action.name, action.text, action.arguments) if action else None,
        Observation(seen.text, shown, seen.status, seen.closing) if seen else None,
        tuple(record.observation_ids),
    )


class Tasks(list[Task]):
    """Tasks of a file, one a line; :attr:`path` is the file's, for messages."""

    def __init__(self, path: Path, tasks: Iterable[Task]) -> None:
        super().__init__(tasks)
        self.path = path


def load_tasks(path: str | os.PathLike[str]) -> Tasks:
    """Read what :func:`save_tasks` wrote.

    Raises:
        RecordError: naming file, line and field of whatever is not as documented; a missing or changed image.
        FileNotFoundError: no such file.
    """
    file = Path(path)
    images = _Images(file.parent / "pictures")
    records = _records(file, "task", TaskRecord)
    return Tasks(file, (_task(record, images, f"{place}: field ") for record, place in records))


def files_of_script(folder: str | os.PathLike[str], *patterns: str) -> list[Path]:
    """Find the task sets that a data script has written from the hub; none if no folder is named.

    Args:
        folder: the script's ``--out``, relative ones within the project; empty: there is none.
        patterns: of the files' names, such as ``hub-*.jsonl``.

    Raises:
        FileNotFoundError: the folder has none of them; says how they are made.
    """
    if not str(folder):
        return []
    found = [path for pattern in patterns for path in sorted((ROOT / folder).glob(pattern))]
    if not found:
        raise FileNotFoundError(
            f"data={str(folder)!r} has no {' or '.join(patterns)}: the paper's script in data_scripts/ writes them "
            f"(--hub --out {folder}); leave data empty to go on without"
        )
    return found


def load_episodes(path: str | os.PathLike[str]) -> list[Episode]:
    """Read what :func:`save_episodes` or :func:`append_episodes` wrote; errors as :func:`load_tasks`."""
    file = Path(path)
    images = _Images(file.parent / "pictures")
    return [
        Episode(
            _task(record.task, images, f"{place}: field task."),
            tuple(record.prompt_ids),
            tuple(_turn(turn, images, f"{place}: field turns[{i}].") for i, turn in enumerate(record.turns)),
            record.ended,
        )
        for record, place in _records(file, "episode", EpisodeRecord)
    ]

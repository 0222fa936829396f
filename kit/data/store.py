"""Tasks and episodes on disk: JSONL beside a folder of images.

::

    DIR/tasks.jsonl            one JSON object a line
    DIR/pictures/<sha256>.png  each image once, named by the hash of its size and RGB pixels

==============  ==========================================================================
task            ``schema`` (1), ``kind`` ("task"), ``id``, ``question``, ``target``, ``target_is_tuple``, ``meta``,
                ``images``: list of ``{"name", "sha256"}``
episode         ``schema`` (1), ``kind`` ("episode"), ``task`` (a task record), ``prompt_ids``,
                ``ended``, ``turns``: list of ``{"ids", "logprobs", "text", "action":
                {"kind", "text"} or null, "observation": {"text", "status", "images"} or null,
                "observation_ids"}``
==============  ==========================================================================

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
from typing import Any, cast, get_args

from PIL import Image

from kit.data.schema import Record, RecordError
from kit.episode import Action, Ended, Episode, NamedImage, Observation, Status, Task, Turn
from kit.files import append_bytes, write_bytes

SCHEMA = 2
STATUSES: tuple[str, ...] = get_args(Status)
ENDINGS: tuple[str, ...] = get_args(Ended)


def _save_picture(folder: Path, picture: NamedImage) -> dict[str, str]:
    path = folder / "pictures" / f"{picture.sha256}.png"
    if not path.exists():
        buffer = io.BytesIO()
        picture.image.convert("RGB").save(buffer, "PNG")
        write_bytes(path, buffer.getvalue())
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
    return "".join(json.dumps(record, allow_nan=False) + "\n" for record in records).encode("ascii")


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


class _Pictures:
    """Reads images by hash, checks them, and gives equal images as one object."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self._known: dict[tuple[str, str], NamedImage] = {}

    def read(self, record: Record) -> NamedImage:
        name, digest = record.text("name"), record.text("sha256")
        if (name, digest) not in self._known:
            path = self.folder / f"{digest}.png"
            try:
                with Image.open(path) as image:
                    rgb = image.convert("RGB")
            except FileNotFoundError:
                raise RecordError(f"{record.where('sha256')}: picture {path} is missing") from None
            except (OSError, SyntaxError, ValueError) as error:
                raise RecordError(f"{record.where('sha256')}: picture {path} cannot be read ({error})") from error
            picture = NamedImage(name, rgb)
            if picture.sha256 != digest:
                raise RecordError(f"{record.where('sha256')}: picture {path} is not what was stored; make the set anew")
            self._known[name, digest] = picture
        return self._known[name, digest]

    def all(self, record: Record) -> tuple[NamedImage, ...]:
        return tuple(self.read(image) for image in record.records("images"))


def _records(path: Path, kind: str) -> Iterator[Record]:
    with open(path, encoding="utf-8", newline="\n") as file:
        for number, line in enumerate(file, 1):
            record = Record.parse(line, f"{path}:{number}")
            version, found = record.value("schema"), record.text("kind")
            if version != SCHEMA:
                raise RecordError(f"{record.where('schema')}: {version!r}; this version of the kit reads {SCHEMA}")
            if found != kind:
                raise RecordError(f"{record.where('kind')}: {found!r}; expected {kind!r}")
            yield record


def _task(record: Record, images: _Pictures) -> Task:
    target = record.value("target")
    if record.flag("target_is_tuple"):
        target = tuple(record.items("target"))
    return Task(record.text("id"), images.all(record), record.text("question"), target, record.record("meta").fields)


def _action(record: Record) -> Action:
    arguments = record.optional("arguments")
    return Action(record.text("name"), record.text("text"), arguments.fields if arguments else None)


def _turn(record: Record, images: _Pictures) -> Turn:
    ids, logprobs = record.integers("ids"), record.numbers("logprobs")
    if len(ids) != len(logprobs):
        raise RecordError(f"{record.where('logprobs')}: {len(logprobs)} for {len(ids)} ids; one of each per token")
    action, seen = record.optional("action"), record.optional("observation")
    return Turn(
        ids,
        logprobs,
        record.text("text"),
        _action(action) if action else None,
        Observation(seen.text("text"), images.all(seen), cast(Status, seen.choice("status", STATUSES)))
        if seen
        else None,
        record.integers("observation_ids"),
    )


def load_tasks(path: str | os.PathLike[str]) -> list[Task]:
    """Read what :func:`save_tasks` wrote.

    Raises:
        RecordError: naming file, line and field of whatever is not as documented; a missing or changed image.
        FileNotFoundError: no such file.
    """
    file = Path(path)
    images = _Pictures(file.parent / "pictures")
    return [_task(record, images) for record in _records(file, "task")]


def load_episodes(path: str | os.PathLike[str]) -> list[Episode]:
    """Read what :func:`save_episodes` or :func:`append_episodes` wrote; errors as :func:`load_tasks`."""
    file = Path(path)
    images = _Pictures(file.parent / "pictures")
    return [
        Episode(
            _task(record.record("task"), images),
            record.integers("prompt_ids"),
            tuple(_turn(turn, images) for turn in record.records("turns")),
            cast(Ended, record.choice("ended", ENDINGS)),
        )
        for record in _records(file, "episode")
    ]

"""Stored records: what each holds, checked when it is read, with errors that name file, line and field."""

from __future__ import annotations

import codecs
import json
from collections.abc import Iterator
from pathlib import Path
from typing import Annotated, Any, TypeVar

from pydantic import BaseModel, ConfigDict, Field, ValidationError

from kit.episode import Ended, Status
from kit.protocol import named_once

TokenId = Annotated[int, Field(ge=0)]
LogProb = Annotated[float, Field(allow_inf_nan=False)]
T = TypeVar("T", bound=BaseModel)


class RecordError(ValueError):
    """A stored record isn't as documented; the message names file, line and field."""


class _Record(BaseModel):
    model_config = ConfigDict(strict=True, frozen=True)


class ImageRecord(_Record):
    """An image by its name and the hash of its size and pixels."""

    name: str
    sha256: str


class TaskRecord(_Record):
    """A task; JSON has no tuples, so the record says whether the target was one."""

    id: str
    question: str
    target: Any
    target_is_tuple: bool
    meta: dict[str, Any]
    images: list[ImageRecord]
    originals: list[ImageRecord] = []


class ActionRecord(_Record):
    """A parsed action."""

    name: str
    text: str
    arguments: dict[str, Any] | None


class ObservationRecord(_Record):
    """An observation and how its action ended."""

    text: str
    status: Status
    images: list[ImageRecord]
    closing: str = ""


class TurnRecord(_Record):
    """A turn: sampled ids with their log-probabilities, and the observation's ids."""

    ids: list[TokenId]
    logprobs: list[LogProb]
    text: str
    action: ActionRecord | None
    observation: ObservationRecord | None
    observation_ids: list[TokenId]


class EpisodeRecord(_Record):
    """An episode of one task."""

    task: TaskRecord
    prompt_ids: list[TokenId]
    turns: list[TurnRecord]
    ended: Ended


def lines_of(path: Path) -> Iterator[tuple[int, bytes]]:
    """The lines of a file of JSON lines with their numbers, from 1, and the newline that ends each.

    Only a newline ends a line: a text may hold other signs that do, such as U+2028. A byte order mark is passed over.
    """
    with open(path, "rb") as file:
        for number, line in enumerate(file, 1):
            yield number, line.removeprefix(codecs.BOM_UTF8) if number == 1 else line


def _refuse(name: str) -> float:
    raise ValueError(f"{name} is not JSON")


def parse(line: bytes, place: str) -> dict[str, Any]:
    """Read one line.

    Raises:
        RecordError: it isn't a JSON object in UTF-8, or has a field twice.
    """
    try:
        fields = json.loads(line.decode("utf-8"), parse_constant=_refuse, object_pairs_hook=named_once)
    except UnicodeDecodeError as error:
        raise RecordError(f"{place}: not UTF-8 ({error}); save the file as UTF-8") from None
    except ValueError as error:
        cut = "" if line.endswith(b"\n") else "; the line has no end, so the file was cut off while it was written"
        raise RecordError(f"{place}: not JSON ({error}){cut}") from None
    if not isinstance(fields, dict):
        raise RecordError(f"{place}: {type(fields).__name__} where an object is expected")
    return fields


def checked(kind: type[T], fields: dict[str, Any], place: str) -> T:
    """Check the fields of a record.

    Args:
        kind: the record's class.
        fields: the parsed line.
        place: ``FILE:LINE``, for the error.

    Raises:
        RecordError: a field is missing or holds something else.
    """
    try:
        return kind.model_validate(fields)
    except ValidationError as error:
        first = error.errors(include_url=False)[0]
        path = "".join(f"[{part}]" if isinstance(part, int) else f".{part}" for part in first["loc"])[1:]
        found = "missing" if first["type"] == "missing" else f"{first['input']!r:.80}; {first['msg'].lower()}"
        raise RecordError(f"{place}: field {path}: {found}") from None

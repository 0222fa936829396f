"""Reading JSON records with messages that name file, line and field.

A small reader instead of a schema language: what a record must hold is said once, where it is read.
"""

from __future__ import annotations

import json
import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any


class RecordError(ValueError):
    """A stored record isn't as documented; the message names file, line and field."""


def _refuse(name: str) -> float:
    raise ValueError(f"{name} is not JSON")


@dataclass(frozen=True)
class Record:
    """A JSON object, and where it stands (``FILE:LINE`` and the fields above it)."""

    fields: dict[str, Any]
    place: str
    path: str = ""

    @classmethod
    def parse(cls, line: str, place: str) -> Record:
        """Read one line.

        Raises:
            RecordError: it isn't a JSON object.
        """
        try:
            fields = json.loads(line, parse_constant=_refuse)
        except ValueError as error:
            cut = "" if line.endswith("\n") else "; the line has no end, so the file was cut off while it was written"
            raise RecordError(f"{place}: not JSON ({error}){cut}") from None
        if not isinstance(fields, dict):
            raise RecordError(f"{place}: {type(fields).__name__} where an object is expected")
        return cls(fields, place)

    def where(self, name: str) -> str:
        """``FILE:LINE: field path`` of the field ``name``."""
        return f"{self.place}: field {self.path}{name}"

    def value(self, name: str) -> Any:
        """The field, whatever it is.

        Raises:
            RecordError: it is missing. All readers below raise it too, for a value of another kind.
        """
        if name not in self.fields:
            raise RecordError(f"{self.where(name)}: missing")
        return self.fields[name]

    def _typed(self, name: str, kind: type, words: str) -> Any:
        value = self.value(name)
        # bool is a kind of int in Python, not in a record.
        if not isinstance(value, kind) or (isinstance(value, bool) and kind is not bool):
            raise RecordError(f"{self.where(name)}: {value!r:.80}; expected {words}")
        return value

    def text(self, name: str) -> str:
        """A string."""
        return str(self._typed(name, str, "a string"))

    def flag(self, name: str) -> bool:
        """True or false."""
        return bool(self._typed(name, bool, "true or false"))

    def choice(self, name: str, choices: Sequence[str]) -> str:
        """One of ``choices``."""
        value = self.text(name)
        if value not in choices:
            raise RecordError(f"{self.where(name)}: {value!r}; expected one of {', '.join(choices)}")
        return value

    def items(self, name: str) -> list[Any]:
        """A list."""
        return list(self._typed(name, list, "a list"))

    def integers(self, name: str) -> tuple[int, ...]:
        """A list of token ids: integers from 0."""
        values = self.items(name)
        for i, value in enumerate(values):
            if not isinstance(value, int) or isinstance(value, bool) or value < 0:
                raise RecordError(f"{self.where(name)}[{i}]: {value!r:.80}; expected an integer from 0")
        return tuple(values)

    def numbers(self, name: str) -> tuple[float, ...]:
        """A list of finite numbers."""
        values = self.items(name)
        for i, value in enumerate(values):
            if not isinstance(value, int | float) or isinstance(value, bool) or not math.isfinite(value):
                raise RecordError(f"{self.where(name)}[{i}]: {value!r:.80}; expected a finite number")
        return tuple(float(value) for value in values)

    def record(self, name: str) -> Record:
        """An object."""
        return Record(self._typed(name, dict, "an object"), self.place, f"{self.path}{name}.")

    def optional(self, name: str) -> Record | None:
        """An object, or None for null."""
        return None if self.value(name) is None else self.record(name)

    def records(self, name: str) -> list[Record]:
        """A list of objects."""
        values = self.items(name)
        for i, value in enumerate(values):
            if not isinstance(value, dict):
                raise RecordError(f"{self.where(name)}[{i}]: {value!r:.80}; expected an object")
        return [Record(value, self.place, f"{self.path}{name}[{i}].") for i, value in enumerate(values)]

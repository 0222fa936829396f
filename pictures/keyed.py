"""Put drawn images on sides by their keys: a key says all that an image says, so no two sides share a board.

A set that is drawn anew for every seed can't be split as files are. What lies where follows from the key alone: the
chart ``red 2, green 6`` is a training chart under every seed, or under none.
"""

from __future__ import annotations

from collections.abc import Sequence
from hashlib import sha256
from zlib import crc32

from kit.data.split import Side
from kit.episode import Task

HELD_OUT: dict[Side, tuple[int, ...]] = {"test": (0, 1), "development": (2,), "train": tuple(range(3, 10))}
"""Tenths of all images that lie on each side."""


class MakingError(ValueError):
    """A task can't be made; the message says of which kind and why."""


def source_of(key: str) -> str:
    """The name of all that an image says: ``chart-0f3a…``; tasks of one source lie on one side."""
    return f"{key.split(' ')[0]}-{sha256(key.encode()).hexdigest()[:16]}"


def side_of(source: str) -> Side:
    """The side of a drawn image, by its source's name."""
    tenth = crc32(source.encode()) % 10
    return next(side for side, tenths in HELD_OUT.items() if tenth in tenths)


def check_apart(*sides: Sequence[Task]) -> None:
    """Refuse sets that share an image.

    Raises:
        MakingError: naming what they share.
    """
    seen: dict[str, str] = {}
    for number, tasks in enumerate(sides):
        for task in tasks:
            source = str(task.meta["source"])
            first = seen.setdefault(source, f"{number}:{task.id}")
            if not first.startswith(f"{number}:"):
                raise MakingError(f"{first.split(':')[1]} and {task.id} show the same ({source}): one has to go")

"""Put drawn images on sides by their keys: a key says all that an image says, so no two sides share a board.

A set that is drawn anew for every seed can't be split as files are. What lies where follows from the key alone: the
chart ``red 2, green 6`` is a training chart under every seed, or under none.

The test of seed 0 is a reader's: cold starts were chosen while it was looked at. A test of any other seed is a fresh
one, which holds none of it (:func:`of_kind`): published runs are measured by such a test.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
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


NOTHING_NEW = 200
"""Draws in a row that bring nothing new after which a kind counts as exhausted."""


def of_kind(draw: Callable[[int, int], Task], n: int, seed: int, side: Side, looked_at: int) -> list[Task]:
    """``n`` tasks of one kind: ``draw(seed, 0)``, ``draw(seed, 1)``, …; the first ones are the same for every ``n``.

    A test whose seed isn't 0 has no task twice, and none of those that were looked at: by what is shown and asked
    (:func:`content_of`). Where a kind has no more, there are fewer than ``n``.

    Args:
        draw: of a seed and a number, the task of that number.
        n: tasks.
        seed: of the set.
        side: of the set.
        looked_at: tasks of the kind in the test of seed 0, the first ones, that have been looked at.
    """
    if side != "test" or seed == 0:
        return [draw(seed, k) for k in range(n)]
    known = {content_of(draw(0, k)) for k in range(looked_at)}
    found: list[Task] = []
    k = last = 0
    while len(found) < n and k - last < NOTHING_NEW:
        task = draw(seed, k)
        k += 1
        if (content := content_of(task)) not in known:
            known.add(content)
            found.append(task)
            last = k
    return found


def content_of(task: Task) -> tuple[str, str]:
    """Read what a task shows and asks: two that agree in it are one task, however they are drawn."""
    return str(task.meta["source"]), task.question


def counts_of(kinds: Iterable[str], n: int, more: str = "") -> dict[str, int]:
    """``n`` tasks of each kind, but of some as many as told: ``counts_of(MAKERS, 16, "composed/hard 300")``.

    Args:
        kinds: names of kinds.
        n: tasks of each.
        more: kinds and their own numbers, with commas between; empty: none.

    Raises:
        MakingError: a part of ``more`` that isn't a kind and a number.
    """
    counts = dict.fromkeys(kinds, n)
    for part in filter(None, map(str.strip, more.split(","))):
        kind, _, number = part.partition(" ")
        if kind not in counts or not number.strip().isdigit():
            raise MakingError(f"{part!r}: write a kind and a number, such as '{next(iter(counts))} 100'")
        counts[kind] = int(number)
    return counts

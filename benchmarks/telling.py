"""Tell on stderr what a long command does: a line for each part, a bar at a terminal, a line now and then elsewhere.

Nothing is told where ``KIT_QUIET`` or ``CI`` is set. Results go to stdout, so a pipe gets them alone.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Iterable, Iterator, Sized
from typing import TypeVar

T = TypeVar("T")

EVERY_S = 30.0
"""Seconds between two lines where no bar can be drawn."""


def is_told() -> bool:
    """Decide whether anything is told: not where ``KIT_QUIET`` or ``CI`` says otherwise."""
    return not any(os.environ.get(name, "") not in ("", "0", "false") for name in ("KIT_QUIET", "CI"))


def tell(text: str) -> None:
    """Print one line on stderr."""
    if is_told():
        print(text, file=sys.stderr, flush=True)


def progress(items: Iterable[T], name: str, total: int | None = None) -> Iterator[T]:
    """Go through items, telling how far it is and how long the rest takes.

    Args:
        items: the items to go through.
        name: name of the work, in front of the bar.
        total: number of items, where they can't be counted.
    """
    from tqdm import tqdm

    terminal = sys.stderr.isatty()
    total = len(items) if total is None and isinstance(items, Sized) else total
    # Elsewhere a bar would be one endless line: tqdm's text, a line of its own every now and then.
    pace = {"mininterval": 0.1} if terminal else {"mininterval": EVERY_S, "bar_format": _LINE, "maxinterval": EVERY_S}
    yield from tqdm(items, name, total, disable=not is_told(), leave=not terminal, file=sys.stderr, **pace)


_LINE = "{desc}: {n_fmt} of {total_fmt}, {elapsed} so far, {remaining} left\n"

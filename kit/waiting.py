"""Long work, counted: a notebook shows below its cell how far it is (:mod:`kit.view.live`), elsewhere nobody asks."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from typing import TypeVar

T = TypeVar("T")
Listener = Callable[[int, int, str], None]
"""Is told how many are done, of how many, and what they are; at the end 0 of 0."""

listeners: list[Listener] = []
"""Of this process."""

_busy: ContextVar[bool] = ContextVar("busy", default=False)


@contextmanager
def counting(of: int, what: str) -> Iterator[Callable[[int], None]]:
    """Count work that takes a while; only the outermost of several is told.

    Args:
        of: how much there is; 0: nothing is told, by what happens within neither.
        what: is counted, such as ``episodes``.

    Yields:
        To be called with how much is done.
    """
    told = [] if _busy.get() or not of else list(listeners)

    def done(n: int) -> None:
        for listener in told:
            listener(n, of, what)

    token = _busy.set(True)
    done(0)
    try:
        yield done
    finally:
        _busy.reset(token)
        for listener in told:
            listener(0, 0, what)


def counted(items: Iterable[T], of: int, what: str) -> Iterator[T]:
    """Hand on items, counted as they are asked for.

    Args:
        items: to work on.
        of: how many there are.
        what: they are.
    """
    with counting(of, what) as done:
        for n, item in enumerate(items, 1):
            yield item
            done(n)

"""Long work, counted: a notebook shows below its cell how far it is (:mod:`kit.view.live`), elsewhere nobody asks."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from contextvars import ContextVar
from typing import TypeVar

T = TypeVar("T")
U = TypeVar("U")
Listener = Callable[[int, int, str], None]
"""Is told how many are done, of how many, and what they are; at the end 0 of 0."""

listeners: list[Listener] = []
"""Of this process."""

_busy: ContextVar[bool] = ContextVar("busy", default=False)


class Stopped(KeyboardInterrupt):
    """Long work was interrupted: how far it was, what to do. A notebook stops here, but shows no traceback."""

    def _render_traceback_(self) -> list[str]:
        return [str(self)]  # IPython shows these lines in its place


@contextmanager
def counting(of: int, what: str) -> Iterator[Callable[[int], None]]:
    """Count work that takes a while; only the outermost of several is told, and turns an interrupt into a Stopped.

    Args:
        of: how much there is; 0: nothing is told, by what happens within neither.
        what: is counted, such as ``episodes``.

    Yields:
        To be called with how much is done.
    """
    outermost, reached = bool(of) and not _busy.get(), 0
    told = list(listeners) if outermost else []

    def done(n: int) -> None:
        nonlocal reached
        reached = n
        for listener in told:
            listener(n, of, what)

    token = _busy.set(True)
    done(0)
    try:
        yield done
    except KeyboardInterrupt:
        if not outermost:
            raise
        raise Stopped(f"stopped after {reached} of {of} {what}; run this cell again") from None
    finally:
        _busy.reset(token)
        for listener in told:
            listener(0, 0, what)


def counted(work: Callable[[T], U], items: Sequence[T], what: str) -> Iterator[U]:
    """Work on one item after another, counted; gives what comes of each.

    Args:
        work: on an item.
        items: to work on.
        what: they are, such as ``kinds of tasks``.
    """
    with counting(len(items), what) as done:
        for n, item in enumerate(items, 1):
            yield work(item)
            done(n)

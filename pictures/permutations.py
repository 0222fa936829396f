"""Arrangements of pieces: the names of places, where pieces belong in words, exchanges, and the fewest that solve."""

from __future__ import annotations

from collections.abc import Sequence


def places(m: int) -> tuple[str, ...]:
    """Names of the m×m places in row-major order: ``top left`` …; beyond 3×3 ``row 1 column 1`` …."""
    rows, columns = {
        2: (("top", "bottom"), ("left", "right")),
        3: (("top", "middle", "bottom"), ("left", "middle", "right")),
    }.get(m, (tuple(f"row {r + 1}" for r in range(m)), tuple(f"column {c + 1}" for c in range(m))))
    return tuple(f"{row} {column}" for row in rows for column in columns)


def belonging(labels: Sequence[str], target: Sequence[str], m: int = 2) -> str:
    """In words, where each piece belongs: the ``labels`` in the order given, at their places in ``target``.

    >>> belonging("ABCD", "BDCA")
    'A bottom right, B top left, C bottom left, D top right'

    Args:
        labels: the pieces' labels, in the order in which they are told.
        target: the labels in row-major order of their places.
        m: pieces a side.
    """
    homes = dict(zip(target, places(m), strict=True))
    return ", ".join(f"{label} {homes[label]}" for label in labels)


def exchanged(items: Sequence[str], i: int, j: int) -> list[str]:
    """The items, two of them exchanged.

    >>> exchanged("ABCD", 0, 2)
    ['C', 'B', 'A', 'D']

    Args:
        items: items in order.
        i: index of one of the two.
        j: index of the other.
    """
    swapped = list(items)
    swapped[i], swapped[j] = swapped[j], swapped[i]
    return swapped


def swaps(state: Sequence[str], target: Sequence[str]) -> list[tuple[int, int]]:
    """The fewest swaps from ``state`` to ``target``, filling places in row-major order.

    Each swap puts a piece where it belongs and a cycle's last swap puts two, so there are as many as
    pieces minus cycles, and no fewer can do.

    >>> swaps("ABCD", "BCDA")
    [(0, 1), (1, 2), (2, 3)]
    """
    now, plan = list(state), []
    for place, label in enumerate(target):
        if now[place] != label:
            other = now.index(label, place)
            plan.append((place, other))
            now = exchanged(now, place, other)
    return plan

"""The legend of a chart: which name stands beside a patch of which colour."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from visual_tools.charts.colours import Colour, Part
from visual_tools.words import Word


@dataclass(frozen=True)
class Entry:
    """A name in a legend, its colour (a number in the list of colours), and the patch beside it."""

    word: Word
    colour: int
    patch: Part


def legend(colours: Sequence[Colour], words: Sequence[Word]) -> tuple[Entry, ...]:
    """Find a legend's entries in reading order; none if fewer than two colours have a name beside them.

    Args:
        colours: of the chart.
        words: on it.
    """
    best: dict[int, tuple[float, Entry]] = {}
    for number, colour in enumerate(colours):
        for part in colour.parts:
            for word in words:
                if word.number is None and _names(word, part):
                    gap = word.left - part.right + 3 * abs(word.y - (part.top + part.bottom) / 2)
                    if number not in best or gap < best[number][0]:
                        best[number] = gap, Entry(word, number, part)
    entries = sorted((entry for _, entry in best.values()), key=lambda e: (round(e.word.y / e.word.height), e.word.x))
    entries = [e for e in entries if e.patch.width <= 2.2 * min(o.patch.width for o in entries)]
    return tuple(entries) if len(entries) > 1 and len({e.word for e in entries}) == len(entries) else ()


def _names(word: Word, part: Part) -> bool:
    """Whether a part is a patch (or a piece of line) left of a word, on its line."""
    small = part.height <= 1.3 * word.height and part.width <= 4 * word.height
    return (
        small
        and -0.3 * word.height <= word.left - part.right <= 1.6 * word.height
        and abs(word.y - (part.top + part.bottom) / 2) <= 0.45 * word.height
    )

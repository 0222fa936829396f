"""The words of a chart by what they are for: labels of categories, title, names of the axes, numbers at marks."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from visual_tools.words import Word

Box = tuple[float, float, float, float]


def below(words: Sequence[Word], base: float, centres: Sequence[float] = ()) -> list[Word]:
    """The first row of words under a line, from the left.

    Neighbours that OCR ran together (``Jan Feb``) are parted again where several marks of one series stand over them;
    ``New York`` under one bar stays whole.

    Args:
        words: to choose from.
        base: the row that they are under.
        centres: columns of one series' marks.
    """
    under = [word for word in words if word.y > base and not upright(word)]
    if not under:
        return []
    first = min(under, key=lambda word: word.y)
    row = [word for word in under if abs(word.y - first.y) < 0.6 * first.height]
    made: list[Word] = []
    for word in row:
        over = sum(word.left < centre < word.right for centre in centres)
        made += parted(word) if over > 1 else [word]
    return sorted(made, key=lambda word: word.x)


def beside(words: Sequence[Word], base: float) -> list[Word]:
    """The words whose right ends are just left of a line, from above."""
    left = [word for word in words if word.right < base + 3 and not upright(word)]
    if not left:
        return []
    nearest = max(word.right for word in left)
    return sorted((word for word in left if nearest - word.right < word.height), key=lambda word: word.y)


def upright(word: Word) -> bool:
    """Tell whether a word is written from below to above, as along an axis that stands."""
    return len(word.text) > 2 and word.height > 1.5 * word.width


def all_numbers(word: Word) -> bool:
    """Tell whether a text is two numbers or more."""
    parts = word.text.split()
    return len(parts) > 1 and all(Word(part, 0, 0, 1, 1).number is not None for part in parts)


def parted(word: Word) -> list[Word]:
    """A word for each part of a text, placed by its letters."""
    made, pitch, start = [], word.width / max(1, len(word.text)), 0
    for part in word.text.split():
        start = word.text.index(part, start)
        left = word.left + pitch * start
        made.append(Word(part, left, word.top, left + pitch * len(part), word.bottom))
        start += len(part)
    return made


def roles(words: Sequence[Word], known: Mapping[str, Sequence[Word]], marks: Box) -> list[tuple[str, Word]]:
    """Every word of a chart with its role, in reading order.

    Args:
        words: all of them.
        known: role → words that have it.
        marks: the box around all marks; the title is above it, the axes' names are below it and left of it.
    """
    given = {word: role for role, those in known.items() for word in those}
    left, top, right, bottom = marks
    free = [word for word in words if word not in given]
    above = [w for w in free if w.bottom <= top and w.number is None and not upright(w) and w.x > left - 0.2 * right]
    title = min(above, key=lambda word: word.top, default=None)
    for word in free:
        if title is not None and abs(word.y - title.y) < 0.5 * title.height and word.bottom <= top:
            given[word] = "title"
        elif upright(word) and word.right < left:
            given[word] = "y label"
        elif word.number is not None:
            given[word] = "value"
        elif word.top > bottom:
            given[word] = "x label"
        else:
            given[word] = "other"
    rest = [word for those in known.values() for word in those if word not in words]  # parted from longer ones
    return sorted(((given[w], w) for w in [*words, *rest]), key=lambda pair: (round(pair[1].y / 8), pair[1].x))

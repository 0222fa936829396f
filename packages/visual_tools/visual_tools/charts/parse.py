"""Read a chart: its kind, marks, axis, legend and texts, put together to a table.

From the pixels come the marks (:mod:`visual_tools.charts.marks`), from the words an axis' numbers, the labels under (or
beside) the marks, the legend's names and the title. Which label belongs to a mark is a matter of which is nearest.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np
from PIL import Image

from visual_tools.charts.axes import Axis, Direction, axis, factor
from visual_tools.charts.colours import Colour, Part, colours
from visual_tools.charts.layout import all_numbers, below, beside, parted, roles
from visual_tools.charts.legend import Entry, legend
from visual_tools.charts.marks import Bars, Pie, bars, healed, height_at, is_filled, loose, nearest_word, pie
from visual_tools.charts.table import Kind, Table
from visual_tools.words import Word

Box = tuple[float, float, float, float]
"""Left, top, right, bottom in pixels."""


@dataclass(frozen=True)
class Mark:
    """A mark that shows one number: its series and category (places in the table), its box and colour."""

    series: int
    category: int
    box: Box
    colour: str


@dataclass(frozen=True)
class Chart:
    """A chart as it was read.

    Attributes:
        table: its numbers.
        size: width and height of the image.
        marks: its bars, points or slices.
        axis: of the values; None for a pie.
        legend: the names in its legend and their colours.
        texts: every word with its role: ``title``, ``x label``, ``y label``, ``tick``, ``category``, ``legend``,
            ``value``, or ``other``.
    """

    table: Table
    size: tuple[int, int]
    marks: tuple[Mark, ...]
    axis: Axis | None
    legend: tuple[tuple[str, str], ...]
    texts: tuple[tuple[str, Word], ...]


@dataclass(frozen=True)
class _Seen:
    """What a chart is read from: words, flat colours, and the legend's entries."""

    words: tuple[Word, ...]
    colours: tuple[Colour, ...]
    entries: tuple[Entry, ...]
    scale: float = 1.0
    """Factor at an axis' end."""

    def axis(self, direction: Direction) -> Axis | None:
        """The value axis along a direction, with its factor."""
        found = axis(self.words, direction)
        return found.times(self.scale) if found else None

    @property
    def patches(self) -> list[Part]:
        """The legend's patches, which are no marks."""
        return [entry.patch for entry in self.entries]

    def rest(self, scale: Axis) -> list[Word]:
        """Words that are neither an axis' numbers nor in the legend."""
        used = {*scale.ticks, *(entry.word for entry in self.entries)}
        return [word for word in self.words if word not in used]

    def series(self, marked: Sequence[int]) -> list[int]:
        """The colours of the series in the legend's order; without a legend, all that marks have."""
        return [entry.colour for entry in self.entries if entry.colour in marked] or sorted(set(marked))


@dataclass(frozen=True)
class _Reading:
    """What was read of one kind of chart: labels, the colours of its series, its marks and their values, the axis."""

    kind: Kind
    labels: Sequence[Word]
    series: Sequence[int]
    marks: Sequence[tuple[Mark, float]]
    axis: Axis | None = None


def read_chart(image: Image.Image, words: Sequence[Word]) -> Chart:
    """Read a chart from its pixels and the words on it.

    Args:
        image: RGB.
        words: from OCR, or known.

    Raises:
        ValueError: no bars, lines or slices with an axis to read them by; the message says what was missing.
    """
    # OCR runs the numbers of an axis together where they stand close.
    apart = tuple(part for word in words for part in (parted(word) if all_numbers(word) else [word]))
    found = colours(np.asarray(image))
    scale, offset = factor(apart)
    seen = _Seen(tuple(word for word in apart if word is not offset), found, legend(found, apart), scale)
    disc, blocks = pie(found, seen.patches), bars(found, seen.patches)
    if disc is not None:
        read = _slices(seen, disc)
    elif blocks is not None and not loose(found, blocks, seen.patches):
        read = _bars(seen, blocks)
    else:
        joined = replace(seen, colours=healed(found, np.asarray(image)))
        blocks = bars(joined.colours, seen.patches) or blocks
        if blocks is not None and (why := loose(joined.colours, blocks, seen.patches)):
            raise ValueError(f"the bars can't be measured: {why}")
        read = _bars(joined, blocks) if blocks is not None else _lines(seen)
    if not read.marks:
        raise ValueError(f"a {read.kind} chart without labels that can be read: nothing names its numbers")
    return _chart(image.size, seen, read)


def _bars(seen: _Seen, blocks: Bars) -> _Reading:
    lying = blocks.lying
    scale = seen.axis("x" if lying else "y")
    if scale is None:
        raise ValueError("the bars have no axis with two numbers or more to read them by")
    scale, rest = scale.from_zero(blocks.base), seen.rest(scale)
    series = seen.series([bar.colour for bar in blocks.bars])
    centres = [(bar.part.left + bar.part.right) / 2 for bar in blocks.bars if bar.colour == series[0]]
    labels = beside(rest, blocks.base) if lying else below(rest, blocks.base, centres)
    if not labels:
        raise ValueError("the bars have no labels that can be read: nothing names them")
    middles = [bar.part.y if lying else bar.part.x for bar in blocks.bars]
    at = [_nearest(labels, middle, lying) for middle in middles]
    # Where a label wasn't read, its bar is nearest to another bar's.
    away = [abs((labels[c].y if lying else labels[c].x) - m) for c, m in zip(at, middles, strict=True)]
    # Without a legend, one bar over each label is one series, however its bars are coloured.
    single = not seen.entries and len(set(at)) == len(at)
    marks = []
    for k, (bar, category) in enumerate(zip(blocks.bars, at, strict=True)):
        rivals = [away[j] for j, other in enumerate(blocks.bars) if at[j] == category and other.colour == bar.colour]
        if bar.colour not in series or away[k] > min(rivals):
            continue
        middle, end = (bar.part.y if lying else bar.part.x), blocks.end(bar)
        printed, value = _printed(rest, (end, middle) if lying else (middle, end), lying), scale.value(end)
        if printed is not None and abs(printed - value) <= 6 * abs(scale.slope):
            value = printed
        of = 0 if single else series.index(bar.colour)
        marks.append((Mark(of, category, bar.part.box, seen.colours[bar.colour].hex), value))
    series = series[:1] if single else series
    return _Reading("horizontal bar" if lying else "bar", labels, series, marks, scale)


def _nearest(labels: Sequence[Word], middle: float, lying: bool) -> int:
    return min(range(len(labels)), key=lambda i: abs((labels[i].y if lying else labels[i].x) - middle))


def _lines(seen: _Seen) -> _Reading:
    scale = seen.axis("y")
    wide = [i for i, colour in enumerate(seen.colours) if colour.parts and colour.parts[0].width > 20]
    series = seen.series(wide)
    if scale is None or not series:
        raise ValueError("no bars, no slices, and no line beside an axis of numbers: this is no chart that can be read")
    if any(is_filled(seen.colours[number], seen.patches) for number in series):
        raise ValueError("a filled area or bars without gaps, which aren't read as a line")
    labels = below(seen.rest(scale), max(tick.y for tick in scale.ticks))
    marks = []
    for s, number in enumerate(series):
        for c, label in enumerate(labels):
            row = height_at(seen.colours[number], label.x, seen.patches)
            if row is not None:
                box = (label.x - 3, row - 3, label.x + 3, row + 3)
                marks.append((Mark(s, c, box, seen.colours[number].hex), scale.value(row)))
    return _Reading("line", labels, series, marks, scale)


def _slices(seen: _Seen, disc: Pie) -> _Reading:
    names = {entry.colour: entry.word for entry in seen.entries}
    inside = [word for word in seen.words if np.hypot(word.x - disc.x, word.y - disc.y) < disc.radius]
    around = [word for word in seen.words if word not in inside and word.y > disc.y - 1.35 * disc.radius]
    around = [word for word in around if word.number is None]
    labels: list[Word] = []
    marks: list[tuple[Mark, float]] = []
    for number, share, angle in disc.slices:
        label = names.get(number) or nearest_word(*disc.point(1.12, angle), around)
        if label is None:
            raise ValueError("the slices of the pie have no names, neither beside them nor in a legend")
        x, y = disc.point(0.6, angle)
        printed, value = nearest_word(x, y, inside), round(100 * share, 1)
        if printed is not None and printed.number is not None and abs(printed.number - value) < 2:
            value = printed.number
        marks.append((Mark(0, len(labels), (x - 5, y - 5, x + 5, y + 5), seen.colours[number].hex), value))
        labels.append(label)
    return _Reading("pie", labels, [-1], marks)


def _printed(words: Sequence[Word], end: tuple[float, float], lying: bool) -> float | None:
    """The number printed at a bar's end, if there is one."""
    x, y = end
    for word in words:
        aside = abs(word.y - y) if lying else abs(word.x - x)
        gap = word.left - x if lying else y - word.bottom
        if word.number is not None and aside < 0.6 * word.height and -4 < gap < word.height:
            return word.number
    return None


def _chart(size: tuple[int, int], seen: _Seen, read: _Reading) -> Chart:
    """Put the parts together; what is left of the words are the title and the axes' names."""
    named = {entry.colour: entry.word.text for entry in seen.entries}
    # A series that no legend names is called by its colour.
    series = tuple(named.get(colour) or seen.colours[colour].hex for colour in read.series)
    lefts, tops, rights, bottoms = zip(*(mark.box for mark, _ in read.marks), strict=True)
    known = {
        "category": read.labels,
        "legend": [entry.word for entry in seen.entries],
        "tick": read.axis.ticks if read.axis else (),
    }
    texts = roles(seen.words, known, (min(lefts), min(tops), max(rights), max(bottoms)))
    title, below_, left = (
        " ".join(word.text for role, word in texts if role == one) for one in ("title", "x label", "y label")
    )
    across, measured = (left, below_) if read.kind == "horizontal bar" else (below_, left)
    values = {(mark.series, mark.category): value for mark, value in read.marks}
    table = Table(
        read.kind,
        title,
        across,
        measured,
        tuple(word.text for word in read.labels),
        series if len(series) > 1 else ("",),
        tuple(tuple(values.get((s, c)) for c in range(len(read.labels))) for s in range(len(series))),
    )
    shown = tuple((entry.word.text, seen.colours[entry.colour].hex) for entry in seen.entries)
    return Chart(table, size, tuple(mark for mark, _ in read.marks), read.axis, shown, tuple(texts))

"""Charts drawn by matplotlib, each with its table and its words: bars, bars in groups, lying bars, lines, pies.

Fonts, sizes, colours, grids, frames, legends and the scale of the numbers vary as in charts that people publish.
What a chart shows is known exactly, and where each word stands.
"""

from __future__ import annotations

import io
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal, get_args

import numpy as np
from PIL import Image

from turn_sandbox.images import rgb
from visual_tools.charts.table import Kind, Table, number
from visual_tools.words import Word

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

Box = tuple[float, float, float, float]
"""Left, top, right and bottom in pixels."""

FONTS = ("DejaVu Sans", "DejaVu Serif", "DejaVu Sans Mono", "STIXGeneral")
"""Fonts that come with matplotlib."""

# fmt: off
SUBJECTS: tuple[tuple[str, tuple[str, ...]], ...] = (
    ("Fruit", ("Apple", "Pear", "Plum", "Cherry", "Grape", "Lemon", "Mango", "Peach")),
    ("Country", ("Norway", "Chile", "Kenya", "Japan", "Spain", "Egypt", "Peru", "India", "Canada")),
    ("City", ("Oslo", "Rome", "Lima", "Bern", "Baku", "Cork", "York", "Nice", "Kiel")),
    ("Department", ("Sales", "Legal", "Design", "Support", "Finance", "Research", "Security")),
    ("Month", ("Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec")),
    ("Quarter", ("Q1", "Q2", "Q3", "Q4")),
    ("Year", tuple(map(str, range(2008, 2025)))),
)
"""What the categories are, and their labels."""
SERIES = (
    ("Men", "Women"), ("Online", "Shops"), ("Plan", "Result"), ("North", "South", "West"),
    ("Red team", "Blue team", "Green team"), ("Basic", "Plus", "Pro"), ("Alpha", "Beta", "Gamma", "Delta"),
)
"""Names in legends that belong together."""
MEASURES = (
    "Visitors", "Sales in tonnes", "Members", "Revenue (million)", "Average score", "Hours a week", "Orders",
    "Energy use (GWh)", "Cars sold",
)
PALETTES = (
    ("#1f77b4", "#ff7f0e", "#2ca02c", "#d62728", "#9467bd", "#8c564b", "#e377c2", "#bcbd22", "#17becf"),
    ("#4c72b0", "#dd8452", "#55a868", "#c44e52", "#8172b3", "#937860", "#da8bc3", "#ccb974", "#64b5cd"),
    ("#66c2a5", "#fc8d62", "#8da0cb", "#e78ac3", "#a6d854", "#ffd92f", "#e5c494", "#1b9e77", "#d95f02"),
    ("#0072b2", "#e69f00", "#009e73", "#cc79a7", "#56b4e9", "#d55e00", "#f0e442", "#5e3c99", "#b2182b"),
)
"""Colours that charts are drawn in: those of matplotlib, seaborn, ColorBrewer, and Okabe and Ito's."""
# fmt: on
SPREADS = ((2, 10, 1.0), (10, 100, 1.0), (20, 400, 1.0), (500, 9000, 10.0), (1, 10, 0.1))
"""Least and greatest number of a chart, and the step between numbers."""


@dataclass(frozen=True)
class Drawn:
    """A chart's image, table and words, the colour of each series or category, and the boxes of its bars by series."""

    image: Image.Image
    table: Table
    words: tuple[Word, ...]
    colours: tuple[str, ...]
    bars: tuple[tuple[Box, ...], ...] = ()


def chart(rng: np.random.Generator, kinds: Sequence[Kind] = get_args(Kind)) -> Drawn:
    """Draw a chart of one of these kinds.

    Args:
        rng: source of all randomness.
        kinds: of charts to choose from.
    """
    return draw(rng, table(rng, kinds[int(rng.integers(len(kinds)))]))


def table(rng: np.random.Generator, kind: Kind) -> Table:
    """Make up a chart's table."""
    ordered = SUBJECTS[4:] if kind == "line" else SUBJECTS[:4] if kind == "pie" else SUBJECTS
    across, names = ordered[int(rng.integers(len(ordered)))]
    count = int(rng.integers(3, min(len(names), 7) + 1))
    start = int(rng.integers(len(names) - count + 1))
    picked = names[start : start + count] if across in ("Month", "Quarter", "Year") else rng.permutation(names)[:count]
    single = kind == "pie" or rng.random() < 0.5
    series = ("",) if single else SERIES[int(rng.integers(len(SERIES)))]
    low, high, step = SPREADS[int(rng.integers(len(SPREADS)))]
    if kind == "pie":
        shares = rng.dirichlet(np.full(count, 4.0)) * 100
        rows = [tuple(float(v) for v in np.round(np.maximum(shares, 3) * 100 / np.maximum(shares, 3).sum(), 1))]
    else:
        drawn = np.round(rng.uniform(low, high, (len(series), count)) / step) * step
        rows = [tuple(round(float(v), 3) for v in row) for row in drawn]
    measured = MEASURES[int(rng.integers(len(MEASURES)))]
    by = f"{measured.split(' (')[0]} by {across.lower()}"
    title = "" if rng.random() < 0.15 else by if rng.random() < 0.7 else f"{by}, {rng.integers(1990, 2025)}"
    named = kind != "pie" and rng.random() < 0.7
    labels = (across, "Share (%)" if kind == "pie" else measured) if named else ("", "")
    return Table(kind, title, *labels, tuple(map(str, picked)), tuple(series), tuple(rows))


def draw(rng: np.random.Generator, of: Table) -> Drawn:
    """Draw a table as a chart of its kind, in a style made up."""
    from matplotlib import rc_context
    from matplotlib.figure import Figure

    size = (float(rng.uniform(6.0, 8.0)), float(rng.uniform(4.2, 6.0)))
    family = FONTS[int(rng.integers(len(FONTS)))]
    with rc_context({"font.family": family, "font.size": float(rng.uniform(10, 13)), "axes.axisbelow": True}):
        figure = Figure(figsize=size, dpi=100)
        figure.set_facecolor(str(rng.choice(["white", "white", "#f7f7f7", "#fbf8f0"])))
        axes = figure.add_subplot()
        palette = PALETTES[int(rng.integers(len(PALETTES)))]
        each = of.kind == "pie" or (len(of.series) == 1 and of.kind != "line" and rng.random() < 0.3)
        needed = len(of.categories) if each else len(of.series)
        colours = tuple(str(colour) for colour in rng.permutation(palette)[:needed])
        {"bar": _bars, "horizontal bar": _bars, "line": _lines, "pie": _pie}[of.kind](rng, axes, of, colours)
        if of.kind != "pie":
            _style(rng, axes, of)
        axes.set_title(of.title)
        figure.tight_layout()
        image = _image(figure)
        boxes = tuple(tuple(_box(figure, bar) for bar in group) for group in axes.containers)
        return Drawn(image, of, _words(figure, image), colours, boxes if "bar" in of.kind else ())


def _bars(rng: np.random.Generator, axes: Axes, of: Table, colours: Sequence[str]) -> None:
    lying = of.kind == "horizontal bar"
    room, groups = float(rng.uniform(0.55, 0.85)), np.arange(len(of.categories))
    thick = room / len(of.series)
    edge = "black" if rng.random() < 0.2 else None
    labelled = rng.random() < 0.25
    for i, (name, row) in enumerate(zip(of.series, of.values, strict=True)):
        at = groups + (i - (len(of.series) - 1) / 2) * thick
        plot = axes.barh if lying else axes.bar
        paint: str | list[str] = list(colours) if len(colours) > len(of.series) else colours[i]
        bars = plot(at, np.array(row, dtype=float), thick, color=paint, edgecolor=edge, label=name or None)
        if labelled:
            axes.bar_label(bars, [number(value) for value in row], padding=2, fontsize="small")
    (axes.set_yticks if lying else axes.set_xticks)(groups, of.categories)
    if lying and rng.random() < 0.5:
        axes.invert_yaxis()


def _lines(rng: np.random.Generator, axes: Axes, of: Table, colours: Sequence[str]) -> None:
    marker = str(rng.choice(["", "o", "s", "^"]))
    for name, row, colour in zip(of.series, of.values, colours, strict=True):
        wide = float(rng.uniform(1.5, 3))
        axes.plot(range(len(row)), np.array(row, float), color=colour, marker=marker, lw=wide, label=name or None)
    axes.set_xticks(range(len(of.categories)), of.categories)
    if rng.random() < 0.5:
        axes.set_ylim(bottom=0)


def _pie(rng: np.random.Generator, axes: Axes, of: Table, colours: Sequence[str]) -> None:
    legend = rng.random() < 0.3
    wedges = axes.pie(
        np.array(of.values[0], dtype=float),
        labels=None if legend else of.categories,
        colors=list(colours),
        autopct="%1.1f%%" if rng.random() < 0.4 else None,
        startangle=float(rng.choice([0, 90, 140])),
        wedgeprops={"edgecolor": "white"} if rng.random() < 0.5 else None,
    )[0]
    if legend:
        axes.legend(wedges, of.categories, loc="center left", bbox_to_anchor=(1, 0.5))


def _style(rng: np.random.Generator, axes: Axes, of: Table) -> None:
    if rng.random() < 0.5:
        axes.spines[["top", "right"]].set_visible(False)
    lying = of.kind == "horizontal bar"
    (axes.set_ylabel if lying else axes.set_xlabel)(of.across)
    (axes.set_xlabel if lying else axes.set_ylabel)(of.measured)
    if rng.random() < 0.55:
        which: Literal["both", "x", "y"] = "both" if of.kind == "line" else "x" if lying else "y"
        axes.grid(axis=which, color=str(rng.choice(["0.85", "0.75"])), ls=str(rng.choice(["-", "--", ":"])))
    if len(of.series) > 1:
        if rng.random() < 0.5:
            axes.legend(loc="upper left", bbox_to_anchor=(1, 1), frameon=bool(rng.random() < 0.5))
        else:
            above = 1.02 if not of.title else -0.18
            axes.legend(loc="lower center" if not of.title else "upper center", bbox_to_anchor=(0.5, above), ncols=4)


def _box(figure: Figure, bar: Any) -> Box:
    box, high = bar.get_window_extent(), figure.bbox.height
    return float(box.x0), float(high - box.y1), float(box.x1), float(high - box.y0)


def _image(figure: Figure) -> Image.Image:
    kept = io.BytesIO()
    figure.savefig(kept, format="png", dpi=figure.dpi)
    return rgb(Image.open(kept))


def _words(figure: Figure, image: Image.Image) -> tuple[Word, ...]:
    """Where each text stands, its box drawn close around the ink."""
    from matplotlib.text import Text

    for axis in (of for axes in figure.axes for of in (axes.xaxis, axes.yaxis)):
        low, top = sorted(axis.get_view_interval())
        for tick in axis.get_major_ticks():  # matplotlib keeps a label or two beyond an axis' ends, never drawn
            tick.label1.set_visible(low <= tick.get_loc() <= top)
    high, found = figure.bbox.height, []
    inside = figure.bbox
    for text in figure.findobj(Text):
        assert isinstance(text, Text)
        box = text.get_window_extent()
        if text.get_visible() and text.get_text().strip() and inside.overlaps(box):
            edges = (round(box.x0), round(high - box.y1), round(box.x1), round(high - box.y0))
            left, top, right, bottom = (max(0, edge) for edge in edges)
            grey = np.asarray(image.convert("L").crop((left, top, right, bottom)), dtype=float)
            rows, columns = np.nonzero(np.abs(grey - np.median(grey)) > 60)
            if rows.size:
                left, right = left + int(columns.min()), left + int(columns.max()) + 1
                top, bottom = top + int(rows.min()), top + int(rows.max()) + 1
            found.append(Word(text.get_text().replace("−", "-"), left, top, right, bottom))
    return tuple(found)

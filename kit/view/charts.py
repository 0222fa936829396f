"""The style of all figures, and general charts: images, bars, lines, stacked bars, timelines.

Readable on light and dark pages, by colour-blind readers and by those who don't see: colours are Okabe and Ito's
(2008), every series also differs by marker, dash or pattern, and each figure says in words what it shows
(:func:`kit.view.alt.alt`). It is drawn on white; dark pages turn drawings round, and leave photographs as they are.
"""

from __future__ import annotations

import base64
import io
from collections.abc import Mapping, Sequence
from textwrap import fill
from types import MappingProxyType
from typing import Any

import numpy as np
from matplotlib import rc_context
from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.figure import Figure
from PIL import Image

from kit.evaluate.intervals import Interval
from kit.images import rgb
from kit.view.alt import alt
from kit.view.html import clean, render

COLOURS = ("#0072B2", "#E69F00", "#009E73", "#CC79A7", "#56B4E9", "#D55E00")
GRAY = "#8A8A8A"  # of series beyond those six, and of curves behind others; told apart on white and on black
MARKERS = ("o", "s", "^", "D", "v", "P")
DASHES = ("-", "--", "-.", ":")
NO_REFERENCES: Mapping[str, float] = MappingProxyType({})
HATCHES = ("", "///", "...", "xx", "\\\\\\", "++")
STYLE: Any = {
    "font.size": 9,
    "axes.spines.top": False,
    "axes.spines.right": False,
    "axes.grid": True,
    "grid.color": "#dddddd",
    "axes.axisbelow": True,
    "legend.frameon": False,
    "axes.titlesize": 10,
    "figure.dpi": 112,
    "figure.facecolor": "white",
    "savefig.pad_inches": 0.08,
}

CSS_DPI = 96
"""Pixels of a page an inch: figures have more and are shown at this size, sharp on fine screens."""

WIDEST = 800 / CSS_DPI
"""Inches: no figure takes up more than 800 pixels of a page."""

PALETTE = 256
"""Colours of a stored drawing."""


class Plot(Figure):
    """A figure that shows itself in a notebook, without pyplot: one image, which says in words what it shows.

    Args:
        width: inches; :data:`WIDEST` at most.
        height: inches.
        photographic: whether it holds photographs: a JPEG, since a palette would band shades, as it is on dark pages.
    """

    def __init__(self, width: float, height: float, photographic: bool = False, **kwargs: Any) -> None:
        super().__init__(figsize=(min(width, WIDEST), height), layout="constrained", **kwargs)
        FigureCanvasAgg(self)
        self.photographic = photographic

    def png(self) -> bytes:
        """Encode the figure as a small PNG whose frequent colours are exact."""
        return _encoded(with_palette(self.drawn()), "PNG")

    def html(self) -> str:
        """The figure as an element of a page, which needs ``drawn.css`` to turn dark."""
        kind, look = ("jpeg", "") if self.photographic else ("png", ' class="kit-drawn"')
        data = _encoded(self.drawn(), "JPEG", quality=64, progressive=True) if self.photographic else self.png()
        width, height = (round(inches * CSS_DPI) for inches in self.get_size_inches())
        size = f'width="{width}" height="{height}" style="max-width:100%;height:auto"'
        code = base64.b64encode(data).decode()
        return f'<img{look} alt="{clean(alt(self))}" {size} src="data:image/{kind};base64,{code}">'

    def _repr_html_(self) -> str:
        # JupyterLab shows the first line of an output that is folded.
        style = "" if self.photographic else f"<style>{render('drawn.css')}</style>"
        return f"<!-- a figure -->\n{style}{self.html()}"

    def drawn(self, dpi: int = STYLE["figure.dpi"]) -> Image.Image:
        """Render the figure as an RGB image with ``dpi`` pixels an inch."""
        buffer = io.BytesIO()
        with rc_context(STYLE):
            self.savefig(buffer, format="png", dpi=dpi)
        return rgb(Image.open(buffer))


def colour(k: int) -> str:
    """Colour of series ``k``, from 0: six differ, those beyond are gray."""
    return COLOURS[k] if k < len(COLOURS) else GRAY


def with_palette(image: Image.Image) -> Image.Image:
    """Reduce a drawing to its most frequent colours, which stay exact; only the rare ones at edges move to the nearest.

    A general quantizer averages colours that are close: a legend then no longer has the palette's.
    """
    pixels = np.asarray(image).reshape(-1, 3).astype(np.int32)
    found, where, counts = np.unique(pixels @ (65536, 256, 1), return_inverse=True, return_counts=True)
    colours = np.stack([found >> 16, found >> 8 & 255, found & 255], axis=1)
    kept = colours[np.argsort(-counts, kind="stable")[:PALETTE]]
    nearest = ((colours[:, None] - kept) ** 2).sum(axis=-1).argmin(axis=1)
    small = Image.fromarray(nearest[where].reshape(image.height, image.width).astype(np.uint8), "P")
    small.putpalette(kept.astype(np.uint8).tobytes())
    return small


def _encoded(image: Image.Image, kind: str, **options: Any) -> bytes:
    buffer = io.BytesIO()
    image.save(buffer, kind, optimize=True, **options)
    return buffer.getvalue()


def images(items: Sequence[tuple[str, Image.Image]], columns: int = 0, side: float = 1.25, title: str = "") -> Plot:
    """Draw images under their titles.

    Args:
        items: (title, image) of each.
        columns: images in a row; 0: as many as there is room for.
        side: width of each in inches, less where so many columns need it.
        title: of the whole figure.

    Raises:
        ValueError: no images.
    """
    items = list(items)
    if not items:
        raise ValueError("images: there are none to show")
    rows = -(-len(items) // min(columns or max(1, int(WIDEST / side)), len(items)))
    columns = min(columns, len(items)) or -(-len(items) // rows)
    side = min(side, WIDEST / columns)
    with rc_context(STYLE):
        titles = [fill(title.replace("_", " "), max(8, int(side * 14))) for title, _ in items]
        tallest = min(1.0, max(image.height / image.width for _, image in items))
        height = side * tallest + 0.14 + 0.15 * max((title.count("\n") + 1 for title in titles), default=1)
        figure = Plot(side * columns, height * rows + (0.25 if title else 0), photographic=True)
        if title:
            figure.suptitle(title, fontsize=10)
        axes = figure.subplots(rows, columns, squeeze=False)
        for axis in axes.flat:
            axis.axis("off")
        for axis, title, (_, image) in zip(axes.flat, titles, items, strict=False):
            axis.imshow(np.asarray(rgb(image)), interpolation="lanczos")
            axis.set_title(title, fontsize=8)
    return figure


def bars(
    groups: Mapping[str, Mapping[Any, float | Interval]],
    label: str = "",
    reference: tuple[str, float] | None = None,
    title: str = "",
) -> Plot:
    """Draw bars side by side; an interval gets whiskers.

    Args:
        groups: series → category → value or interval.
        label: label of the vertical axis.
        reference: name and height of a dashed line to compare with.
        title: of the figure.
    """
    categories = list(dict.fromkeys(c for values in groups.values() for c in values))
    width = 0.8 / len(groups)
    with rc_context(STYLE):
        figure = Plot(max(4.0, min(9.0, 0.5 * len(categories) * len(groups) + 2)), 2.4)
        axis = figure.subplots()
        for k, (name, values) in enumerate(groups.items()):
            at = np.arange(len(categories)) + (k - (len(groups) - 1) / 2) * width
            found = [values.get(c, float("nan")) for c in categories]
            heights = [v.value if isinstance(v, Interval) else float(v) for v in found]
            style: Any = {"color": colour(k), "hatch": HATCHES[k % 6], "edgecolor": "white"}
            axis.bar(at, heights, width, label=name, linewidth=0.5, **style)
            for x, v in zip(at, found, strict=True):
                if isinstance(v, Interval) and np.isfinite([v.low, v.high]).all():
                    axis.vlines(x, v.low, v.high, color="black", linewidth=1)
        axis.set_xticks(np.arange(len(categories)), [str(c) for c in categories])
        if max(len(str(c)) for c in categories) * len(categories) > 60:
            for told in axis.get_xticklabels():  # ends below its bar; centred, it would begin far left of it
                told.set(rotation=35, ha="right", rotation_mode="anchor")
        axis.set(ylabel=label, title=title)
        axis.axhline(0, color="black", linewidth=0.8)
        axis.grid(False, axis="x")
        if reference is not None:
            axis.axhline(reference[1], color="black", linewidth=1, linestyle="--", label=reference[0])
        if len(groups) > 1 or reference is not None:
            figure.legend(*axis.get_legend_handles_labels(), ncols=6, fontsize=8, loc="outside upper center")
    return figure


def lines(
    series: Mapping[str, tuple[Any, Any]],
    x: str = "",
    y: str = "",
    title: str = "",
    references: Mapping[str, float] = NO_REFERENCES,
) -> Plot:
    """Draw curves.

    Args:
        series: name → (x values, y values), each ``(N,)``.
        x: label of the horizontal axis.
        y: label of the vertical axis.
        title: of the figure.
        references: name → height of a dashed line to compare with.
    """
    with rc_context(STYLE):
        figure = Plot(5.6, 2.4)
        axis = figure.subplots()
        for k, (name, (xs, ys)) in enumerate(series.items()):
            every = max(1, len(np.asarray(xs)) // 8)
            style: Any = {"color": colour(k), "marker": MARKERS[k % 6], "linestyle": DASHES[k % 4]}
            axis.plot(np.asarray(xs), np.asarray(ys), markevery=every, label=name, **style)
        if all(float(at).is_integer() for xs, _ in series.values() for at in xs):
            axis.locator_params(axis="x", integer=True)  # no half steps
        for k, (name, height) in enumerate(references.items()):
            axis.axhline(height, color="black", linewidth=1, linestyle=DASHES[1 + k % 3], label=name)
        axis.set(xlabel=x, ylabel=y, title=title)
        if len(series) + len(references) > 1:
            figure.legend(*axis.get_legend_handles_labels(), ncols=6, fontsize=8, loc="outside upper center")
    return figure


def _label_rows(figure: Plot, axis: Any, rows: Mapping[str, Any], x: str, size: int) -> None:
    """Name the rows, first at the top, and put a legend above them."""
    axis.set_yticks(np.arange(len(rows)), list(rows), fontsize=size)
    axis.invert_yaxis()
    axis.set_xlabel(x)
    axis.grid(False, axis="y")
    figure.legend(*axis.get_legend_handles_labels(), ncols=5, fontsize=8, loc="outside upper center")


def label_sides(axis: Any, left: Sequence[str], right: Sequence[str]) -> None:
    """Label the rows of ``axis`` on both sides, the first at the top.

    Args:
        axis: rows lie at 0, 1, ….
        left, right: texts of all rows, on either side.
    """
    words = axis.secondary_yaxis("right")
    for side, texts in ((axis, left), (words, right)):
        side.set_yticks(range(len(texts)), texts, fontsize=8)
        side.tick_params(axis="y", length=0)
    words.spines["right"].set_visible(False)
    axis.set_ylim(len(left) - 0.4, -0.6)


def stacked(
    groups: Mapping[str, Mapping[str, float]],
    label: str = "",
    limits: Sequence[tuple[str, float]] = (),
    title: str = "",
) -> Plot:
    """Draw horizontal stacked bars; a part has one colour in all rows.

    Args:
        groups: row → part → value.
        label: label of the horizontal axis.
        limits: name and value of each dashed line to stay below.
        title: of the figure.
    """
    parts = list(dict.fromkeys(part for row in groups.values() for part in row))
    with rc_context(STYLE):
        figure = Plot(7.0, 0.36 * len(groups) + 1.3)
        axis = figure.subplots()
        left = np.zeros(len(groups))
        for k, part in enumerate(parts):
            wide = np.array([row.get(part, 0.0) for row in groups.values()])
            style: Any = {"color": colour(k), "hatch": HATCHES[k % (2 if k < 6 else 6)], "edgecolor": "white"}
            axis.barh(np.arange(len(groups)), wide, 0.7, left=left, label=part, linewidth=0.5, **style)
            left += wide
        for k, (name, limit) in enumerate(limits):
            axis.axvline(limit, color="black", linewidth=1, linestyle=DASHES[1 + k % 3], label=name)
        axis.set_title(title)
        _label_rows(figure, axis, groups, label, 9)
    return figure


def timeline(
    rows: Mapping[str, Sequence[tuple[str, float, float]]],
    x: str = "",
    until: float = 0.0,
    title: str = "",
    pale: str = "",
    moment: tuple[str, float] | None = None,
) -> Plot:
    """Draw intervals of time; each kind has a colour and a pattern, and the shortest can still be seen.

    Args:
        rows: row → (kind, begin, end) of each interval.
        x: label of the time axis.
        until: end of the time axis, for figures that are compared; 0: fit the data.
        title: of the figure.
        pale: kind that is drawn faintly, such as waiting.
        moment: name and time of a line through all rows.
    """
    kinds = list(dict.fromkeys(kind for row in rows.values() for kind, _, _ in row))
    least = 0.006 * max((end for row in rows.values() for _, _, end in row), default=0.0)  # some four pixels
    with rc_context(STYLE):
        figure = Plot(7.0, 0.18 * len(rows) + 1.1)
        axis = figure.subplots()
        for k, kind in enumerate(kinds):
            found = [(i, begin, end) for i, row in enumerate(rows.values()) for of, begin, end in row if of == kind]
            at, begins, ends = (np.array(column) for column in zip(*found, strict=True))
            style: Any = {"color": colour(k), "hatch": HATCHES[k % 6], "edgecolor": "white"}
            style |= {"color": "#dddddd", "hatch": "", "zorder": 1} if kind == pale else {"zorder": 3}
            axis.barh(at, np.maximum(ends - begins, least), 0.75, left=begins, label=kind, linewidth=0.3, **style)
        if moment is not None:
            axis.axvline(moment[1], label=moment[0], color="black", linewidth=1, zorder=2)
        axis.set(xlim=(0, until or None), title=title)
        _label_rows(figure, axis, rows, x, 7)
    return figure

"""Sixty charts in matplotlib's many looks, with the values that they show; none is drawn by the kit."""

from __future__ import annotations

import io
from collections.abc import Callable, Mapping, Sequence
from contextlib import nullcontext
from dataclasses import dataclass, field
from typing import Any

from PIL import Image

Row = Sequence[float]
GOODS = ("Apples", "Pears", "Plums", "Figs", "Dates", "Limes")


@dataclass(frozen=True)
class Foreign:
    """A chart to draw: how, with which values, and what is done to its axes.

    Attributes:
        kind: how it is drawn, one of :data:`DRAW`.
        values: of each series.
        labels: of the categories.
        series: names, if there are several.
        style: matplotlib's style sheet.
        looks: arguments for what draws the marks.
        axes: what is done to the axes afterwards, as ``{"method": argument}``.
        size: in inches; 100 dots each.
    """

    kind: str
    values: Sequence[Row]
    labels: Sequence[str] = GOODS[:4]
    series: Sequence[str] = ()
    style: str = ""
    looks: Mapping[str, Any] = field(default_factory=dict)
    axes: Mapping[str, Any] = field(default_factory=dict)
    size: tuple[float, float] = (6.4, 4.8)

    def draw(self) -> Image.Image:
        """The chart as an image."""
        import matplotlib.style
        from matplotlib.backends.backend_agg import FigureCanvasAgg
        from matplotlib.figure import Figure

        with matplotlib.style.context(self.style) if self.style else nullcontext():
            figure = Figure(self.size, dpi=100, layout="tight")
            FigureCanvasAgg(figure)
            ax = figure.add_subplot()
            DRAW[self.kind](ax, self)
            if len(self.series) > 1 and self.kind not in ("pie", "twin"):
                ax.legend()
            for method, given in self.axes.items():
                AXES[method](ax, given)
            file = io.BytesIO()
            figure.savefig(file, facecolor=figure.get_facecolor())
        return Image.open(file).convert("RGB")


def _bars(ax: Any, one: Foreign) -> None:
    lying, many, places = one.kind == "barh", len(one.values), range(len(one.labels))
    wide = 0.8 / many
    for k, row in enumerate(one.values):
        at = [place + (k - (many - 1) / 2) * wide for place in places]
        name = one.series[k] if one.series else None
        (ax.barh if lying else ax.bar)(at, row, wide, label=name, **one.looks)
    (ax.set_yticks if lying else ax.set_xticks)(list(places), one.labels)


def _stacked(ax: Any, one: Foreign) -> None:
    below = [0.0] * len(one.labels)
    for k, row in enumerate(one.values):
        ax.bar(one.labels, row, bottom=below, label=one.series[k], **one.looks)
        below = [a + b for a, b in zip(below, row, strict=True)]


def _lines(ax: Any, one: Foreign) -> None:
    for k, row in enumerate(one.values):
        ax.plot(one.labels, row, label=one.series[k] if one.series else None, **one.looks)


def _pie(ax: Any, one: Foreign) -> None:
    ax.pie(one.values[0], labels=one.labels, **one.looks)


def _area(ax: Any, one: Foreign) -> None:
    ax.fill_between(range(len(one.labels)), one.values[0], **one.looks)
    ax.set_xticks(range(len(one.labels)), one.labels)


def _twin(ax: Any, one: Foreign) -> None:
    ax.plot(one.labels, one.values[0], color="tab:blue")
    ax.twinx().plot(one.labels, one.values[1], color="tab:red")


def _scatter(ax: Any, one: Foreign) -> None:
    ax.scatter(one.labels, one.values[0], **one.looks)


def _histogram(ax: Any, one: Foreign) -> None:
    ax.bar(one.labels, one.values[0], width=1.0, **one.looks)


DRAW: Mapping[str, Callable[[Any, Foreign], None]] = {
    "bar": _bars,
    "barh": _bars,
    "stacked": _stacked,
    "line": _lines,
    "pie": _pie,
    "area": _area,
    "twin": _twin,
    "scatter": _scatter,
    "histogram": _histogram,
}


def _ticks_as(ax: Any, form: str) -> None:
    ax.yaxis.set_major_formatter(lambda value, _: form.format(value, thousands=value / 1e3, millions=value / 1e6))


AXES: Mapping[str, Callable[[Any, Any], None]] = {
    "title": lambda ax, text: ax.set_title(text),
    "y name": lambda ax, text: ax.set_ylabel(text),
    "invert y": lambda ax, _: ax.invert_yaxis(),
    "invert x": lambda ax, _: ax.invert_xaxis(),
    "log y": lambda ax, _: ax.set_yscale("log"),
    "log x": lambda ax, _: ax.set_xscale("log"),
    "grid": lambda ax, over: (ax.grid(axis="y"), ax.set_axisbelow(not over)),
    "ticks": _ticks_as,
    "y limits": lambda ax, given: ax.set_ylim(*given),
    "numbers": lambda ax, _: [ax.bar_label(bars) for bars in ax.containers],
    "zero": lambda ax, _: ax.axhline(0, color="black"),
    "offset text": lambda ax, _: ax.ticklabel_format(axis="y", style="sci", scilimits=(0, 0), useMathText=True),
    "right ticks": lambda ax, _: ax.yaxis.tick_right(),
    "no spines": lambda ax, _: [ax.spines[side].set_visible(False) for side in ("top", "right", "left")],
}

A, B = (12, 30, 21, 8), (25, 14, 33, 19)
MILLIONS, LARGE = (1_200_000, 2_500_000, 1_900_000, 700_000), (12_000, 34_000, 27_500, 8_200)
TWO = ("Men", "Women")

DEVELOPMENT: Mapping[str, Foreign] = {
    "plain": Foreign("bar", [A]),
    "hatched": Foreign("bar", [A], looks={"hatch": "//"}),
    "crossed": Foreign("bar", [A], looks={"hatch": "xx", "color": "tab:green"}),
    "dots": Foreign("bar", [A], looks={"hatch": "..", "color": "gold"}),
    "hatched white": Foreign("bar", [A], looks={"hatch": "//", "edgecolor": "white"}),
    "millions": Foreign("bar", [MILLIONS], axes={"title": "Goods"}),
    "millions lying": Foreign("barh", [MILLIONS], axes={"title": "Goods"}),
    "offset in words": Foreign("bar", [LARGE], axes={"offset text": 1}),
    "thousands": Foreign("bar", [LARGE], axes={"ticks": "{0:,.0f}"}),
    "k": Foreign("bar", [LARGE], axes={"ticks": "{thousands:.0f}K"}),
    "dollars": Foreign("bar", [A], axes={"ticks": "${0:.0f}"}),
    "per cent": Foreign("bar", [A], axes={"ticks": "{0:.0f}%"}),
    "inverted": Foreign("bar", [A], axes={"invert y": 1}),
    "inverted line": Foreign("line", [A], axes={"invert y": 1}),
    "negative": Foreign("bar", [(12, -8, 21, -15)], axes={"zero": 1}),
    "all negative": Foreign("bar", [(-12, -8, -21, -15)]),
    "a zero": Foreign("bar", [(12, 0, 21, 15)]),
    "dark": Foreign("bar", [A], style="dark_background"),
    "dark lines": Foreign("line", [A, B], series=TWO, style="dark_background"),
    "ggplot": Foreign("bar", [A], style="ggplot"),
    "grid over bars": Foreign("bar", [A], axes={"grid": True}),
    "grouped": Foreign("bar", [A, B], series=TWO),
    "grouped hatched": Foreign("bar", [A, B], series=TWO, looks={"hatch": "\\\\"}),
    "stacked": Foreign("stacked", [A, B], series=TWO),
    "log": Foreign("bar", [(10, 120, 2300, 40)], axes={"log y": 1}),
    "log line": Foreign("line", [(10, 120, 2300, 40)], axes={"log y": 1}),
    "area": Foreign("area", [A]),
    "histogram": Foreign("histogram", [A]),
    "twin axes": Foreign("twin", [A, (120, 480, 350, 900)]),
    "pie": Foreign("pie", [(40, 25, 20, 15)]),
}
"""What the readers were mended by."""

KEPT: Mapping[str, Foreign] = {
    "stars": Foreign("bar", [B], looks={"hatch": "*", "color": "salmon"}),
    "circles": Foreign("bar", [B], looks={"hatch": "oo", "color": "skyblue"}),
    "minus": Foreign("bar", [B], looks={"hatch": "--", "color": "tab:purple"}),
    "bars hatched": Foreign("barh", [B], looks={"hatch": "||", "color": "tab:orange"}),
    "plus": Foreign("bar", [A, B], series=TWO, looks={"hatch": "++"}),
    "small": Foreign("bar", [(1.2e-5, 3.4e-5, 2.2e-5, 0.9e-5)]),
    "billions": Foreign("bar", [(2.1e9, 4.4e9, 3.0e9, 1.2e9)], axes={"title": "Money", "y name": "Dollars"}),
    "line of millions": Foreign("line", [MILLIONS], looks={"marker": "o"}),
    "m": Foreign("bar", [MILLIONS], axes={"ticks": "{millions:.1f}M"}),
    "euros": Foreign("barh", [B], labels=GOODS[2:6], looks={"color": "teal"}),
    "inverted lying": Foreign("barh", [B], axes={"invert x": 1}),
    "upside down list": Foreign("barh", [B], axes={"invert y": 1}),
    "negative lying": Foreign("barh", [(14, -9, 20, -5)]),
    "negative grouped": Foreign("bar", [(12, -8, 21, -15), (5, 9, -12, 8)], series=TWO, axes={"zero": 1}),
    "zeros": Foreign("barh", [(0, 17, 0, 9)]),
    "solarized": Foreign("bar", [B], style="Solarize_Light2"),
    "seaborn": Foreign("bar", [A, B], series=TWO, style="seaborn-v0_8-darkgrid"),
    "538": Foreign("line", [A, B], series=TWO, style="fivethirtyeight"),
    "bmh": Foreign("bar", [B], style="bmh"),
    "grayscale": Foreign("bar", [B], style="grayscale"),
    "dark hatched": Foreign("bar", [B], style="dark_background", looks={"hatch": "//"}),
    "cut axis": Foreign("bar", [(102, 130, 121, 108)], axes={"y limits": (100, 135)}),
    "numbers": Foreign("bar", [A], axes={"numbers": 1, "no spines": 1}),
    "right axis": Foreign("bar", [B], axes={"right ticks": 1}),
    "three stacked": Foreign("stacked", [A, B, A], series=("Men", "Women", "Other")),
    "log lying": Foreign("barh", [(10, 120, 2300, 40)], axes={"log x": 1}),
    "dashes": Foreign("line", [A], looks={"linestyle": "--", "marker": "s"}),
    "points": Foreign("scatter", [A], looks={"s": 60}),
    "steps": Foreign("line", [B], looks={"drawstyle": "steps-mid"}),
    "pie with numbers": Foreign("pie", [(35, 30, 20, 15)], looks={"autopct": "%1.0f%%", "startangle": 90}),
}
"""Drawn before anything was mended, looked at once afterwards."""

"""Figures, in one style: readable on light and dark pages and by colour-blind readers.

Each function returns a matplotlib figure that belongs to nobody's global state. Colours are Okabe
and Ito's (2008); every series also differs by marker or pattern. The background is white on purpose:
a notebook's dark theme keeps pictures as they are, and black text on nothing would vanish there.
"""

from __future__ import annotations

import io
import os
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
from matplotlib import rc_context
from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.figure import Figure
from PIL import Image

from kit.chat import Chat
from kit.episode import Episode
from kit.evaluate import STAGES, by_stage
from kit.intervals import Interval
from kit.metrics import Row, is_quiet, read_metrics

COLOURS = ("#0072B2", "#E69F00", "#009E73", "#CC79A7", "#56B4E9", "#D55E00")
MARKERS = ("o", "s", "^", "D", "v", "P")
HATCHES = ("", "///", "...", "xx", "\\\\\\", "++")
STYLE: Any = {
    "font.size": 9,
    "axes.spines.top": False,
    "axes.spines.right": False,
    "axes.grid": True,
    "grid.color": "#dddddd",
    "axes.axisbelow": True,
    "legend.frameon": False,
    "figure.dpi": 80,
    "figure.facecolor": "white",
}


class Plot(Figure):
    """A figure that shows itself in a notebook, without pyplot."""

    def __init__(self, width: float, height: float, **kwargs: Any) -> None:
        super().__init__(figsize=(width, height), layout="constrained", **kwargs)
        FigureCanvasAgg(self)

    def _repr_png_(self) -> bytes:
        buffer = io.BytesIO()
        with rc_context(STYLE):
            self.savefig(buffer, format="png", dpi=80, metadata={"Software": None})
        # A palette of 64 colours keeps a notebook small and these drawings as they are.
        small = io.BytesIO()
        Image.open(buffer).convert("RGB").quantize(64).save(small, "PNG", optimize=True)
        return small.getvalue()


def pictures(items: Sequence[tuple[str, Image.Image]], columns: int = 0, side: float = 1.25) -> Plot:
    """Pictures under their titles, ``columns`` in a row (0: all in one), each ``side`` inches wide."""
    items = list(items)
    columns = columns or len(items)
    rows = -(-len(items) // columns)
    with rc_context(STYLE):
        figure = Plot(side * columns, (side + 0.3) * rows)
        axes = figure.subplots(rows, columns, squeeze=False)
        for axis in axes.flat:
            axis.axis("off")
        for axis, (title, image) in zip(axes.flat, items, strict=False):
            axis.imshow(np.asarray(image.convert("RGB")))
            axis.set_title(title, fontsize=8)
    return figure


def bars(groups: Mapping[str, Mapping[Any, float | Interval]], label: str = "") -> Plot:
    """Bars side by side: series → category → value, or an interval, which gets its whiskers."""
    categories = list(dict.fromkeys(c for values in groups.values() for c in values))
    width = 0.8 / len(groups)
    with rc_context(STYLE):
        figure = Plot(max(4.0, min(9.0, 0.5 * len(categories) * len(groups) + 2)), 2.4)
        axis = figure.subplots()
        for k, (name, values) in enumerate(groups.items()):
            at = np.arange(len(categories)) + (k - (len(groups) - 1) / 2) * width
            found = [values.get(c, float("nan")) for c in categories]
            heights = [v.value if isinstance(v, Interval) else float(v) for v in found]
            style: dict[str, Any] = {
                "color": COLOURS[k % 6],
                "hatch": HATCHES[k % 6],
                "edgecolor": "white",
                "linewidth": 0.5,
            }
            axis.bar(at, heights, width, label=name, **style)
            for x, v in zip(at, found, strict=True):
                if isinstance(v, Interval) and np.isfinite([v.low, v.high]).all():
                    axis.vlines(x, v.low, v.high, color="black", linewidth=1)
        axis.set_xticks(np.arange(len(categories)), [str(c) for c in categories])
        if max(len(str(c)) for c in categories) * len(categories) > 60:
            axis.tick_params(axis="x", rotation=35)
        axis.set_ylabel(label)
        axis.axhline(0, color="black", linewidth=0.8)
        if len(groups) > 1:
            axis.legend(fontsize=8)
    return figure


def lines(series: Mapping[str, tuple[Any, Any]], x: str = "", y: str = "") -> Plot:
    """Curves: name → (x values, y values)."""
    with rc_context(STYLE):
        figure = Plot(5.6, 2.4)
        axis = figure.subplots()
        for k, (name, (xs, ys)) in enumerate(series.items()):
            every = max(1, len(np.asarray(xs)) // 8)
            axis.plot(
                np.asarray(xs), np.asarray(ys), color=COLOURS[k % 6], marker=MARKERS[k % 6], markevery=every, label=name
            )
        axis.set_xlabel(x)
        axis.set_ylabel(y)
        if len(series) > 1:
            axis.legend(fontsize=8)
    return figure


def masks(episode: Episode, chat: Chat | None = None, values: Sequence[float] | None = None) -> Plot:
    """An episode's tokens as a band: prompt, policy, environment; with ``chat``, where pictures are.

    Args:
        values: one a token, drawn as bars above the band (a gradient's size, say).
    """
    kinds = [0] * len(episode.prompt_ids)
    for turn in episode.turns:
        kinds += [1] * len(turn.ids) + [2] * len(turn.observation_ids)
    names = ("prompt (mask 0)", "policy (mask 1)", "environment (mask 0)")
    colours = ("#bbbbbb", COLOURS[0], COLOURS[1])
    with rc_context(STYLE):
        figure = Plot(8.4, 1.5 if values is None else 2.5)
        if values is None:
            band = figure.subplots()
        else:
            above, band = figure.subplots(2, 1, sharex=True, height_ratios=(2, 1))
            above.bar(np.arange(len(values)), values, width=1.0, color="black")
            above.set_ylabel("size")
        for kind, name in enumerate(names):
            at = [i for i, k in enumerate(kinds) if k == kind]
            band.bar(at, 1.0, width=1.0, color=colours[kind], hatch=HATCHES[kind], edgecolor=colours[kind], label=name)
        if chat is not None:
            seen = [i for i, token in enumerate(episode.ids) if token == chat.image_id]
            band.bar(seen, 0.35, width=1.0, color="black", label="picture tokens")
        band.set_yticks([])
        band.grid(False)
        band.set_xlim(-0.5, len(kinds) - 0.5)
        band.set_xlabel("token")
        figure.legend(*band.get_legend_handles_labels(), ncols=4, fontsize=8, loc="outside upper center")
    return figure


CURVES = ("reward", "accuracy", "turns", "response_tokens", "entropy")


def training(rows: Sequence[Row] | Path, columns: Sequence[str] = CURVES) -> Plot:
    """A run's curves over its steps, faint, with a running mean on top.

    Args:
        rows: metric rows, or the path of a ``metrics.jsonl``.
        columns: those that no row has are left out.
    """
    rows = read_metrics(rows) if isinstance(rows, Path) else rows
    wanted = [c for c in columns if any(c in row for row in rows)]
    if not wanted:
        raise ValueError(f"no column of {', '.join(columns)} in {len(rows)} rows; there is nothing to draw")
    with rc_context(STYLE):
        figure = Plot(2.0 * len(wanted) + 0.4, 1.9)
        for axis, column in zip(figure.subplots(1, len(wanted), squeeze=False).flat, wanted, strict=True):
            xs = np.array([row["step"] for row in rows if column in row])
            ys = np.array([float(row[column]) for row in rows if column in row])
            axis.plot(xs, ys, color=COLOURS[4], linewidth=0.8)
            width = max(1, len(ys) // 10)
            axis.plot(xs[width - 1 :], np.convolve(ys, np.ones(width) / width, "valid"), color=COLOURS[0], linewidth=2)
            axis.set_title(column.replace("_", " "), fontsize=9)
            axis.set_xlabel("step")
    return figure


class LivePlot:
    """Curves that redraw in place while a notebook trains; silent when nobody watches.

    Args:
        columns: what to draw.
        every: steps between drawings.
    """

    def __init__(self, columns: Sequence[str] = CURVES, every: int = 5) -> None:
        self.columns = tuple(columns)
        self.every = every
        self._rows: Sequence[Row] = ()
        self._handle: Any = None

    def __call__(self, rows: Sequence[Row]) -> None:
        """Take all rows so far; give it to a trainer as ``on_step``."""
        self._rows = list(rows)
        if is_quiet() or "PAPERMILL" in os.environ or len(rows) % self.every:
            return
        from IPython.display import display

        if self._handle is None:
            self._handle = display(self.figure(), display_id=True)
        else:
            self._handle.update(self.figure())

    def figure(self) -> Plot:
        """The curves as they are now."""
        return training(self._rows, self.columns)


def levels(results: Mapping[str, Any], metric: str = "acc", grid: str = "2x2") -> Plot:
    """Acc of each level, untrained, SFT and GRPO side by side, with 95 % intervals."""
    stages = by_stage(results)
    groups: dict[str, dict[Any, float | Interval]] = {}
    for stage in (s for s in STAGES if s in stages):
        found = {n.removeprefix(f"{metric}_{grid}"): i for n, i in stages[stage].items()}
        whole = {"all": found[""]} if "" in found else {}
        per_level = {n.removeprefix("_"): i for n, i in found.items() if n.startswith("_L")}
        groups[stage] = {**whole, **per_level}
        if not groups[stage]:
            raise ValueError(f"{stage} has no {metric}_{grid}; it has {', '.join(stages[stage])}")
    return bars(groups, label=f"{metric.capitalize()} {grid.replace('x', '×')}")


def claims(results: Mapping[str, Any]) -> Plot:
    """Each claim's checks: interval against its limit, on the side where it would hold."""
    checks = [(name, c) for name, claim in results["claims"].items() for c in claim.get("checks", [])]
    if not checks:
        raise ValueError("none of these claims has a check to draw")
    with rc_context(STYLE):
        figure = Plot(7.2, 0.42 * len(checks) + 0.8)
        axis = figure.subplots()
        look = {"holds": (COLOURS[2], "o"), "doesn't": (COLOURS[5], "X"), "undecided": ("#777777", "D")}
        for row, (_, check) in enumerate(checks):
            sign = -1.0 if check["side"] == "below" else 1.0
            value, low, high = (sign * (check[k] - check["limit"]) for k in ("value", "low", "high"))
            colour, marker = look[check["verdict"]]
            low, high = (float(np.clip(v, -1.2, 1.2)) for v in (low, high))
            axis.plot([low, high], [row, row], color=colour, linewidth=2)
            axis.plot(np.clip(value, -1.2, 1.2), row, color=colour, marker=marker)
        axis.axvline(0, color="black", linewidth=1)
        axis.set_yticks(range(len(checks)), [f"{n}  {c['name']}: {c['verdict']}" for n, c in checks], fontsize=8)
        axis.set_ylim(len(checks) - 0.4, -0.6)
        axis.set_xlim(-1.25, 1.25)
        axis.set_xlabel("beyond its limit, towards the claim → (cut off at ±1.2)")
    return figure

"""A figure in words, made of what is drawn, for readers who don't see it."""

from __future__ import annotations

from collections.abc import Iterator
from textwrap import shorten
from typing import Any

import numpy as np
from matplotlib.figure import Figure

LONGEST = 300
"""Characters; panels that say more are cut, each to its share but not below 48."""


def alt(figure: Figure) -> str:
    """Say what a figure shows: titles, axes' names, of a line its first and last value, of bars each value."""
    title = f"{figure.get_suptitle()}: " if figure.get_suptitle() else ""
    panels = [text for axis in figure.axes if (text := _panel(axis))]
    if len(title) + sum(map(len, panels)) > LONGEST:
        if brief := len(panels) > 1:
            panels = [text for axis in figure.axes if (text := _panel(axis, brief))]
            named = ", ".join(text.get_text() for legend in figure.legends for text in legend.get_texts())
            title += f"{shorten(named, LONGEST // 3)}. " if named else ""
        share = max(48, (LONGEST - len(title)) // len(panels) - 2)
        panels = [shorten(panel, share, placeholder=" …") for panel in panels]
    return " ".join((title + "; ".join(panels)).split())


def _panel(axis: Any, brief: bool = False) -> str:
    """A panel in words; in brief its title and two series' values without their names."""
    title = axis.get_title() or axis.get_title(loc="left")
    names = "" if brief and title else " over ".join(filter(None, (axis.get_ylabel(), axis.get_xlabel())))
    found = list(_written(axis)) or list(_drawn(axis))
    said = [v for _, v in found[:2]] if brief else [f"{name} {v}".strip() for name, v in found if name or v]
    said = said or [text.get_text() for text in axis.texts if not axis.images]
    return ": ".join(filter(None, (", ".join(filter(None, (title, names))), ", ".join(said))))


def _ticks(axis: Any) -> dict[int, str]:
    """Place → what is written there."""
    found = zip(axis.get_ticklocs(), axis.get_ticklabels(), strict=False)
    return {round(at): label.get_text() for at, label in found if label.get_text()}


def _told(value: float) -> str:
    return f"{0 if abs(value) < 1e-6 else value:.3g}"  # what is smaller is rounding


def _written(axis: Any) -> Iterator[tuple[str, str]]:
    """Rows with values written at their right; of a table in colours, each row's largest value with its column."""
    rows, columns = _ticks(axis.yaxis), _ticks(axis.xaxis)
    for beside in axis.child_axes:
        yield from ((rows.get(at, ""), text) for at, text in _ticks(beside.yaxis).items())
    for table in (np.asarray(one.get_array()) for one in axis.images if one.get_array().ndim == 2):
        for at, row in ((at, row) for at, row in enumerate(table) if at in rows):
            yield rows[at], f"{columns.get(int(row.argmax()), '')} {_told(row.max())}"


def _drawn(axis: Any) -> Iterator[tuple[str, str]]:
    """Bars, then lines; of a limit, which goes from edge to edge, where it is."""
    for bars in axis.containers:
        lies = bars.orientation == "horizontal"
        names, boxes = _ticks(axis.yaxis if lies else axis.xaxis), [bar.get_bbox() for bar in bars]
        found = [(round(sum(b.intervaly if lies else b.intervalx) / 2), b.width if lies else b.height) for b in boxes]
        told = [f"{names[at]} {_told(size)}" for at, size in found if at in names and np.isfinite(size)]
        yield "" if bars.get_label().startswith("_") else bars.get_label(), ", ".join(told)
    yield from ((name, "") for one in axis.collections if not (name := str(one.get_label())).startswith("_"))
    any_named = any(not str(line.get_label()).startswith("_") for line in axis.lines)
    for line in axis.lines:
        is_named, is_limit = not str(line.get_label()).startswith("_"), line.get_transform() != axis.transData
        at = line.get_xdata() if is_limit and len({*line.get_xdata()}) == 1 else line.get_ydata()
        known = [value for value in np.asarray(at, dtype=float) if np.isfinite(value)]
        if known and (is_named or (not any_named and not is_limit)):
            ends = " to ".join(dict.fromkeys(map(_told, (known[0], known[-1]))))
            yield str(line.get_label()) if is_named else "", ends

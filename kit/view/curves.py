"""Curves of a training: metrics that belong together in one panel, each panel with a scale that doesn't mislead."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
from matplotlib import rc_context

from kit.train.metrics import Row, read_metrics
from kit.view.charts import COLOURS, DASHES, GRAY, MARKERS, STYLE, Plot, colour

PARTS = "reward/"
"""Before the name of a reward's part among the metrics."""

PANELS: Mapping[str, Mapping[str, str]] = {
    "reward and its parts": {"reward": "reward"},
    "right answers (share)": {"accuracy": "sampled, in training", "held_out_accuracy": "greedy, held out"},
    "an episode's length": {"turns": "turns", "calls": "turns with an action"},
    "tokens written an episode": {"response_tokens": "tokens"},
    "flat groups (share)": {
        "frac_zero_std_groups": "all rewards equal",
        "frac_zero_std_groups_left": "after dynamic sampling",
    },
    "right next tokens (share)": {"mean_token_accuracy": "of the expert's"},
    "entropy (nats a token)": {"entropy": "entropy"},
    "loss": {"loss": "loss"},
}
"""Title of a panel → metric → its name in the legend. A panel is left out if no row has any of its metrics."""

MEAN_OF = 20
"""A running mean is over one of so many parts of the training."""

ROW = 0.18
"""Height of a legend's row, as a share of the panel without it."""

ALMOST_ZERO = 0.05
"""A loss of GRPO below this is rounding and clipping, not progress."""


def curves(rows: Sequence[Row] | Path) -> Plot:
    """Draw a training's metrics over its steps, in panels.

    Args:
        rows: metric rows, or the path of a ``metrics.jsonl``.

    Raises:
        ValueError: the rows have none of the metrics that are drawn.
    """
    rows = read_metrics(rows) if isinstance(rows, Path) else rows
    panels = {title: names for title in PANELS if (names := _present(title, rows))}
    if not panels:
        raise ValueError(f"none of the {len(rows)} rows has a metric that is drawn; there is nothing to draw")
    with rc_context(STYLE):
        figure, axes = _grid(list(panels))
        for axis, (title, names) in zip(axes, panels.items(), strict=True):
            _panel(axis, title, names, rows)
    return figure


def over_published(rows: Sequence[Row], published: Mapping[str, Sequence[Row]], name: str = "this run") -> Plot:
    """Draw a training over the published runs of the same notebook, which stand behind it, thin and gray.

    Args:
        rows: its metric rows.
        published: run's name → its metric rows (:func:`papers.published_curves.published_curves`).
        name: of the training, for the legend.

    Raises:
        ValueError: nothing is published, or no metric is in the rows of all.
    """
    if not published:
        raise ValueError("no published curves of this name: results/curves/ holds those that there are")
    behind: list[dict[str, Any]] = [{"color": GRAY, "linewidth": 0.9} for _ in published]
    behind[0]["label"] = f"published, {len(published)} seed(s)"
    everyone = {**{f"published {run}": some for run, some in published.items()}, name: rows}
    return overlaid(everyone, [*behind, {"color": COLOURS[0], "linewidth": 2, "label": name}])


def overlaid(runs: Mapping[str, Sequence[Row]], styles: Sequence[Mapping[str, Any]]) -> Plot:
    """Draw the trainings of several runs in the same axes, each in its style, which has its ``label``.

    Raises:
        ValueError: no metric is in the rows of all runs.
    """
    if not (shown := _in_all(runs)):
        raise ValueError(f"the runs {', '.join(runs)} share no metric that is drawn")
    with rc_context(STYLE):
        figure, axes = _grid([title for title, _ in shown], above=0.3)
        for axis, (title, key) in zip(axes, shown, strict=True):
            for rows, style in zip(runs.values(), styles, strict=True):
                known = [row for row in rows if key in row]
                axis.plot([row["step"] for row in known], [float(row[key]) for row in known], **style)
            if len(PANELS[title]) > 1:
                axis.set_title(f"{title}:\n{PANELS[title][key]}", fontsize=9)
        figure.legend(*figure.axes[0].get_legend_handles_labels(), ncols=6, fontsize=8, loc="outside upper center")
    return figure


def _in_all(runs: Mapping[str, Sequence[Row]]) -> list[tuple[str, str]]:
    """Title and metric of every panel whose last metric is in the rows of all; no loss of GRPO: its slope teaches."""
    return [
        (title, key)
        for title, names in PANELS.items()
        for key in list(names)[-1:]
        if all(any(key in row for row in rows) for rows in runs.values())
        if key != "loss" or not any("reward" in row for rows in runs.values() for row in rows)
    ]


def _grid(titles: Sequence[str], above: float = 0.0) -> tuple[Plot, list[Any]]:
    """A figure with an axis for each title, up to four in a row, ``above`` inches below its top; shares: 0 to 1."""
    columns = min(4, len(titles))
    lines = -(-len(titles) // columns)
    figure = Plot(2.35 * columns, 1.9 * lines + above)
    axes = list(figure.subplots(lines, columns, squeeze=False).flat)
    for axis, title in zip(axes, titles, strict=False):
        axis.set_title(title, fontsize=9)
        axis.set_xlabel("step")
        if "(share)" in title:
            axis.set_ylim(-0.04, 1.04)
    for axis in axes[len(titles) :]:
        axis.axis("off")
    return figure, axes[: len(titles)]


def _present(title: str, rows: Sequence[Row]) -> dict[str, str]:
    """The metrics of a panel that some row has, with their names."""
    names = dict(PANELS[title])
    if "reward" in names:
        parts = sorted({key for row in rows for key in row if key.startswith(PARTS)})
        names |= {key: key.removeprefix(PARTS) for key in parts}
    return {key: name for key, name in names.items() if any(key in row for row in rows)}


def _panel(axis: Any, title: str, names: Mapping[str, str], rows: Sequence[Row]) -> None:
    values = []
    for k, (key, name) in enumerate(names.items()):
        # A part of the reward that no episode of a step has is 0 there.
        known = [row for row in rows if key in row or (key.startswith(PARTS) and "reward" in row)]
        xs, ys = [row["step"] for row in known], [float(row.get(key, 0.0)) for row in known]
        values += ys
        style: Any = {"color": colour(k), "linestyle": DASHES[k % 4], "marker": MARKERS[k % 6], "markersize": 3}
        width = max(1, len(ys) // MEAN_OF)
        if width > 1:  # a long training: faint as it was, with a running mean on top
            axis.plot(xs, ys, color=colour(k), linewidth=0.6, alpha=0.4)
            xs, ys = xs[width // 2 :][: len(ys) - width + 1], list(np.convolve(ys, np.ones(width) / width, "valid"))
        axis.plot(xs, ys, label=name, linewidth=2 if k == 0 else 1.2, markevery=max(1, len(xs) // 8), **style)
    axis.set_xlim(0.5, max(row["step"] for row in rows) + 0.5)
    axis.xaxis.get_major_locator().set_params(integer=True)
    if len({row["step"] for row in rows}) == 1:  # else the axis of one point is cut into tenths of a step
        axis.set_xticks([rows[0]["step"]])
    if title == "loss" and any("reward" in row for row in rows) and max(map(abs, values)) < ALMOST_ZERO:
        axis.set_ylim(-1, 1)
        note = "about 0 on purpose: a\ngroup's advantages sum to 0,\nonly the slope teaches (03)"
        axis.text(0.5, 0.93, note, transform=axis.transAxes, fontsize=7, ha="center", va="top")
    elif "(share)" not in title and np.isfinite(values).all() and min(values) >= 0:
        axis.set_ylim(0, max(values) * 1.08 or 1)
    if len(names) > 1 or len(PANELS[title]) > 1:  # one curve of a panel that may hold two: say which
        _legend(axis, title, len(names))


def _legend(axis: Any, title: str, curves: int) -> None:
    """Name the curves; where the scale isn't fixed, in room made for the names above all curves."""
    style: Any = {"fontsize": 7, "handlelength": 1.5, "labelspacing": 0.2, "borderaxespad": 0.2, "columnspacing": 0.5}
    if "(share)" in title:
        axis.legend(**style)
        return
    columns = 2 if curves > 2 else 1
    bottom, top = axis.get_ylim()
    axis.set_ylim(bottom, top + ROW * -(-curves // columns) * (top - bottom))
    axis.legend(loc="upper center", ncols=columns, **style)

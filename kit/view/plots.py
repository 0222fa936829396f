"""Figures of episodes and claims; :mod:`kit.view.charts` has their style and the general charts.

Each function returns a matplotlib figure outside pyplot's global state: nothing is shown twice, nothing stays open.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from textwrap import fill
from typing import Any

import numpy as np
from matplotlib import rc_context

from kit.chat import Chat
from kit.episode import Episode
from kit.evaluate.intervals import Interval
from kit.view.charts import COLOURS, HATCHES, STYLE, WIDEST, Plot, bars, images, label_sides, lines, stacked, timeline

__all__ = ["Plot", "bars", "claims", "images", "lines", "masks", "stacked", "timeline"]


def masks(episode: Episode, chat: Chat | None = None, values: Sequence[float] | None = None) -> Plot:
    """Draw an episode's loss mask as a band of tokens: prompt, policy, environment.

    Args:
        episode: the episode.
        chat: the checkpoint's chat; with it, image tokens are marked.
        values: the length of the gradient at each token, drawn as bars above the band.
    """
    bands: tuple[list[tuple[int, int]], ...] = ([(0, len(episode.prompt_ids))], [], [])
    at = len(episode.prompt_ids)
    for turn in episode.turns:
        bands[1].append((at, len(turn.ids)))
        bands[2].append((at + len(turn.ids), len(turn.observation_ids)))
        at += len(turn.ids) + len(turn.observation_ids)
    names = ("prompt (mask 0)", "policy (mask 1)", "environment (mask 0)")
    colours = ("#c4c4c4", COLOURS[0], COLOURS[1])
    with rc_context(STYLE):
        figure = Plot(WIDEST, 1.3 if values is None else 2.5)
        if values is None:
            band = figure.subplots()
        else:
            above, band = figure.subplots(2, 1, sharex=True, height_ratios=(2, 1))
            above.bar(np.arange(len(values)), values, width=1.0, color=COLOURS[0])
            above.set_ylabel("gradient")
        for kind, name in enumerate(names):
            # A token is drawn around its number: token 0 from -0.5 to 0.5.
            shown = [(start - 0.5, length) for start, length in bands[kind] if length]
            look: Any = {"facecolor": colours[kind], "hatch": HATCHES[kind], "edgecolor": "white", "linewidth": 0}
            band.broken_barh(shown, (0, 1), label=name, **look)
        if chat is not None:
            seen = [(i - 0.5, 1) for i, token in enumerate(episode.ids) if token == chat.image_id]
            band.broken_barh(seen, (0, 0.35), facecolor="black", linewidth=0, label="image tokens")
        band.set_yticks([])
        band.grid(False)
        band.set_xlim(-0.5, at - 0.5)
        band.set_ylim(0, 1)
        band.set_xlabel("token")
        figure.legend(*band.get_legend_handles_labels(), ncols=4, fontsize=8, loc="outside lower center")
        title = f"whose tokens these are: {sum(episode.mask)} of {len(episode.ids)} are the policy's"
        figure.suptitle(title, fontsize=10, x=0.01, ha="left")
    return figure


VERDICTS = {
    "holds": (COLOURS[2], "o"),
    "doesn't": (COLOURS[5], "X"),
    "equal": (COLOURS[0], "P"),
    "undecided": ("#777777", "D"),
    "not testable here": ("#777777", "s"),
}
"""Verdict → its colour and marker."""


FARTHEST, STUB = 4.0, 0.4
"""Effects are drawn up to so many margins from the limit; of one beyond that a stub and an arrow are left."""


def claims(results: Mapping[str, Any]) -> Plot:
    """Draw each claim's checks, one as :func:`check_line` draws it, with its figures in words.

    Args:
        results: the content of a ``results.json``.

    Raises:
        ValueError: no claim has a check.
    """
    checks = [(name, c) for name, claim in results["claims"].items() for c in claim.get("checks", [])]
    if not checks:
        raise ValueError("none of these claims has a check to draw")
    with rc_context(STYLE):
        figure = Plot(WIDEST, 0.27 * len(checks) + 0.8)
        axis = figure.subplots()
        for row, (_, check) in enumerate(checks):
            if check.get("margin") or check["limit"]:  # else nothing says how much would count: its words alone
                check_line(axis, row, check)
        names = [fill(f"{name}  {c['name']}", 42) for name, c in checks]
        margins_axis(axis, "each check of a claim with its 95 % interval", names, [_finding(c) for _, c in checks])
    return figure


def check_line(axis: Any, row: int, check: Mapping[str, Any]) -> None:
    """Draw a check's value and interval in margins from its limit; thick: at 90 %, which shows that it is equal.

    A hollow marker is one seed's, without an interval.

    Args:
        axis: to draw on.
        row: the height to draw at.
        check: a record, as a results file has it.
    """
    colour, marker = VERDICTS[check["verdict"]]
    value, low, high = in_units(check)
    if check["low"] is None:
        axis.plot(max(-FARTHEST, min(FARTHEST, value)), row, color=colour, marker=marker, markerfacecolor="white")
        return
    ends = [max(-FARTHEST, min(FARTHEST - STUB, low)), min(FARTHEST, max(STUB - FARTHEST, high))]
    axis.plot(ends, [row, row], color=colour, linewidth=2)
    if check["verdict"] == "equal":
        thick = {**check, "low": check.get("low90", check["low"]), "high": check.get("high90", check["high"])}
        axis.plot(in_units(thick)[1:], [row, row], color=colour, linewidth=5, solid_capstyle="butt")
    shapes = (value, marker, abs(value) <= FARTHEST), (ends[0], "<", low < -FARTHEST), (ends[1], ">", high > FARTHEST)
    for at, shape in ((at, shape) for at, shape, drawn in shapes if drawn):
        axis.plot(at, row, color=colour, marker=shape)


def in_units(check: Mapping[str, Any]) -> tuple[float, float, float]:
    """A check's value and interval from its limit, in margins (in its limit, or its farthest end, if it names none)."""
    sign, limit = (-1.0 if check["side"] == "below" else 1.0), (0.0 if check["side"] == "within" else check["limit"])
    value, *ends = (sign * ((check[name] or 0.0) - limit) for name in ("value", "low", "high"))
    unit = check.get("margin") or abs(check["limit"]) or max(map(abs, (value, *ends))) or 1.0
    low, high = sorted(ends)
    return value / unit, low / unit, high / unit


def margins_axis(axis: Any, title: str, names: Sequence[str], words: Sequence[str]) -> None:
    """Make an axis of :func:`check_line`'s margins.

    Args:
        axis: with the lines drawn.
        title: above it.
        names, words: of each row, on the left and on the right.
    """
    axis.axvspan(-1, 1, color="#dddddd", linewidth=0, zorder=0)
    axis.axvline(0, color="black", linewidth=1, zorder=1)  # below a marker that lies on the limit
    label_sides(axis, names, words)
    axis.set_xlim(-FARTHEST - 0.3, FARTHEST + 0.3)
    axis.set_xticks([-4, -1, 0, 1, 4], ["-4", "-1", "limit", "1", "4"], fontsize=8)
    axis.set_xlabel("margins from the limit; claimed: gains right of it, equality in grey (arrow: over 4)", fontsize=8)
    axis.grid(False)
    axis.set_title(title, fontsize=9)


def _finding(check: Mapping[str, Any]) -> str:
    """A check's interval, limit and verdict as text."""
    sign = {"below": "<", "above": ">", "within": "within ±"}[check["side"]]
    if check["low"] is None:
        return f"{check['value']:.3f} {sign} {check['limit']:.3g}? one seed, no interval: {check['verdict']}"
    return f"{Interval.of(check).told(check['verdict'])} {sign} {check['limit']:.3g}: {check['verdict']}"

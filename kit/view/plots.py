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
from kit.view.charts import COLOURS, HATCHES, STYLE, WIDEST, Plot, bars, images, lines, stacked, timeline

__all__ = ["Plot", "bars", "claims", "images", "lines", "masks", "stacked", "timeline"]


def masks(episode: Episode, chat: Chat | None = None, values: Sequence[float] | None = None) -> Plot:
    """Draw an episode's loss mask as a band of tokens: prompt, policy, environment.

    Args:
        episode: the episode.
        chat: the checkpoint's chat; with it, image tokens are marked.
        values: one for each token, drawn as bars above the band (such as the gradient's norm).
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
            above.bar(np.arange(len(values)), values, width=1.0, color="black")
            above.set_ylabel("size")
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


def claims(results: Mapping[str, Any]) -> Plot:
    """Draw each claim's checks: the interval against its limit (the vertical line), each on a scale of its own.

    The claimed side is right of the line. A hollow marker without a line is a check without an interval: one seed.

    Args:
        results: the content of a ``results.json``.

    Raises:
        ValueError: no claim has a check.
    """
    checks = [(name, c) for name, claim in results["claims"].items() for c in claim.get("checks", [])]
    if not checks:
        raise ValueError("none of these claims has a check to draw")
    with rc_context(STYLE):
        figure = Plot(WIDEST, 0.27 * len(checks) + 0.55)
        axis = figure.subplots()
        for row, (_, check) in enumerate(checks):
            _check(axis, row, check)
        axis.axvline(0, color="black", linewidth=1, zorder=1)  # below a marker that lies on the limit
        axis.set_yticks(range(len(checks)), [fill(f"{name}  {c['name']}", 42) for name, c in checks], fontsize=8)
        right = axis.secondary_yaxis("right")
        right.set_yticks(range(len(checks)), [_finding(c) for _, c in checks], fontsize=8)
        right.tick_params(length=0)
        right.spines["right"].set_visible(False)
        axis.set_ylim(len(checks) - 0.4, -0.6)
        axis.set_xlim(-1.1, 1.1)
        axis.set_xticks([-0.6, 0, 0.6], ["← against", "limit", "for it →"], fontsize=8)
        axis.grid(False)
        axis.set_title("each check of a claim: value and 95 % interval beside its limit")
    return figure


def _check(axis: Any, row: int, check: Mapping[str, Any]) -> None:
    """One check as a line and a marker, scaled so that its farthest point is at ±1."""
    colour, marker = VERDICTS[check["verdict"]]
    value = _beyond(check, check["value"])
    if check["low"] is None:
        # Nothing to scale by but the numbers themselves: how far apart they are, as a share of the larger.
        larger = max(abs(check["value"]), abs(check["limit"])) or 1.0
        axis.plot(max(-1.0, min(1.0, value / larger)), row, color=colour, marker=marker, markerfacecolor="white")
        return
    nearest = min(max(check["low"], 0.0), check["high"])  # to 0, which is the farthest inside where it must be within
    ends = [
        _beyond(check, at) for at in (check["low"], check["high"], *([nearest] if check["side"] == "within" else []))
    ]
    scale = max(map(abs, (value, *ends))) or 1.0
    axis.plot([min(ends) / scale, max(ends) / scale], [row, row], color=colour, linewidth=2)
    axis.plot(value / scale, row, color=colour, marker=marker)


def _beyond(check: Mapping[str, Any], at: float) -> float:
    """How far a number lies on the claimed side of the limit."""
    if check["side"] == "within":
        return float(check["limit"] - abs(at))
    return float(check["limit"] - at if check["side"] == "below" else at - check["limit"])


def _finding(check: Mapping[str, Any]) -> str:
    """A check's interval, limit and verdict as text."""
    sign = {"below": "<", "above": ">", "within": "within ±"}[check["side"]]
    if check["low"] is None:
        return f"{check['value']:.3f} {sign} {check['limit']:.3g}? one seed, no interval: {check['verdict']}"
    return f"{Interval.of(check)} {sign} {check['limit']:.3g}: {check['verdict']}"

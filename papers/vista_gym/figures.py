"""VISTA-Gym's figure: whom an agent asks first, a row for each kind of question, a column for each tool."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Mapping, Sequence

import numpy as np
from matplotlib import rc_context
from matplotlib.patches import Rectangle

from kit.episode import Episode
from kit.evaluate.intervals import Point
from kit.view.charts import STYLE, Plot
from papers.vista_gym.env import PROTOCOL
from papers.vista_gym.toolbox import TOOLS

NO_CALL = "no call"
"""The column of episodes that answer at once."""

UNREAD = "unreadable"
"""The column of first turns that can't be read."""

NO_SUCH = "no such tool"
"""The column of first calls by a name that no tool has, such as a misspelt one."""


def kind_of(episode: Episode) -> str:
    """Family and set of an episode's question, such as ``charts/chartqa``."""
    return f"{episode.task.meta['family']}/{episode.task.meta['set']}"


def right_tool(episode: Episode) -> str:
    """Name the tool that finds an episode's answer; empty: it needs none."""
    calls = episode.task.meta.get("calls", ())
    return str(json.loads(calls[0])["tool"]) if calls else ""


def first_asked(episode: Episode) -> str:
    """Name the tool of an episode's first turn, or :data:`NO_CALL`, :data:`UNREAD` or :data:`NO_SUCH`."""
    action = episode.turns[0].action
    if action is None:
        return UNREAD
    return NO_CALL if action.name == PROTOCOL.final else action.name if action.name in TOOLS else NO_SUCH


def asked(episodes: Sequence[Episode]) -> dict[str, Counter[str]]:
    """Count whom episodes ask first, by family and set; those that need no tool are left out."""
    found: dict[str, Counter[str]] = {}
    for episode in (e for e in episodes if right_tool(e)):
        found.setdefault(kind_of(episode), Counter())[first_asked(episode)] += 1
    return dict(sorted(found.items()))


def that_and_whom(episodes: Sequence[Episode]) -> tuple[list[Point], list[Point]]:
    """Tell of each episode whether it begins with a call, and of those that do whether they ask the right tool."""
    firsts = [(episode.task.id, first_asked(episode), right_tool(episode)) for episode in episodes]
    calls = [(task, tool, right) for task, tool, right in firsts if tool not in (NO_CALL, UNREAD)]
    that = [Point(0, task, float(tool not in (NO_CALL, UNREAD))) for task, tool, _ in firsts]
    return that, [Point(0, task, float(tool == right)) for task, tool, right in calls]


def whom(stages: Mapping[str, Sequence[Episode]]) -> Plot:
    """Draw whom agents ask first: a panel each, kinds of questions by tools; a kind's right tools have a frame.

    A row tells how many episodes its shares are of.

    Args:
        stages: title of the panel → episodes.

    Raises:
        ValueError: no episode needs a tool.
    """
    found = {name: asked(some) for name, some in stages.items()}
    right = {(kind_of(e), right_tool(e)) for some in stages.values() for e in some if right_tool(e)}
    rows = sorted({kind for kind, _ in right})
    if not rows:
        raise ValueError("whom: none of these episodes needs a tool")
    named = {tool for some in found.values() for counts in some.values() for tool in counts}
    none = (NO_CALL, UNREAD, NO_SUCH)
    columns = [name for name in none if name in {NO_CALL, *named}]
    columns += sorted({*named, *(tool for _, tool in right)} - {*none})
    sizes = {kind: sorted({counts[kind].total() for counts in found.values() if kind in counts}) for kind in rows}
    with rc_context(STYLE):
        figure = Plot(7.0, 0.27 * len(rows) + 1.9)
        axes = figure.subplots(1, len(found), sharey=True, squeeze=False)[0]
        for axis, (name, counts) in zip(axes, found.items(), strict=True):
            shares = np.zeros((len(rows), len(columns)))
            for kind, some in counts.items():
                for tool, n in some.items():
                    shares[rows.index(kind), columns.index(tool)] = n / some.total()
            axis.imshow(shares, cmap="Blues", vmin=0, vmax=1, aspect="auto")
            for (row, column), share in np.ndenumerate(shares):
                if share:
                    colour = "white" if share > 0.6 else "black"
                    axis.text(column, row, f"{share:.1f}", ha="center", va="center", fontsize=7, color=colour)
            for kind, tool in right:
                frame = (columns.index(tool) - 0.5, rows.index(kind) - 0.5)
                axis.add_patch(Rectangle(frame, 1, 1, fill=False, linewidth=1.4, edgecolor="black"))
            axis.set_xticks(range(len(columns)), columns, fontsize=8, rotation=35, ha="right", rotation_mode="anchor")
            axis.set_title(name)
            axis.grid(False)
        axes[0].set_yticks(
            range(len(rows)), [f"{kind} (of {' or '.join(map(str, sizes[kind]))})" for kind in rows], fontsize=8
        )
    return figure

"""A chart that was read, drawn anew: as SVG, and as a graph of what stands where."""

from __future__ import annotations

from html import escape

from visual_tools.charts.parse import Chart, Mark
from visual_tools.charts.table import match, number

Edge = tuple[str, str, str]
"""Subject, relation, object: ``("milk", "higher than", "tea")``."""


def named(chart: Chart, mark: Mark) -> str:
    """A mark's name: its category, and its series where there are several."""
    return f"{chart.table.categories[mark.category]} {chart.table.series[mark.series]}".strip()


def svg(chart: Chart, of: str = "") -> str:
    """Draw the marks as SVG, each with its name and value; of one label alone if one is named.

    Raises:
        NotFound: no such label.
    """
    wanted = match(of, chart.table.categories, "label") if of else None
    drawn = []
    for mark in chart.marks:
        if wanted in (None, mark.category):
            value = number(chart.table.values[mark.series][mark.category])
            title = f"<title>{escape(named(chart, mark))} {value}</title>"
            left, top, right, bottom = (round(v) for v in mark.box)
            if "bar" in chart.table.kind:
                size = f'x="{left}" y="{top}" width="{right - left}" height="{bottom - top}"'
                drawn.append(f'<rect {size} fill="{mark.colour}">{title}</rect>')
            else:
                at = f'cx="{(left + right) // 2}" cy="{(top + bottom) // 2}" r="3"'
                drawn.append(f'<circle {at} fill="{mark.colour}">{title}</circle>')
    if of:
        return "".join(drawn)
    for role, word in chart.texts:
        if role in ("title", "category"):
            drawn.append(f'<text x="{round(word.left)}" y="{round(word.bottom)}">{escape(word.text)}</text>')
    width, height = chart.size
    return f'<svg viewBox="0 0 {width} {height}">{"".join(drawn)}</svg>'


def scene_graph(chart: Chart, of: str = "") -> tuple[Edge, ...]:
    """List what stands where: every mark's value and colour, the mark after it, and the next lower one.

    Raises:
        NotFound: no such label.
    """
    wanted = match(of, chart.table.categories, "label") if of else None
    edges: list[Edge] = []
    for series, row in enumerate(chart.table.values):
        marks = sorted((mark for mark in chart.marks if mark.series == series), key=lambda mark: mark.category)
        known = [(mark, value) for mark in marks if (value := row[mark.category]) is not None]
        for i, (mark, value) in enumerate(known):
            if wanted not in (None, mark.category):
                continue
            name = named(chart, mark)
            edges += [(name, "is", number(value)), (name, "coloured", mark.colour)]
            if i + 1 < len(known):
                edges.append((name, "before", named(chart, known[i + 1][0])))
            lower = max((other for other in known if other[1] < value), key=lambda other: other[1], default=None)
            if lower is not None:
                edges.append((name, "higher than", named(chart, lower[0])))
    return tuple(edges)

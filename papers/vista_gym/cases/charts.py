"""Cases of the chart tools: drawn charts, what is asked of them, and which reply is right."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from functools import lru_cache

import numpy as np

from papers.vista_gym.cases.case import Case, MakeCase
from visual_tools.charts.table import Kind, Table
from visual_tools.drawn.charts import Box, Drawn, chart
from visual_tools.drawn.diagrams import problem

BARS: tuple[Kind, ...] = ("bar", "horizontal bar")
ANY: tuple[Kind, ...] = ("bar", "horizontal bar", "line", "pie")
NEAR = 0.05
"""Share of a value within which another is right: ChartQA's relaxed accuracy."""

_NUMBER = r"-?\d+(?:\.\d+)?"


@lru_cache(maxsize=256)
def _drawn(seed: int) -> Drawn:
    return chart(np.random.default_rng(seed), ANY)


def _chart(rng: np.random.Generator, kinds: tuple[Kind, ...] = ANY) -> Drawn:
    """A chart; tools whose cases begin alike are measured on the same ones, so OCR reads each once."""
    drawn = _drawn(int(rng.integers(2**31)))
    return drawn if drawn.table.kind in kinds else _chart(rng, kinds)


def near(said: str, value: float) -> bool:
    """Check that a text is a number within a twentieth of a value."""
    return re.fullmatch(_NUMBER, said.strip()) is not None and abs(float(said) - value) <= NEAR * abs(value) + 1e-9


def _cell(rng: np.random.Generator, table: Table) -> tuple[int, int, float]:
    series, category = int(rng.integers(len(table.series))), int(rng.integers(len(table.categories)))
    return series, category, table.values[series][category] or 0.0


def _named(table: Table, series: int) -> dict[str, str]:
    return {"series": table.series[series]} if len(table.series) > 1 else {}


def value(rng: np.random.Generator) -> Case:
    """One value by its label, and its series where there are several."""
    drawn = _chart(rng)
    series, category, right = _cell(rng, drawn.table)
    asked = {"of": drawn.table.categories[category], **_named(drawn.table, series)}
    return Case(lambda said: float(near(said, right)), asked, drawn.image)


def series_values(rng: np.random.Generator) -> Case:
    """All of a series: the share of its labels whose values are right."""
    drawn = _chart(rng)
    series, _, _ = _cell(rng, drawn.table)
    row = dict(zip(drawn.table.categories, drawn.table.values[series], strict=True))

    def right(said: str) -> float:
        told = dict(part.rsplit(" ", 1) for part in said.split(", ") if " " in part)
        return sum(near(told.get(name, ""), v or 0.0) for name, v in row.items()) / max(len(row), len(told))

    return Case(right, _named(drawn.table, series), drawn.image)


def iou(one: Sequence[float], other: Sequence[float]) -> float:
    """Intersection over union of two boxes in pixels."""
    wide = min(one[2], other[2]) - max(one[0], other[0])
    high = min(one[3], other[3]) - max(one[1], other[1])
    both = max(0.0, wide) * max(0.0, high)
    areas = sum((box[2] - box[0]) * (box[3] - box[1]) for box in (one, other))
    return both / (areas - both) if areas > both else 0.0


def found(boxes: Sequence[Sequence[float]], right: Sequence[Box]) -> float:
    """Share of boxes that are found, by an overlap of a half; one too many counts as one not found."""
    hits = sum(any(iou(box, wanted) >= 0.5 for box in boxes) for wanted in right)
    return hits / max(len(boxes), len(right))


def boxes(rng: np.random.Generator) -> Case:
    """Boxes of one label's bars."""
    drawn = _chart(rng, BARS)
    _, category, _ = _cell(rng, drawn.table)
    right = [row[category] for row in drawn.bars]

    def score(said: str) -> float:
        four = [tuple(map(float, found.split(", "))) for found in re.findall(r"\(([\d., -]+)\)", said)]
        return found([box for box in four if len(box) == 4], right)

    return Case(score, {"of": drawn.table.categories[category]}, drawn.image)


def svg(rng: np.random.Generator) -> Case:
    """SVG of one label's bars: boxes and values."""
    drawn = _chart(rng, BARS)
    _, category, _ = _cell(rng, drawn.table)
    right = [row[category] for row in drawn.bars]
    values = [row[category] or 0.0 for row in drawn.table.values]

    def score(said: str) -> float:
        rects = re.findall(r'<rect x="(\d+)" y="(\d+)" width="(\d+)" height="(\d+)"', said)
        four = [(x, y, x + w, y + h) for x, y, w, h in (map(float, rect) for rect in rects)]
        told = re.findall(rf" ({_NUMBER})</title>", said)
        good = sum(any(near(number, value) for number in told) for value in values) / max(len(told), len(values))
        return (found(four, right) + good) / 2

    return Case(score, {"of": drawn.table.categories[category]}, drawn.image)


def scene_graph(rng: np.random.Generator) -> Case:
    """A label's marks, and which are next lower: the share of these facts that is told."""
    drawn = _chart(rng)
    _, category, _ = _cell(rng, drawn.table)
    table = drawn.table

    def score(said: str) -> float:
        edges, good, due = said.split("; "), 0, 0
        for name, row in zip(table.series, table.values, strict=True):
            mark, own = f"{table.categories[category]} {name}".strip(), row[category] or 0.0
            told = [edge.removeprefix(f"{mark} is ") for edge in edges if edge.startswith(f"{mark} is ")]
            good, due = good + any(near(number, own) for number in told), due + 1
            lower = max((v for v in row if v is not None and v < own), default=None)
            if lower is not None:
                right = {
                    f"{mark} higher than {n} {name}".strip()
                    for n, v in zip(table.categories, row, strict=True)
                    if v == lower
                }
                good, due = good + any(edge in right for edge in edges), due + 1
        return good / due

    return Case(score, {"of": table.categories[category]}, drawn.image)


def part(rng: np.random.Generator) -> Case:
    """The words of one part, letter by letter (case, spaces and signs apart)."""
    drawn = _chart(rng)
    table = drawn.table
    lying = table.kind == "horizontal bar"
    texts = {
        "title": table.title,
        "y label" if lying else "x label": table.across if table.kind != "pie" else "",
        "x label" if lying else "y label": table.measured if table.kind != "pie" else "",
        "legend": ", ".join(table.series) if len(table.series) > 1 else "",
        "category": ", ".join(table.categories) if table.kind in ("bar", "line") else "",
    }
    there = [name for name, text in texts.items() if text]
    if not there:
        return part(rng)
    wanted = there[int(rng.integers(len(there)))]
    plain = re.sub(r"\W", "", texts[wanted]).casefold()
    return Case(lambda said: float(re.sub(r"\W", "", said).casefold() == plain), {"part": wanted}, drawn.image)


def _ends(table: Table, series: int, high: bool) -> tuple[set[str], float]:
    row = [value or 0.0 for value in table.values[series]]
    best = (max if high else min)(row)
    # Two values that no reader could tell apart may change places.
    return {name for name, v in zip(table.categories, row, strict=True) if abs(v - best) <= 0.01 * abs(best)}, best


def caption(rng: np.random.Generator) -> Case:
    """Facts of a caption: kind, title, and of each series the names and values of both ends."""
    drawn = _chart(rng)
    table = drawn.table

    def score(said: str) -> float:
        facts = [
            said.casefold().startswith(table.kind),
            f", {table.title}." in said if table.title else "labels." in said,
        ]
        for series, name in enumerate(table.series):
            of = f" of {re.escape(name)}" if name else ""
            told = re.search(rf"Highest{of} (.+?) ({_NUMBER}), lowest (.+?) ({_NUMBER})\.", said)
            for place, high in ((1, True), (3, False)):
                names, best = _ends(table, series, high)
                facts += [told is not None and told[place] in names, told is not None and near(told[place + 1], best)]
        return sum(facts) / len(facts)

    return Case(score, {}, drawn.image)


def answer(rng: np.random.Generator) -> Case:
    """A question: a value, a difference, which is highest, an average."""
    drawn = _chart(rng)
    table = drawn.table
    series, category, own = _cell(rng, table)
    other = (category + 1) % len(table.categories)
    names, of = table.categories, f" for {table.series[series]}" if len(table.series) > 1 else ""
    row = [value or 0.0 for value in table.values[series]]
    kind = int(rng.integers(4))
    if kind == 3:
        best, _ = _ends(table, series, True)
        return Case(lambda said: float(said in best), {"question": f"Which is the highest{of}?"}, drawn.image)
    # A difference is right within a twentieth of the larger value: it is read off two.
    asked, right, slack = {
        0: (f"What is the value of {names[category]}{of}?", own, NEAR * own),
        1: (
            f"What is the difference between {names[category]} and {names[other]}{of}?",
            abs(own - row[other]),
            NEAR * max(own, row[other]),
        ),
        2: (f"What is the average{of}?", sum(row) / len(row), NEAR * sum(row) / len(row)),
    }[kind]

    def is_near(said: str) -> float:
        return float(re.fullmatch(_NUMBER, said) is not None and abs(float(said) - right) <= slack)

    return Case(is_near, {"question": asked}, drawn.image)


def analysis(rng: np.random.Generator) -> Case:
    """A measure of a series."""
    drawn = _chart(rng)
    series, _, _ = _cell(rng, drawn.table)
    row = [value or 0.0 for value in drawn.table.values[series]]
    measure = str(rng.choice(["highest", "lowest", "sum", "average", "range", "count"]))
    asked = {"measure": measure, **_named(drawn.table, series)}
    if measure in ("highest", "lowest"):
        names, best = _ends(drawn.table, series, measure == "highest")
        return Case(
            lambda said: float(said.rpartition(" ")[0] in names and near(said.rpartition(" ")[2], best)),
            asked,
            drawn.image,
        )
    due = {"sum": sum(row), "average": sum(row) / len(row), "range": max(row) - min(row), "count": float(len(row))}
    return Case(lambda said: float(near(said, due[measure])), asked, drawn.image)


def description(rng: np.random.Generator) -> Case:
    """One label: of each series its value and its place."""
    drawn = _chart(rng)
    table = drawn.table
    _, category, _ = _cell(rng, table)

    def score(said: str) -> float:
        facts = []
        for name, row in zip(table.series, table.values, strict=True):
            own = row[category] or 0.0
            told = re.search(rf"(?:^|[:;] ){re.escape(name)}\s*({_NUMBER}), (\d+) of", said)
            above = sum((v or 0.0) > own * 1.01 for v in row)
            same = sum(abs((v or 0.0) - own) <= 0.01 * own for v in row)
            facts += [
                told is not None and near(told[1], own),
                told is not None and above < int(told[2]) <= above + same,
            ]
        return sum(facts) / len(facts)

    return Case(score, {"of": table.categories[category]}, drawn.image)


def primitives(rng: np.random.Generator) -> Case:
    """The lines of a diagram: the share whose two ends are found within twelve pixels."""
    drawn = problem(rng)
    whole = {frozenset(on[0] + on[2]) for on in drawn.plan.on}
    parts = {frozenset(pair) for on in drawn.plan.on for pair in (on[:2], on[1:])}
    lines = (whole | {frozenset(name) for name in drawn.plan.lines}) - parts
    right = [tuple(drawn.places[point] for point in sorted(name)) for name in lines]

    def score(said: str) -> float:
        found = re.findall(r"line \((-?\d+), (-?\d+)\) to \((-?\d+), (-?\d+)\)", said)
        ends = [((float(a), float(b)), (float(c), float(d))) for a, b, c, d in found]
        return sum(any(_same(one, two) for two in ends) for one in right) / max(len(ends), len(right))

    return Case(score, {"shape": "line"}, drawn.image)


def _same(one: Sequence[tuple[float, float]], two: Sequence[tuple[float, float]]) -> bool:
    def far(a: tuple[float, float], b: tuple[float, float]) -> float:
        return float(np.hypot(a[0] - b[0], a[1] - b[1]))

    return any(max(far(one[0], p), far(one[1], q)) < 12 for p, q in (two, two[::-1]))


def _all(names: Sequence[str], case: Callable[[np.random.Generator], Case]) -> dict[str, MakeCase]:
    return dict.fromkeys(names, case)


CASES: Mapping[str, MakeCase] = {
    **_all(("unichart.to_table", "deplot.to_table", "chartmoe.to_table"), value),
    "chartmoe.extract_data": series_values,
    "opencv.primitives": primitives,
    "chartdet.detect": boxes,
    "chartocr.read": part,
    "chart_to_svg": svg,
    "chart_to_scene_graph": scene_graph,
    **_all(("chartassistant.caption", "chartvlm.caption"), caption),
    "chartmoe.answer": answer,
    "chartmoe.analyze": analysis,
    "chartmoe.describe": description,
}
"""Tool's name → what draws one of its cases."""

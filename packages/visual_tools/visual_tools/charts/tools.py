"""Tools that read charts: tables, values, parts, SVG, scene graphs, captions, answers.

All look at a chart in one way, :func:`visual_tools.charts.parse.read_chart` with the words that OCR found; they differ
in what they take and say. Where a model can be had under a tool's name, it looks in that function's place.
"""

from __future__ import annotations

from types import MappingProxyType
from typing import Any, ClassVar

from PIL import Image

from visual_tools.charts.golden import drinks
from visual_tools.charts.parse import Chart, read_chart
from visual_tools.charts.say import MEASURES, analyze, caption, describe, reply, row
from visual_tools.charts.scene import scene_graph, svg
from visual_tools.charts.table import Table, as_read, match, number
from visual_tools.tool import Arguments, Golden, PureTool, Served
from visual_tools.words import read_words

TEXT: dict[str, Any] = {"type": "string"}
READ = "Marks and axes from pixels, words by OCR"


class ChartTool(PureTool):
    """Reads a chart; what is said of it is up to those derived from it."""

    family = "charts"

    def look(self, image: Any, arguments: Arguments) -> Chart | Table | str:
        """Read the chart."""
        return self.chart(image)

    def chart(self, image: Image.Image) -> Chart:
        """Read the chart, or say under the tool's name why it can't be read."""
        try:
            return read_chart(image, read_words(image))
        except ValueError as error:
            raise ValueError(f"{self.name}: {error}") from error


class ToTable(ChartTool):
    """Reads a chart's table; with `of`, one label's value; with `series`, one series' values."""

    name = "deplot.to_table"
    algorithm = f"{READ}: axes, bars, lines and slices to a table; the same for all three tools to_table."
    properties = MappingProxyType({"of": TEXT, "series": TEXT})
    goldens: ClassVar[tuple[Golden, ...]] = (
        Golden({"of": "milk"}, "60", drinks),
        Golden({}, "TITLE | Drinks <0x0A> label | value <0x0A> tea | 30 <0x0A> milk | 60", drinks),
    )
    served = Served("google/deplot", "Apache-2.0", "visual_tools.charts.served:deplot")

    def look(self, image: Any, arguments: Arguments) -> Table:
        """Read the table."""
        return self.chart(image).table

    def answer(self, seen: Table, arguments: Arguments) -> str:
        """A value, a series, or all in one line."""
        of, series = arguments.get("of", ""), arguments.get("series", "")
        asked = ((of, seen.categories, "label"), (series, seen.series, "series"))
        told = "".join(as_read(name, names[match(name, names, what)]) for name, names, what in asked if name)
        if of and (series or len(seen.series) == 1):
            return told + number(seen.value(of, series))
        if of:
            return told + ", ".join(f"{name} {number(seen.value(of, name))}" for name in seen.series)
        return told + values(seen, series) if series else seen.linear()


class UniChart(ToTable):
    """Reads a chart's table; with `of`, one label's value; with `series`, one series' values."""

    name = "unichart.to_table"
    served = Served("ahmed-masry/unichart-base-960", "MIT", "visual_tools.charts.served:unichart")


class ChartMoE(ToTable):
    """Reads a chart's table; with `of`, one label's value; with `series`, one series' values."""

    name = "chartmoe.to_table"
    served = Served("IDEA-FinAI/chartmoe", "Apache-2.0", "visual_tools.charts.served:chartmoe_table")


class ExtractData(ToTable):
    """Lists a chart's labels with their values, of one `series` if there are several."""

    name = "chartmoe.extract_data"
    algorithm = f"{READ}: as deplot.to_table, written as a list."
    properties = MappingProxyType({"series": TEXT})
    goldens = (Golden({}, "tea 30, milk 60", drinks),)
    served = ChartMoE.served

    def answer(self, seen: Table, arguments: Arguments) -> str:
        """Label and value, one after the other."""
        return values(seen, arguments.get("series", ""))


def values(table: Table, series: str) -> str:
    """A series' labels and numbers: ``tea 30, milk 60``."""
    return ", ".join(f"{name} {number(value)}" for name, value in row(table, series))


class Detect(ChartTool):
    """Finds where a chart's parts are: the bar, point or slice `of` a label, as boxes in pixels."""

    name = "chartdet.detect"
    algorithm = f"{READ}: the boxes of the marks that deplot.to_table measures."
    properties = MappingProxyType({"of": TEXT})
    goldens = (Golden({"of": "milk"}, "milk (230, 140, 290, 260)", drinks),)

    def answer(self, seen: Chart, arguments: Arguments) -> str:
        """Boxes: left, top, right, bottom."""
        of = arguments.get("of", "")
        wanted = match(of, seen.table.categories, "label") if of else None
        boxes = []
        for mark in seen.marks:
            if wanted in (None, mark.category):
                label = f"{seen.table.categories[mark.category]} {seen.table.series[mark.series]}".strip()
                boxes.append(f"{label} ({', '.join(str(round(v)) for v in mark.box)})")
        return "; ".join(boxes) or f"no mark of {of}"


class ReadText(ChartTool):
    """Reads the words of one part of a chart: title, x label, y label, tick, category, legend or value."""

    name = "chartocr.read"
    algorithm = "OCR; which part a word belongs to follows from where it stands beside marks and axis."
    properties = MappingProxyType(
        {"part": {"enum": ["title", "x label", "y label", "tick", "category", "legend", "value"]}}
    )
    goldens = (Golden({"part": "title"}, "Drinks", drinks), Golden({"part": "category"}, "tea, milk", drinks))

    def answer(self, seen: Chart, arguments: Arguments) -> str:
        """The words in reading order."""
        part = arguments.get("part", "title")
        found = [word.text for role, word in seen.texts if role == part]
        if not found:
            there = sorted({role for role, _ in seen.texts})
            raise ValueError(f"{self.name}: no {part} on this chart; there are {', '.join(there)}")
        return ", ".join(found)


class ToSVG(ChartTool):
    """Writes a chart as SVG; with `of`, the element of one label."""

    name = "chart_to_svg"
    algorithm = f"{READ}; the marks that were found are written as SVG."
    properties = MappingProxyType({"of": TEXT})
    goldens = (
        Golden(
            {"of": "milk"},
            '<rect x="230" y="140" width="60" height="120" fill="#ff7f0e"><title>milk 60</title></rect>',
            drinks,
        ),
    )

    def answer(self, seen: Chart, arguments: Arguments) -> str:
        """The SVG's text."""
        return svg(seen, arguments.get("of", ""))


class ToSceneGraph(ChartTool):
    """Says what stands where in a chart: values, colours, neighbours, which is higher; with `of`, about one label."""

    name = "chart_to_scene_graph"
    algorithm = f"{READ}; relations follow from the marks' values and order."
    properties = MappingProxyType({"of": TEXT})
    goldens = (Golden({"of": "milk"}, "milk is 60; milk coloured #ff7f0e; milk higher than tea", drinks),)

    def answer(self, seen: Chart, arguments: Arguments) -> str:
        """Edges, three words each."""
        return "; ".join(" ".join(edge) for edge in scene_graph(seen, arguments.get("of", "")))


class Said(ChartTool):
    """Says something of a chart in words that a model may say in its place."""

    def look(self, image: Any, arguments: Arguments) -> str:
        """Read the chart and put the sentence together."""
        try:
            return self.say(self.chart(image).table, arguments)
        except ValueError as error:
            raise ValueError(f"{self.name}: {str(error).removeprefix(f'{self.name}: ')}") from error

    def say(self, table: Table, arguments: Arguments) -> str:
        """Make the sentence: by default, the caption."""
        return caption(table)

    def answer(self, seen: str, arguments: Arguments) -> str:
        """The sentence as it is."""
        return seen


class Caption(Said):
    """Describes a chart in two sentences: kind, title, highest and lowest."""

    name = "chartassistant.caption"
    algorithm = "Sentences made by rules from deplot.to_table's table; the same as chartvlm.caption."
    goldens = (Golden({}, "Bar chart of 2 labels, Drinks. Highest milk 60, lowest tea 30.", drinks),)


class CaptionVLM(Caption):
    """Describes a chart in two sentences: kind, title, highest and lowest."""

    name = "chartvlm.caption"
    algorithm = "Sentences made by rules from deplot.to_table's table; the same as chartassistant.caption."


class Answer(Said):
    """Answers a `question` about a chart: a label's value, a sum, a difference, which is highest."""

    name = "chartmoe.answer"
    algorithm = "Rules that find labels and a measure in the question, worked out on deplot.to_table's table."
    properties = MappingProxyType({"question": TEXT})
    required = ("question",)
    goldens = (
        Golden({"question": "What is the difference between milk and tea?"}, "30", drinks),
        Golden({"question": "Which drink is the highest?"}, "milk", drinks),
    )
    served = Served("IDEA-FinAI/chartmoe", "Apache-2.0", "visual_tools.charts.served:chartmoe_text")

    def say(self, table: Table, arguments: Arguments) -> str:
        """The answer alone."""
        return reply(table, arguments["question"])


class Analyze(Said):
    """Works out one `measure` of a chart's series: highest, lowest, sum, average, range, count or trend."""

    name = "chartmoe.analyze"
    algorithm = "The measure, worked out on deplot.to_table's table."
    properties = MappingProxyType({"measure": {"enum": ["highest", "lowest", "trend", *MEASURES]}, "series": TEXT})
    required = ("measure",)
    goldens = (Golden({"measure": "sum"}, "90", drinks), Golden({"measure": "trend"}, "rises from 30 to 60", drinks))
    served = Answer.served

    def say(self, table: Table, arguments: Arguments) -> str:
        """The measure's value."""
        return analyze(table, arguments["measure"], arguments.get("series", ""))


class Describe(Said):
    """Says of one label, named by `of`, its value and its place; without, describes the chart."""

    name = "chartmoe.describe"
    algorithm = "Sentences made by rules from deplot.to_table's table."
    properties = MappingProxyType({"of": TEXT})
    goldens = (Golden({"of": "milk"}, "milk: 60, 1 of 2", drinks),)
    served = Answer.served

    def say(self, table: Table, arguments: Arguments) -> str:
        """One label's sentence, or the caption."""
        return describe(table, arguments["of"]) if arguments.get("of") else caption(table)

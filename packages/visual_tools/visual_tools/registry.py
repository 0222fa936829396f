"""The 26 tools: names, and where the class of each stands."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from types import MappingProxyType

from visual_tools.tool import PureTool, load_tool

TOOLS: Mapping[str, str] = MappingProxyType(
    {
        "groundingdino.detect": "visual_tools.perception.detection:Detect",
        "sam.segment": "visual_tools.perception.segmentation:Segment",
        "easyocr.read": "visual_tools.perception.text:ReadText",
        "unichart.to_table": "visual_tools.charts.tools:UniChart",
        "deplot.to_table": "visual_tools.charts.tools:ToTable",
        "chartmoe.to_table": "visual_tools.charts.tools:ChartMoE",
        "chartmoe.extract_data": "visual_tools.charts.tools:ExtractData",
        "opencv.primitives": "visual_tools.geometry.tools:Primitives",
        "chartdet.detect": "visual_tools.charts.tools:Detect",
        "chartocr.read": "visual_tools.charts.tools:ReadText",
        "chart_to_svg": "visual_tools.charts.tools:ToSVG",
        "chart_to_scene_graph": "visual_tools.charts.tools:ToSceneGraph",
        "chartassistant.caption": "visual_tools.charts.tools:Caption",
        "chartvlm.caption": "visual_tools.charts.tools:CaptionVLM",
        "chartmoe.answer": "visual_tools.charts.tools:Answer",
        "chartmoe.analyze": "visual_tools.charts.tools:Analyze",
        "chartmoe.describe": "visual_tools.charts.tools:Describe",
        "cdl.image": "visual_tools.geometry.tools:ImageCDL",
        "cdl.text": "visual_tools.geometry.tools:TextCDL",
        "cdl.construction": "visual_tools.geometry.tools:ConstructionCDL",
        "cdl.goal": "visual_tools.geometry.tools:GoalCDL",
        "intergps.parse": "visual_tools.geometry.tools:Parse",
        "diagramformalizer.parse": "visual_tools.geometry.tools:DiagramFormalizer",
        "intergps.solve": "visual_tools.geometry.tools:SolveForms",
        "gllava.solve": "visual_tools.geometry.tools:SolveDiagram",
        "multimath.solve": "visual_tools.geometry.tools:SolveText",
    }
)
"""Tool's name → ``module:Class``, imported when it is asked for."""


def toolbox(names: Iterable[str] = TOOLS) -> dict[str, PureTool]:
    """Make some of the tools, offline; all of them if none are named.

    Raises:
        KeyError: no tool has that name.
    """
    return {name: load_tool(TOOLS[name]) for name in names}

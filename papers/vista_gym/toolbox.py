"""The 26 tools: names, and where the class of each stands.

Departures
- [vista-tool-names] Paper: 26 tools in four families, of which appendix B names 23. Here: all 23; ``chart_to_svg``,
  ``chart_to_scene_graph`` and a second endpoint of Inter-GPS (``intergps.parse`` beside ``intergps.solve``) make up the
  26. Why: appendix B describes what these three do and gives them no name. May change: nothing that the others say.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from types import MappingProxyType

from kit.tools.pure import PureTool, load_tool

TOOLS: Mapping[str, str] = MappingProxyType(
    {
        "groundingdino.detect": "kit.tools.perception.detection:Detect",
        "sam.segment": "kit.tools.perception.segmentation:Segment",
        "easyocr.read": "kit.tools.perception.text:ReadText",
        "unichart.to_table": "kit.tools.charts.tools:UniChart",
        "deplot.to_table": "kit.tools.charts.tools:ToTable",
        "chartmoe.to_table": "kit.tools.charts.tools:ChartMoE",
        "chartmoe.extract_data": "kit.tools.charts.tools:ExtractData",
        "opencv.primitives": "kit.tools.geometry.tools:Primitives",
        "chartdet.detect": "kit.tools.charts.tools:Detect",
        "chartocr.read": "kit.tools.charts.tools:ReadText",
        "chart_to_svg": "kit.tools.charts.tools:ToSVG",
        "chart_to_scene_graph": "kit.tools.charts.tools:ToSceneGraph",
        "chartassistant.caption": "kit.tools.charts.tools:Caption",
        "chartvlm.caption": "kit.tools.charts.tools:CaptionVLM",
        "chartmoe.answer": "kit.tools.charts.tools:Answer",
        "chartmoe.analyze": "kit.tools.charts.tools:Analyze",
        "chartmoe.describe": "kit.tools.charts.tools:Describe",
        "cdl.image": "kit.tools.geometry.tools:ImageCDL",
        "cdl.text": "kit.tools.geometry.tools:TextCDL",
        "cdl.construction": "kit.tools.geometry.tools:ConstructionCDL",
        "cdl.goal": "kit.tools.geometry.tools:GoalCDL",
        "intergps.parse": "kit.tools.geometry.tools:Parse",
        "diagramformalizer.parse": "kit.tools.geometry.tools:DiagramFormalizer",
        "intergps.solve": "kit.tools.geometry.tools:SolveForms",
        "gllava.solve": "kit.tools.geometry.tools:SolveDiagram",
        "multimath.solve": "kit.tools.geometry.tools:SolveText",
    }
)
"""Tool's name → ``module:Class``, imported when it is asked for."""


def toolbox(names: Iterable[str] = TOOLS) -> dict[str, PureTool]:
    """Make some of the tools, offline; all of them if none are named.

    Raises:
        KeyError: no tool has that name.
    """
    return {name: load_tool(TOOLS[name]) for name in names}

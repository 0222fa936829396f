"""The 26 tools of the paper: names, and where the class of each stands."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from types import MappingProxyType

from kit.tools.pure import PureTool, load_tool

TOOLS: Mapping[str, str] = MappingProxyType(
    {
        "groundingdino.detect": "kit.tools.perception.detection:Detect",
        "sam.segment": "kit.tools.perception.segmentation:Segment",
        "easyocr.read": "kit.tools.perception.text:ReadText",
    }
)
"""Tool's name → ``module:Class``, imported when it is asked for."""


def toolbox(names: Iterable[str] = TOOLS) -> dict[str, PureTool]:
    """Make some of the tools, offline; all of them if none are named.

    Raises:
        KeyError: no tool has that name.
    """
    return {name: load_tool(TOOLS[name]) for name in names}

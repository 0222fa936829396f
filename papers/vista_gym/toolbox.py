"""The 26 tools: names, and where the class of each stands.

Departures
- [vista-tool-names] Paper: 26 tools in four families, of which appendix B names 23. Here: all 23; ``chart_to_svg``,
  ``chart_to_scene_graph`` and a second endpoint of Inter-GPS (``intergps.parse`` beside ``intergps.solve``) make up the
  26. Why: appendix B describes what these three do and gives them no name. May change: nothing that the others say.
"""

from visual_tools.registry import TOOLS as TOOLS
from visual_tools.registry import toolbox as toolbox

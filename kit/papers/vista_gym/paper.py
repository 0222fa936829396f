"""VISTA-Gym's record in the registry.

Declared here is what no single module does: choices of the profiles, and how results are read.

Departures
- [vista-offline-tools] Paper: tools are served models (GroundingDINO, SAM, EasyOCR, ChartMoE, G-LLaVA and others).
  Here: each name has an algorithm of its own that needs no download, and its card says how often that is right; the
  model loads behind the same class where its weights can be had. Why: every tool has to answer on a laptop. May change:
  what tools get wrong (E5), and so every figure of an agent that relies on them.
"""

from __future__ import annotations

from kit.papers.registry import Paper

PAPER = Paper(
    name="vista_gym",
    title="VISTA-Gym",
    summary="Choose among 26 tools for charts, figures, documents and scenes; call one by name, or answer at once.",
    environment="kit.papers.vista_gym.env:VistaGymEnv",
    limits="kit.papers.vista_gym.experiment:Play",
    evaluation="kit.papers.vista_gym.metrics:EVALUATION",
    notebooks=("51_vista_gym",),
    validate="kit.papers.vista_gym.validate:validate",
    tools="kit.papers.vista_gym.toolbox:TOOLS",
    fidelity="kit.papers.vista_gym:fidelity.toml",
)

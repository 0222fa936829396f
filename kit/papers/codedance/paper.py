"""CodeDance's record in the registry.

Declared here is what no single module does: choices of the profiles, and how results are read. Where paper and release
differ, a row of fidelity.toml says which of them it is about.

Departures
- [codedance-tiny-model] Paper: bases are Qwen2.5-VL-3B and 7B. Here: the profile laptop has a base of three million
  weights that was pretrained on charts, boards and sheets among other skills; only gpu and node have the paper's. Why:
  every notebook has to run on a laptop in minutes. May change: every figure.
"""

from __future__ import annotations

from kit.papers.registry import Paper

PAPER = Paper(
    name="codedance",
    title="CodeDance",
    summary="Answer at once what is easy; compute, crop and count by code what isn't.",
    environment="kit.papers.codedance.env:CodeDanceEnv",
    limits="kit.papers.codedance.experiment:Play",
    evaluation="kit.papers.codedance.metrics:EVALUATION",
    fidelity="kit.papers.codedance:fidelity.toml",
    validate="kit.papers.codedance.validate:validate",
)

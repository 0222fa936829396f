"""Visual-ARFT's record in the registry."""

from __future__ import annotations

from kit.papers.registry import Paper
from kit.papers.visual_arft.claims import CLAIMS
from kit.papers.visual_arft.env import VisualARFTEnv
from kit.papers.visual_arft.metrics import EVALUATION

PAPER = Paper(
    name="visual_arft",
    title="Visual-ARFT",
    summary="Answer questions about images by code that restores them and by searches.",
    environment=VisualARFTEnv,
    evaluation=EVALUATION,
    notebooks=("21_visual_arft", "22_visual_arft_rewards", "23_visual_arft_grpo", "24_visual_arft_claims"),
    settings={"23_visual_arft_grpo": "kit.train.grpo:GRPOSettings"},
    claims=CLAIMS,
)

"""AGILE's record in the registry."""

from __future__ import annotations

from kit.papers.agile.claims import CLAIMS
from kit.papers.agile.env import JigsawEnv
from kit.papers.agile.metrics import EVALUATION
from kit.papers.registry import Paper

PAPER = Paper(
    name="agile",
    title="AGILE",
    summary="Solve jigsaw puzzles by code that swaps, crops and zooms pieces of the image.",
    environment=JigsawEnv,
    evaluation=EVALUATION,
    notebooks=("11_agile", "12_agile_sft", "13_agile_grpo", "14_agile_claims"),
    settings={"12_agile_sft": "kit.train.sft:SFTSettings", "13_agile_grpo": "kit.train.grpo:GRPOSettings"},
    claims=CLAIMS,
)

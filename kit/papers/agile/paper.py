"""AGILE's record in the registry."""

from __future__ import annotations

from kit.papers.published import Figures, Published, Runs
from kit.papers.registry import Paper

PAPER = Paper(
    name="agile",
    title="AGILE",
    summary="Solve jigsaw puzzles by code that swaps, crops and zooms pieces of the image.",
    environment="kit.papers.agile.env:JigsawEnv",
    evaluation="kit.papers.agile.metrics:EVALUATION",
    notebooks=("11_agile", "12_agile_sft", "13_agile_grpo", "14_agile_claims", "15_agile_general"),
    settings={
        "12_agile_sft": "kit.train.sft:SFTSettings",
        "13_agile_grpo": "kit.train.grpo:GRPOSettings",
        "15_agile_general": "kit.train.grpo:GRPOSettings",
    },
    needs={
        "12_agile_sft": {"data": 11},
        "13_agile_grpo": {"data": 11, "sft": 12, "stages/untrained.json": 12, "stages/sft.json": 12},
        "14_agile_claims": {"data": 11, "stages/untrained.json": 12, "stages/sft.json": 12, "stages/grpo.json": 13},
        "15_agile_general": {"data": 11, "sft": 12, "grpo/model": 13},
    },
    judges={"general": "kit.papers.agile.judge:is_right"},
    claims="kit.papers.agile.claims:CLAIMS",
    items="kit.papers.agile.items:ITEMS",
    published=Published(
        runs={"runs": Runs("agile", 4, ("11_agile", "12_agile_sft", "13_agile_grpo"))},
        figures=(
            Figures("14_agile_claims", "agile", data={"photographs": "data_scripts/debian_photos.py"}),
            Figures("15_agile_general", "agile-general", "results-general.json"),
        ),
    ),
)

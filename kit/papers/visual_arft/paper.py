"""Visual-ARFT's record in the registry."""

from __future__ import annotations

from kit.papers.published import Figures, Published, Runs
from kit.papers.registry import Paper

PAPER = Paper(
    name="visual_arft",
    title="Visual-ARFT",
    summary="Answer questions about images by code that restores them and by searches.",
    environment="kit.papers.visual_arft.env:VisualARFTEnv",
    limits="kit.papers.visual_arft.experiment:Play",
    evaluation="kit.papers.visual_arft.metrics:EVALUATION",
    notebooks=("21_visual_arft", "22_visual_arft_rewards", "23_visual_arft_grpo", "24_visual_arft_claims"),
    settings={"23_visual_arft_grpo": "kit.train.grpo:GRPOSettings"},
    needs={
        "23_visual_arft_grpo": {"data": 21},
        "24_visual_arft_claims": {"data": 21, "stages/sft.json": 23, "stages/grpo.json": 23},
    },
    claims="kit.papers.visual_arft.claims:CLAIMS",
    items="kit.papers.visual_arft.items:ITEMS",
    published=Published(
        runs={
            "runs": Runs("visual_arft", 5, ("21_visual_arft", "23_visual_arft_grpo")),
            "em_runs": Runs(
                "visual_arft", 5, ("23_visual_arft_grpo",), {"reward": "em"}, tag="em", keeps={"data": 21, "sft": 23}
            ),
        },
        figures=(Figures("24_visual_arft_claims", "visual_arft"),),
    ),
)

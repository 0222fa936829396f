"""The record by which the kit's commands know the task; ``pyproject.toml`` names it."""

from __future__ import annotations

from papers.registry import Paper

PAPER = Paper(
    name="your_own",
    title="Your own",
    summary="Count dots by crossing them out.",
    environment="examples.your_own.env:Env",
    evaluation="examples.your_own.env:EVALUATION",
    notebooks=("60_your_own",),
    settings={"60_your_own": "kit.train.grpo:GRPOSettings"},
)

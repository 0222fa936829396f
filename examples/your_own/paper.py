"""The record by which the kit's commands know the task; ``pyproject.toml`` names it."""

from __future__ import annotations

from kit.evaluate.accuracy import accuracy_evaluation
from kit.papers.registry import Paper

from examples.your_own.env import Env, is_right

PAPER = Paper(
    name="your_own",
    title="Your own",
    summary="Count dots by crossing them out.",
    environment=Env,
    evaluation=accuracy_evaluation("your_own", is_right),
    notebooks=("60_your_own",),
    settings={"60_your_own": "kit.train.grpo:GRPOSettings"},
)

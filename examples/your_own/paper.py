"""The record by which the kit's commands know the task; ``pyproject.toml`` names it."""

from __future__ import annotations

from papers.registry import Golden, Paper

PAPER = Paper(
    name="your_own",
    title="Your own",
    summary="Count dots by crossing them out.",
    environment="examples.your_own.env:Env",
    evaluation="examples.your_own.env:EVALUATION",
    notebooks=("60_your_own",),
    settings={"60_your_own": "kit.train.grpo:GRPOSettings"},
    golden="examples.your_own.paper:golden",
)


def golden() -> Golden:
    """Tasks that the expert solves, by which the kit's tests try the package."""
    from kit.rewards.base import per_episode
    from kit.rollout import RolloutConfig

    from examples.your_own.env import expert, score
    from examples.your_own.task import make_tasks

    tasks, limits = make_tasks(8, 0, "golden"), RolloutConfig(6, 40)
    return Golden(tasks, limits, expert, per_episode(score))

"""The paper's training settings (section 4.1), two stages; what it doesn't state is the trainers' default."""

from __future__ import annotations

from dataclasses import dataclass

from kit.papers.mags_rl.env import Stage
from kit.train.grpo import GRPOSettings


@dataclass(frozen=True)
class StageSettings:
    """One stage of the curriculum.

    Attributes:
        stage: its number, by which prompt and reward go.
        samples: questions that it trains on, over and over.
        sources: where they are from.
        temperature: of sampling.
        settings: of GRPO; β holds the policy near the model that the stage starts from.
    """

    stage: Stage
    samples: int
    sources: tuple[str, ...]
    temperature: float
    settings: GRPOSettings


STAGE_1 = StageSettings(
    1,
    20,
    ("tallyqa", "vsr"),
    0.09,  # as printed; likely a slip for 0.9
    GRPOSettings(steps=300, prompts_per_batch=4, group_size=16, per_device_batch_size=1, learning_rate=2e-6, beta=0.04),
)
"""The base is its reference."""

STAGE_2 = StageSettings(
    2,
    20,
    ("tallyqa", "gqa"),
    1.0,
    GRPOSettings(steps=225, prompts_per_batch=4, group_size=16, per_device_batch_size=1, learning_rate=5e-7, beta=0.03),
)
"""Harder questions; stage 1's result is its start and its reference."""

CURRICULUM = (STAGE_1, STAGE_2)

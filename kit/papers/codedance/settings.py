"""The paper's training settings (Table 4, released scripts); what neither states is the trainers' default."""

from __future__ import annotations

from kit.train.grpo import GRPOSettings
from kit.train.sft import SFTSettings

SFT = SFTSettings(batch_size=128, learning_rate=5e-5, warmup=0.05, max_tokens=20480)
"""Table 4: 34K episodes."""

GRPO = GRPOSettings(
    steps=246,  # one epoch of 63K questions
    prompts_per_batch=256,
    group_size=8,
    per_device_batch_size=4,
    learning_rate=1e-6,
    beta=0.0,
    advantage="sequence_plus_turn",
    turn_discount=0.2,
    turn_weight=0.2,
    turn_baseline="all_turns",
    max_completion_length=10240,
)
"""Table 4 and the released script: 256 questions of 8 rollouts each, no KL term, all weights."""

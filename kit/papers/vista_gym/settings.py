"""The paper's training settings (section 6.1, appendix G.2); what it doesn't state is the trainers' default.

Departures
- [vista-dapo] Paper: GRPO is compared with PPO and with DAPO. Here: PPO isn't run; of DAPO there is the mean over all
  tokens of a batch and no KL term, without dynamic sampling or a higher upper clip. Why: the trainer has these alone.
  May change: the paper blames dynamic sampling for DAPO's deficit, so claim V4 may come out equal.
"""

from __future__ import annotations

from dataclasses import replace

from kit.train.grpo import GRPOSettings
from kit.train.sft import SFTSettings

SFT = SFTSettings(epochs=1.0, batch_size=128, learning_rate=2e-6, max_tokens=16384, freeze_vision=True)
"""Behaviour cloning; the released script has 2e-5 instead, and the vision tower frozen."""

GRPO = GRPOSettings(
    steps=300,
    prompts_per_batch=16,  # a mini-batch of 128 rollouts, 8 of each question
    group_size=8,
    per_device_batch_size=8,
    learning_rate=5e-7,
    beta=1e-3,
    max_completion_length=26780,
)
"""Reinforcement: 128 rollouts a step, and one step on each batch."""

DAPO = replace(GRPO, loss_type="dapo", beta=0.0)
"""What TRL has of DAPO (claim V4): its mean over all tokens of a batch, and no KL term."""

LEAST_PASSED, MOST_PASSED = 0.125, 0.375
"""Tail-patch: training goes on with tasks whose pass rate lies between these, both included (section 6.4)."""

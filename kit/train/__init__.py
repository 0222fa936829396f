"""Training: packing, advantages, GRPO and SFT trainers, checkpoints, metrics."""

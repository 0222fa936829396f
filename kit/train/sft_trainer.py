"""TRL's ``SFTTrainer`` on our episodes."""

from __future__ import annotations

from typing import Any

from trl import SFTTrainer

from kit.train.checkpoint import SafeCheckpoints


class EpisodeSFTTrainer(SafeCheckpoints, SFTTrainer):
    """TRL's trainer, fed by :class:`kit.train.sft.Collator`."""

    def __init__(self, **kwargs: Any) -> None:
        super().__init__(**kwargs)
        # Qwen2.5-VL's class says it cannot divide a loss by the tokens of the whole batch, so each micro-batch
        # would be averaged alone and its size would change the result. TRL's loss can: let it.
        self.model_accepts_loss_kwargs = True

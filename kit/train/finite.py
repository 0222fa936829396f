"""End a training whose numbers are none any more: before its weights are stepped, and before any are saved.

A learning rate that is too high throws the weights about until a loss, a gradient or the logits are infinite or NaN,
and a step with such a gradient makes every weight NaN. Losses and gradient norms of all processes are looked at once an
optimizer step, weights before they are saved, logits where they are sampled from (:class:`kit.policy.NotFinite`).
Under DeepSpeed, which steps by itself, a gradient that isn't finite is seen after the step; nor is that one saved.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

import torch

from kit.policy import NotFinite


class FiniteSteps:
    """Put before a TRL trainer: it raises :class:`kit.policy.NotFinite`, in all processes at once."""

    def training_step(self, *args: Any, **kwargs: Any) -> Any:
        """Train on a micro-batch, for which GRPO may sample: say of which training its logits are."""
        try:
            return super().training_step(*args, **kwargs)  # type: ignore[misc]
        except NotFinite as error:
            raise self._diverged(str(error)) from error

    def _get_grad_norm(self, model: Any, grad_norm: Any = None) -> Any:
        """Compute the norm as ever, and look at it and at the step's loss: what comes next is the optimizer's step."""
        trainer: Any = self
        norm = super()._get_grad_norm(model, grad_norm=grad_norm)  # type: ignore[misc]
        loss = trainer._tr_loss.detach().float()
        known = loss if norm is None else torch.as_tensor(norm, device=loss.device).detach().float()
        # One wait for the device a step; transformers' own filter, which waits twice a micro-batch, is off.
        found = trainer.accelerator.gather(torch.stack([loss, known]).reshape(1, 2))
        for name, values in (("the loss", found[:, 0].tolist()), ("the gradient's norm", found[:, 1].tolist())):
            self._check(name, values)
        return norm

    def check_weights(self) -> None:
        """Look at the weights that are trained: before they are saved.

        Raises:
            NotFinite: one isn't finite, in this process or another.
        """
        trainer: Any = self
        fine = [torch.isfinite(_own_part(p)).all() for p in trainer.model.parameters() if p.requires_grad]
        device = trainer.accelerator.device
        share = torch.stack([one.to(device) for one in fine]).float().mean().reshape(1)
        if (least := float(trainer.accelerator.gather(share).min())) < 1:
            raise self._diverged(f"{1 - least:.0%} of the weight matrices hold numbers that aren't finite", 0)

    def _check(self, name: str, values: list[float]) -> None:
        for value in values:
            if not abs(value) < float("inf"):
                raise self._diverged(f"{name} is {value}")

    def _diverged(self, what: str, ahead: int = 1) -> NotFinite:
        """Say what isn't finite in the step that is ``ahead`` of those taken."""
        trainer: Any = self
        rate = trainer.args.learning_rate
        return NotFinite(
            f"{Path(trainer.args.output_dir).parent.name}: step {trainer.state.global_step + ahead}: {what}, at "
            f"learning_rate={rate:g}. The training ends here, and nothing of this step is saved: lower learning_rate, "
            "and if this run has checkpoints, train under a tag (tag='…' in the notebook, --tag in a job)"
        )


def _own_part(weight: Any) -> torch.Tensor:
    """What this process holds of a weight that may be divided (ZeRO-3, FSDP2)."""
    part = getattr(weight, "ds_tensor", weight)
    part = part.to_local() if hasattr(part, "to_local") else part
    return part.detach()

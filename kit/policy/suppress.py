"""Tokens a policy may not say, masked alike wherever a policy is sampled or trained.

Early in training a policy samples anything, image and role tokens too; the next forward pass
would then find more image tokens than image features. So those ids get no probability at sampling
in every back end, and the trainer renormalises over the same vocabulary: otherwise the ratio of
eq. 4 would compare two different distributions.
"""

from __future__ import annotations

import os
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import Any

import torch
from torch import Tensor

FLOOR = -1e4
"""What a forbidden logit becomes.

Low enough that its probability is exactly 0 in every dtype. Finite, because −∞ times that 0 is NaN
in an entropy. And not lower than this, because observations do hold role and image tokens: in
float32 their log-probabilities near −1e9 would differ by 64 from one pass to the next, the ratio
there would overflow, and ∞ times the loss mask's 0 is NaN again.
"""


def suppress_logits(logits: Tensor, ids: Sequence[int]) -> Tensor:
    """``logits`` ``(…, V)`` with the forbidden ids at :data:`FLOOR`; the input is left alone."""
    index = torch.tensor(list(ids), device=logits.device, dtype=torch.long)
    return logits.index_fill(-1, index, FLOOR)


@contextmanager
def suppress_tokens(model: Any, ids: Sequence[int]) -> Iterator[Any]:
    """While open, every forward pass of ``model`` gives ``ids`` no probability, in training too.

    TRL's trainers never form logits: they read weight and bias of the output layer themselves. So
    the mask is a bias on that layer: 0, or :data:`FLOOR` on forbidden ids. It is a buffer outside
    the state dict: nothing trains it, and no checkpoint holds it.

    Args:
        model: a transformers model, or a PEFT model around one.

    Raises:
        ValueError: the output layer has a bias already (its own, or from another open ``suppress_tokens``).
    """
    base = model.get_base_model() if hasattr(model, "get_base_model") else model
    head = base.get_output_embeddings()
    if head.bias is not None:
        raise ValueError(f"forbid: {type(base).__name__}'s output layer has a bias already; masks do not nest")
    bias = torch.zeros(head.out_features, dtype=head.weight.dtype, device=head.weight.device)
    bias[list(ids)] = FLOOR
    del head._parameters["bias"]
    if os.environ.get("ACCELERATE_USE_DEEPSPEED", "").lower() == "true":
        from deepspeed.runtime.zero.partition_parameters import ZeroParamStatus

        # Before it reads them, TRL asks of the head's tensors whether ZeRO-3 has them here. This one it always has.
        bias.ds_status = ZeroParamStatus.AVAILABLE  # type: ignore[attr-defined]
    head.register_buffer("bias", bias, persistent=False)
    try:
        yield model
    finally:
        del head._buffers["bias"]
        head.register_parameter("bias", None)

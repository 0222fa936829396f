"""The vision tower's attention for many small images at once.

Without flash attention transformers loops over images, one small product after another; with
256 pieces in a batch that loop costs more than the arithmetic. Here images (or windows) of equal
length are one batched product. Same numbers (tested), a third less time a step on a CPU.
"""

from __future__ import annotations

from collections.abc import Callable
from itertools import pairwise
from types import MethodType
from typing import Any

import torch
from torch import Tensor
from transformers.models.qwen2_5_vl.modeling_qwen2_5_vl import Qwen2_5_VLVisionAttention, apply_rotary_pos_emb_vision

SHORT = 256
"""Patches up to which plain products attend: there the fused kernel's backward pass is the slower one on a
CPU. Beyond, it is the other way round, and plain products would keep all L×L weights."""


def _forward(
    self: Any,
    hidden_states: Tensor,
    cu_seqlens: Tensor,
    position_embeddings: tuple[Tensor, Tensor] | None = None,
    **kwargs: Any,
) -> Tensor:
    """Attend within segments of equal length together; ``hidden_states`` ``(N, D)``, bounds in ``cu_seqlens``."""
    del kwargs
    assert position_embeddings is not None
    n = hidden_states.shape[0]
    q, k, v = self.qkv(hidden_states).reshape(n, 3, self.num_heads, -1).unbind(1)  # (N, heads, d) each
    q, k = apply_rotary_pos_emb_vision(q, k, *position_embeddings)
    bounds = cu_seqlens.tolist()
    lengths = {b - a for a, b in pairwise(bounds)}
    mixed = len(lengths) > 1
    out = torch.empty_like(v) if mixed else v
    for length in sorted(lengths):
        starts = [a for a, b in pairwise(bounds) if b - a == length]
        index = (torch.tensor(starts)[:, None] + torch.arange(length)).flatten().to(v.device)
        rows = (t[index] if mixed else t for t in (q, k, v))
        qs, ks, vs = (t.reshape(len(starts), length, self.num_heads, -1).transpose(1, 2) for t in rows)
        if length <= SHORT:
            weights = torch.softmax((qs @ ks.transpose(2, 3)).float() * self.scaling, dim=-1).to(vs.dtype)
            seen = (weights @ vs).transpose(1, 2)
        else:
            seen = torch.nn.functional.scaled_dot_product_attention(qs, ks, vs, scale=self.scaling).transpose(1, 2)
        seen = seen.reshape(len(starts) * length, self.num_heads, -1)
        out = out.index_copy(0, index, seen.to(out.dtype)) if mixed else seen
    return self.proj(out.reshape(n, -1))


def batch_vision_attention(model: Any) -> Callable[[], None]:
    """Let every vision layer of ``model`` attend to equally long images together; returns the undo."""
    layers = [m for m in model.modules() if isinstance(m, Qwen2_5_VLVisionAttention)]
    for layer in layers:
        setattr(layer, "forward", MethodType(_forward, layer))  # noqa: B010 (a method, to the type checker)

    def undo() -> None:
        for layer in layers:
            del layer.forward

    return undo

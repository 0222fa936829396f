"""Decode one token a row without copying what is remembered: transformers' attention and cache copy it at every step.

Both give the numbers of transformers' own, attention but for rounding; ``python -m benchmarks decoding`` compares them.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import torch
from torch import Tensor
from transformers import AttentionInterface, DynamicCache
from transformers.cache_utils import DynamicLayer
from transformers.integrations.sdpa_attention import sdpa_attention_forward
from transformers.masking_utils import AttentionMaskInterface, sdpa_mask

ROOM = 64
"""Tokens for which room is left when keys and values are copied, so that the next ones are written in place."""

GROUPED = "sdpa_grouped"
"""Name under which transformers knows :func:`attend`."""


def attend(
    module: torch.nn.Module, query: Tensor, key: Tensor, value: Tensor, attention_mask: Tensor | None, **kwargs: Any
) -> tuple[Tensor, None]:
    """Attend as ``sdpa`` does; for one new token, without repeating keys and values for every head that shares them.

    The heads of a group are laid where a query has its positions: ``(B, H, 1, d)`` → ``(B, G, H/G, d)``.

    Args:
        module: the layer.
        query: ``(B, H, n, d)``.
        key: ``(B, G, T, d)``.
        value: likewise.
        attention_mask: ``(B, 1, n, T)``; None: all are seen.
        **kwargs: ``scaling``, and what else transformers tells.

    Returns:
        ``(B, n, H, d)``, and no weights.
    """
    batch, heads, new, width = query.shape
    if new > 1 or kwargs.get("dropout") or kwargs.get("position_bias") is not None:
        return sdpa_attention_forward(module, query, key, value, attention_mask, **kwargs)
    grouped = query.reshape(batch, key.size(1), -1, width)
    scaled = torch.nn.functional.scaled_dot_product_attention
    seen = scaled(grouped, key, value, attn_mask=attention_mask, scale=kwargs.get("scaling"))
    return seen.reshape(batch, 1, heads, width), None


AttentionInterface.register(GROUPED, attend)
AttentionMaskInterface.register(GROUPED, sdpa_mask)


@contextmanager
def grouped_attention(model: Any) -> Iterator[None]:
    """Let a model attend by :func:`attend` meanwhile, where it would by ``sdpa``."""
    config = model.config.get_text_config()
    own = config._attn_implementation
    config._attn_implementation = GROUPED if own == "sdpa" else own
    try:
        yield
    finally:
        config._attn_implementation = own


class RoomyLayer(DynamicLayer):
    """Keys and values of one layer at the beginning of a larger tensor, whose rest is room for the next tokens."""

    room: tuple[Tensor, Tensor] | None = None

    def update(self, key_states: Tensor, value_states: Tensor, *_: Any, **__: Any) -> tuple[Tensor, Tensor]:
        """Write keys and values ``(B, G, n, d)`` behind what is there; returns all, ``(B, G, T + n, d)`` each."""
        if not self.is_initialized:
            self.lazy_initialization(key_states, value_states)
        assert self.keys is not None and self.values is not None
        begin, old, new = self.get_seq_length(), (self.keys, self.values), (key_states, value_states)
        end = begin + key_states.size(-2)
        # Rows that were selected lie elsewhere than in the room.
        if self.room is None or self.keys.data_ptr() != self.room[0].data_ptr() or self.room[0].size(-2) < end:
            self.room = None
            larger = [part.new_empty(*part.shape[:2], end + ROOM, part.size(3)) for part in new]
            for room, part in zip(larger, old, strict=True):
                if begin:
                    room[:, :, :begin] = part
            self.room = (larger[0], larger[1])
        for room, part in zip(self.room, new, strict=True):
            room[:, :, begin:end] = part
        self.keys, self.values = (room[:, :, :end] for room in self.room)
        return self.keys, self.values


class RoomyCache(DynamicCache):
    """A cache of :class:`RoomyLayer`, as many as a model asks for."""

    def __init__(self) -> None:
        super().__init__()
        self.layer_class_to_replicate = RoomyLayer

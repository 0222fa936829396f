"""Keys and values remembered between turns, so that a turn only computes what is new.

After a turn each row's keys and values are kept, one column a token, without padding. The next
turn's request begins with exactly those ids (episodes only ever grow), so it finds its row again
by ids and images. Identical contexts, such as a group's first turn, share one entry.

Valid for one set of weights only: :meth:`PrefixStore.clear` at the start of every rollout.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import torch
from torch import Tensor

from kit.policy import GenerationRequest

if TYPE_CHECKING:
    from kit.policy.decoding import RoomyCache


@dataclass(frozen=True)
class Prefix:
    """Keys and values of one context.

    ``keys`` and ``values``: a tensor ``(heads, n, head_dim)`` for each layer, ``n`` tokens long.
    ``images`` counts the images among those tokens.
    """

    length: int
    images: int
    keys: tuple[Tensor, ...]
    values: tuple[Tensor, ...]


class PrefixStore:
    """Contexts by their ids and images, oldest forgotten first beyond ``max_bytes``."""

    def __init__(self, image_id: int, max_bytes: int = 1 << 30) -> None:
        self.image_id = image_id
        self.max_bytes = max_bytes
        self.clear()

    def clear(self) -> None:
        """Forget everything: the weights changed."""
        self._entries: dict[tuple[object, ...], Prefix] = {}
        self._bytes = 0

    @staticmethod
    def key(request: GenerationRequest, length: int, images: int) -> tuple[object, ...]:
        """Equal for equal contexts: the ids, and the images by value.

        Args:
            request: the request.
            length: tokens of the prefix.
            images: images among them.
        """
        return (request.ids[:length], request.images[:images])

    def find(self, request: GenerationRequest) -> Prefix | None:
        """The longest remembered proper prefix of ``request``, if any."""
        lengths = {(len(ids), len(images)) for ids, images in self._entries}  # type: ignore[arg-type]
        for length, images in sorted(lengths, reverse=True):
            if length < len(request.ids):
                entry = self._entries.get(self.key(request, length, images))
                if entry is not None:
                    return entry
        return None

    def keep(
        self, request: GenerationRequest, sampled: list[int], cache: RoomyCache, row: int, columns: Tensor
    ) -> None:
        """Remember one row: ``columns`` ``(T,)`` marks which of its cached columns are real tokens.

        Args:
            request: the request that was answered.
            sampled: ids sampled after it.
            cache: keys and values of the batch.
            row: its row in the batch.
            columns: ``(T,)``, 1 on cached columns that are tokens of this row.
        """
        real = columns.bool()
        length = int(real.sum())
        key = ((*request.ids, *sampled)[:length], request.images)
        if key in self._entries:  # another of a group said the same: kept, and counted, once
            return
        layers: list[Any] = list(cache.layers)  # full attention in every layer of all families
        keys = tuple(layer.keys[row][:, real] for layer in layers)
        values = tuple(layer.values[row][:, real] for layer in layers)
        self._bytes += sum(t.numel() * t.element_size() for t in (*keys, *values))
        self._entries[key] = Prefix(length, len(request.images), keys, values)
        while self._bytes > self.max_bytes and self._entries:
            oldest = self._entries.pop(next(iter(self._entries)))
            self._bytes -= sum(t.numel() * t.element_size() for t in (*oldest.keys, *oldest.values))


def stack(prefixes: list[Prefix]) -> tuple[RoomyCache, Tensor]:
    """Left-padded cache of several prefixes, and its attention mask ``(B, longest)``."""
    from kit.policy.decoding import RoomyCache  # transformers takes seconds: first when a policy samples

    longest = max(p.length for p in prefixes)
    cache = RoomyCache()
    for layer in range(len(prefixes[0].keys)):
        first = prefixes[0].keys[layer]
        shape = (len(prefixes), first.shape[0], longest, first.shape[2])
        keys, values = first.new_zeros(shape), first.new_zeros(shape)
        for row, prefix in enumerate(prefixes):
            keys[row, :, longest - prefix.length :] = prefix.keys[layer]
            values[row, :, longest - prefix.length :] = prefix.values[layer]
        cache.update(keys, values, layer)
    mask = torch.tensor([[0] * (longest - p.length) + [1] * p.length for p in prefixes], device=keys.device)
    return cache, mask

"""Count the operations that a pass asks of a GPU: launching a small one takes longer than doing it.

Of one forward and one backward pass, by layer (views, which compute nothing, aren't launched):

==============================  =================  =================  ==================  ==================
weights                         language, kept     recomputed         vision, kept        recomputed
==============================  =================  =================  ==================  ==================
bfloat16                        40 + 76            38 + 110           45 + 80             45 + 123
float32, computed in bfloat16   55 + 97            51 + 142           58 + 95             58 + 151
bfloat16 beside adapters        96 + 132           94 + 220           45                  45 + 109
==============================  =================  =================  ==================  ==================

A vision tower that stays as it is has no backward pass (:func:`kit.train.lora.restore_after`). Transformers by itself
asks for gradients of what enters its first layer when activations are computed again, so that all of it is gone through
backwards: the 109 beside adapters, which the measured passes had.

Worked example, adapters, 36 layers and 32 of the vision tower, recomputed: 36 · 314 + 32 · 45 + 160 = **12,904**; by
transformers alone 36 · 314 + 32 · 154 + 160 = **16,392**.
Found by counting what torch dispatches for real layers (transformers 5.19, peft 0.21); the tests count again.
"""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType

from workshop.planner.architecture import Architecture, Precision

Pair = tuple[int, int]

LANGUAGE: Mapping[tuple[Precision, bool], Pair] = MappingProxyType(
    {
        ("bfloat16", False): (40, 76),
        ("bfloat16", True): (38, 110),
        ("float32", False): (55, 97),
        ("float32", True): (51, 142),
        ("adapters", False): (96, 132),
        ("adapters", True): (94, 220),
    }
)
"""Weights, and whether activations are computed again → launches of a language layer, forward and backward."""

VISION: Mapping[tuple[Precision, bool], Pair] = MappingProxyType(
    {
        ("bfloat16", False): (45, 80),
        ("bfloat16", True): (45, 123),
        ("float32", False): (58, 95),
        ("float32", True): (58, 151),
        ("adapters", False): (45, 0),
        ("adapters", True): (45, 109),
    }
)
"""The same of a layer of the vision tower."""

BESIDE: Pair = (120, 40)
"""What isn't in layers: embeddings, places, masks, the head."""

TOKEN = 30
"""What isn't in layers when one token is decoded, without an image."""

ADAPTERS_ALONE = 82
"""Of a language layer beside adapters outside of a trainer, whose autocast adds the others."""


def training(model: Architecture, held: Precision, recompute: bool, sees: bool) -> int:
    """Launches of a forward and a backward pass.

    Args:
        model: the architecture.
        held: how its weights are held.
        recompute: whether activations are computed again.
        sees: whether the vision tower has a backward pass.
    """
    vision, backward = VISION[held, recompute]
    vision += backward if sees else 0
    return model.layers * sum(LANGUAGE[held, recompute]) + model.depth * vision + sum(BESIDE)


def forward(model: Architecture, held: Precision) -> int:
    """Launches of a forward pass without gradients."""
    return model.layers * LANGUAGE[held, False][0] + model.depth * VISION[held, False][0] + BESIDE[0]


def token(model: Architecture, layer: int) -> int:
    """Launches of one token that is decoded, ``layer`` a layer."""
    return model.layers * layer + TOKEN

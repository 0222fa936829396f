r"""Count a Qwen2.5-VL's weights, and what a pass through it keeps, from its configuration.

Weights, with $h$ the hidden size, $k$ the width of all key heads, $i$ the inner size, $L$ layers, $V$ words:

$$P_{language} = L\,(2h^2 + 2hk + h + 2k + 3hi + 2h) + h + hV\,(2 - \text{tied})$$

Activations that a forward pass keeps for the backward pass, in bytes for each token and layer, with $a$ heads:

==============================  ======================================================
weights                         bytes
==============================  ======================================================
bfloat16                        $20h + 8i + 4k + 4a + 8$
float32, computed in bfloat16   $30h + 8i + 4k + 4a + 8$
bfloat16 beside adapters, $r$   $24h + 8i + 4k + 4a + 8 + 14r$
recomputed                      $2h$ ($4h$ where weights are float32), and one layer as above
==============================  ======================================================

The vision tower, by patch and layer, where it learns: $30h + 8i + 4a + 8$ (float32: $32h$).

Worked example, h = 256, i = 704, k = 64, a = 8, bfloat16: 20 · 256 + 8 · 704 + 4 · 64 + 4 · 8 + 8 = **11,048**.
The coefficients were found by counting what autograd keeps of real layers (transformers 5.19, scaled dot-product
attention); the tests count again.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal

Precision = Literal["bfloat16", "float32", "adapters"]
"""How weights are held while they are trained."""

PUBLISHED_VISION = {
    "depth": 32,
    "hidden_size": 1280,
    "intermediate_size": 3420,
    "num_heads": 16,
    "spatial_merge_size": 2,
}
PUBLISHED_TEXT = {
    "Qwen/Qwen2.5-VL-3B-Instruct": {
        **{"hidden_size": 2048, "num_hidden_layers": 36, "num_attention_heads": 16, "num_key_value_heads": 2},
        **{"intermediate_size": 11008, "vocab_size": 151936, "tie_word_embeddings": True},
    },
    "Qwen/Qwen2.5-VL-7B-Instruct": {
        **{"hidden_size": 3584, "num_hidden_layers": 28, "num_attention_heads": 28, "num_key_value_heads": 4},
        **{"intermediate_size": 18944, "vocab_size": 152064, "tie_word_embeddings": False},
    },
}
"""Their published configurations, so that a plan needs no download."""

PATCH = 3 * 2 * 14 * 14
"""Numbers in a patch: colours, frames, height, width."""


@dataclass(frozen=True)
class Architecture:
    """Sizes of a Qwen2.5-VL.

    Attributes:
        hidden, layers, heads, key_heads, inner, words, tied: of the language model.
        sight: hidden size of the vision tower; depth, sight_inner, sight_heads: its others.
    """

    hidden: int
    layers: int
    heads: int
    key_heads: int
    inner: int
    words: int
    tied: bool
    sight: int
    depth: int
    sight_inner: int
    sight_heads: int

    @classmethod
    def of(cls, model: str) -> Architecture:
        """Read the sizes of a checkpoint's folder, or of a hub id whose sizes are known.

        Raises:
            ValueError: neither, or a checkpoint of another family.
        """
        if model in PUBLISHED_TEXT:
            return cls.read({"text_config": PUBLISHED_TEXT[model], "vision_config": PUBLISHED_VISION})
        path = Path(model) / "config.json"
        if not path.is_file():
            raise ValueError(
                f"model {model!r}: no folder with a config.json, and not one of {', '.join(PUBLISHED_TEXT)}"
            )
        return cls.read(json.loads(path.read_text(encoding="utf-8")))

    @classmethod
    def read(cls, config: Mapping[str, Any]) -> Architecture:
        """Read the sizes from a parsed ``config.json``: newer ones keep the language model's apart, older ones don't.

        Raises:
            ValueError: it is of another family.
        """
        text = config.get("text_config") or config
        vision = config["vision_config"]
        if (name := config.get("model_type", "qwen2_5_vl")) != "qwen2_5_vl":
            raise ValueError(f"model_type={name!r}: memory is planned for 'qwen2_5_vl' (Qwen2.5-VL) only")
        return cls(
            hidden=text["hidden_size"],
            layers=text["num_hidden_layers"],
            heads=text["num_attention_heads"],
            key_heads=text["num_key_value_heads"],
            inner=text["intermediate_size"],
            words=text["vocab_size"],
            tied=bool(text.get("tie_word_embeddings", config.get("tie_word_embeddings", False))),
            sight=vision["hidden_size"],
            depth=vision["depth"],
            sight_inner=vision["intermediate_size"],
            sight_heads=vision["num_heads"],
        )

    @property
    def keys(self) -> int:
        """Width of all key heads together."""
        return self.hidden // self.heads * self.key_heads

    @property
    def layer(self) -> int:
        """Weights of one layer of the language model."""
        h, k, i = self.hidden, self.keys, self.inner
        return 2 * h * h + 2 * h * k + h + 2 * k + 3 * h * i + 2 * h

    @property
    def language(self) -> int:
        """Weights of the language model, its head included."""
        return self.layers * self.layer + self.hidden + self.hidden * self.words * (1 if self.tied else 2)

    @property
    def vision(self) -> int:
        """Weights of the vision tower and its projector."""
        s, i, merged = self.sight, self.sight_inner, 4 * self.sight
        block = 4 * s * s + 4 * s + 3 * s * i + 2 * i + s + 2 * s
        projector = s + merged * merged + merged + merged * self.hidden + self.hidden
        return PATCH * s + self.depth * block + projector

    def adapters(self, rank: int) -> int:
        """Weights of low-rank adapters on every linear layer of the language model."""
        h, k, i = self.hidden, self.keys, self.inner
        return self.layers * rank * (2 * (h + h) + 2 * (h + k) + 3 * (h + i))

    def activation_bytes(self, held: Precision, rank: int = 0) -> int:
        """Bytes that a token leaves behind in one layer."""
        wide = {"bfloat16": 20, "float32": 30, "adapters": 24}[held]
        more = 14 * rank if held == "adapters" else 0
        return wide * self.hidden + 8 * self.inner + 4 * self.keys + 4 * self.heads + 8 + more

    def recomputed(self, held: Precision) -> int:
        """Bytes that a token leaves behind in one layer which is computed again in the backward pass."""
        return (4 if held == "float32" else 2) * self.hidden

    def vision_activation_bytes(self, held: Precision) -> int:
        """Bytes that a patch leaves behind in one layer of a vision tower that learns."""
        wide = 32 if held == "float32" else 30
        return wide * self.sight + 8 * self.sight_inner + 4 * self.sight_heads + 8

    def kv_bytes(self) -> int:
        """Bytes of keys and values that a token leaves behind in all layers, in bfloat16."""
        return 2 * 2 * self.layers * self.keys

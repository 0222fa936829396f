"""Qwen2.5-VLs of any size with random weights, or without memory on the device ``meta``."""

from __future__ import annotations

from typing import Any

import torch
from transformers import Qwen2_5_VLConfig, Qwen2_5_VLForConditionalGeneration

TEXT = {"vocab_size": 512, "hidden_size": 256, "intermediate_size": 704, "num_hidden_layers": 2}
TEXT |= {"num_attention_heads": 8, "num_key_value_heads": 2, "tie_word_embeddings": False}
ROPE = {"rope_type": "default", "rope_theta": 10000.0, "mrope_section": [4, 6, 6]}
VISION = {"depth": 2, "hidden_size": 128, "intermediate_size": 352, "num_heads": 4, "spatial_merge_size": 2}


def made(text: dict[str, Any], vision: dict[str, Any], device: str = "cpu") -> Any:
    """Make a model of these sizes."""
    text = dict(text)
    tied = text.pop("tie_word_embeddings")
    if device == "cpu":
        text["rope_parameters"] = ROPE
    config = Qwen2_5_VLConfig(
        text_config=text,
        vision_config={**vision, "out_hidden_size": text["hidden_size"], "fullatt_block_indexes": [1]},
        image_token_id=5,
        tie_word_embeddings=tied,
    )
    with torch.device(device):
        return Qwen2_5_VLForConditionalGeneration(config)

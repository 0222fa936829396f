"""A random tiny InternVL3: two layers, tiles of 56 pixels, the family's real classes and control tokens."""

from __future__ import annotations

import torch
from corpus import CORPUS
from transformers import InternVLConfig, InternVLForConditionalGeneration
from transformers.models.got_ocr2.image_processing_pil_got_ocr2 import GotOcr2ImageProcessorPil

from kit.chat import Chat
from kit.models.internvl import InternVL3
from tiny.build import build_tokenizer

TILE, PATCH = 56, 14
TOKENS = (TILE // PATCH) ** 2 // 4
"""Image tokens of one tile: patches, pixel-shuffled two by two."""


def internvl_chat() -> Chat:
    processor = GotOcr2ImageProcessorPil(
        size={"height": TILE, "width": TILE}, min_patches=1, max_patches=4, crop_to_patches=False
    )
    return Chat(build_tokenizer(CORPUS, 420, InternVL3), processor, InternVL3(TOKENS, PATCH))


def internvl_model(chat: Chat) -> InternVLForConditionalGeneration:
    """The same random weights at every call, large enough that the distribution is far from uniform."""
    torch.manual_seed(0)
    config = InternVLConfig(
        text_config={
            "model_type": "qwen2",
            "vocab_size": len(chat.tokenizer),
            "hidden_size": 64,
            "intermediate_size": 128,
            "num_hidden_layers": 2,
            "num_attention_heads": 4,
            "num_key_value_heads": 2,
            "tie_word_embeddings": True,
            "bos_token_id": None,
            "eos_token_id": chat.end_id,
            "pad_token_id": chat.pad_id,
        },
        vision_config={
            "hidden_size": 32,
            "intermediate_size": 64,
            "num_hidden_layers": 2,
            "num_attention_heads": 2,
            "image_size": [TILE, TILE],
            "patch_size": [PATCH, PATCH],
        },
        image_token_id=chat.image_id,
        image_seq_length=TOKENS,
        downsample_ratio=0.5,
        tie_word_embeddings=True,
    )
    model = InternVLForConditionalGeneration(config).eval()
    with torch.no_grad():
        for parameter in model.parameters():
            if parameter.ndim >= 2:
                parameter.mul_(3.0)
    return model

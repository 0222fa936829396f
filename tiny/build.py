"""The tiny VLM: a real Qwen2.5-VL small enough to train on one core.

Same class, same 14-pixel patches, same 2×2 merge (28 pixels a token), same control tokens as the
3B and 7B checkpoints; only the widths differ. What it was taught is on its card,
``tiny/weights/README.md``; the script that taught it is ``data_scripts/make_tiny_vlm.py``.
"""

from __future__ import annotations

from collections.abc import Iterable

from tokenizers import Regex, Tokenizer, decoders, models, pre_tokenizers, trainers
from transformers import (
    PreTrainedTokenizerFast,
    Qwen2_5_VLConfig,
)
from transformers.models.qwen2_vl.image_processing_pil_qwen2_vl import Qwen2VLImageProcessorPil

from kit.models.family import ModelFamily
from kit.models.qwen2_5_vl import Qwen25VL

PIXELS_PER_TOKEN = 28


def build_tokenizer(
    corpus: Iterable[str], vocab_size: int = 1280, family: type[ModelFamily] = Qwen25VL
) -> PreTrainedTokenizerFast:
    """Train a byte-level BPE with a family's control tokens on ``corpus``.

    Byte-level, so that any text encodes. Tags (``<think>``) and identifiers
    (``observation_image_``) may become one token each, digits always stay single: a tiny model
    should spend its tokens on seeing.

    Args:
        corpus: the texts to learn from.
        vocab_size: number of tokens, control tokens included.
        family: the model family, for its control tokens.
    """
    tokenizer = Tokenizer(models.BPE())
    words = Regex(r"</?[a-z_]+>| ?[A-Za-z_]+|\d| ?[^\sA-Za-z_\d]+|\s+(?!\S)|\s")
    tokenizer.pre_tokenizer = pre_tokenizers.Sequence(
        [
            pre_tokenizers.Split(words, behavior="isolated"),
            pre_tokenizers.ByteLevel(add_prefix_space=False, use_regex=False),
        ]
    )
    tokenizer.decoder = decoders.ByteLevel()
    specials = ["<|endoftext|>", "<|im_end|>", *family.control_tokens]
    tokenizer.train_from_iterator(
        corpus,
        trainers.BpeTrainer(
            vocab_size=vocab_size,
            special_tokens=specials,
            initial_alphabet=pre_tokenizers.ByteLevel.alphabet(),
            show_progress=False,
        ),
    )
    return PreTrainedTokenizerFast(
        tokenizer_object=tokenizer,
        eos_token="<|im_end|>",
        pad_token="<|endoftext|>",
        additional_special_tokens=list(family.control_tokens),
        model_max_length=32768,
        clean_up_tokenization_spaces=False,
    )


def build_image_processor() -> Qwen2VLImageProcessorPil:
    """Qwen2.5-VL's image processor, allowing images as small as one token."""
    side = PIXELS_PER_TOKEN
    return Qwen2VLImageProcessorPil(
        size={"shortest_edge": side * side, "longest_edge": 64 * side * side},
        patch_size=14,
        temporal_patch_size=2,
        merge_size=2,
    )


def build_config(
    tokenizer: PreTrainedTokenizerFast,
    hidden: int = 192,
    layers: int = 4,
    vision_hidden: int = 128,
    vision_layers: int = 4,
) -> Qwen2_5_VLConfig:
    """The configuration of a tiny Qwen2.5-VL with heads of 32 and full attention in every vision layer.

    Args:
        tokenizer: the tokenizer, for the control tokens' ids.
        hidden: hidden size of the language model.
        layers: layers of the language model.
        vision_hidden: hidden size of the vision tower.
        vision_layers: layers of the vision tower.
    """
    ids: dict[str, int] = {token: tokenizer.get_vocab()[token] for token in [*Qwen25VL.control_tokens, "<|im_end|>"]}
    return Qwen2_5_VLConfig(
        text_config={
            "vocab_size": len(tokenizer),
            "hidden_size": hidden,
            "intermediate_size": hidden * 8 // 3,
            "num_hidden_layers": layers,
            "num_attention_heads": hidden // 32,
            "num_key_value_heads": hidden // 64,
            "max_position_embeddings": 4096,
            # Sections of the half head (16): time, height, width, in Qwen2.5-VL's proportions (16, 24, 24).
            "rope_parameters": {"rope_type": "default", "rope_theta": 10000.0, "mrope_section": [4, 6, 6]},
            "bos_token_id": None,
            "eos_token_id": ids["<|im_end|>"],
            "pad_token_id": tokenizer.pad_token_id,
        },
        vision_config={
            "depth": vision_layers,
            "hidden_size": vision_hidden,
            "out_hidden_size": hidden,
            "intermediate_size": vision_hidden * 3,
            "num_heads": vision_hidden // 32,
            "patch_size": 14,
            "spatial_merge_size": 2,
            "temporal_patch_size": 2,
            "window_size": 112,
            "fullatt_block_indexes": list(range(vision_layers)),
        },
        image_token_id=ids["<|image_pad|>"],
        video_token_id=ids["<|video_pad|>"],
        vision_start_token_id=ids["<|vision_start|>"],
        vision_end_token_id=ids["<|vision_end|>"],
        tie_word_embeddings=True,
    )

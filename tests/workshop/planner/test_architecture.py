"""Counts from a configuration, against real models: weights, adapters, and what autograd keeps."""

from __future__ import annotations

from typing import Any

import pytest
import torch
from peft import get_peft_model
from qwen_sizes import TEXT, VISION, made

from kit.models import load_model
from kit.models.qwen2_5_vl import Qwen25VL
from kit.train.lora import lora_config
from tiny import TINY
from workshop.planner.architecture import PUBLISHED_TEXT, PUBLISHED_VISION, Architecture, Precision


@pytest.mark.parametrize("name", sorted(PUBLISHED_TEXT))
def test_weights_of_the_published_ones(name: str) -> None:
    """8,292,166,656 and 3,754,622,976, as their cards say: counted, and in a real model without memory."""
    model, counted = made(PUBLISHED_TEXT[name], PUBLISHED_VISION, "meta"), Architecture.of(name)
    assert counted.vision == sum(p.numel() for p in model.model.visual.parameters())
    assert counted.language + counted.vision == sum(p.numel() for p in model.parameters())
    assert counted.language + counted.vision == {"7": 8_292_166_656, "3": 3_754_622_976}[name[16]]


def test_weights_and_adapters_of_a_folder() -> None:
    counted, model = Architecture.of(str(TINY)), load_model(TINY)
    assert counted.language + counted.vision == sum(p.numel() for p in model.parameters())
    tuned = get_peft_model(model, lora_config(4, Qwen25VL()))
    assert counted.adapters(4) == sum(p.numel() for p in tuned.parameters() if p.requires_grad)


def test_a_model_nobody_knows() -> None:
    with pytest.raises(ValueError, match=r"model 'someone/else': no folder with a config\.json, and not one of Qwen/"):
        Architecture.of("someone/else")


def kept_by(model: Any, autocast: bool, **inputs: Any) -> int:
    """Bytes of the tensors that a forward pass leaves for the backward pass, weights apart."""
    weights = {p.untyped_storage().data_ptr() for p in model.parameters()}
    found: dict[int, int] = {}
    alive = []

    def pack(tensor: torch.Tensor) -> torch.Tensor:
        storage = tensor.untyped_storage()
        if storage.data_ptr() not in weights:
            found[storage.data_ptr()] = storage.nbytes()
        alive.append(tensor)
        return tensor

    base = model.get_base_model() if hasattr(model, "get_base_model") else model
    with (
        torch.autograd.graph.saved_tensors_hooks(pack, lambda tensor: tensor),
        torch.autocast("cpu", dtype=torch.bfloat16, enabled=autocast),
    ):
        base.model(**inputs)
    return sum(found.values())


def of_text(held: Precision, layers: int, tokens: int, recompute: bool, sizes: dict[str, int]) -> int:
    model = made({**TEXT, "num_hidden_layers": layers, **sizes}, VISION)
    model.model.visual.requires_grad_(False)
    if held != "float32":
        model.to(torch.bfloat16)
    if held == "adapters":
        model = get_peft_model(model, lora_config(8, Qwen25VL()))
    if recompute:
        model.gradient_checkpointing_enable({"use_reentrant": False})
        if held == "adapters":
            model.enable_input_require_grads()
    model.train()
    return kept_by(model, held != "bfloat16", input_ids=torch.randint(10, 200, (1, tokens)))


def per_token_and_layer(held: Precision, recompute: bool, **sizes: int) -> float:
    """From two depths and two lengths: what doesn't grow with both is left out."""

    def more(tokens: int) -> int:
        return of_text(held, 4, tokens, recompute, sizes) - of_text(held, 2, tokens, recompute, sizes)

    return (more(256) - more(128)) / 2 / 128


@pytest.mark.parametrize("held", ["bfloat16", "float32", "adapters"])
@pytest.mark.parametrize("sizes", [{}, {"hidden_size": 512, "num_attention_heads": 16, "num_key_value_heads": 4}])
def test_what_a_token_leaves_behind(held: Precision, sizes: dict[str, int]) -> None:
    model = Architecture.read({"text_config": {**TEXT, **sizes}, "vision_config": VISION})
    assert per_token_and_layer(held, False, **sizes) == model.activation_bytes(held, 8)
    assert per_token_and_layer(held, True, **sizes) == model.recomputed(held)


def test_golden_token() -> None:
    # The worked example of workshop.planner.architecture, and by hand for the others: 30 · 256 = 7,680 instead of
    # 5,120; 24 · 256 = 6,144 and 14 · 8 = 112.
    model = Architecture.read({"text_config": TEXT, "vision_config": VISION})
    assert model.activation_bytes("bfloat16") == 11048
    assert model.activation_bytes("float32") == 13608
    assert model.activation_bytes("adapters", 8) == 12184


@pytest.mark.parametrize("held", ["bfloat16", "float32"])
def test_what_a_patch_leaves_behind(held: Precision) -> None:
    def of_pictures(depth: int, side: int) -> int:
        model = made(TEXT, {**VISION, "depth": depth})
        if held == "bfloat16":
            model.to(torch.bfloat16)
        model.train()
        ids = torch.full((1, 256), 20)
        ids[:, : side * side // 4] = 5
        pictures = {"pixel_values": torch.randn(side * side, 1176), "image_grid_thw": torch.tensor([[1, side, side]])}
        return kept_by(model, held == "float32", input_ids=ids, mm_token_type_ids=(ids == 5).long(), **pictures)

    def more(side: int) -> int:
        return of_pictures(4, side) - of_pictures(2, side)

    counted = Architecture.read({"text_config": TEXT, "vision_config": VISION}).vision_activation_bytes(held)
    assert (more(24) - more(16)) / 2 / (24 * 24 - 16 * 16) == counted


def test_another_family_is_refused_by_name() -> None:
    with pytest.raises(ValueError, match="model_type='internvl': memory is planned for 'qwen2_5_vl'"):
        Architecture.read({"model_type": "internvl", "vision_config": {}})

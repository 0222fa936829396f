"""What is lent to a trainer comes back as it was."""

from __future__ import annotations

import re

import pytest
import torch
from training_fixtures import clone

from kit.chat import Chat
from kit.models.qwen2_5_vl import Qwen25VL
from kit.train.lora import lora_config, restore_after


def test_adapters_sit_on_the_language_model_only(model) -> None:
    linear = [n for n, m in model.named_modules() if isinstance(m, torch.nn.Linear)]
    matched = [n for n in linear if re.fullmatch(Qwen25VL.lora_targets, n)]
    layers = model.config.text_config.num_hidden_layers
    assert len(matched) == 7 * layers
    assert all("language_model" in n and "visual" not in n for n in matched)
    assert lora_config(0, Qwen25VL()) is None
    config = lora_config(4, Qwen25VL())
    assert config is not None and (config.r, config.lora_alpha) == (4, 8)


def test_a_borrowed_model_comes_back_as_it_was(chat: Chat, model) -> None:
    model = clone(model)
    model.lm_head.requires_grad_(False)
    learns = {n: p.requires_grad for n, p in model.named_parameters()}
    with pytest.raises(KeyError), restore_after(model, Qwen25VL.vision_modules):
        assert not any(p.requires_grad for p in model.model.visual.parameters())
        model.train()
        model.forward = lambda: None
        raise KeyError("an error inside")
    assert {n: p.requires_grad for n, p in model.named_parameters()} == learns
    assert "forward" not in model.__dict__ and not model.training
    assert "forward" not in model.model.visual.__dict__ and not model.model.visual.training


@pytest.mark.parametrize("before", [False, True])
def test_a_borrowed_model_computes_activations_again_as_little_as_before(model, before: bool) -> None:
    """A trainer turns that on and never off: the next training would do it, whatever its settings say."""
    model = clone(model)
    if before:
        model.gradient_checkpointing_enable()
    with restore_after(model, Qwen25VL.vision_modules):
        model.gradient_checkpointing_enable()
        model.train()
    assert model.is_gradient_checkpointing is before
    ids = torch.tensor([[5, 6, 7]])
    assert model.get_input_embeddings().requires_grad_(False)(ids).requires_grad is before


def test_tensors_of_no_pictures_are_left_out(chat: Chat, model) -> None:
    model = clone(model)
    ids = torch.tensor([chat.text("Hm?")])
    with torch.no_grad(), restore_after(model):
        expected = model(input_ids=ids).logits
        nothing = {"pixel_values": torch.zeros(0, 1176), "image_grid_thw": torch.zeros(0, 3, dtype=torch.long)}
        assert torch.equal(model(input_ids=ids, **nothing).logits, expected)

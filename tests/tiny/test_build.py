"""The committed checkpoint is an ordinary Qwen2.5-VL, small, and sees what its card says."""

import json

import numpy as np
import pytest
import torch
from tiny_card import examine
from transformers import AutoTokenizer, Qwen2_5_VLForConditionalGeneration

from kit.chat import Chat
from kit.models import load_model
from pictures.scenes import scene
from tiny import TINY
from tiny.build import build_config, build_tokenizer


def test_it_loads_by_plain_from_pretrained() -> None:
    model, report = Qwen2_5_VLForConditionalGeneration.from_pretrained(TINY, output_loading_info=True)
    assert not report["missing_keys"] and not report["unexpected_keys"]
    assert 2e6 <= sum(p.numel() for p in model.parameters()) <= 5e6
    assert len(AutoTokenizer.from_pretrained(TINY)) == model.config.text_config.vocab_size


def test_it_is_small() -> None:
    assert sum(f.stat().st_size for f in TINY.rglob("*") if f.is_file()) <= 10e6


def test_it_is_the_family_and_geometry_of_the_big_ones() -> None:
    config = json.loads((TINY / "config.json").read_text())
    assert config["model_type"] == "qwen2_5_vl"
    vision = config["vision_config"]
    assert (vision["patch_size"], vision["spatial_merge_size"], vision["temporal_patch_size"]) == (14, 2, 2)


def test_any_text_survives_the_tokenizer() -> None:
    chat = Chat.from_pretrained(TINY)
    for text in ("état 中文 🙂\t\n", "x" * 300, "<code>state[0]</code>", "\x00\x7f"):
        assert chat.decode(chat.text(text)) == text


def test_it_sees_as_its_card_says() -> None:
    """A small probe must not fall below the card's measured figure by more than its own noise."""
    card = json.loads((TINY / "skills.json").read_text())
    chat, model = Chat.from_pretrained(TINY), load_model(TINY)
    pool = [scene(np.random.default_rng(10**6 + i)) for i in range(20)]
    n = 60
    hits = examine(model, chat, pool, n=n, seed=5, skills=("place", "copying"))
    for name in ("place", "copying"):
        value, expected = float(np.mean(hits[name])), card[name]["value"]
        slack = 4 * (expected * (1 - expected) / n) ** 0.5 + 0.02
        assert value >= expected - slack, name


def test_builders_give_a_working_model() -> None:
    tokenizer = build_tokenizer(["a b c"] * 5, 300)
    model = Qwen2_5_VLForConditionalGeneration(build_config(tokenizer, hidden=64, layers=1, vision_layers=1))
    ids = torch.tensor([tokenizer.encode("a b c")])
    assert model(input_ids=ids).logits.shape == (1, ids.shape[1], len(tokenizer))


@pytest.mark.parametrize("text", ["<think>", "<code>", " observation", "observation_image_"])
def test_frequent_words_are_one_token(text: str) -> None:
    assert len(Chat.from_pretrained(TINY).text(text)) == 1

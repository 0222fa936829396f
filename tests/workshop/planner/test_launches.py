"""Launches by layer, counted on real modules: what torch dispatches, views apart."""

from __future__ import annotations

from typing import Any

import pytest
import torch
from peft import get_peft_model
from qwen_sizes import TEXT, VISION, made
from torch.utils._python_dispatch import TorchDispatchMode
from transformers import DynamicCache

from kit.models.qwen2_5_vl import Qwen25VL
from kit.train.lora import lora_config, restore_after
from workshop.planner import launches
from workshop.planner.architecture import Architecture, Precision

VIEWS = {
    *("view", "t", "transpose", "permute", "expand", "slice", "unsqueeze", "squeeze", "select", "detach", "alias"),
    *("_unsafe_view", "lift_fresh", "split", "split_with_sizes", "unbind", "_reshape_alias", "empty", "empty_like"),
}
"""Operations that compute nothing."""

SIDE = 16


class Counted(TorchDispatchMode):
    """Counts what is dispatched while it is open."""

    def __init__(self) -> None:
        super().__init__()
        self.n = 0

    def __torch_dispatch__(self, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        self.n += func._schema.name.partition("::")[2] not in VIEWS
        return func(*args, **(kwargs or {}))


def model_of(held: Precision, layers: int, depth: int = 2) -> Any:
    model = made({**TEXT, "num_hidden_layers": layers}, {**VISION, "depth": depth})
    if held != "float32":
        model.to(torch.bfloat16)
    return get_peft_model(model, lora_config(8, Qwen25VL())) if held == "adapters" else model


def trained(held: Precision, recompute: bool, layers: int, depth: int, lent: bool = False) -> tuple[int, int]:
    """Launches of a forward and a backward pass, by transformers alone or lent to a trainer by the kit."""
    model = model_of(held, layers, depth)
    if recompute:
        model.gradient_checkpointing_enable({"use_reentrant": False})
        if held == "adapters":
            model.enable_input_require_grads()
    model.train()
    ids = torch.full((1, 256), 20)
    ids[:, : SIDE * SIDE // 4] = 5
    images = {"pixel_values": torch.randn(SIDE * SIDE, 1176), "image_grid_thw": torch.tensor([[1, SIDE, SIDE]])}
    base = model.get_base_model() if held == "adapters" else model
    with restore_after(base, Qwen25VL.vision_modules if lent else (), freeze=False):
        with Counted() as forward, torch.autocast("cpu", dtype=torch.bfloat16, enabled=held != "bfloat16"):
            loss = model(input_ids=ids, mm_token_type_ids=(ids == 5).long(), labels=ids, **images).loss
        with Counted() as backward:
            loss.backward()
    return forward.n, backward.n


@pytest.mark.parametrize("recompute", [False, True])
@pytest.mark.parametrize("held", ["bfloat16", "float32", "adapters"])
def test_launches_of_a_layer(held: Precision, recompute: bool) -> None:
    few, deep, seen = (trained(held, recompute, *sizes) for sizes in ((2, 2), (4, 2), (2, 4)))
    language = tuple((b - a) // 2 for a, b in zip(few, deep, strict=True))
    vision = tuple((b - a) // 2 for a, b in zip(few, seen, strict=True))
    assert (language, vision) == (launches.LANGUAGE[held, recompute], launches.VISION[held, recompute])
    beside = [n - 2 * a - 2 * b for n, a, b in zip(few, language, vision, strict=True)]
    assert sum(beside) == pytest.approx(sum(launches.BESIDE), abs=60), "of thousands"


@pytest.mark.parametrize("recompute", [False, True])
@pytest.mark.parametrize("held", ["bfloat16", "float32", "adapters"])
def test_launches_of_the_vision_tower_lent_to_a_trainer(held: Precision, recompute: bool) -> None:
    """Beside adapters it has no backward pass; one that learns has its own."""
    few, deep = (trained(held, recompute, 2, depth, lent=True) for depth in (2, 4))
    forward, backward = launches.VISION[held, recompute]
    expected = (forward, 0 if held == "adapters" else backward)
    assert tuple((b - a) // 2 for a, b in zip(few, deep, strict=True)) == expected


@pytest.mark.parametrize(
    ("held", "autocast", "layer"),
    [
        ("bfloat16", False, launches.LANGUAGE["bfloat16", False][0]),
        ("adapters", False, launches.ADAPTERS_ALONE),
        ("adapters", True, launches.LANGUAGE["adapters", False][0]),
    ],
)
def test_launches_of_a_token(held: Precision, autocast: bool, layer: int) -> None:
    def decoded(layers: int) -> int:
        model, cache = model_of(held, layers).eval(), DynamicCache()
        ids = torch.randint(10, 200, (2, 8))
        with torch.no_grad():
            model(input_ids=ids, past_key_values=cache, use_cache=True)
            where = {"attention_mask": torch.ones(2, 9).long(), "position_ids": torch.full((3, 2, 1), 8)}
            with Counted() as found, torch.autocast("cpu", dtype=torch.bfloat16, enabled=autocast):
                model(input_ids=ids[:, :1], past_key_values=cache, use_cache=True, **where)
        return found.n

    few = decoded(2)
    assert (decoded(4) - few) / 2 == layer
    assert few - 2 * layer == pytest.approx(launches.TOKEN, abs=5)


def test_golden_pass() -> None:
    # The worked example: 36 · (94 + 220) + 32 · 45 + 120 + 40, and backwards through the vision tower 32 · 109; kept:
    # 36 · (96 + 132) + 32 · 45 + 160 = 9,808; a token is 36 · 96 + 30 = 3,486.
    three = Architecture.of("Qwen/Qwen2.5-VL-3B-Instruct")
    assert launches.training(three, "adapters", recompute=True, sees=False) == 12904
    assert launches.training(three, "adapters", recompute=True, sees=True) == 16392
    assert launches.training(three, "adapters", recompute=False, sees=False) == 9808
    assert launches.token(three, launches.LANGUAGE["adapters", False][0]) == 3486

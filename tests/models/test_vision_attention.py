"""Pictures attended together give the features, and the gradients, that each gives alone."""

from typing import Any

import pytest
import torch
from transformers import Qwen2_5_VLForConditionalGeneration

from kit.chat import Chat
from kit.models.vision_attention import SHORT, batch_vision_attention
from tiny import TINY
from tiny.build import build_config

SIZES = {
    "equal": [(4, 4)] * 3,
    "mixed": [(4, 4), (8, 8), (4, 4), (2, 6)],
    "one is long": [(4, 4), (18, 18), (4, 4)],
}


@pytest.mark.parametrize("name", SIZES)
@pytest.mark.parametrize("implementation", ["sdpa", "eager"])
def test_together_equals_one_by_one(name: str, implementation: str) -> None:
    assert max(h * w for h, w in SIZES["one is long"]) > SHORT
    torch.manual_seed(0)
    config = build_config(Chat.from_pretrained(TINY).tokenizer, hidden=64, layers=1, vision_hidden=64, vision_layers=2)
    tower: Any = Qwen2_5_VLForConditionalGeneration(config).model.visual.double()
    tower.set_attn_implementation(implementation)
    grids = torch.tensor([(1, h, w) for h, w in SIZES[name]])
    patches = torch.randn(int(grids.prod(1).sum()), 3 * 2 * 14 * 14, dtype=torch.float64)
    parameters = [p for p in tower.parameters() if p.requires_grad]

    def features_and_gradients() -> tuple[torch.Tensor, ...]:
        out = tower(patches, grid_thw=grids).pooler_output
        return out, *torch.autograd.grad(out.square().sum(), parameters)

    one_by_one = features_and_gradients()
    undo = batch_vision_attention(tower)
    together = features_and_gradients()
    undo()
    again = features_and_gradients()
    for a, b, c in zip(one_by_one, together, again, strict=True):
        torch.testing.assert_close(a, b, rtol=1e-5, atol=1e-6)  # rotations are single precision
        assert torch.equal(a, c)

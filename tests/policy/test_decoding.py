"""Decoding by the kit's own attention and cache: the numbers of transformers', and no row that reads another's."""

from __future__ import annotations

import pytest
import torch
from transformers import DynamicCache
from transformers.integrations.sdpa_attention import sdpa_attention_forward

from benchmarks.decoding import contexts, sampled
from kit.chat import Chat
from kit.models import load_model
from kit.policy.decoding import ROOM, RoomyCache, attend, grouped_attention
from kit.policy.hf import HFPolicy
from tiny import TINY


class Sharing(torch.nn.Module):
    """What transformers' attention reads of a module: how many heads share keys, and whether they look ahead."""

    def __init__(self, groups: int) -> None:
        super().__init__()
        self.num_key_value_groups = groups
        self.is_causal = True


@pytest.mark.parametrize(("heads", "groups", "new"), [(6, 2, 1), (4, 1, 1), (8, 8, 1), (6, 2, 3)])
@pytest.mark.parametrize("masked", [False, True])
def test_a_new_token_attends_as_in_transformers(heads: int, groups: int, new: int, masked: bool) -> None:
    draw = torch.Generator().manual_seed(0)
    query = torch.randn(5, heads, new, 16, generator=draw)
    key, value = (torch.randn(5, heads // groups, 40, 16, generator=draw) for _ in range(2))
    mask = torch.rand(5, 1, new, 40, generator=draw) < 0.7 if masked else None
    shown, _ = attend(Sharing(groups), query, key, value, mask, scaling=0.3)
    theirs, _ = sdpa_attention_forward(Sharing(groups), query, key, value, mask, scaling=0.3)
    torch.testing.assert_close(shown, theirs, rtol=1e-5, atol=1e-6)


@pytest.mark.parametrize("lengths", [[3, 1, 1], [1] * (ROOM + 3), [5, ROOM - 1, 1, 1, 2 * ROOM, 1]])
def test_a_cache_with_room_holds_what_transformers_holds(lengths: list[int]) -> None:
    draw = torch.Generator().manual_seed(0)
    caches, rows = (RoomyCache(), DynamicCache()), 6
    # Rows in another order, fewer of them, one of them twice.
    selections = [torch.tensor([2, 0, 1, 5, 4, 3]), torch.tensor([5, 1, 0]), torch.tensor([1, 1, 2, 0])]
    for step, length in enumerate(lengths):
        for layer in range(2):
            keys, values = (torch.randn(rows, 3, length, 4, generator=draw) for _ in range(2))
            for ours, theirs in zip(*(cache.update(keys, values, layer) for cache in caches), strict=True):
                assert torch.equal(ours, theirs)
        if step < len(selections):
            rows = len(selections[step])
            for cache in caches:
                cache.batch_select_indices(selections[step])
    assert caches[0].get_seq_length() == sum(lengths)


def test_turns_are_those_of_transformers_token_for_token() -> None:
    chat, model = Chat.from_pretrained(TINY), load_model(TINY)
    asked = contexts(6, chat)
    ours, theirs = (sampled(HFPolicy(model, chat, batch_size=4), asked, 24, own)[0] for own in (True, False))
    assert [one.ids for one in ours] == [one.ids for one in theirs]
    for one, other in zip(ours, theirs, strict=True):
        assert one.logprobs == pytest.approx(other.logprobs, abs=1e-4)


@pytest.mark.parametrize("own", ["sdpa", "eager"])
def test_the_models_attention_is_as_before_afterwards(own: str) -> None:
    model = load_model(TINY)
    model.set_attn_implementation(own)
    with grouped_attention(model):
        assert model.config.get_text_config()._attn_implementation == ("sdpa_grouped" if own == "sdpa" else own)
    assert model.config.get_text_config()._attn_implementation == own

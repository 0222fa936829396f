"""Forbidden ids have no probability, whichever way the model is run, and leave no trace."""

from __future__ import annotations

import pytest
import torch
from training_fixtures import batch, clone
from trl.trainer.utils import add_fused_lm_head

from kit.chat import Chat
from kit.policy.suppress import FLOOR, suppress_logits, suppress_tokens
from kit.train.pack import pack


@pytest.mark.parametrize("dtype", [torch.float32, torch.bfloat16, torch.float16])
def test_a_forbidden_logit_has_exactly_no_probability(dtype: torch.dtype) -> None:
    logits = torch.randn(3, 50, dtype=dtype) * 20
    before = logits.clone()
    masked = suppress_logits(logits, [4, 7])
    assert torch.equal(logits, before)
    p = masked.float().softmax(-1)
    assert p[:, [4, 7]].eq(0).all()
    assert (p * masked.float().log_softmax(-1)).isfinite().all()
    kept = [i for i in range(50) if i not in (4, 7)]
    torch.testing.assert_close(p[:, kept], logits[:, kept].float().softmax(-1))


def test_sampler_logits_and_trainer_logprobs_are_the_same_distribution(chat: Chat, model) -> None:
    model = clone(model)
    packed = pack(batch(chat), chat)
    inputs = packed.model_inputs()
    with torch.no_grad():
        plain = model(**inputs).logits
    expected = torch.log_softmax(suppress_logits(plain, chat.suppressed_ids), -1)
    add_fused_lm_head(model, outputs=("log_probs", "entropy"))
    labels = packed.labels
    with torch.no_grad(), suppress_tokens(model, chat.suppressed_ids):
        logits = model(**inputs).logits
        fused = model(**inputs, labels=labels, fused_lm_head=True)
    assert logits[..., list(chat.suppressed_ids)].max() < FLOOR / 2
    allowed = [i for i in range(logits.size(-1)) if i not in chat.suppressed_ids]
    together = torch.log_softmax(logits, -1)[..., allowed]
    torch.testing.assert_close(together, expected[..., allowed], atol=1e-5, rtol=0)
    kept = labels[:, 1:] != -100
    chosen = expected[:, :-1][kept].gather(1, labels[:, 1:][kept][:, None])[:, 0]
    torch.testing.assert_close(fused.log_probs[kept], chosen, atol=1e-5, rtol=0)
    entropy = -(expected.exp() * expected).sum(-1)[:, :-1][kept]
    torch.testing.assert_close(fused.entropy[kept], entropy, atol=1e-5, rtol=1e-5)


def test_the_mask_is_gone_afterwards_and_never_saved(chat: Chat, model) -> None:
    model = clone(model)
    names = set(model.state_dict())
    inputs = pack(batch(chat), chat).model_inputs()
    with torch.no_grad():
        before = model(**inputs).logits
        with pytest.raises(KeyError), suppress_tokens(model, chat.suppressed_ids):
            assert set(model.state_dict()) == names
            assert all("bias" not in n for n, _ in model.lm_head.named_parameters())
            raise KeyError("an error inside")
        assert torch.equal(model(**inputs).logits, before)


def test_masks_do_not_nest(chat: Chat, model) -> None:
    model = clone(model)
    with (
        suppress_tokens(model, chat.suppressed_ids),
        pytest.raises(ValueError, match="has a bias already"),
        suppress_tokens(model, chat.suppressed_ids),
    ):
        pass

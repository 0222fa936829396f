r"""Take one step of GRPO without a trainer: log-probabilities, loss, gradient.

$$J = \frac{1}{N} \sum_i \frac{1}{\sum_t I_{i,t}} \sum_t I_{i,t} \, \rho_{i,t} \hat{A}_{i,t}, \qquad
\rho_{i,t} = \frac{\pi_\theta(y_{i,t})}{\pi_{\theta_{old}}(y_{i,t})}$$

Worked example: two episodes of two sampled tokens and one, with advantages 1 and −1. The loss is
−((1 + 1)/2 − 1)/2 = **0**; its slopes are −1/(2·2) = **−0.25** for each token of the first and 1/(2·1) = **0.5** for
the second's: a step makes the first two likelier and the other one less likely, twice as hard.

The model has just played the episodes, so every ratio is 1 and nothing is clipped; what counts is the slope. A test
holds a whole step to :class:`kit.train.grpo_trainer.EpisodeGRPOTrainer`'s.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import torch
from torch import Tensor

from kit.chat import Chat
from kit.episode import Episode
from kit.policy.suppress import suppress_tokens
from kit.train.pack import Packed, pack


def token_logprobs(model: Any, packed: Packed, temperature: float = 1.0) -> Tensor:
    """Log-probability ``(B, C)`` of each token after the prompt, with its gradient.

    Args:
        model: the model, ids that a policy may not say suppressed.
        packed: the episodes.
        temperature: the one they were sampled at.
    """
    # The logits at one place speak of the token at the next.
    logits = model(**packed.model_inputs()).logits[:, packed.prompt_ids.size(1) - 1 : -1]
    logp = torch.log_softmax(logits.float() / temperature, dim=-1)
    return logp.gather(-1, packed.completion_ids[..., None])[..., 0]


def grpo_loss(logprobs: Tensor, credit: Tensor, own: Tensor, episodes: int) -> Tensor:
    """−J for these rows of a batch, where every ratio is 1.

    Args:
        logprobs: ``(B, C)`` of the policy, with their gradient.
        credit: advantages, ``(B, 1)`` or ``(B, C)``.
        own: ``(B, C)``, 1 on the tokens that the policy wrote.
        episodes: N, those of the whole batch.
    """
    ratio = torch.exp(logprobs - logprobs.detach())
    return -((ratio * credit * own).sum(dim=1) / own.sum(dim=1)).sum() / episodes


def grpo_gradient(
    model: Any,
    chat: Chat,
    episodes: Sequence[Episode],
    advantages: Tensor,
    per_device_batch_size: int = 32,
    temperature: float = 1.0,
) -> float:
    """Add the gradient of GRPO's loss to the model's weights; returns the loss.

    Args:
        model: the model that has just played the episodes.
        chat: its chat encoder.
        episodes: N of them, whole groups.
        advantages: ``(N,)``, or ``(N, C)`` with one for each token after the prompt.
        per_device_batch_size: episodes a forward pass.
        temperature: the one they were sampled at.
    """
    total = 0.0
    with suppress_tokens(model, chat.suppressed_ids):
        for at in range(0, len(episodes), per_device_batch_size):
            packed = pack(episodes[at : at + per_device_batch_size], chat).to(model.device)
            some = advantages[at : at + per_device_batch_size].to(model.device)
            credit = some[:, None] if some.ndim == 1 else some[:, : packed.completion_ids.size(1)]
            loss = grpo_loss(token_logprobs(model, packed, temperature), credit, packed.loss_mask, len(episodes))
            loss.backward()
            total += loss.item()
    return total

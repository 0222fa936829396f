r"""Truncated importance sampling for the mismatch between the inference engine's and the trainer's log-probabilities.

$$w_{i,t} = \min\left(\frac{\pi_{old}(y_{i,t})}{\pi_{sampler}(y_{i,t})},\ C\right)$$

An engine for serving (vLLM) computes the same model with other kernels, in other precisions: its $\pi_{sampler}$ is
not quite the trainer's $\pi_{old}$. Each sampled token's loss is weighed by how much more likely the trainer holds it;
the bound $C$ keeps a few tokens from deciding a step.

===================  ===========================================================  ==============
symbol               meaning                                                      name here
===================  ===========================================================  ==============
$\pi_{old}$          the trainer's policy, before the optimizer step              ``old``
$\pi_{sampler}$      the policy as the engine computed it                         ``sampled``
$C$                  the bound                                                    ``bound``
===================  ===========================================================  ==============

Worked example, C = 3: a token with −1.0 in the trainer and −1.5 in the engine weighs e^0.5 = **1.649**; one with −0.2
and −2.2 would weigh e² = 7.39 and weighs **3**; one with −2 and −1 weighs e^−1 = **0.368**.

Source: Yao and others, "Your efficient RL framework secretly brings you off-policy RL training" (2025); TRL's
``token_truncate``, whose bound of 3 is ours too.
"""

from __future__ import annotations

from torch import Tensor

BOUND = 3.0
"""$C$ (TRL's default)."""


def importance(old: Tensor, sampled: Tensor, mask: Tensor, bound: float = BOUND) -> Tensor:
    """Weights ``(B, C)`` of the tokens that were sampled; 1 on all others.

    Args:
        old: the trainer's log-probabilities ``(B, C)``.
        sampled: the engine's ``(B, C)``.
        mask: 1 on sampled tokens ``(B, C)``.
        bound: largest weight.
    """
    return ((old - sampled) * mask).exp().clamp(max=bound)

"""Weights for what another engine sampled."""

from __future__ import annotations

import pytest
import torch

from kit.train.importance import importance


def test_golden_weights() -> None:
    # By hand: e^.5 = 1.6487; e² = 7.389, bounded by 3; e^−1 = .3679; a token the environment wrote weighs 1.
    old = torch.tensor([[-1.0, -0.2, -2.0, -9.0]])
    sampled = torch.tensor([[-1.5, -2.2, -1.0, 0.0]])
    weights = importance(old, sampled, torch.tensor([[1, 1, 1, 0]]))
    assert weights[0].tolist() == pytest.approx([1.6487, 3.0, 0.3679, 1.0], abs=1e-4)

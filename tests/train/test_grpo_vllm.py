"""GRPO played by TRL's colocated vLLM engine: one step, on a CPU (make test-vllm)."""

from __future__ import annotations

import importlib.util
from dataclasses import replace
from pathlib import Path

import pytest
from training_fixtures import LIMITS, Looks, task, without_times

from tests.policy.test_vllm import VLLM_SETTINGS

pytestmark = pytest.mark.skipif(importlib.util.find_spec("vllm") is None, reason="needs vLLM: make test-vllm")


def test_a_step_that_the_colocated_engine_plays(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """TRL makes the engine of the checkpoint, so before the first update it has the trainer's weights.

    The first of two groups is flat, and is replaced.

    Bringing it later ones fails on a CPU (vLLM lays its linear layers out anew after loading): one step it is.
    """
    from trl.generation.vllm_generation import VLLMGeneration

    from kit.chat import Chat
    from kit.episode import Score
    from kit.models import load_model
    from kit.policy import Policy
    from kit.policy.vllm import VLLMPolicy
    from kit.rewards.base import per_episode
    from kit.train.grpo import GRPOSettings, train_grpo
    from tiny import TINY

    monkeypatch.setattr(VLLMGeneration, "sync_weights", lambda self: None)
    for name, value in {**VLLM_SETTINGS, "VLLM_ENABLE_V1_MULTIPROCESSING": "0"}.items():
        monkeypatch.setenv(name, value)
    chat, model = Chat.from_pretrained(TINY), load_model(TINY)
    policies: list[Policy] = []

    def before(policy: Policy) -> dict[str, float]:
        policies.append(policy)
        return {}

    settings = GRPOSettings(
        steps=1,
        prompts_per_batch=2,
        group_size=2,
        per_device_batch_size=2,
        rollout_engine="colocate",
        gpu_memory_utilization=0.1,
        dynamic_sampling=1,
    )
    config = replace(LIMITS, max_episode_tokens=2048)
    rewards = iter([1.0, 1.0, 1.0, 0.0, 0.0, 1.0])
    reward = per_episode(lambda *_: Score(next(rewards), {}))
    train_grpo(model, chat, [task(0), task(1)], Looks, config, reward, settings, tmp_path, held_out=before)
    (policy,) = policies
    assert isinstance(policy, VLLMPolicy)
    (row,) = without_times(tmp_path)
    assert (row["rounds_played"], row["tasks_played"], row["frac_zero_std_groups_left"]) == (2.0, 3.0, 0.0)
    assert row["importance_weight"] == pytest.approx(1.0, abs=2e-3) and row["grad_norm"] > 0

"""One step of GRPO by hand is the trainer's."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
import torch
from training_fixtures import (
    LIMITS,
    Looks,
    clone,
    even_score,
    fresh_chat,
    fresh_model,
    plain_logprobs,
    sampling_rollout,
    task,
    written,
)

from kit.models import load_model
from kit.policy.hf import HFPolicy
from kit.policy.suppress import suppress_tokens
from kit.rewards.base import per_episode
from kit.seeding import child_seed, seed_per_episode
from kit.train.advantage import broadcast_to_tokens, group_advantages
from kit.train.checkpoint import schedule
from kit.train.grpo import GRPOSettings, train_grpo
from kit.train.metrics import read_metrics
from kit.train.one_step import grpo_gradient, grpo_loss, token_logprobs
from kit.train.pack import pack

SETTINGS = GRPOSettings(steps=1, prompts_per_batch=3, group_size=4, per_device_batch_size=6, learning_rate=1e-3, seed=3)


def test_the_worked_example() -> None:
    logprobs = torch.tensor([[-1.0, -2.0], [-3.0, 0.0]], requires_grad=True)
    loss = grpo_loss(logprobs, torch.tensor([[1.0], [-1.0]]), torch.tensor([[1, 1], [1, 0]]), 2)
    loss.backward()
    assert loss.item() == 0 and logprobs.grad is not None
    assert logprobs.grad.tolist() == [[-0.25, -0.25], [0.5, 0.0]]


def test_an_update_by_hand_leaves_the_trainers_weights(tmp_path: Path) -> None:
    chat = fresh_chat()
    model, rollout, tasks = fresh_model(chat), sampling_rollout(chat), [task(i) for i in range(4)]
    start = clone(model)
    reward = per_episode(even_score)
    folder = train_grpo(clone(model), chat, tasks, Looks, LIMITS, reward, SETTINGS, tmp_path)

    order = schedule(len(tasks), SETTINGS.prompts_per_batch, SETTINGS.seed)
    first = [tasks[i] for i in order for _ in range(SETTINGS.group_size)]
    seeds = seed_per_episode(child_seed(SETTINGS.seed, 0), len(first))
    episodes = rollout(HFPolicy(model, chat), first, seed=seeds)
    rewards = torch.tensor([even_score(e, e.task.target).total for e in episodes], dtype=torch.float64)
    optimizer = torch.optim.AdamW(model.parameters(), SETTINGS.learning_rate, weight_decay=0.0)
    loss = grpo_gradient(model, chat, episodes, group_advantages(rewards, SETTINGS.group_size), 5)
    norm = torch.nn.utils.clip_grad_norm_(model.parameters(), SETTINGS.max_grad_norm)
    optimizer.step()

    row = read_metrics(tmp_path / "metrics.jsonl")[0]
    assert row["reward"] == pytest.approx(rewards.mean().item()) and rewards.std() > 0
    assert loss == pytest.approx(row["loss"], abs=1e-5) and norm.item() == pytest.approx(row["grad_norm"], rel=1e-3)
    moved = apart = 0.0
    theirs = load_model(folder).state_dict()
    for (name, ours), before in zip(model.state_dict().items(), start.state_dict().values(), strict=True):
        moved += (ours - before).abs().sum().item()
        apart += (ours - theirs[name]).abs().sum().item()
    assert moved > 1 and apart < 0.01 * moved


def test_advantages_of_tokens_are_those_of_episodes_where_all_are_equal() -> None:
    chat = fresh_chat()
    episodes = [written(chat, i) for i in range(4)]
    advantages = torch.tensor([1.0, -1.0, 0.5, -0.5])
    each_token = broadcast_to_tokens(
        [[a] * len(e.turns) for a, e in zip(advantages.tolist(), episodes, strict=True)], episodes
    )
    found: list[Any] = []
    for given in (advantages, each_token):
        model = fresh_model(chat)
        grpo_gradient(model, chat, episodes, given, per_device_batch_size=2)
        found.append([p.grad.clone() for p in model.parameters() if p.grad is not None])
    assert found[0] and all(torch.allclose(a, b, atol=1e-7) for a, b in zip(*found, strict=True))


def test_log_probabilities_are_those_of_a_plain_forward_pass() -> None:
    chat = fresh_chat()
    model = fresh_model(chat)
    packed = pack([written(chat, i) for i in range(2)], chat)
    with suppress_tokens(model, chat.suppressed_ids), torch.no_grad():
        ours = token_logprobs(model, packed, temperature=0.7) * packed.loss_mask
    assert torch.allclose(ours, plain_logprobs(model, chat, packed, 0.7) * packed.loss_mask, atol=1e-5)

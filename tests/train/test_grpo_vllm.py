"""GRPO played by TRL's colocated vLLM engine, on a CPU (make test-vllm); and how its GPU's memory is shared."""

from __future__ import annotations

import importlib.util
from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace

import pytest
import torch
from training_fixtures import LIMITS, Looks, task, without_times

from kit.policy.limits import ENGINE_BYTES, engine_share, token_bytes
from kit.rollout import RolloutConfig
from kit.train.grpo import GRPOSettings
from kit.train.processes import STRATEGY
from kit.train.vllm_rollouts import vllm_args
from tests.policy.test_vllm import VLLM_SETTINGS, forward_logprobs, picture, request_of
from workshop.planner.architecture import Architecture

THREE = Architecture.of("Qwen/Qwen2.5-VL-3B-Instruct")
SEVEN = Architecture.of("Qwen/Qwen2.5-VL-7B-Instruct")


def config_of(model: Architecture, positions: int = 128000) -> SimpleNamespace:
    """As much of a language model's config as says how large its keys are, and for how many tokens it has positions."""
    return SimpleNamespace(
        hidden_size=model.hidden,
        num_attention_heads=model.heads,
        num_key_value_heads=model.key_heads,
        num_hidden_layers=model.layers,
        max_position_embeddings=positions,
    )


def model_of(text: SimpleNamespace, size: int = 0) -> SimpleNamespace:
    """As much of a model as the trainer's settings of vLLM are made of."""
    return SimpleNamespace(num_parameters=lambda: size, config=SimpleNamespace(get_text_config=lambda: text))


@pytest.mark.parametrize(
    ("card", "model", "rank", "strategy", "processes", "episodes"),
    [
        (24e9, THREE, 32, "ddp", 1, (3, 5)),  # what the trainer leaves holds few of the longest episodes, and thirty
        (80e9, THREE, 32, "ddp", 1, (40, 128)),  # usual ones (GPU.md's have 2,000 tokens of the 28,192)
        (141e9, THREE, 32, "ddp", 1, (100, 128)),
        (80e9, SEVEN, 0, "zero3", 8, (2, 16)),
        (80e9, SEVEN, 0, "fsdp2", 8, (2, 16)),
    ],
)
def test_an_engine_gets_what_it_needs_and_the_trainer_leaves(
    card: float,
    model: Architecture,
    rank: int,
    strategy: str,
    processes: int,
    episodes: tuple[int, int],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    settings = GRPOSettings(prompts_per_batch=16, group_size=8, lora_rank=rank, rollout_engine="colocate")
    config = RolloutConfig(max_episode_tokens=28192)
    monkeypatch.setattr(torch.cuda, "is_available", lambda: True)
    monkeypatch.setattr(torch.cuda, "mem_get_info", lambda: (int(card - 0.5e9), int(card)))
    monkeypatch.setenv(STRATEGY, strategy)
    monkeypatch.setenv("WORLD_SIZE", str(processes))
    size = model.language + model.vision
    loaded = model_of(config_of(model), size)
    args = vllm_args(settings, config, loaded)
    room = args["vllm_gpu_memory_utilization"] * card - 2 * size - ENGINE_BYTES
    assert episodes[0] <= room / (28192 * model.kv_bytes()) <= episodes[1]
    assert args["vllm_enable_sleep_mode"], "its memory is the trainer's while that learns"
    held = 2 * size + 16 * model.adapters(rank) if rank else (4 + 14 / processes) * size
    assert args["vllm_gpu_memory_utilization"] * card + held < card
    told = vllm_args(replace(settings, gpu_memory_utilization=0.7), config, loaded)
    assert told["vllm_gpu_memory_utilization"] == 0.7


def test_a_card_that_is_too_small_for_both_is_refused_with_the_sizes() -> None:
    with pytest.raises(ValueError, match=r"vLLM needs 11\.0 GB .* one episode, .* 16\.0 GB 6\.0 are left: choose"):
        engine_share(16e9, 10e9, 7.5e9, 1e9, 8)
    assert engine_share(20e9, 9e9, 7.5e9, 1e9, 8) == 11 / 20, "one has room"
    assert engine_share(80e9, 10e9, 7.5e9, 1e9, 8) == 18 / 80, "more than all would take isn't taken"


def test_on_processors_nothing_sleeps_and_transformers_is_told_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(torch.cuda, "is_available", lambda: False)
    here = vllm_args(GRPOSettings(rollout_engine="colocate"), RolloutConfig(), model_of(config_of(THREE)))
    assert (here["vllm_gpu_memory_utilization"], here["vllm_enable_sleep_mode"]) == (0.3, False)
    assert vllm_args(GRPOSettings(), RolloutConfig(), None) == {}


@pytest.mark.parametrize(("limit", "positions", "longest"), [(28192, 4096, 4096), (28192, 128000, 28192), (99, 99, 99)])
def test_vllm_is_asked_for_no_more_tokens_than_the_model_has_positions(
    limit: int, positions: int, longest: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    """It refuses more when it is made; the tiny model has 4,096, and papers' limits are for larger ones."""
    monkeypatch.setattr(torch.cuda, "is_available", lambda: False)
    settings, config = GRPOSettings(rollout_engine="colocate"), RolloutConfig(max_episode_tokens=limit)
    args = vllm_args(settings, config, model_of(config_of(THREE, positions)))
    assert args["vllm_max_model_length"] == longest


@pytest.mark.parametrize("text", [THREE, SEVEN])
def test_a_tokens_bytes_are_the_planners(text: Architecture) -> None:
    assert token_bytes(config_of(text)) == text.kv_bytes() and token_bytes(config_of(text), 4) == 2 * text.kv_bytes()


STEPS = 3


@pytest.mark.skipif(importlib.util.find_spec("vllm") is None, reason="needs vLLM: make test-vllm")
def test_steps_that_the_colocated_engine_plays(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Before each step the engine gets the weights of now: what it samples has the probabilities that are trained.

    The first of a step's two groups is flat, and is replaced.
    """
    from kit.chat import Chat
    from kit.episode import Score
    from kit.models import load_model
    from kit.policy import Policy, SamplingParams
    from kit.policy.vllm import VLLMPolicy
    from kit.rewards.base import per_episode
    from kit.train.grpo import train_grpo
    from tiny import TINY

    for name, value in {**VLLM_SETTINGS, "VLLM_ENABLE_V1_MULTIPROCESSING": "0"}.items():
        monkeypatch.setenv(name, value)
    chat, model = Chat.from_pretrained(TINY), load_model(TINY)
    request = request_of(chat, picture("a", 0, 112, 84))
    gaps, samples = [], []

    def before(policy: Policy) -> dict[str, float]:
        assert isinstance(policy, VLLMPolicy)
        policy.reset()
        (sample,) = policy.sample([request], SamplingParams((), 1.0, 24))
        theirs = forward_logprobs(model, chat, request, sample, 1.0)
        gaps.append(max(abs(a - b) for a, b in zip(sample.logprobs, theirs, strict=True)))
        samples.append(sample)
        return {}

    settings = GRPOSettings(
        steps=STEPS,
        learning_rate=1e-3,
        prompts_per_batch=2,
        group_size=2,
        per_device_batch_size=2,
        rollout_engine="colocate",
        gpu_memory_utilization=0.1,
        dynamic_sampling=1,
    )
    config = replace(LIMITS, max_episode_tokens=2048)
    rewards = iter([1.0, 1.0, 1.0, 0.0, 0.0, 1.0] * STEPS)
    reward = per_episode(lambda *_: Score(next(rewards), {}))
    train_grpo(model, chat, [task(0), task(1)], Looks, config, reward, settings, tmp_path, held_out=before)
    first, *later = without_times(tmp_path)
    for row in (first, *later):
        assert (row["rounds_played"], row["tasks_played"], row["frac_zero_std_groups_left"]) == (2.0, 3.0, 0.0)
        assert row["importance_weight"] == pytest.approx(1.0, abs=2e-3)
    assert first["grad_norm"] > 0 and len(later) == STEPS - 1
    print("largest difference of a log-probability before each step:", gaps)
    assert max(gaps) < 0.1, "the engine computes in bfloat16, the trainer in float32"
    moved = forward_logprobs(load_model(TINY), chat, request, samples[-1], 1.0)
    assert max(abs(a - b) for a, b in zip(samples[-1].logprobs, moved, strict=True)) > 0.5, "else this shows nothing"

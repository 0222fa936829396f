"""Rollouts by vLLM in a GRPO training: what TRL is told, a colocated engine's share of the GPU, and the policy."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, Any

import torch

from kit.chat import Chat
from kit.policy.limits import SPARE, engine_share, token_bytes
from kit.policy.vllm import Colocated, VLLMPolicy
from kit.policy.vllm_server import Server
from kit.rollout import RolloutConfig
from kit.train.processes import STRATEGY, world_size

if TYPE_CHECKING:
    from kit.train.grpo import GRPOSettings


def vllm_args(settings: GRPOSettings, config: RolloutConfig, model: Any) -> dict[str, Any]:
    """TRL's settings of vLLM; the weights of :mod:`kit.train.importance` are made by us, and read by its loss.

    Args:
        settings: of the training.
        config: limits of an episode.
        model: the model that is going to be trained, for an engine's share of the GPU that isn't told.
    """
    if settings.rollout_engine == "transformers":
        return {}
    here, share = settings.rollout_engine == "colocate" and torch.cuda.is_available(), settings.gpu_memory_utilization
    return {
        "use_vllm": True,
        "vllm_mode": settings.rollout_engine,
        "vllm_server_base_url": settings.vllm_server_url or None,
        "vllm_gpu_memory_utilization": share or (_share(settings, config, model) if here else 0.3),
        "vllm_enable_sleep_mode": here,
        "vllm_max_model_length": _longest(config, model),
        "vllm_importance_sampling_mode": "token_truncate",
    }


def _longest(config: RolloutConfig, model: Any) -> int:
    """Count an episode's tokens, at the most; vLLM takes no more than the model has positions for."""
    return min(config.max_episode_tokens, int(model.config.get_text_config().max_position_embeddings))


def _share(settings: GRPOSettings, config: RolloutConfig, model: Any) -> float:
    """Work out a colocated engine's share of this GPU."""
    free, memory = torch.cuda.mem_get_info()
    n = world_size()
    # Bytes a weight: bfloat16 and a little for adapters, or float32 and this process's part of gradients and moments.
    learning = 4 + 14 / (1 if os.environ.get(STRATEGY, "ddp") == "ddp" else n)
    held = (2 + settings.lora_rank / 128 if settings.lora_rank else learning) * model.num_parameters()
    episode = _longest(config, model) * token_bytes(model.config.get_text_config())
    batch = -(-settings.batch_of()[0] // n)
    return engine_share(memory, memory - free + SPARE + held, 2 * model.num_parameters(), episode, batch)


def vllm_policy(trainer: Any, chat: Chat) -> VLLMPolicy:
    """Make the policy of a trainer that samples by vLLM: each rollout by the weights that it begins with."""
    if trainer.vllm_mode == "colocate":
        engine = Colocated(trainer.vllm_generation)
        return VLLMPolicy(engine, chat, refresh=engine.wake)
    name = str(trainer.accelerator.unwrap_model(trainer.model).config._name_or_path)
    server = Server(str(trainer.args.vllm_server_base_url), name)
    return VLLMPolicy(server, chat, refresh=trainer.vllm_generation.sync_weights)

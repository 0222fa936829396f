"""Limits of sampling, by transformers and by vLLM, which the memory planner shares; nothing here needs torch."""

from __future__ import annotations

from typing import Any

MAX_BATCH_SIZE = 64
"""Requests that decode together, at the most."""

CACHE_BYTES = 1 << 30
"""Bytes that may be remembered between turns."""


def batch_size_that_fits(most: int, free: float, token: int, length: int) -> int:
    """Choose how many contexts to decode together: at most ``most``, at least one, in half of the ``free`` bytes.

    Args:
        most: contexts, at most.
        free: bytes that are free.
        token: bytes that one token's keys and values take.
        length: tokens of the longest, what it is going to say included.
    """
    return max(1, min(most, int(free / 2 / (token * length))))


ENGINE = "KIT_ROLLOUT_ENGINE"
"""Environment variable: with ``colocate`` evaluations are vLLM's; a job sets it to what its trainings sample by."""

ENGINE_BYTES = 2.5e9
"""What a vLLM engine takes beside its weights and its cache: a prefill, the vision tower, CUDA graphs (assumed)."""

SPARE = 1e9
"""Bytes of a GPU that stay free beside a trainer and a colocated engine: torch's own, and for merging adapters."""


def token_bytes(text: Any, number: int = 2) -> int:
    """Bytes of one token's keys and values in all layers, by the language model's config, ``number`` bytes each."""
    width: int = text.hidden_size // text.num_attention_heads * text.num_key_value_heads
    return 2 * number * int(text.num_hidden_layers) * width


def engine_bytes(weights: float, episode: float = 0, episodes: int = 0) -> float:
    """Count the bytes that a colocated engine can use, with what it works with.

    Args:
        weights: bytes of its weights.
        episode: bytes of the longest episode's keys and values.
        episodes: how many play at once.
    """
    return weights + ENGINE_BYTES + episodes * episode


def engine_share(memory: float, taken: float, weights: float, episode: float, episodes: int) -> float:
    """Choose a colocated engine's share of a GPU: its weights, and keys and values of as many episodes as have room.

    Args:
        memory: of the GPU, in bytes.
        taken: of it, by all that stays while the engine samples: the trainer's weights and optimizer.
        weights: the engine's.
        episode: keys and values of the longest episode.
        episodes: how many may play at once.

    Raises:
        ValueError: there is no room for a single one.
    """
    least, room = engine_bytes(weights, episode, 1), memory - taken
    if room < least:
        raise ValueError(
            f"rollout_engine='colocate': vLLM needs {least / 1e9:.1f} GB for its weights and one episode, and of the "
            f"GPU's {memory / 1e9:.1f} GB {max(room, 0) / 1e9:.1f} are left: choose server or transformers"
        )
    return min(room, engine_bytes(weights, episode, episodes)) / memory

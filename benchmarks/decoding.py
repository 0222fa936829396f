"""The decode loop as it is beside transformers' own attention and cache, in one run: ``python -m kit bench decoding``.

The committed tiny model says the turn after two of the expert's, on drawn jigsaws, at 8, 48 and 256 rows, by the same
random numbers in both. Seconds are of the processor, so that what else the machine does then counts little, and of the
tokens after the first: what reading the context takes is measured by turns of one token and taken off.
"""

from __future__ import annotations

import statistics
import time
from collections.abc import Sequence
from contextlib import nullcontext
from unittest.mock import patch

import torch
from transformers import DynamicCache

from benchmarks.telling import progress
from kit.chat import Chat
from kit.models import load_model
from kit.policy import Completion, GenerationRequest, SamplingParams
from kit.policy.hf import HFPolicy
from kit.policy.scripted import ScriptedPolicy
from kit.rollout import RolloutConfig, rollout
from papers.agile.env import JigsawEnv
from papers.agile.expert import expert_script
from papers.agile.tasks import training_set
from tiny import TINY
from turn_sandbox import Sandbox

ROWS = (8, 48, 256)
LIMIT = 80
"""Tokens of a turn, as in notebook 13."""

TURNS = 2
"""Turns of the expert's before the one that is decoded."""


def decoding_bench(repeats: int = 3, rows: Sequence[int] = ROWS, limit: int = LIMIT) -> dict[str, float]:
    """Tokens a second of both at each number of rows, and the ratio; prints and returns the ratios.

    Raises:
        RuntimeError: the two sampled other tokens.
    """
    torch.set_num_threads(1)
    chat, model = Chat.from_pretrained(TINY), load_model(TINY)
    figures: dict[str, float] = {}
    for number in rows:
        asked = contexts(number, chat)
        rates: dict[str, list[float]] = {"transformers": [], "kit": []}
        said: dict[str, list[Completion]] = {}
        for turn in progress(range(repeats + 1), f"{number} rows"):
            for name, found in rates.items():
                policy = HFPolicy(model, chat, batch_size=number, cache_bytes=0)
                _, context = sampled(policy, asked, 1, own=name == "kit")
                said[name], whole = sampled(policy, asked, limit, own=name == "kit")
                if turn:
                    found.append(sum(len(one.ids) - 1 for one in said[name]) / (whole - context))
        if [one.ids for one in said["kit"]] != [one.ids for one in said["transformers"]]:
            raise RuntimeError(f"{number} rows: other tokens than transformers' attention and cache give")
        theirs, ours = (statistics.median(found) for found in rates.values())
        pairs = zip(said["kit"], said["transformers"], strict=True)
        gap = max(abs(a - b) for one, other in pairs for a, b in zip(one.logprobs, other.logprobs, strict=True))
        read, written = (statistics.mean(len(one.ids) for one in some) for some in (asked, said["kit"]))
        print(
            f"{number:4d} rows, {read:.0f} tokens read, {written:.0f} written: {theirs:.0f} tokens a second by "
            f"transformers, {ours:.0f} by the kit, {ours / theirs:.2f} times; log-probabilities within {gap:.1e}"
        )
        figures[f"speedup_at_{number}_rows"] = ours / theirs
    return figures


def sampled(
    policy: HFPolicy, asked: Sequence[GenerationRequest], limit: int, own: bool
) -> tuple[list[Completion], float]:
    """Sample by the kit's decoding, or by transformers' attention and cache in its place; samples and seconds."""
    params = SamplingParams(stops=(), max_new_tokens=limit, temperature=1.0)
    with (
        nullcontext() if own else patch("kit.policy.decoding.RoomyCache", DynamicCache),
        nullcontext() if own else patch("kit.policy.decoding.grouped_attention", lambda model: nullcontext()),
    ):
        began = time.process_time()
        return policy.sample(asked, params), time.process_time() - began


def contexts(number: int, chat: Chat) -> list[GenerationRequest]:
    """Jigsaws of which the expert has played some turns, each with a seed of its own."""
    tasks, config = training_set(number, seed=0, photo_share=0.0), RolloutConfig(max_turns=TURNS, max_new_tokens=120)
    with Sandbox() as box:
        played = rollout(ScriptedPolicy(chat, expert_script(0)), chat, tasks, lambda: JigsawEnv(box), config)
    return [GenerationRequest((*e.ids, *chat.open_assistant()), e.images, seed=at) for at, e in enumerate(played)]

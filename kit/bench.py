"""Benchmarks that compare within one run and print ratios: ``python -m kit bench rollout``."""

from __future__ import annotations

import statistics
import time
from collections.abc import Callable
from typing import Any

import torch

from kit.chat import Chat
from kit.data.agile import training_set
from kit.data.corpora import documents
from kit.envs.agile import PROTOCOL, JigsawEnv
from kit.experts.agile import expert_script
from kit.policy import Params, Policy
from kit.policy.hf import ForcedPolicy
from kit.policy.scripted import ScriptedPolicy
from kit.rollout import Budget, rollout
from kit.sandbox import Sandbox
from kit.tiny import TINY, load_model
from kit.tools.bench import search_bench


def _timed(run: Callable[[], Any], repeats: int) -> list[float]:
    """Wall seconds of each repeat, after one to warm up."""
    run()
    seconds = []
    for _ in range(repeats):
        began = time.perf_counter()
        run()
        seconds.append(time.perf_counter() - began)
    return seconds


def rollout_bench(episodes: int = 64, repeats: int = 3, threads: int = 1) -> dict[str, float]:
    """The loop at ``episodes`` at once, on jigsaws played in 4–8 steps by forced decoding with the tiny model.

    Prints and returns the share of wall time inside the model, episodes a second, and what
    remembering keys and values between turns is worth.
    """
    torch.set_num_threads(threads)
    chat, model = Chat.from_pretrained(TINY), load_model()
    tasks = training_set(episodes, seed=0, photo_share=0.0)
    params = Params(PROTOCOL.stops, max_new_tokens=120)
    figures: dict[str, float] = {}
    with Sandbox() as box:

        def play(policy: Policy) -> int:
            played = rollout(policy, chat, tasks, lambda: JigsawEnv(box, turns=9), params, Budget(turns=9))
            return sum(len(episode.turns) for episode in played)

        script = expert_script(0)
        remembering = ForcedPolicy(model, chat, script)
        fresh = ForcedPolicy(model, chat, script, cache_bytes=0)
        turns = play(remembering)
        remembering.seconds = 0.0
        with_store = _timed(lambda: play(remembering), repeats)
        inside = remembering.seconds / (repeats + 1)
        without = _timed(lambda: play(fresh), repeats)
        alone = _timed(lambda: play(ScriptedPolicy(chat, script)), repeats)
    wall = statistics.median(with_store)
    figures["episodes_per_second"] = episodes / wall
    figures["turns_per_second"] = turns / wall
    figures["model_share"] = inside / wall
    figures["speedup_of_prefix_store"] = statistics.median(without) / wall
    figures["environment_seconds_per_turn"] = statistics.median(alone) / turns
    print(f"rollout bench: {episodes} episodes, {turns} turns, {threads} thread(s), {repeats} repeats")
    for name, value in figures.items():
        print(f"  {name:32s} {value:8.3f}")
    print(f"  spread of wall seconds           {min(with_store):8.2f} … {max(with_store):.2f}")
    return figures


def documents_bench() -> dict[str, float]:
    """What a search of the kit's own documents costs."""
    return search_bench(documents())

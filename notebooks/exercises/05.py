"""Exercises of notebook 05: micro-batches, when processes pay, waiting in rounds, what ZeRO divides, a plan."""

from __future__ import annotations

import math
import random
from collections.abc import Mapping
from dataclasses import replace
from itertools import zip_longest
from typing import Any

from workshop.exercises import Exercise, Mistake
from workshop.planner.architecture import Architecture
from workshop.planner.memory import GB, Stage, needed


def passes(batch_size: int, num_processes: int, per_device_batch_size: int) -> int:
    """Divide the batch among the processes first, then each part among forward passes."""
    if batch_size % num_processes:
        return 0
    return math.ceil(batch_size // num_processes / per_device_batch_size)


def worth_from(whole: Mapping[int, float], step: Mapping[int, float], steps: int, n: int) -> float:
    """Divide what the start costs more by what a step saves."""
    return _worth_from(_start(whole, step, steps, n) - _start(whole, step, steps, 1), step, n)


def _start(whole: Mapping[int, float], step: Mapping[int, float], steps: int, processes: int) -> float:
    return whole[processes] - steps * step[processes]


def _worth_from(costs_more: float, step: Mapping[int, float], n: int) -> float:
    saves = step[1] - step[n]
    return max(0.0, costs_more / saves) if saves > 0 else math.inf


def done_after(seconds: list[list[float]]) -> tuple[float, float]:
    """In rounds: the slowest turn of each round, added up. As they end: the slowest episode."""
    rounds = sum(max(turns) for turns in zip_longest(*seconds, fillvalue=0.0))
    return rounds, max(sum(turns) for turns in seconds)


def held_gb(weights: float, gpus: int, strategy: str) -> float:
    """ZeRO-2 divides gradients and optimizer state; ZeRO-3 the weights as well."""
    divided = weights * (2 + 12) / gpus
    return (2 * weights / (gpus if strategy == "zero3" else 1) + divided) / 1e9


def fitting(stages: Mapping[str, Stage]) -> list[str]:
    """Plan each way for the smaller model on four GPUs and compare with 24 GB."""
    return _fitting(stages, gpus=4)


def _fitting(stages: Mapping[str, Stage], gpus: int, model: str = "Qwen/Qwen2.5-VL-3B-Instruct") -> list[str]:
    plans = {
        name: replace(stage, model=Architecture.of(model), gpus=gpus, memory=24 * GB) for name, stage in stages.items()
    }
    return [name for name, plan in plans.items() if needed(plan) <= 24 * GB]


def _of_the_whole_batch(batch_size: int, num_processes: int, per_device_batch_size: int) -> int:
    return 0 if batch_size % num_processes else math.ceil(batch_size / per_device_batch_size)


def _rounded_down(batch_size: int, num_processes: int, per_device_batch_size: int) -> int:
    return 0 if batch_size % num_processes else batch_size // num_processes // per_device_batch_size


def _never_refused(batch_size: int, num_processes: int, per_device_batch_size: int) -> int:
    return math.ceil(batch_size / num_processes / per_device_batch_size)


def _refused_too_often(batch_size: int, num_processes: int, per_device_batch_size: int) -> int:
    uneven = batch_size % (num_processes * per_device_batch_size)
    return 0 if uneven else batch_size // num_processes // per_device_batch_size


def _slowest_turn(seconds: list[list[float]]) -> tuple[float, float]:
    most = max(len(turns) for turns in seconds)
    return most * max(max(turns) for turns in seconds), done_after(seconds)[1]


def _complete_rounds(seconds: list[list[float]]) -> tuple[float, float]:
    return sum(max(turns) for turns in zip(*seconds, strict=False)), done_after(seconds)[1]


def _after_one_another(seconds: list[list[float]]) -> tuple[float, float]:
    return done_after(seconds)[0], sum(sum(turns) for turns in seconds)


def _mean_episode(seconds: list[list[float]]) -> tuple[float, float]:
    return done_after(seconds)[0], sum(sum(turns) for turns in seconds) / len(seconds)


def _longest_episode_twice(seconds: list[list[float]]) -> tuple[float, float]:
    return done_after(seconds)[1], done_after(seconds)[1]


def _other_batches(seed: int) -> list[dict[str, Any]]:
    """Parts that come out even, whose last pass is smaller, that fit into one pass; and a batch to be refused."""
    rng = random.Random(seed)
    found = []
    for full, rest, spare in ((3, 0, 0), (2, 1, 0), (0, 2, 0), (2, 1, 1), (3, 0, 1)):
        processes, each = rng.randint(2, 16), rng.randint(3, 12)
        batch = processes * (full * each + rest) + spare
        found.append({"batch_size": batch, "num_processes": processes, "per_device_batch_size": each})
    return found


def _other_episodes(seed: int) -> list[dict[str, Any]]:
    """One episode alone; episodes of which each is the slowest in another round."""
    rng = random.Random(seed)
    found = [{"seconds": [[rng.uniform(1, 9) for _ in range(rng.randint(2, 5))]]}]
    for number in (3, 5):
        rows = [[rng.uniform(0.5, 2) for _ in range(rng.randint(0, 2))] for _ in range(number)]
        for before, row in enumerate(rows):
            row[:] = [rng.uniform(0.5, 2) for _ in range(before)] + [rng.uniform(5, 9), *row]
        rng.shuffle(rows)
        found.append({"seconds": rows})
    return found


def _other_models(seed: int) -> list[dict[str, Any]]:
    rng = random.Random(seed)
    sizes = [(rng.uniform(0.3e9, 9e9), gpus) for gpus in (1, rng.randint(2, 7), rng.choice([16, 24, 32, 64]))]
    return [
        {"weights": weights, "gpus": gpus, "strategy": strategy}
        for weights, gpus in sizes
        for strategy in ("zero2", "zero3")
    ]


EXERCISES = [
    Exercise(
        "05.1",
        passes,
        "First the part of one process: batch_size / num_processes. Then how many times per_device_batch_size is "
        "needed to cover that part; the last pass may be smaller.",
        cases=[
            {"batch_size": 8, "num_processes": 2, "per_device_batch_size": 4},
            {"batch_size": 96, "num_processes": 1, "per_device_batch_size": 32},
            {"batch_size": 96, "num_processes": 4, "per_device_batch_size": 32},
            {"batch_size": 8, "num_processes": 1, "per_device_batch_size": 3},
            {"batch_size": 10, "num_processes": 4, "per_device_batch_size": 2},
            {"batch_size": 512, "num_processes": 8, "per_device_batch_size": 2},
        ],
        hidden=_other_batches,
        mistakes=[
            Mistake(
                _of_the_whole_batch, "That many passes would one process need for the whole batch. Share it first."
            ),
            Mistake(_rounded_down, "A part that isn't full needs a pass as well: round up."),
            Mistake(_never_refused, "10 episodes can't be shared equally by 4 processes: return 0."),
            Mistake(_refused_too_often, "Only the sharing must come out even. The last pass may be smaller."),
        ],
    ),
    Exercise(
        "05.2",
        worth_from,
        "start = whole − steps × step, once for 1 process and once for several. The start costs more, each step saves "
        "something: after how many steps is the difference paid?",
        mistakes=[
            Mistake(
                lambda whole, step, steps, n: _worth_from(_start(whole, step, steps, n), step, n),
                "One process has a start, too. Only what the start of several costs *more* must be won back.",
            ),
            Mistake(
                lambda whole, step, steps, n: _worth_from(whole[n] - whole[1], step, n),
                "The whole runs contain steps already. Subtract their time first to get the starts.",
            ),
            Mistake(
                lambda whole, step, steps, n: (_start(whole, step, steps, n) - _start(whole, step, steps, 1)) / step[n],
                "Divide by what a step *saves*: the time alone minus the time in several processes.",
            ),
        ],
        tolerance=1e-2,
    ),
    Exercise(
        "05.3",
        done_after,
        "In rounds, round t takes as long as the slowest turn t of the episodes that have one; add the rounds up. By "
        "itself an episode takes the sum of its turns; the batch waits for the slowest.",
        cases=[
            {"seconds": [[1.0, 5.0], [4.0, 1.0]]},
            {"seconds": [[1.0, 1.0, 1.0], [2.0]]},
            {"seconds": [[3.0, 2.0]]},
            {"seconds": [[1.0, 6.0, 1.0], [2.0, 1.0], [5.0, 1.0, 1.0, 2.0]]},
        ],
        hidden=_other_episodes,
        mistakes=[
            Mistake(lambda seconds: done_after(seconds)[::-1], "The order is: in rounds first, then as they end."),
            Mistake(_slowest_turn, "Each round has its own slowest turn; not all rounds take as long as the worst."),
            Mistake(_complete_rounds, "You stop with the shortest episode. The others go on playing."),
            Mistake(_after_one_another, "The episodes are played beside each other, not one after another."),
            Mistake(_mean_episode, "The batch is done when its slowest episode is, not the average one."),
            Mistake(_longest_episode_twice, "In rounds even the slowest episode waits for others, turn by turn."),
        ],
    ),
    Exercise(
        "05.4",
        held_gb,
        "Three parts: 2, 2 and 12 bytes for each weight. Divide by gpus the parts that the strategy divides, and no "
        "others; then by 10⁹.",
        cases=[
            {"weights": 1e9, "gpus": 4, "strategy": "zero2"},
            {"weights": 1e9, "gpus": 4, "strategy": "zero3"},
            {"weights": 8e9, "gpus": 8, "strategy": "zero2"},
            {"weights": 8e9, "gpus": 8, "strategy": "zero3"},
            {"weights": 3e9, "gpus": 1, "strategy": "zero2"},
        ],
        hidden=_other_models,
        mistakes=[
            Mistake(
                lambda weights, gpus, strategy: 16 * weights / gpus / 1e9,
                "ZeRO-2 doesn't divide the weights: each GPU holds them all.",
            ),
            Mistake(
                lambda weights, gpus, strategy: 16 * weights / 1e9,
                "Nothing is divided yet. More GPUs must leave less for each.",
            ),
            Mistake(
                lambda weights, gpus, strategy: (
                    (4 * weights + 12 * weights / gpus) / 1e9 if strategy == "zero2" else 16 * weights / gpus / 1e9
                ),
                "ZeRO-2 divides the gradients too, not only the optimizer's state.",
            ),
            Mistake(
                lambda weights, gpus, strategy: held_gb(weights, gpus, strategy) * 1e9,
                "Those are bytes. Divide by 10⁹ for GB.",
            ),
        ],
    ),
    Exercise(
        "05.5",
        fitting,
        'For each stage: replace(stage, model=Architecture.of("Qwen/Qwen2.5-VL-3B-Instruct"), gpus=4), then compare '
        "needed(...) with 24 * GB.",
        mistakes=[
            Mistake(
                lambda stages: _fitting(stages, gpus=8),
                "That is right for 8 GPUs. Did you set gpus=4?",
            ),
            Mistake(
                lambda stages: _fitting(stages, gpus=4, model="Qwen/Qwen2.5-VL-7B-Instruct"),
                "That is right for the model of 7B. Did you replace the model as well?",
            ),
            Mistake(lambda stages: ["LoRA"], "LoRA fits. Another way divides everything among the four: plan it, too."),
            Mistake(
                lambda stages: ["LoRA", "zero3"],
                "These two it is. Name them in the order of `stages`.",
            ),
        ],
    ),
]

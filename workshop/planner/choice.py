"""Choose how a training uses the memory at hand: episodes a pass, activations kept or not, an engine's share."""

from __future__ import annotations

import itertools
from collections.abc import Collection, Container, Iterator, Sequence
from dataclasses import replace

from workshop.planner.advice import fits
from workshop.planner.beside import SET_ASIDE
from workshop.planner.memory import Stage, fixed, learning_pass, share_of, step

SETTINGS = {"per_device_batch_size": "per_device_batch_size", "gradient_checkpointing": "recompute"}
"""Settings of a training that are chosen → a stage's fields."""


def best(stage: Stage, kept: Container[str] = ()) -> Stage:
    """Find the fastest way by the planner's own times that fits with room to spare; of equally fast ones, most at once.

    Learning must leave free what torch was seen to set aside beside what is counted
    (:data:`workshop.planner.beside.SET_ASIDE`). A batch, and with it what is learnt, stays as it is.

    Args:
        stage: the training as told, with the memory of the GPU at hand.
        kept: of :data:`SETTINGS`, those that stay as told.

    Returns:
        The stage with ``per_device_batch_size``, ``recompute`` and ``gpu_memory_utilization`` chosen; as it was told if
        nothing fits so.
    """
    fitting = [other for other in _ways(stage, kept) if fits(other) and _roomy(other)]
    # To three digits: ways that wait for the same arithmetic are equally fast.
    return min(fitting, key=lambda o: (float(f"{step(o):.3g}"), -o.per_device_batch_size), default=stage)


def together(stages: Sequence[Stage], kept: Collection[str] = ()) -> dict[str, int | bool]:
    """Choose for trainings that share their settings: kept activations if all have room, then as many as all hold.

    Args:
        stages: the trainings, as told.
        kept: of :data:`SETTINGS`, those that stay as told.

    Returns:
        The chosen settings by name.
    """
    again = any(best(stage, kept).recompute for stage in stages)
    found = [best(replace(stage, recompute=again), {"gradient_checkpointing", *kept}) for stage in stages]
    chosen = {"per_device_batch_size": min(one.per_device_batch_size for one in found), "gradient_checkpointing": again}
    return {name: value for name, value in chosen.items() if name not in kept}


def _ways(stage: Stage, kept: Container[str]) -> Iterator[Stage]:
    """All ways to do the same: a power of two at once that divides a GPU's part of the batch."""
    powers = itertools.takewhile(lambda size: stage.batch % (size * stage.gpus) == 0, (2**i for i in itertools.count()))
    sizes = [stage.per_device_batch_size] if "per_device_batch_size" in kept else powers
    again = [stage.recompute] if "gradient_checkpointing" in kept else [True, False]
    for size, recompute in itertools.product(sizes, again):
        other = replace(stage, per_device_batch_size=size, recompute=recompute)
        if stage.rollout_engine == "colocate":
            yield replace(other, gpu_memory_utilization=share_of(replace(other, gpu_memory_utilization=None)))
        yield other


def _roomy(stage: Stage) -> bool:
    """Whether what learning takes leaves free what torch sets aside."""
    learning = sum(need.bytes for need in (*fixed(stage), *learning_pass(stage)))
    return learning + SET_ASIDE <= stage.memory


def settings(chosen: Stage, told: Stage) -> str:
    """Name the settings in which a choice differs from what was told; empty: in none."""
    found = []
    if chosen.per_device_batch_size != told.per_device_batch_size:
        found.append(f"per_device_batch_size={chosen.per_device_batch_size}")
    if chosen.recompute != told.recompute:
        found.append(f"gradient_checkpointing={str(chosen.recompute).lower()}")
    if chosen.rollout_engine == "colocate" and share_of(chosen) != share_of(told):
        found.append(f"gpu_memory_utilization={share_of(chosen):g}")
    return ", ".join(found)

"""Choose how a training uses the memory at hand: episodes a pass, activations kept or not, an engine's share."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

from workshop.planner.advice import fits
from workshop.planner.beside import SET_ASIDE
from workshop.planner.memory import Stage, fixed, learning_pass, share_of, step


def best(stage: Stage, checkpointing: bool = True) -> Stage:
    """Find the fastest way by the planner's own times that fits with room to spare; of equally fast ones, most at once.

    Learning must leave free what torch was seen to set aside beside what is counted
    (:data:`workshop.planner.beside.SET_ASIDE`). A batch, and with it what is learnt, stays as it is.

    Args:
        stage: the training as told, with the memory of the GPU at hand.
        checkpointing: whether it may be chosen if activations are computed again; else that stays as told.

    Returns:
        The stage with ``per_device_batch_size``, ``recompute`` and ``gpu_memory_utilization`` chosen; as it was told if
        nothing fits so.
    """
    fitting = [other for other in _ways(stage, checkpointing) if fits(other) and _roomy(other)]
    # To three digits: ways that wait for the same arithmetic are equally fast.
    return min(fitting, key=lambda o: (float(f"{step(o):.3g}"), -o.per_device_batch_size), default=stage)


def _ways(stage: Stage, checkpointing: bool) -> Iterator[Stage]:
    """All ways to do the same: a power of two at once that divides a GPU's part of the batch."""
    size = 1
    while stage.batch % (size * stage.gpus) == 0:
        for recompute in (True, False) if checkpointing else (stage.recompute,):
            other = replace(stage, per_device_batch_size=size, recompute=recompute)
            if stage.rollout_engine == "colocate":
                yield replace(other, gpu_memory_utilization=share_of(replace(other, gpu_memory_utilization=None)))
            yield other
        size *= 2


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

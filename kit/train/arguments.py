"""Arguments of TRL's trainers that SFT and GRPO share, and checks of settings."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import torch

from kit.train.processes import by_deepspeed, world_size

USUAL_SCHEDULES = ("constant", "constant_with_warmup", "cosine", "linear")
"""Learning-rate schedules that are known without asking transformers, whose trainer takes seconds to import."""


def check_schedule(name: str, value: str) -> None:
    """Refuse a learning-rate schedule that transformers doesn't have.

    Raises:
        ValueError: naming the setting, its value and the schedules there are.
    """
    if value in USUAL_SCHEDULES:
        return
    from transformers import SchedulerType

    if value not in (known := [kind.value for kind in SchedulerType]):
        raise ValueError(f"{name}={value!r}: no such schedule of the learning rate; choose one of {', '.join(known)}")


def gradient_checkpointing_default(setting: bool | None) -> bool:
    """Decide whether activations are recomputed in the backward pass: as set, else on a GPU, where memory is short."""
    return torch.cuda.is_available() if setting is None else setting


def gradient_accumulation_steps(batch: int, per_device_batch_size: int) -> int:
    """Forward passes that make up one batch.

    Raises:
        ValueError: the micro-batches of all processes don't add up to the batch.
    """
    share = per_device_batch_size * world_size()
    if per_device_batch_size < 1 or batch % share:
        raise ValueError(
            f"per_device_batch_size={per_device_batch_size} on {world_size()} processes does not divide the batch of "
            f"{batch} episodes"
        )
    return batch // share


def shared_args(
    run_dir: Path, steps: int, per_device_batch_size: int, batch: int, save_every: int, keep: int, seed: int
) -> dict[str, Any]:
    """Arguments of TRL's trainers that are the same for SFT and GRPO.

    Reports go through :class:`kit.train.metrics_log.MetricsLog`, so the trainers' own are off. Items come in the
    order of :func:`kit.train.checkpoint.schedule`, so theirs is sequential.

    Args:
        run_dir: folder of the run.
        steps: steps of the whole run.
        per_device_batch_size: episodes a forward pass and device.
        batch: episodes an optimizer step, of all processes.
        save_every: steps between checkpoints.
        keep: checkpoints that stay.
        seed: seed of the trainer.
    """
    return {
        "output_dir": str(run_dir / "checkpoint"),
        "max_steps": steps,
        "per_device_train_batch_size": per_device_batch_size,
        "gradient_accumulation_steps": gradient_accumulation_steps(batch, per_device_batch_size),
        "save_strategy": "steps",
        "save_steps": save_every,
        "save_total_limit": keep,
        "seed": seed,
        "logging_steps": 1,
        "report_to": "none",
        "disable_tqdm": True,
        "remove_unused_columns": False,
        # Accelerate lets DeepSpeed have a CPU only if it isn't told that there is nothing else.
        "use_cpu": not torch.cuda.is_available() and not by_deepspeed(),
        "ddp_backend": "gloo" if by_deepspeed() and not torch.cuda.is_available() else None,
        # TRL's default is bfloat16 everywhere; on a CPU that is slower and only blurs.
        "bf16": torch.cuda.is_available() and torch.cuda.is_bf16_supported(),
    }

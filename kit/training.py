"""What SFT and GRPO share: one run from claim to exported model, and the trainer arguments both need."""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

import torch
from transformers import PrinterCallback, SchedulerType

from kit.chat import Chat
from kit.checkpoint import claim, export, restore, step_of
from kit.metrics import MetricsLog, Row, read_metrics
from kit.policy.masking import forbid
from kit.tiny import without_progress
from kit.trainable import borrowed

OnStep = Callable[[Sequence[Row]], None]
"""Called with all rows so far after each step."""


def world_size() -> int:
    """Processes that train together (set by ``accelerate launch``)."""
    return int(os.environ.get("WORLD_SIZE", "1"))


def check_schedule(name: str, value: str) -> None:
    """Refuse a learning-rate schedule that transformers doesn't have.

    Raises:
        ValueError: naming the setting, its value and the schedules there are.
    """
    if value not in (known := [kind.value for kind in SchedulerType]):
        raise ValueError(f"{name}={value!r}: no such schedule of the learning rate; choose one of {', '.join(known)}")


def accumulation(batch: int, micro_batch: int) -> int:
    """Forward passes that make up one batch.

    Raises:
        ValueError: the micro-batches of all processes don't add up to the batch.
    """
    share = micro_batch * world_size()
    if micro_batch < 1 or batch % share:
        raise ValueError(
            f"micro_batch={micro_batch} on {world_size()} processes does not divide the batch of {batch} episodes"
        )
    return batch // share


def shared_args(
    run_dir: Path, steps: int, micro_batch: int, batch: int, save_every: int, keep: int, seed: int
) -> dict[str, Any]:
    """Arguments of TRL's trainers that are the same for SFT and GRPO.

    Reports go through :class:`kit.metrics.MetricsLog`, so the trainers' own are off. Items come in the
    order of :func:`kit.checkpoint.schedule`, so theirs is sequential.
    """
    return {
        "output_dir": str(run_dir / "checkpoint"),
        "max_steps": steps,
        "per_device_train_batch_size": micro_batch,
        "gradient_accumulation_steps": accumulation(batch, micro_batch),
        "save_strategy": "steps",
        "save_steps": save_every,
        "save_total_limit": keep,
        "seed": seed,
        "logging_steps": 1,
        "report_to": "none",
        "disable_tqdm": True,
        "remove_unused_columns": False,
        "use_cpu": not torch.cuda.is_available(),
        # TRL's default is bfloat16 everywhere; on a CPU that is slower and only blurs.
        "bf16": torch.cuda.is_available() and torch.cuda.is_bf16_supported(),
    }


def run(
    make_trainer: Callable[[MetricsLog], Any],
    model: Any,
    chat: Chat,
    run_dir: Path,
    *,
    steps: int,
    freeze_vision: bool,
    settings: Mapping[str, Any],
    data: Sequence[str],
    on_step: OnStep | None,
) -> Path:
    """Train to ``steps``, from the beginning or from the newest complete checkpoint in ``run_dir``.

    Afterwards ``model`` holds the trained weights (adapters merged), also if the run was done before.

    Returns:
        ``run_dir/model``: the trained model with its tokenizer and image processor.
    """
    resume = claim(run_dir, settings, data)
    final = run_dir / "model"
    if step_of(resume) >= steps and final.exists():
        restore(model, final)
        if on_step:  # whoever draws the curves wants them now, too
            on_step(read_metrics(run_dir / "metrics.jsonl"))
        return final
    log = MetricsLog(run_dir, step_of(resume), on_step)
    with borrowed(model, freeze_vision), forbid(model, chat.forbidden_ids), without_progress():
        trainer = make_trainer(log)
        trainer.remove_callback(PrinterCallback)
        try:
            trainer.train(resume_from_checkpoint=str(resume) if resume else None)
        except BaseException:
            if hasattr(trainer.model, "unload"):
                trainer.model.unload()
            raise
        finally:
            log.close()
        trained = trainer.accelerator.unwrap_model(trainer.model)
        if hasattr(trained, "merge_and_unload"):
            trained = trained.merge_and_unload()
    if trainer.is_world_process_zero():
        with without_progress():
            export(trained, chat, final)
    return final

"""Arguments of TRL's trainers that SFT and GRPO share; how settings are read from a notebook, and checked."""

from __future__ import annotations

from collections.abc import Mapping
from difflib import get_close_matches
from pathlib import Path
from typing import Any, ClassVar, Self

import torch

from kit.train.processes import by_deepspeed, world_size

USUAL_SCHEDULES = ("constant", "constant_with_warmup", "cosine", "linear")
"""Learning-rate schedules that are known without asking transformers, whose trainer takes seconds to import."""


class NotebookSettings:
    """Settings, a dataclass, some of which are a notebook's parameters of the same names."""

    PARAMETERS: ClassVar[tuple[str, ...]]
    """Those that each notebook which trains so declares."""
    OPTIONAL: ClassVar[tuple[str, ...]] = ()
    """Those that it may declare; one that is misspelt is refused as well."""

    @classmethod
    def of(cls, namespace: Mapping[str, Any], **over: Any) -> Self:
        """Read the settings from a notebook's variables; what isn't its own to set is given as ``over``.

        ``SFTSettings.of(globals(), replay=0)`` reads ``epochs``, ``learning_rate`` and the other parameters.

        Args:
            namespace: the notebook's ``globals()``.
            over: settings that are not read there.

        Raises:
            ValueError: a parameter is in neither; says which, and what may have been meant.
        """
        unset = [name for name in (*cls.PARAMETERS, *cls.OPTIONAL) if name not in namespace and name not in over]
        missing = [name for name in unset if name in cls.PARAMETERS or get_close_matches(name, namespace, 1, 0.9)]
        if missing:
            near = {name: get_close_matches(name, namespace, n=1) for name in missing}
            named = ", ".join(f"{name} (is {found[0]} meant?)" if found else name for name, found in near.items())
            raise ValueError(
                f"{cls.__name__}.of: no {named}: declare it in the parameters cell, or give {missing[0]}=… here"
            )
        read = [name for name in (*cls.PARAMETERS, *cls.OPTIONAL) if name in namespace]
        return cls(**{name: namespace[name] for name in read} | over)


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


def check_warmup(name: str, value: float) -> None:
    """Refuse a warm-up that is no share of the steps.

    Raises:
        ValueError: naming the setting, its value and what it means.
    """
    if not 0 <= value < 1:  # transformers takes 1 and more for a number of steps
        raise ValueError(f"{name}={value}: it is a share of the steps, so 0 or more and below 1 (0.05: a twentieth)")


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
        # It would log a loss that is NaN as 0 and go on; kit.train.finite ends the training.
        "logging_nan_inf_filter": False,
        "report_to": "none",
        "disable_tqdm": True,
        "remove_unused_columns": False,
        # Accelerate lets DeepSpeed have a CPU only if it isn't told that there is nothing else.
        "use_cpu": not torch.cuda.is_available() and not by_deepspeed(),
        "ddp_backend": "gloo" if by_deepspeed() and not torch.cuda.is_available() else None,
        # TRL's default is bfloat16 everywhere; on a CPU that is slower and only blurs.
        "bf16": torch.cuda.is_available() and torch.cuda.is_bf16_supported(),
    }

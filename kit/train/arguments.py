"""Arguments of TRL's trainers that SFT and GRPO share; how settings are read from a notebook, and checked."""

from __future__ import annotations

import os
from collections.abc import Mapping
from difflib import get_close_matches
from pathlib import Path
from typing import Any, ClassVar, Self

import torch

from kit.models.device import gpus_for
from kit.train.processes import STRATEGY, by_deepspeed, world_size

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


def gpus_of(settings: Any, model: Any, divided: bool = False) -> int:
    """Count the GPUs that a training takes (:func:`kit.models.device.gpus_for`); 0: it computes on the processor.

    Args:
        settings: of the training; of them ``device`` and ``rollout_engine`` count, where it has them.
        model: that it trains, or its checkpoint; None: a small one.
        divided: its parts will be divided among processes, as they may be already: ways to train on GPUs.

    Raises:
        ValueError: there is no such device here.
    """
    by_vllm = getattr(settings, "rollout_engine", "transformers") != "transformers"
    divided = divided or by_deepspeed() or os.environ.get(STRATEGY, "ddp") != "ddp"
    return gpus_for(model, getattr(settings, "device", "auto"), needed=by_vllm or divided)


def device_of(settings: Any, model: Any) -> str:
    """Name the device that a training computes on, for its record."""
    return "cuda" if gpus_of(settings, model) else "cpu"


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


def shared_args(settings: Any, run_dir: Path, steps: int, batch: int, model: Any) -> dict[str, Any]:
    """Arguments of TRL's trainers that are the same for SFT and GRPO.

    Reports go through :class:`kit.train.metrics_log.MetricsLog`, so the trainers' own are off. Items come in the
    order of :func:`kit.train.checkpoint.schedule`, so theirs is sequential.

    Args:
        settings: those of SFT or GRPO.
        run_dir: folder of the run.
        steps: steps of the whole run.
        batch: episodes an optimizer step, of all processes.
        model: to train: its size decides where it computes; None: a small one.
    """
    on_gpu = device_of(settings, model) == "cuda"
    again = settings.gradient_checkpointing
    return {
        "output_dir": str(run_dir / "checkpoint"),
        "max_steps": steps,
        "per_device_train_batch_size": settings.per_device_batch_size,
        "gradient_accumulation_steps": gradient_accumulation_steps(batch, settings.per_device_batch_size),
        "gradient_checkpointing": on_gpu if again is None else again,  # on a GPU, where memory is short
        "save_strategy": "steps",
        "save_steps": settings.save_every,
        "save_total_limit": settings.save_total_limit,
        "seed": settings.seed,
        "learning_rate": settings.learning_rate,
        "lr_scheduler_type": settings.schedule,
        "warmup_steps": settings.warmup,
        "logging_steps": 1,
        # It would log a loss that is NaN as 0 and go on; kit.train.finite ends the training.
        "logging_nan_inf_filter": False,
        "report_to": "none",
        "disable_tqdm": True,
        "remove_unused_columns": False,
        # Accelerate lets DeepSpeed have a CPU only if it isn't told that there is nothing else.
        "use_cpu": not on_gpu and not by_deepspeed(),
        "ddp_backend": "gloo" if by_deepspeed() and not on_gpu else None,
        # TRL's default is bfloat16 everywhere; on a CPU that is slower and only blurs.
        "bf16": on_gpu and torch.cuda.is_bf16_supported(),
    }

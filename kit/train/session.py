"""Run a training from its start to the exported model: what SFT and GRPO share.

A script that trains may be started in one process or, by ``torchrun`` or ``accelerate launch``, in several: each plays
and trains its share of every batch, the first writes what is written, and the losses are those of one process.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import Any

import torch
from peft import get_peft_model
from transformers import PrinterCallback, SchedulerType, TrainerCallback
from transformers.integrations import is_deepspeed_zero3_enabled, set_hf_deepspeed_config, unset_hf_deepspeed_config

from kit.chat import Chat
from kit.files import exclusive
from kit.models import load_model, without_progress
from kit.policy.suppress import suppress_tokens
from kit.train.checkpoint import TimedSaves, export, open_run, restore, step_of
from kit.train.interrupt import stoppable
from kit.train.lora import restore_after
from kit.train.meter import Meter
from kit.train.metrics import MetricsLog, read_metrics
from kit.train.processes import STRATEGY, by_deepspeed, rank, run_on_rank0, world_size
from kit.train.progress import Watcher
from kit.train.watchers import default_watcher


def check_schedule(name: str, value: str) -> None:
    """Refuse a learning-rate schedule that transformers doesn't have.

    Raises:
        ValueError: naming the setting, its value and the schedules there are.
    """
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

    Reports go through :class:`kit.train.metrics.MetricsLog`, so the trainers' own are off. Items come in the
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


def run(
    make_trainer: Callable[[Meter], Any],
    model: Any,
    chat: Chat,
    run_dir: Path,
    *,
    steps: int,
    freeze_vision: bool,
    settings: Mapping[str, Any],
    data: Sequence[str],
    watcher: Watcher | None,
    exports: Sequence[int] = (),
) -> Path:
    """Train to ``steps``, from the beginning or from the newest complete checkpoint in ``run_dir``.

    Afterwards ``model`` holds the trained weights (adapters merged), also if the run was done before; unless they were
    divided among processes: then only the returned folder has them.

    Args:
        make_trainer: makes TRL's trainer, given the meter of its progress.
        model: the model to train, changed in place.
        chat: the model's chat encoder.
        run_dir: folder of the run.
        steps: step at which to end.
        freeze_vision: leave vision tower and projector as they are.
        settings: the run's settings as plain values; another run's are refused.
        data: what it trains on, in order, each by its :func:`kit.train.checkpoint.fingerprint`.
        watcher: shown the progress and all metric rows so far; None: one that suits the place.
        exports: steps after which the model so far is saved too.

    Returns:
        ``run_dir/model``: the trained model with its tokenizer and image processor.

    Raises:
        kit.train.interrupt.TrainingStopped: it was interrupted; says at which step it goes on.
        kit.files.FolderInUse: another process trains in ``run_dir``.
    """
    final, first = run_dir / "model", rank() == 0
    watcher = watcher or default_watcher()
    with ExitStack() as held:

        def begin() -> tuple[Path | None, bool]:
            held.enter_context(exclusive(run_dir))
            newest = open_run(run_dir, settings, data, world_size(), os.environ.get(STRATEGY, "ddp"))
            return newest, step_of(newest) >= steps and final.exists()

        resume, done = run_on_rank0(begin)
        if done:
            restore(model, final)
            watcher.step(read_metrics(run_dir / "metrics.jsonl"))  # whoever draws the curves wants them now, too
            return final
        log = MetricsLog(run_dir, step_of(resume), watcher.step, writes=first)
        meter = Meter(run_dir, steps, log.rows, watcher, writes=first)
        frozen = chat.family.vision_modules if freeze_vision else ()
        held.enter_context(stoppable(run_dir, steps, watcher))
        with restore_after(model, frozen), suppress_tokens(model, chat.suppressed_ids), without_progress():
            trainer = make_trainer(meter)
            trainer.remove_callback(PrinterCallback)
            for callback in (log, meter, TimedSaves(trainer), _Exports(trainer, chat, run_dir, exports)):
                trainer.add_callback(callback)
            try:
                trainer.train(resume_from_checkpoint=str(resume) if resume else None)
            except BaseException:
                if hasattr(trainer.model, "unload"):
                    trainer.model.unload()
                raise
            finally:
                log.close()
            merged = _merged(trainer)
        with without_progress():
            run_on_rank0(lambda: export(merged, chat, final))
        meter.tell("done")
    return final


def _merged(trainer: Any) -> Any:
    """The trained model, adapters merged; where it is divided among processes, a copy in the first."""
    found = gather_full_state_dict(trainer) if is_sharded(trainer) else trainer.accelerator.unwrap_model(trainer.model)
    return found.merge_and_unload() if hasattr(found, "merge_and_unload") else found


class _Exports(TrainerCallback):
    """Keeps the model as it is after some of the steps."""

    def __init__(self, trainer: Any, chat: Chat, run_dir: Path, steps: Sequence[int]) -> None:
        self.trainer, self.chat, self.run_dir, self.steps = trainer, chat, run_dir, set(steps)

    def on_step_end(self, args: Any, state: Any, control: Any, **kwargs: Any) -> None:
        """In all processes at once: weights that are divided are put together by all."""
        if state.global_step not in self.steps:
            return
        so_far = gather_full_state_dict(self.trainer)
        if hasattr(so_far, "merge_and_unload"):
            so_far = so_far.merge_and_unload()
        with without_progress():
            run_on_rank0(lambda: export(so_far, self.chat, self.run_dir / f"model-{state.global_step}"))


def is_sharded(trainer: Any) -> bool:
    """True if no process has all weights (ZeRO-3, FSDP2)."""
    return bool(trainer.is_fsdp_enabled or is_deepspeed_zero3_enabled())


def gather_full_state_dict(trainer: Any) -> Any:
    """A copy of the model as it is now, adapters apart, in the first process; the others lend their parts."""
    model = trainer.accelerator.unwrap_model(trainer.model)
    wrapped = trainer.model_wrapped if is_sharded(trainer) else model
    state = trainer.accelerator.get_state_dict(wrapped)
    if rank() != 0:
        return None
    state = {name: value.detach().to("cpu", copy=True) for name, value in state.items()}
    adapters = getattr(model, "peft_config", None)
    base = model.get_base_model() if adapters else model
    # No memory, no initial values: all of them come from the state. Nor does transformers divide this copy.
    with torch.device("meta"), _undivided(trainer):
        copy = type(base)(base.config)
        copy = get_peft_model(copy, adapters["default"]) if adapters else copy
    copy.load_state_dict(state, assign=True)
    return copy


@contextmanager
def _undivided(trainer: Any) -> Iterator[None]:
    """Let transformers forget DeepSpeed for a while: under ZeRO-3 it divides every model it makes."""
    unset_hf_deepspeed_config()
    try:
        yield
    finally:
        if trainer.is_deepspeed_enabled:
            set_hf_deepspeed_config(trainer.accelerator.state.deepspeed_plugin.hf_ds_config)


def load_for_training(path: str | Path, lora_rank: int) -> tuple[Any, Chat]:
    """Load a model to train, and its chat: weights that learn in float32; beside adapters, on a GPU, others bfloat16.

    The trainer moves them to where it computes.

    Raises:
        ValueError: the checkpoint is missing or of another family.
    """
    halved = lora_rank > 0 and torch.cuda.is_available()
    return load_model(path, dtype=torch.bfloat16 if halved else torch.float32), Chat.from_pretrained(path)


def trained_model(run: str | Path, stage: str, notebook: int) -> Path:
    """The model that a stage of a run ended with.

    Args:
        run: the run's folder.
        stage: the stage's name, such as ``sft``.
        notebook: number of the notebook that trains it, for the error.

    Raises:
        FileNotFoundError: the stage hasn't finished, with the command that runs it.
    """
    folder = Path(run) / stage / "model"
    if not (folder / "config.json").is_file():
        raise FileNotFoundError(
            f"{folder}: stage {stage!r} of this run has not finished; "
            f"run notebook {notebook} first: python -m kit run {notebook} --name {Path(run).name}"
        )
    return folder

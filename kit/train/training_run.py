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
from transformers import PrinterCallback, TrainerCallback
from transformers.integrations import is_deepspeed_zero3_enabled, set_hf_deepspeed_config, unset_hf_deepspeed_config

from kit.chat import Chat
from kit.files import exclusive
from kit.models import without_progress
from kit.policy.suppress import suppress_tokens
from kit.train.checkpoint import export, is_done, open_run, restore, step_of
from kit.train.interrupt import stoppable
from kit.train.lora import restore_after
from kit.train.metrics import read_metrics
from kit.train.metrics_log import MetricsLog
from kit.train.processes import STRATEGY, rank, run_on_rank0, world_size
from kit.train.progress import Watcher
from kit.train.progress_meter import ProgressMeter
from kit.train.timed_saves import TimedSaves
from kit.train.watchers import default_watcher


def run(
    make_trainer: Callable[[ProgressMeter], Any],
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
        data: what it trains on, in order, each by its :func:`kit.episode.fingerprint`.
        watcher: shown the progress and all metric rows so far; None: one that suits the place.
        exports: steps after which the model so far is saved too.

    Returns:
        ``run_dir/model``: the trained model with its tokenizer and image processor.

    Raises:
        kit.train.interrupt.TrainingStopped: it was interrupted; says at which step it goes on.
        kit.policy.NotFinite: a loss, a gradient, logits or weights are infinite or NaN; nothing of the step is saved.
        kit.files.FolderInUse: another process trains in ``run_dir``.
    """
    final, first = run_dir / "model", rank() == 0
    watcher = watcher or default_watcher()
    with ExitStack() as held:

        def begin() -> tuple[Path | None, bool]:
            held.enter_context(exclusive(run_dir))
            newest = open_run(run_dir, settings, data, world_size(), os.environ.get(STRATEGY, "ddp"))
            return newest, is_done(run_dir, newest, steps)

        resume, done = run_on_rank0(begin)
        if done:
            restore(model, final)
            watcher.step(read_metrics(run_dir / "metrics.jsonl"))  # whoever draws the curves wants them now, too
            return final
        log = MetricsLog(run_dir, step_of(resume), watcher.step, writes=first)
        meter = ProgressMeter(run_dir, steps, log.rows, watcher, writes=first)
        lent = restore_after(model, chat.family.vision_modules, freeze_vision)
        held.enter_context(stoppable(run_dir, steps, watcher))
        with lent, suppress_tokens(model, chat.suppressed_ids), without_progress():
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
        self.trainer.check_weights()
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

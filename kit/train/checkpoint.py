"""Checkpoints that survive ``kill -9``: whole or absent, and resumed without being asked.

::

    run_dir/checkpoint/settings.json     what the run was started with
    run_dir/checkpoint/checkpoint-40/    weights, optimizer, schedule, random states, step: the last few, and the best
    run_dir/checkpoint/.partial/         one being written; never resumed, removed at the next start
    run_dir/checkpoint/.gone-…           one being removed; the same
    run_dir/model/                       the result: an ordinary checkpoint for ``from_pretrained``

A folder gets its name only once it is complete, by one rename.
"""

from __future__ import annotations

import json
import re
import shutil
import time
from collections.abc import Mapping, Sequence
from pathlib import Path
from statistics import fmean
from typing import Any

import numpy as np
import torch

from kit.chat import Chat
from kit.files import GONE, atomic_dir, commit_dir, delete_dir, explain_full_disk, read_json, write_text
from kit.models import load_model
from kit.train.arguments import device_of
from kit.train.finite import FiniteSteps
from kit.train.metrics import read_metrics

_MEMORY = {"per_device_batch_size", "gradient_checkpointing", "gpu_memory_utilization"}
_MAY_CHANGE = {"steps", "epochs", "save_every", "save_total_limit", "device"} | _MEMORY
"""Settings a run may be continued with other values of: none of them changes the steps already done."""


def schedule(items: int, length: int, seed: int) -> list[int]:
    """The order of a run's items: whole shuffled passes one after another, cut at ``length``.

    Fixed by ``seed`` alone and prefix-stable, so a resumed or prolonged run meets the same items.

    Args:
        items: number of items.
        length: number of places to fill.
        seed: fixes everything that is random.
    """
    if items < 1:
        raise ValueError("schedule: there is nothing to train on; give at least one item")
    passes = -(-length // items)
    order = [i for p in range(passes) for i in np.random.default_rng([seed, p]).permutation(items).tolist()]
    return order[:length]


def checkpoints_in(folder: Path) -> list[Path]:
    """The complete checkpoints in ``folder``; another name, such as ``checkpoint-40 (copy)``, is of somebody's own."""
    return [one for one in folder.iterdir() if re.fullmatch(r"checkpoint-[1-9][0-9]*", one.name) and one.is_dir()]


def newest_checkpoint(folder: Path) -> Path | None:
    """The complete checkpoint with the most steps in ``folder``, or None."""
    return max(checkpoints_in(folder) if folder.is_dir() else (), key=step_of, default=None)


def step_of(checkpoint: Path | None) -> int:
    """The step a checkpoint was saved at; 0 for None."""
    return int(checkpoint.name.rpartition("-")[2]) if checkpoint is not None else 0


def checkpoints_to_delete(
    checkpoints: Sequence[Path], keep: int, rows: Sequence[Mapping[str, Any]], every: int
) -> list[Path]:
    """Checkpoints that may go: all but the last ``keep`` and the best one, oldest first.

    The best is the one before which the mean reward of ``every`` steps was highest: one lucky batch doesn't make it.
    Without rewards (SFT) there is no best: the training loss says more of the batch than of the model.

    Args:
        checkpoints: folders, oldest first.
        keep: how many of the last ones stay.
        rows: of the metrics, with ``step`` and, where there is one, ``reward``.
        every: steps between two regular checkpoints.
    """
    # Those in between were saved for the time that had passed: they are worth something only while they are the last.
    ordered = sorted(checkpoints, key=step_of)
    passing = [one for one in ordered[:-1] if step_of(one) % every]
    ordered = [one for one in ordered if one not in passing]
    rewards = {int(row["step"]): row["reward"] for row in rows if "reward" in row}

    before = {one: [rewards[step] for step in rewards if 0 <= step_of(one) - step < every] for one in ordered}
    means = {one: fmean(found) for one, found in before.items() if found}
    best = max(means, key=means.__getitem__, default=None)
    return sorted([*passing, *(one for one in ordered[:-keep] if one != best)], key=step_of)


def open_run(
    run_dir: Path, settings: Mapping[str, Any], data: Sequence[str], processes: int = 1, strategy: str = "ddp"
) -> Path | None:
    """Start or continue the run in ``run_dir``: the checkpoint to resume from, None to begin.

    Args:
        run_dir: folder of the run.
        settings: the run's settings as plain values.
        data: what it trains on, in order, each by its :func:`kit.episode.fingerprint`.
        processes: that train together; a checkpoint holds the random states of each.
        strategy: how the model is divided among them (:data:`kit.train.launch.topology.Strategy`); so is a checkpoint.

    Raises:
        ValueError: the folder holds a run with other settings, other data, of another number of processes, or
            divided otherwise; or one that nothing says the settings of.
    """
    folder = run_dir / "checkpoint"
    folder.mkdir(parents=True, exist_ok=True)
    for left in (folder / ".partial", *folder.glob(f"{GONE}*"), *run_dir.glob(f"{GONE}*")):
        shutil.rmtree(left, ignore_errors=True)
    newest = newest_checkpoint(folder)
    path = folder / "settings.json"
    together = {"processes": processes, "strategy": strategy}
    mine = json.loads(json.dumps({"settings": dict(settings), "data": list(data), **together}))
    trained = (run_dir / "model").exists()
    if newest is not None or trained:
        theirs = read_json(path)
        if not isinstance(theirs, dict) or not isinstance(theirs.get("settings"), dict) or "data" not in theirs:
            raise ValueError(
                f"{run_dir} was trained, but nothing says how ({path} is missing, or holds something else): bring that "
                f"file back, remove {run_dir} to train anew, or branch with a tag (tag='…' in the notebook, --tag in a "
                "job)"
            )
        for name, value in mine["settings"].items():
            new_and_off = name not in theirs["settings"] and not value
            if name not in _MAY_CHANGE and not new_and_off and theirs["settings"].get(name) != value:
                raise ValueError(
                    f"{run_dir} holds a run with {name}={theirs['settings'].get(name)!r}, now {name}={value!r}: "
                    "continue with the same value, or branch: a tag (tag='…' in the notebook, --tag in a "
                    "job) keeps data and earlier stages, and trains anew"
                )
        if theirs["data"] != mine["data"]:
            raise ValueError(f"{run_dir} holds a run on other data: choose another name for the new run")
        if (before := theirs.get("processes", 1)) != processes:
            raise ValueError(
                f"{run_dir} holds a run of {before} processes, now there are {processes}: go on with {before}, or "
                "choose another name for the new run"
            )
        if (divided := theirs.get("strategy", "ddp")) != strategy:
            raise ValueError(
                f"{run_dir} holds a run divided by {divided}, now it is {strategy}: go on with {divided}, or choose "
                "another name for the new run"
            )
    write_text(path, json.dumps(mine))
    return newest


def is_done(run_dir: Path, newest: Path | None, steps: int) -> bool:
    """True if the run's model has been trained for ``steps`` steps, also where its checkpoints have been removed since.

    Args:
        run_dir: folder of the run.
        newest: its newest checkpoint, from :func:`open_run`.
        steps: steps of the whole run.

    Raises:
        ValueError: more steps are wanted, but there is no checkpoint to go on from.
    """
    if not (run_dir / "model").exists():
        return False
    if newest is not None:
        return step_of(newest) >= steps
    rows = read_metrics(run_dir / "metrics.jsonl")
    if (last := int(rows[-1]["step"]) if rows else 0) < steps:
        raise ValueError(
            f"{run_dir} was trained for {last} steps and its checkpoints are gone, so it can't go on to step {steps}: "
            f"remove {run_dir} to train anew, or branch: a tag (tag='…' in the notebook, --tag in a job)"
        )
    return True


class SafeCheckpoints(FiniteSteps):
    """Put before a TRL trainer: checkpoints appear whole and hold finite numbers; nothing is sent anywhere.

    The trainer writes into ``.partial``; a rename makes it a checkpoint. Older ones go after that, so
    there is a complete one at any moment. ``args.save_total_limit`` says how many of the last stay, beside the best
    (:func:`checkpoints_to_delete`).
    """

    _staging: str | None = None
    save_seconds = 0.0
    """Time that the last checkpoint took."""

    def _get_output_dir(self, trial: Any) -> str:
        return self._staging or super()._get_output_dir(trial)  # type: ignore[misc]

    def _save_checkpoint(self, model: Any, trial: Any) -> None:
        trainer: Any = self
        began = time.perf_counter()
        self.check_weights()
        folder = Path(trainer.args.output_dir)
        name = f"checkpoint-{trainer.state.global_step}"
        self._staging = str(folder / ".partial")
        try:
            with explain_full_disk(folder / name, Exception):
                super()._save_checkpoint(model, trial)  # type: ignore[misc]
        finally:
            self._staging = None
        trainer.accelerator.wait_for_everyone()
        if trainer.is_world_process_zero():
            commit_dir(folder / ".partial" / name, folder / name)
            rows = read_metrics(folder.parent / "metrics.jsonl")
            keep, every = trainer.args.save_total_limit, trainer.args.save_steps
            for old in checkpoints_to_delete(checkpoints_in(folder), keep, rows, every):
                delete_dir(old)
        trainer.accelerator.wait_for_everyone()
        self.save_seconds = time.perf_counter() - began

    def _load_from_checkpoint(self, resume_from_checkpoint: str, model: Any = None) -> None:
        """Load weights by the names they were saved under.

        Transformers saves Qwen2.5-VL under its published names and resumes under its internal ones
        (transformers #43701): nothing matches, and it would go on from the start weights with a warning.
        """
        trainer: Any = self
        model = trainer.model if model is None else model
        if trainer.is_fsdp_enabled or hasattr(model, "peft_config"):
            super()._load_from_checkpoint(resume_from_checkpoint, model)  # type: ignore[misc]
        else:
            restore(model, Path(resume_from_checkpoint))

    def create_model_card(self, *args: Any, **kwargs: Any) -> None:
        """No card: TRL's describes a hub upload, which this is not."""

    def _send_telemetry(self) -> None:
        """TRL reports every trainer it makes to a server; a run here tells nobody."""


def export(model: Any, chat: Chat, folder: Path) -> Path:
    """Save model, tokenizer and image processor as an ordinary checkpoint; returns ``folder``.

    Args:
        model: a transformers model or its PEFT wrapper.
        chat: the model's chat encoder.
        folder: folder to write.
    """
    with atomic_dir(folder) as partial:
        for part in (model, chat.tokenizer, chat.image_processor):
            part.save_pretrained(str(partial))
    return folder


def restore(model: Any, folder: Path) -> None:
    """Put the weights saved in ``folder`` into ``model``; every weight must be there."""
    model.load_state_dict(load_model(folder, dtype=model.dtype).state_dict())


def load_for_training(path: str | Path, settings: Any) -> tuple[Any, Chat]:
    """Load a model to train, and its chat: weights that learn in float32; beside adapters, on a GPU, others bfloat16.

    The trainer moves them to where it computes.

    Args:
        path: folder or hub id of the checkpoint.
        settings: of SFT or GRPO.

    Raises:
        ValueError: the checkpoint is missing or of another family.
    """
    halved = settings.lora_rank > 0 and device_of(settings, path) == "cuda"
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

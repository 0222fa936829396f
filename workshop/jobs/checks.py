"""Refuse a job that can't succeed, before the first of its notebooks runs."""

from __future__ import annotations

import os
from collections.abc import Mapping
from dataclasses import fields
from pathlib import Path
from typing import TYPE_CHECKING, Any

from kit.files import runs_folder, start_run
from papers.registry import paper_of
from workshop.jobs.notebooks import Source
from workshop.jobs.parameters import ParameterError, Value
from workshop.jobs.task_files import check_choices, check_tasks

if TYPE_CHECKING:
    from workshop.jobs.run import Job

GPU_PROFILES = ("gpu", "node")


class JobError(Exception):
    """A job that can't start or did not end well; the message says what to do."""


def check_values_together(source: Source, values: Mapping[str, Value]) -> None:
    """Refuse at once what a notebook would refuse only after those before it have worked for long.

    Raises:
        ParameterError: values that don't go together.
    """
    paper = paper_of(source.name)
    settings = paper.settings_of(source.name) if paper else None
    if settings is None:
        return
    from kit.train.launch.topology import ProcessConfig

    known = {field.name for field in fields(settings)}
    try:
        settings(**{key: value for key, value in values.items() if key in known})
        n = ProcessConfig.of(values).num_processes
    except ValueError as error:
        raise ParameterError(f"notebook {source.number}: {error}") from None
    _shared(source, values, n or 1)  # 0: as many as can share the batch


def _shared(source: Source, values: Mapping[str, Value], n: int) -> None:
    """Refuse a batch that ``n`` processes can't share equally."""
    v: Any = values
    batch = (
        v["prompts_per_batch"] * v["group_size"] if "prompts_per_batch" in v else v["batch_size"] + v.get("replay", 0)
    )
    if batch % (v["per_device_batch_size"] * n):
        raise ParameterError(
            f"notebook {source.number}: a batch of {batch} episodes on {n} process(es) with per_device_batch_size="
            f"{v['per_device_batch_size']} each: {v['per_device_batch_size'] * n} at once don't divide it; choose "
            "another per_device_batch_size"
        )


def check_machine(job: Job) -> None:
    """Refuse a job that can't succeed here, before the first of its notebooks runs.

    Raises:
        JobError: a stage before it is missing, the runs' folder can't be written, the profile is for GPUs and there is
            none, or a model can't be loaded from here.
        ParameterError: a value that the paper's environment doesn't know.
        kit.train.playable.UnplayableTasks: tasks that it is given can't be played or scored.
        LaunchError: too few GPUs, something isn't installed, the rank file is missing, or this machine isn't in it.
    """
    from kit.train.launch.topology import ProcessConfig, this_machine

    _check_gpu(job)
    for model in dict.fromkeys(str(planned.values.get("model") or "") for planned in job.notebooks):
        if model:
            _check_model(model)
    for planned in job.notebooks:
        processes = ProcessConfig.of(planned.values)
        hosts = processes.machines()
        processes.check(hosts[this_machine(hosts)].slots)
    check_choices(job)
    check_tasks(job)
    _check_folder(job)


def _check_folder(job: Job) -> None:
    folder = runs_folder()
    nearest = next(path for path in (folder, *folder.parents) if path.is_dir())
    if not os.access(nearest, os.W_OK):
        raise JobError(f"{folder} can't be written: set KIT_RUNS to a folder of your own, such as KIT_RUNS=~/kit-runs")
    try:
        start_run(job.branch_of or job.name, job.tag, job.needs)
    except FileNotFoundError as error:
        raise JobError(str(error)) from None


def _check_gpu(job: Job) -> None:
    """Refuse a profile for GPUs on a machine without one, unless every model was set to the committed tiny one."""
    if job.profile not in GPU_PROFILES or not any(paper_of(planned.source.name) for planned in job.notebooks):
        return
    models = [planned.values["model"] for planned in job.notebooks if "model" in planned.values]
    if models and not any(models):
        return
    import torch

    if not torch.cuda.is_available():
        raise JobError(
            f"profile {job.profile!r} is for GPUs and this machine has none that torch can use: "
            f"take --profile laptop, or ask what would be needed: python -m kit plan {job.notebooks[0].source.number}"
        )


def _check_model(model: str) -> None:
    """Refuse a model that is neither a checkpoint's folder, nor in the hub's cache, nor at a hub that answers."""
    from huggingface_hub import file_exists, try_to_load_from_cache
    from huggingface_hub.errors import HFValidationError

    if (Path(model) / "config.json").is_file():
        return
    if Path(model).exists() or model.startswith((".", "/", "~")):
        raise JobError(f"model={model!r} is not a checkpoint: a folder with a config.json is needed")
    try:
        if isinstance(try_to_load_from_cache(model, "config.json"), str) or file_exists(model, "config.json"):
            return
        why = "the hub has no such model"
    except HFValidationError:
        why = "that is neither a folder nor the name of a model"
    except Exception as error:
        why = f"the hub doesn't answer ({type(error).__name__})"
    raise JobError(f"model={model!r}: {why}; give a folder that holds the checkpoint: --set model=FOLDER")

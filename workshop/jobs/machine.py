"""Refuse a job that can't succeed on this machine, before the first of its notebooks runs."""

from __future__ import annotations

import os
from collections.abc import Sequence
from pathlib import Path
from types import SimpleNamespace

from kit.files import runs_folder, start_run
from papers.registry import paper_of
from tiny import TINY
from workshop.jobs.checks import JobError
from workshop.jobs.run import Job, evaluations_engine, plan
from workshop.jobs.task_files import check_choices, check_tasks

GPU_PROFILES = ("gpu", "node")


def check_machine(job: Job) -> None:
    """Refuse a job that can't succeed here, before the first of its notebooks runs.

    Raises:
        JobError: a stage before it is missing, the runs' folder can't be written, the profile is for GPUs and there is
            none, or a model can't be loaded from here.
        ParameterError: a value that the paper's environment doesn't know.
        kit.train.playable.UnplayableTasks: tasks that it is given can't be played or scored.
        LaunchError: too few GPUs, something isn't installed, the rank file is missing, or this machine isn't in it.
    """
    from kit.train.arguments import gpus_of
    from kit.train.launch.topology import ProcessConfig, this_machine

    _check_gpu(job)
    ProcessConfig(rollout_engine="colocate" if evaluations_engine(job) == "colocate" else "transformers").check(1)
    for model in dict.fromkeys(str(planned.values.get("model") or "") for planned in job.notebooks):
        if model:
            _check_model(model)
    for planned in job.notebooks:
        processes = ProcessConfig.of(planned.values)
        hosts = processes.machines()
        settings, trained = SimpleNamespace(**planned.values), planned.values.get("model") or TINY
        gpus = gpus_of(settings, trained, divided=processes.strategy != "ddp")
        processes.check(hosts[this_machine(hosts)].slots, gpus)
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
        raise JobError(_needs_gpu(job))


def _needs_gpu(job: Job) -> str:
    """Say what a job of a profile for GPUs would run, what that takes, and what runs on a machine without one."""
    from workshop.jobs.plan import stages  # torch and trl: only where there is something to tell

    numbers = [planned.source.number for planned in job.notebooks]
    family = job.notebooks[0].source.family
    target, notebooks = (family, "notebooks") if len(numbers) > 1 else (numbers[0], "notebook")
    # A notebook may leave the model to those before it, and train nothing itself: then it is its family that tells.
    asked = {target: job, family: plan(family, job.profile, [], None)}
    model = next(str(v) for one in asked.values() for p in one.notebooks if (v := p.values.get("model")))
    found = {name: {(each.gpus, each.memory) for _, each in stages(one, None, None)} for name, one in asked.items()}
    planned, sizes = next(((name, sizes) for name, sizes in found.items() if sizes), ("", set()))
    wanted = " and ".join(f"{gpus} × {memory / 1e9:g} GB" for gpus, memory in sorted(sizes))
    return (
        f"profile {job.profile!r} would run {notebooks} {', '.join(numbers)} with {model} on "
        f"{wanted or 'one GPU'}{' of GPU memory' if wanted else ''}, and this machine has no GPU that torch can use.\n"
        + (f"What each part takes: python -m kit plan {planned} --profile {job.profile}\n" if planned else "")
        + f"What runs here, with the committed tiny model: python -m kit run {target} --profile laptop"
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


def by_memory(job: Job, sets: Sequence[str]) -> Job:
    """Fit a job of the profile for one GPU to the GPU that is here, and say in a line each what was chosen."""
    if job.profile != "gpu":
        return job
    import torch

    if not torch.cuda.is_available():  # a tiny model was set
        return job
    from workshop.jobs import plan
    from workshop.jobs.run import begun_with

    here = min(torch.cuda.mem_get_info(number)[1] for number in range(torch.cuda.device_count()))
    job, told = plan.by_memory(job, sets, here, begun_with(job.name))
    print(*told, sep="\n", end="\n" if told else "", flush=True)
    return job

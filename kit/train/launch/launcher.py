"""Training in several processes, on one machine or many, started and followed from a notebook.

Torch's agent (``torchrun``) starts them, accelerate divides the work, DeepSpeed or FSDP2 the model; nothing distributed
is written here. (``accelerate launch`` calls the same agent, but on machines without a GPU starts one process only.)
What a job is told and what it leaves::

    run_dir/launch/job.json         what is called, with which values, on which machines
    run_dir/launch/deepspeed.json   DeepSpeed's settings, if it is used
    run_dir/launch/log-0.txt        what the processes of machine 0 print
    run_dir/launch/failed-3.json    why process 3 ended, if it did

The notebook's process is the parent of all: interrupted, terminated or killed, it takes them along.
"""

from __future__ import annotations

import gc
import os
import re
import signal
import subprocess
import sys
import time
import uuid
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import asdict, replace
from pathlib import Path
from typing import Any, Protocol

import torch

from kit.files import find_run, read_json, write_json
from kit.policy.vllm_evaluation import OnDemand
from kit.train.arguments import gpus_of
from kit.train.interrupt import stoppable
from kit.train.launch.cores import AUTO, on_all_cores
from kit.train.launch.topology import PORT, Host, LaunchError, ProcessConfig, check_port, free_port, this_machine
from kit.train.launch.worker import STARTED_BY
from kit.train.metrics import read_metrics
from kit.train.processes import STRATEGY
from kit.train.progress import FILE, Watcher, read_progress
from kit.train.watchers import default_watcher
from kit.waiting import counting

LAST_LINES = 15
"""Of the log, in an error's message."""


class Training(Protocol):
    """A training told in plain values: a dataclass that JSON can carry, and that trains when it is called."""

    @property
    def run_dir(self) -> str: ...

    @property
    def settings(self) -> Any: ...

    def __call__(self, watcher: Watcher | None = None) -> Any: ...


def launch(training: Training, processes: ProcessConfig, watcher: Watcher | None = None, poll: float = 0.5) -> Path:
    """Train, here or in as many processes as are wanted; returns the folder of the trained model.

    The same call again resumes, and does nothing if the training was done.

    Args:
        training: a dataclass, such as :class:`kit.train.sft.SFTTraining`. One process is this one: it is simply called,
            unless it samples by a colocated engine.
        processes: how many processes, where, and what is divided among them. With as many as there are cores
            (:data:`kit.train.launch.cores.AUTO`) the training's ``per_device_batch_size`` is adapted.
        watcher: shown the progress and the rows of metrics; None: one that suits the place.
        poll: seconds between two looks at what the processes have written.

    Raises:
        LaunchError: they can't be started here, or one failed: says which one, why, and where its log is.
        kit.train.interrupt.TrainingStopped: it was interrupted; says at which step it goes on.
    """
    run_dir = Path(training.run_dir)
    watcher = watcher or default_watcher()
    watcher.begin()
    gpus = gpus_of(training.settings, getattr(training, "start", None), divided=processes.strategy != "ddp")
    if torch.cuda.device_count() > gpus:
        asked = getattr(training.settings, "device", "auto")
        print(f"device={asked!r}: on processor cores, not on a GPU; device='cuda' would take it", flush=True)
    if processes.num_processes == AUTO and not processes.hostfile:
        settings, n = on_all_cores(training.settings, run_dir, gpus=gpus)
        training = replace(training, settings=settings)  # type: ignore[type-var]
        processes = replace(processes, num_processes=n)
    OnDemand.close()  # its room is the training's now, and so is what torch keeps of models that are gone
    gc.collect()
    torch.cuda.empty_cache()
    # A process has one colocated engine in its life, and gives the engine's memory back when it ends.
    engine = getattr(training.settings, "rollout_engine", "") == "colocate"
    with stoppable(run_dir, watcher=watcher), counting(0, "the watcher tells it"):
        if processes.num_processes == 1 and not processes.hostfile and not engine:
            training(watcher)
        else:
            _launch(training, run_dir, processes, gpus, watcher, poll)
    return run_dir / "model"


def _launch(
    training: Training, run_dir: Path, processes: ProcessConfig, gpus: int, watcher: Watcher, poll: float
) -> None:
    """Train in processes of their own, and follow what they write."""
    kind = type(training)
    if kind.__module__ == "__main__":
        raise LaunchError(f"{kind.__name__} is defined in the notebook itself: put it into a module others can import")
    hosts = processes.machines()
    if this_machine(hosts) != 0:
        raise LaunchError(f"this is not {hosts[0].name}, the rank file's first machine: here, python -m kit join RUN")
    processes.check(hosts[0].slots, gpus)
    folder = run_dir / "launch"
    folder.mkdir(parents=True, exist_ok=True)
    for old in folder.glob("failed-*.json"):
        old.unlink()
    port = processes.port or (PORT if len(hosts) > 1 else free_port())
    check_port(port)
    job = {
        "id": uuid.uuid4().hex,
        "call": f"{kind.__module__}:{kind.__qualname__}",
        "values": asdict(training),  # type: ignore[call-overload]
        "hosts": [asdict(host) for host in hosts],
        "strategy": processes.strategy,
        "on_gpu": gpus > 0,
        "port": port,
        "over": False,
    }
    write_json(folder / "job.json", job)
    where = f"{run_dir.name}/launch/log-0.txt"  # under the runs' folder, wherever that is
    together = sum(host.slots for host in hosts)
    print(f"{together} processes on {len(hosts)} machine(s), {processes.strategy}; their log: {where}")
    follower = Follower(run_dir, watcher)
    try:
        with started(folder / "job.json", 0) as agent:
            while agent.poll() is None:
                time.sleep(poll)
                follower.look()
    finally:
        write_json(folder / "job.json", {**job, "over": True})
    if agent.returncode:
        raise LaunchError(_why(folder, 0, agent.returncode))
    follower.look(last=True)


def join(name: str, wait: float = 600.0, poll: float = 1.0) -> int:
    """On another machine of the rank file: take part in whatever the run ``name`` starts; returns how many jobs.

    The runs' folder must be shared by all machines (``KIT_RUNS``).

    Args:
        name: name of the run.
        wait: seconds; when nothing was started for so long, it is over. After a job it is, too, unless a notebook of
            the run is being executed, which may start another.
        poll: seconds between two looks.

    Raises:
        LaunchError: this machine isn't in the rank file, can't do its part, or a process failed.
    """
    seen: set[str] = set()
    waited_since = executed = time.monotonic()
    while time.monotonic() - waited_since < wait:
        for path in sorted(find_run(name).glob("**/launch/job.json")):
            job = read_json(path)
            if job["over"] or job["id"] in seen or len(job["hosts"]) == 1:
                continue
            hosts = [Host(**host) for host in job["hosts"]]
            machine = this_machine(hosts)
            if machine == 0:
                raise LaunchError(f"this is {hosts[0].name}, the rank file's first machine: it runs the notebook")
            slots = hosts[machine].slots
            ProcessConfig(slots, job["strategy"], samples=False).check(slots, None if job["on_gpu"] else 0)
            print(f"taking part in {path.parents[1].name} as machine {machine}: {slots} processes")
            seen.add(job["id"])
            with started(path, machine) as agent:
                agent.wait()
            if agent.returncode:
                raise LaunchError(_why(path.parent, machine, agent.returncode))
            waited_since = time.monotonic()
        executed = time.monotonic() if _is_executed(name) else max(executed, waited_since)
        if seen and time.monotonic() - executed > 5 * poll:  # not between two notebooks
            break
        time.sleep(poll)
    return len(seen)


def _is_executed(name: str) -> bool:
    record = read_json(find_run(name) / "params.json") or {"notebooks": {}}
    return any(one["status"] == "running" for one in record["notebooks"].values())


@contextmanager
def started(path: Path, machine: int) -> Iterator[subprocess.Popen[bytes]]:
    """Start this machine's processes of the job in ``path``; whatever happens in the block, none outlives it."""
    job = read_json(path)
    hosts = job["hosts"]
    agent = [sys.executable, "-m", "torch.distributed.run", "--nnodes", str(len(hosts)), "--node-rank", str(machine)]
    agent += ["--nproc-per-node", str(hosts[machine]["slots"]), "--master-addr", _address(hosts)]
    agent += ["--master-port", str(job["port"]), "-m", "kit.train.launch.worker", str(path)]
    with (path.parent / f"log-{machine}.txt").open("ab") as log:
        process = subprocess.Popen(
            agent,
            stdin=subprocess.DEVNULL,
            stdout=log,
            stderr=subprocess.STDOUT,
            env={**os.environ, **_environment(job, path.parent), STARTED_BY: str(os.getpid())},
            start_new_session=True,  # Ctrl-C is for the notebook: it ends them in order
        )
        try:
            yield process
        finally:
            _end(process)


def _address(hosts: Sequence[dict[str, Any]]) -> str:
    return "127.0.0.1" if len(hosts) == 1 else str(hosts[0]["name"])


def _end(process: subprocess.Popen[bytes], patience: float = 15.0) -> None:
    """Ask the agent to end its workers; those whose agent is gone end themselves (``worker.end_with``)."""
    if process.poll() is not None:
        return
    process.send_signal(signal.SIGTERM)
    try:
        process.wait(patience)
    except subprocess.TimeoutExpired:
        process.kill()
        process.wait()


def _environment(job: Mapping[str, Any], folder: Path) -> dict[str, str]:
    """Environment variables that tell accelerate how the model is divided (as ``accelerate launch`` would).

    GPUs that a job doesn't take are hidden from it: each process that sees one would hold some of its memory.
    """
    strategy = job["strategy"]
    common = {"OMP_NUM_THREADS": os.environ.get("OMP_NUM_THREADS", "1"), STRATEGY: strategy}
    if not job["on_gpu"]:
        common |= {"CUDA_VISIBLE_DEVICES": "", "DS_ACCELERATOR": "cpu"}
    if strategy == "ddp":
        return common
    if strategy == "fsdp2":
        return common | {
            "ACCELERATE_USE_FSDP": "true",
            "FSDP_VERSION": "2",
            "FSDP_RESHARD_AFTER_FORWARD": "true",
            "FSDP_AUTO_WRAP_POLICY": "TRANSFORMER_BASED_WRAP",
            "FSDP_STATE_DICT_TYPE": "SHARDED_STATE_DICT",
        }
    settings = folder / "deepspeed.json"
    write_json(settings, deepspeed_settings(int(strategy[-1])))
    found = {"ACCELERATE_USE_DEEPSPEED": "true", "ACCELERATE_DEEPSPEED_CONFIG_FILE": str(settings)}
    return common | found


def deepspeed_settings(stage: int) -> dict[str, Any]:
    """DeepSpeed's; what is ``auto`` the trainer fills in."""
    batch = ("train_batch_size", "train_micro_batch_size_per_gpu", "gradient_accumulation_steps", "gradient_clipping")
    return {
        "zero_optimization": {"stage": stage, "stage3_gather_16bit_weights_on_model_save": stage == 3},
        "zero_allow_untested_optimizer": True,  # the trainer's AdamW
        "bf16": {"enabled": "auto"},
        **dict.fromkeys(batch, "auto"),
    }


class Follower:
    """Shows a watcher the metrics and the progress that another process writes."""

    def __init__(self, run_dir: Path, watcher: Watcher) -> None:
        self.run_dir, self.watcher = run_dir, watcher
        self.before = {name: self._state(name) for name in ("metrics.jsonl", FILE)}
        self.shown = 0

    def _state(self, name: str) -> tuple[int, int, int] | None:
        """Which file it is, how long, and of when: a run that resumes begins by replacing it."""
        try:
            found = (self.run_dir / name).stat()
        except FileNotFoundError:
            return None
        return found.st_ino, found.st_size, found.st_mtime_ns

    def _is_new(self, name: str) -> bool:
        state = self._state(name)
        changed, self.before[name] = state != self.before[name], state
        return changed

    def look(self, last: bool = False) -> None:
        """Show what is new; ``last``: what there is."""
        if self._is_new(FILE) and (progress := read_progress(self.run_dir)) is not None:
            self.watcher.progress(progress)
        if not self._is_new("metrics.jsonl") and not last:
            return
        rows = read_metrics(self.run_dir / "metrics.jsonl")
        if len(rows) > self.shown:
            self.watcher.step(rows)
        self.shown = len(rows)


def _why(folder: Path, machine: int, code: int) -> str:
    """Explain what ended a job: the first error any process left, or how the agent's log says that one was killed."""
    log = folder / f"log-{machine}.txt"
    text = log.read_text(encoding="utf-8", errors="replace")
    failed = sorted((read_json(path) for path in folder.glob("failed-*.json")), key=lambda one: one["at"])
    root = text.rpartition("Root Cause")[2]  # of the agent's summary
    killed = re.search(r"rank\s+: (\d+)[^\n]*\n\s*exitcode\s+: -(\d+)", root)
    if killed and int(killed[2]) != signal.SIGTERM:  # that is how the agent ends those that are left
        memory = ", most likely for its memory" * (int(killed[2]) == signal.SIGKILL)
        cause = f"process {killed[1]} was ended by signal {killed[2]}{memory}"
    elif failed:
        first = failed[0]
        cause = f"process {first['process']} on {first['host']}: {first['error']}"
    else:
        cause = f"torchrun ended with code {code}"
    tail = "\n".join(text.splitlines()[-LAST_LINES:])
    return f"{cause}\nThe same command again goes on from the last checkpoint. The log, {log}, ends with\n{tail}"

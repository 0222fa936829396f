"""Machines and processes that train together, how the model is divided among them, and whether that can be.

A rank file names the machines, the first of which runs the notebook::

    node-a slots=8
    node-b slots=8      # python -m kit join RUN, there
"""

from __future__ import annotations

import importlib.util
import os
import re
import socket
from collections.abc import Mapping
from dataclasses import dataclass, fields
from pathlib import Path
from typing import Any, Literal, get_args

from kit.policy.limits import ENGINE
from kit.train.launch.cores import AUTO

Strategy = Literal["ddp", "zero2", "zero3", "fsdp2"]
"""What each process holds of its own: everything (DDP); weights, but its part of gradients and of the optimizer
(ZeRO-2); its part of the weights too (ZeRO-3 by DeepSpeed, FSDP2 by torch)."""

RolloutEngine = Literal["transformers", "colocate", "server"]

PORT = 29500
"""Where several machines meet, unless another is given (torch's default)."""

_LINE = re.compile(r"(?P<host>[^\s=#]+)(\s+slots=(?P<slots>[1-9]\d*))?")


class LaunchError(RuntimeError):
    """Processes can't be started together, or one of them failed; the message says which and why."""


@dataclass(frozen=True)
class Host:
    """A machine, and how many processes run on it."""

    name: str
    slots: int


@dataclass(frozen=True)
class ProcessConfig:
    """The processes that train together; the fields are the notebooks' parameters of the same names.

    Attributes:
        num_processes: their number, on all machines; 0: as many as there are cores here
            (:mod:`kit.train.launch.cores`), with a rank file as many as it has slots.
        strategy: what is divided among them.
        rollout_engine: samples the episodes in GRPO: ``transformers``, or vLLM ``colocate``d with each
            or at a ``server``.
        hostfile: the rank file; empty: this machine alone.
        vllm_server_url: that server's address, ``http://host:port``.
        port: where they meet; 0: any free one, or with several machines :data:`PORT`.
        samples: whether episodes are sampled on the way, as in GRPO; SFT has all of its own beforehand.
    """

    num_processes: int = 1
    strategy: Strategy = "ddp"
    rollout_engine: RolloutEngine = "transformers"
    hostfile: str = ""
    vllm_server_url: str = ""
    port: int = 0
    samples: bool = True

    @classmethod
    def of(cls, parameters: Mapping[str, Any]) -> ProcessConfig:
        """Read the configuration from a notebook's parameters; those it doesn't have keep their defaults.

        Raises:
            ValueError: naming the parameter, its value and what it may be.
        """
        told = [field.name for field in fields(cls) if field.name in parameters and field.name != "samples"]
        given = {name: parameters[name] for name in told}
        return cls(**given, samples="group_size" in parameters or "epochs" not in parameters)

    def __post_init__(self) -> None:
        if self.num_processes < AUTO:
            raise ValueError(
                f"num_processes={self.num_processes}: at least 1 process trains; {AUTO} means one for each core"
            )
        for name, kind in (("strategy", Strategy), ("rollout_engine", RolloutEngine)):
            if getattr(self, name) not in (known := get_args(kind)):
                raise ValueError(f"{name}={getattr(self, name)!r}: choose one of {', '.join(known)}")
        if (self.rollout_engine == "server") != bool(self.vllm_server_url):
            raise ValueError(
                f"vllm_server_url={self.vllm_server_url!r} with rollout_engine={self.rollout_engine!r}: a server needs "
                "its address, http://host:port, and the others have none"
            )

    def machines(self) -> list[Host]:
        """List the machines of the rank file, or this one alone.

        Raises:
            LaunchError: the file is missing or says something else.
        """
        if not self.hostfile:
            return [Host(socket.gethostname(), self.num_processes)]
        found = read_hosts(self.hostfile)
        if self.num_processes not in (AUTO, sum(host.slots for host in found)):
            slots = " + ".join(str(host.slots) for host in found)
            raise LaunchError(
                f"{self.hostfile}: {slots} slots, but {self.num_processes} processes are wanted: make them agree"
            )
        return found

    def check(self, slots: int, gpus: int | None = None) -> None:
        """Refuse what this machine can't do with ``slots`` processes; ``gpus`` of a training that takes fewer than all.

        Raises:
            LaunchError: too few GPUs, DeepSpeed missing, or FSDP2 without a GPU.
        """
        import torch

        gpus = torch.cuda.device_count() if gpus is None else gpus
        if gpus and gpus < slots:
            raise LaunchError(
                f"{slots} processes on {socket.gethostname()}, which has {gpus} GPU(s): set num_processes={gpus}, name "
                "more machines in a rank file, or choose another profile"
            )
        if self.strategy.startswith("zero") and importlib.util.find_spec("deepspeed") is None:
            raise LaunchError(f"strategy={self.strategy!r} needs DeepSpeed: make lab LOCK=gpu, or choose ddp or fsdp2")
        if self.rollout_engine == "colocate" and importlib.util.find_spec("vllm") is None:
            raise LaunchError(
                f"colocate needs vLLM: make lab LOCK=gpu; or --set rollout_engine=transformers ({ENGINE}=transformers "
                "for evaluations alone), by which a step on an H200 took 168 s where vLLM took 20.6 (docs/scaling.md)"
            )
        if self.strategy == "fsdp2" and self.samples and self.rollout_engine == "transformers":
            raise LaunchError("FSDP2 divides the weights that transformers samples from: add colocate, or choose ddp")
        if self.strategy == "fsdp2" and not gpus:
            raise LaunchError("strategy='fsdp2' needs GPUs: accelerate divides nothing between CPUs; choose ddp")


def read_hosts(path: str | Path) -> list[Host]:
    """The machines of a rank file, in order.

    Raises:
        LaunchError: naming file and line.
    """
    try:
        lines = Path(path).read_text(encoding="utf-8").splitlines()
    except OSError as error:
        raise LaunchError(f"rank file {path}: {error.strerror}; one line a machine: `node-a slots=8`") from error
    found: list[Host] = []
    for number, line in enumerate(lines, start=1):
        text = line.partition("#")[0].strip()
        if not text:
            continue
        match = _LINE.fullmatch(text)
        if match is None or any(match["host"] == host.name for host in found):
            raise LaunchError(f"rank file {path}, line {number}: {text!r}; one line a machine, once: `node-a slots=8`")
        found.append(Host(match["host"], int(match["slots"] or 1)))
    if not found:
        raise LaunchError(f"rank file {path} names no machine; one line each: `node-a slots=8`")
    return found


def this_machine(hosts: list[Host]) -> int:
    """Find this machine's number among them: as ``KIT_MACHINE`` or SLURM says, else by its name.

    Raises:
        LaunchError: none of them.
    """
    for variable in ("KIT_MACHINE", "SLURM_NODEID"):
        said = os.environ.get(variable, "")
        if said:
            if not said.isdigit() or int(said) >= len(hosts):
                raise LaunchError(f"{variable}={said}: a number from 0 to {len(hosts) - 1}, the machine's line, less 1")
            return int(said)
    if len(hosts) == 1:
        return 0
    names = {socket.gethostname(), socket.getfqdn(), socket.gethostname().partition(".")[0]}
    for place, host in enumerate(hosts):
        if host.name in names:
            return place
    raise LaunchError(
        f"this machine ({socket.gethostname()}) isn't in the rank file ({', '.join(host.name for host in hosts)}): "
        "write its name there, or set KIT_MACHINE to its line's number, counted from 0"
    )


def free_port() -> int:
    """One that nobody listens on."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])


def check_port(port: int) -> None:
    """Refuse a port that something listens on already.

    Raises:
        LaunchError: naming it.
    """
    with socket.socket() as probe:
        probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)  # one that was left a moment ago is free
        try:
            probe.bind(("", port))
        except OSError as error:
            raise LaunchError(
                f"port {port} is taken ({error.strerror}): another training may run here; give another port"
            ) from error

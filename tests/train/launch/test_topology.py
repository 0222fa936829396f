"""Which machines train together, and what is refused before anything starts."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
import torch

from kit.train.launch import topology as machines
from kit.train.launch.topology import Host, LaunchError, ProcessConfig, read_hosts, this_machine
from kit.train.launch.worker import check_alike, installed


def ranks(folder: Path, text: str) -> Path:
    path = folder / "hosts.txt"
    path.write_text(text)
    return path


def test_a_rank_file(tmp_path: Path) -> None:
    path = ranks(tmp_path, "# two nodes\nnode-a slots=8\n\n10.0.0.2   # one\n")
    assert read_hosts(path) == [Host("node-a", 8), Host("10.0.0.2", 1)]
    assert ProcessConfig(9, hostfile=str(path)).machines() == read_hosts(path)


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("node-a slots=0\n", "line 1: 'node-a slots=0'"),
        ("node-a\nnode-a slots=2\n", "line 2: 'node-a slots=2'"),
        ("node-a 8\n", "line 1: 'node-a 8'"),
        ("# nobody\n", "names no machine"),
    ],
)
def test_a_rank_file_that_says_something_else(tmp_path: Path, text: str, said: str) -> None:
    with pytest.raises(LaunchError, match=said):
        read_hosts(ranks(tmp_path, text))


def test_no_rank_file_or_other_slots(tmp_path: Path) -> None:
    with pytest.raises(LaunchError, match="nowhere: No such file"):
        ProcessConfig(2, hostfile="nowhere").machines()
    with pytest.raises(LaunchError, match=r"4 \+ 4 slots, but 16 processes are wanted"):
        ProcessConfig(16, hostfile=str(ranks(tmp_path, "a slots=4\nb slots=4\n"))).machines()


def test_a_configuration_is_read_from_a_notebooks_parameters() -> None:
    parameters = {"num_processes": 16, "strategy": "zero3", "hostfile": "ranks.txt", "steps": 3, "seed": 0}
    assert ProcessConfig.of(parameters) == ProcessConfig(16, "zero3", hostfile="ranks.txt")
    assert ProcessConfig.of({}) == ProcessConfig()
    assert ProcessConfig.of({"samples": 20}) == ProcessConfig(), "a notebook's samples are none of a topology's"


@pytest.mark.parametrize(
    ("parameters", "said"),
    [
        ({"num_processes": -1}, "num_processes=-1: at least 1"),
        ({"strategy": "zero1"}, "strategy='zero1': choose one of ddp, zero2, zero3, fsdp2"),
        ({"rollout_engine": "vllm"}, "rollout_engine='vllm': choose one of transformers, colocate, server"),
        ({"rollout_engine": "server"}, "vllm_server_url='' with rollout_engine='server': a server needs its address"),
        ({"vllm_server_url": "http://node-c:8000"}, "with rollout_engine='transformers': .* the others have none"),
    ],
)
def test_an_impossible_configuration_is_named(parameters: dict[str, Any], said: str) -> None:
    with pytest.raises(ValueError, match=said):
        ProcessConfig.of(parameters)


def test_which_machine_this_is(monkeypatch: pytest.MonkeyPatch) -> None:
    hosts = [Host("node-a", 8), Host("node-b", 8)]
    for variable in ("KIT_MACHINE", "SLURM_NODEID"):
        monkeypatch.delenv(variable, raising=False)
    monkeypatch.setattr(machines.socket, "gethostname", lambda: "node-b.cluster")
    assert this_machine(hosts) == 1
    monkeypatch.setenv("SLURM_NODEID", "0")
    assert this_machine(hosts) == 0
    monkeypatch.setenv("KIT_MACHINE", "2")
    with pytest.raises(LaunchError, match="KIT_MACHINE=2: a number from 0 to 1"):
        this_machine(hosts)
    monkeypatch.delenv("KIT_MACHINE")
    monkeypatch.delenv("SLURM_NODEID")
    monkeypatch.setattr(machines.socket, "gethostname", lambda: "laptop")
    with pytest.raises(LaunchError, match=r"this machine \(laptop\) isn't in the rank file \(node-a, node-b\)"):
        this_machine(hosts)


def test_fewer_gpus_than_processes(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(torch.cuda, "device_count", lambda: 2)
    ProcessConfig(2).check(2)
    with pytest.raises(LaunchError, match=r"8 processes on .*, which has 2 GPU\(s\): set num_processes=2"):
        ProcessConfig(8).check(8)


def test_what_cant_be_divided_here(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(machines.importlib.util, "find_spec", lambda name: None)
    monkeypatch.setattr(torch.cuda, "device_count", lambda: 0)
    with pytest.raises(LaunchError, match="strategy='zero3' needs DeepSpeed"):
        ProcessConfig(2, "zero3").check(2)
    with pytest.raises(LaunchError, match="strategy='fsdp2' needs GPUs"):
        ProcessConfig(2, "fsdp2", rollout_engine="server", vllm_server_url="http://c:1").check(2)
    with pytest.raises(LaunchError, match="FSDP2 divides the weights that transformers samples from"):
        ProcessConfig(2, "fsdp2").check(2)
    with pytest.raises(LaunchError, match=r"needs vLLM: make lab LOCK=gpu; or .*=transformers .* 168 s where"):
        ProcessConfig(2, rollout_engine="colocate").check(2)


def test_sft_samples_nothing_so_fsdp2_may_divide_its_weights(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(torch.cuda, "device_count", lambda: 8)
    values = {"num_processes": 8, "strategy": "fsdp2"}
    ProcessConfig.of({**values, "epochs": 1.0}).check(8)
    for more in ({"group_size": 8}, {"epochs": 1.0, "group_size": 8}):
        with pytest.raises(LaunchError, match="FSDP2 divides the weights that transformers samples from"):
            ProcessConfig.of({**values, **more}).check(8)


def test_versions_that_differ() -> None:
    mine = installed()
    assert mine["torch"][0].isdigit() and len(mine["the kit's source"]) == 12
    check_alike([("a", mine), ("b", dict(mine))])
    with pytest.raises(ValueError, match=f"b has torch 1.0, a has {mine['torch']}: install the same lock"):
        check_alike([("a", mine), ("b", {**mine, "torch": "1.0"})])

"""Trainings started from a notebook's process: followed, ended with it, on one machine or two, divided or not."""

from __future__ import annotations

import importlib.util
import json
import os
import shutil
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from launched import Toy
from places import HELPERS
from several_processes import train
from training_fixtures import OnStep, without_times

from kit.files import ROOT, read_json
from kit.train.launch import launcher
from kit.train.launch.launcher import join, launch
from kit.train.launch.topology import LaunchError, ProcessConfig, free_port
from kit.train.metrics import Row
from tests.train.launch.test_processes import assert_the_same

HERE = HELPERS


@pytest.fixture(autouse=True)
def as_a_notebook_would(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PYTHONPATH", os.pathsep.join([str(HERE), os.environ.get("PYTHONPATH", "")]))
    monkeypatch.setenv("OMP_NUM_THREADS", "1")
    monkeypatch.setenv("KIT_QUIET", "1")


def toy(folder: Path, **settings: Any) -> Toy:
    return Toy(str(folder), settings.pop("steps", 5), {"per_device_batch_size": 4, **settings})


def test_two_processes_are_one_and_are_followed(tmp_path: Path) -> None:
    train(tmp_path / "one", {"per_device_batch_size": 8})
    seen: list[int] = []

    def on_step(rows: Sequence[Row]) -> None:
        seen.append(len(rows))

    assert launch(toy(tmp_path / "two"), ProcessConfig(2), OnStep(on_step), poll=0.05) == tmp_path / "two" / "model"
    assert_the_same(tmp_path / "one", tmp_path / "two", 5)
    assert seen == sorted(set(seen)) and seen[-1] == 5 and len(seen) > 1
    launch(toy(tmp_path / "two"), ProcessConfig(2), OnStep(on_step))  # it is done: nothing but its rows
    assert seen[-2:] == [5, 5] and len(without_times(tmp_path / "two")) == 5


def test_one_process_is_this_one(tmp_path: Path) -> None:
    seen: list[int] = []
    launch(toy(tmp_path / "a", steps=2), ProcessConfig(), OnStep(lambda rows: seen.append(len(rows))))
    assert seen == [1, 2] and not (tmp_path / "a" / "launch").exists()


def test_one_process_apart_is_this_one_and_no_group(tmp_path: Path) -> None:
    """Nothing is divided, so nothing is wrapped to be: as a training by a colocated engine, which trains apart."""
    train(tmp_path / "one", {"per_device_batch_size": 4})
    (tmp_path / "ranks.txt").write_text(f"{socket.gethostname()} slots=1\n")
    launch(toy(tmp_path / "apart"), ProcessConfig(1, hostfile=str(tmp_path / "ranks.txt")), poll=0.05)
    assert_the_same(tmp_path / "one", tmp_path / "apart", 5)
    assert "reducer" not in (tmp_path / "apart" / "launch" / "log-0.txt").read_text()


@dataclass
class Sampled:
    """A training that samples by an engine, and says where it trains."""

    run_dir: str
    settings: Any
    told: list[str]

    def __call__(self, watcher: Any = None) -> None:
        self.told.append("here")


@pytest.mark.parametrize(
    ("engine", "n", "where"),
    [("transformers", 1, "here"), ("server", 1, "here"), ("colocate", 1, "apart"), ("colocate", 2, "apart")],
)
def test_a_colocated_engine_has_a_process_that_ends_with_the_training(
    engine: str, n: int, where: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A notebook may train several times, and a process has one engine that sleeps, and its memory until it ends."""
    monkeypatch.setattr(launcher, "_launch", lambda training, *_: training.told.append("apart"))
    training = Sampled(str(tmp_path), SimpleNamespace(rollout_engine=engine), [])
    launch(training, ProcessConfig(n))
    assert training.told == [where]


@pytest.mark.parametrize(
    ("fault", "said"),
    [
        ("raise", "process 1 on .*: ConnectionError: the sandbox of this process is gone"),
        ("kill", "process 1 was ended by signal 9, most likely for its memory"),
    ],
)
def test_the_one_that_failed_is_named_and_the_job_goes_on(tmp_path: Path, fault: str, said: str) -> None:
    with pytest.raises(LaunchError, match=said) as error:
        launch(toy(tmp_path / "a", fault=fault), ProcessConfig(2))
    assert "goes on from the last checkpoint" in str(error.value) and "log-0.txt, ends with" in str(error.value)
    assert [row["step"] for row in without_times(tmp_path / "a")] == [1, 2]
    launch(toy(tmp_path / "a"), ProcessConfig(2))
    assert [row["step"] for row in without_times(tmp_path / "a")] == [1, 2, 3, 4, 5]


def workers_of(folder: Path) -> list[int]:
    """Processes whose command line names a job in ``folder``."""
    found = []
    for path in Path("/proc").glob("[0-9]*/cmdline"):
        try:
            words = path.read_bytes().decode(errors="replace")
        except OSError:
            continue
        if str(folder / "launch") in words:
            found.append(int(path.parent.name))
    return found


def until(what: Callable[[], bool], seconds: float) -> bool:
    """Whether it came true within ``seconds``."""
    end = time.monotonic() + seconds
    while not what() and time.monotonic() < end:
        time.sleep(0.1)
    return what()


@pytest.mark.skipif(not Path("/proc/self/cmdline").exists(), reason="looks for processes in /proc")
@pytest.mark.parametrize("sent", [signal.SIGINT, signal.SIGTERM, signal.SIGKILL])
def test_however_the_notebook_ends_no_process_is_left(tmp_path: Path, sent: signal.Signals) -> None:
    """Interrupted it ends them in order; killed, they find out for themselves."""
    told = json.dumps({"steps": 500, "settings": {"per_device_batch_size": 4, "slow": 0.2}})
    words = [sys.executable, str(HERE / "launched.py"), str(tmp_path / "a"), '{"num_processes": 2}', told]
    notebook = subprocess.Popen(words, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    try:
        assert until(lambda: (tmp_path / "a" / "metrics.jsonl").exists(), 90)
        assert len(workers_of(tmp_path / "a")) == 3, "an agent and two workers"
        notebook.send_signal(sent)
        notebook.wait(30)
        assert until(lambda: not workers_of(tmp_path / "a"), 20)
    finally:
        notebook.kill()


def two_hosts(folder: Path, run: str) -> subprocess.CompletedProcess[str]:
    """The toy on two network namespaces: launched on one, joined on the other; ``run`` is put before its command."""
    if not shutil.which("unshare") or subprocess.run(["unshare", "-rn", "ip", "link"], capture_output=True).returncode:
        pytest.skip("needs Linux, network namespaces for users, and iproute2")
    folder.mkdir(exist_ok=True)
    hosts = folder / "hosts.txt"
    hosts.write_text("10.0.0.1 slots=1  # runs the notebook\n10.0.0.2\n")
    processes, told = (
        json.dumps({"num_processes": 2, "hostfile": str(hosts)}),
        json.dumps({"settings": {"per_device_batch_size": 4}}),
    )
    first = f"{sys.executable} {HERE}/launched.py {folder}/grpo '{processes}' '{told}'"
    other = f"{run} {sys.executable} -m kit join {folder.name} --wait 60"
    words = ["unshare", "-rn", str(HERE / "two_hosts.sh"), first, other]
    env = {**os.environ, "KIT_RUNS": str(folder.parent)}
    return subprocess.run(words, env=env, capture_output=True, text=True, timeout=300)


def test_two_hosts_are_one(tmp_path: Path) -> None:
    """Two network namespaces that a pair of interfaces joins."""
    train(tmp_path / "one", {"per_device_batch_size": 8})
    done = two_hosts(tmp_path / "two", "")
    assert done.returncode == 0, done.stdout + done.stderr
    assert "taking part in grpo as machine 1: 1 processes" in done.stdout
    assert_the_same(tmp_path / "one", tmp_path / "two" / "grpo", 5)


def test_machines_with_other_versions_are_refused(tmp_path: Path) -> None:
    """The other machine has another TRL, as far as its packages' records say."""
    other = tmp_path / "other"
    (other / "trl-9.9.9.dist-info").mkdir(parents=True)
    (other / "trl-9.9.9.dist-info" / "METADATA").write_text("Metadata-Version: 2.1\nName: trl\nVersion: 9.9.9\n")
    done = two_hosts(tmp_path / "two", f"PYTHONPATH={other}:{HERE}")
    assert done.returncode != 0
    assert "has trl 9.9.9" in done.stderr and "install the same lock" in done.stderr
    assert not (tmp_path / "two" / "grpo" / "metrics.jsonl").exists()


def test_machines_with_other_code_are_refused(tmp_path: Path) -> None:
    """The other machine has another line in the rollout."""
    other = tmp_path / "other"
    shutil.copytree(ROOT / "kit", other / "kit", ignore=shutil.ignore_patterns("__pycache__"))
    with (other / "kit" / "rollout.py").open("a") as file:
        file.write("OTHER = True\n")
    done = two_hosts(tmp_path / "two", f"cd {other} && PYTHONPATH={other}:{HERE}")
    assert done.returncode != 0
    assert "has the kit's source" in done.stderr and "the same commit on all machines" in done.stderr
    assert not (tmp_path / "two" / "grpo" / "metrics.jsonl").exists()


def test_another_number_of_processes_is_refused(tmp_path: Path) -> None:
    train(tmp_path / "a", {"per_device_batch_size": 8, "steps": 2})
    with pytest.raises(LaunchError, match="holds a run of 1 processes, now there are 2: go on with 1"):
        launch(toy(tmp_path / "a"), ProcessConfig(2))


def test_joining_what_never_starts(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("KIT_RUNS", str(tmp_path))
    assert join("nothing", wait=0.2, poll=0.05) == 0


@pytest.mark.skipif(importlib.util.find_spec("deepspeed") is None, reason="needs DeepSpeed: make test-vllm")
@pytest.mark.parametrize("strategy", ["zero2", "zero3"])
@pytest.mark.parametrize("changed", [{}, {"lora_rank": 4, "beta": 0.05, "gradient_checkpointing": True}])
def test_divided_by_deepspeed_is_the_same(tmp_path: Path, strategy: Any, changed: dict[str, Any]) -> None:
    """All weights or adapters and a KL term: as one process; killed on the way, the same after that."""
    train(tmp_path / "one", {"per_device_batch_size": 8, **changed})
    with pytest.raises(LaunchError, match="signal 9"):
        launch(toy(tmp_path / "two", fault="kill", **changed), ProcessConfig(2, strategy))
    launch(toy(tmp_path / "two", **changed), ProcessConfig(2, strategy))
    assert_the_same(tmp_path / "one", tmp_path / "two", 5)
    with pytest.raises(LaunchError, match=f"divided by {strategy}, now it is ddp"):
        launch(toy(tmp_path / "two", **changed), ProcessConfig(2))
    stage = read_json(tmp_path / "two" / "launch" / "deepspeed.json")
    assert stage["zero_optimization"]["stage"] == int(strategy[-1])


def test_the_port_they_would_meet_at_is_taken(tmp_path: Path) -> None:
    import socket

    with socket.socket() as other:
        port = free_port()
        other.bind(("", port))
        other.listen()
        with pytest.raises(LaunchError, match=f"port {port} is taken"):
            launch(toy(tmp_path / "a"), ProcessConfig(2, port=port))
    assert not (tmp_path / "a" / "launch" / "job.json").exists()

"""The job files for clusters: what they would start, on which machine."""

from __future__ import annotations

import argparse
import os
import re
import subprocess
from pathlib import Path
from typing import Any

import pytest
import yaml

from kit.train.launch.topology import ProcessConfig, read_hosts
from papers.registry import papers
from visual_tools.command import options
from visual_tools.serve.app import Service, front
from visual_tools.serve.store import Trajectories
from workshop.command import parser
from workshop.jobs.run import plan

ROOT = Path(__file__).resolve().parents[1]


def program(folder: Path, name: str, text: str) -> None:
    path = folder / name
    path.write_text(f"#!/bin/bash\n{text}\n")
    path.chmod(0o755)


def test_slurm_starts_the_notebooks_on_one_and_joins_on_the_others(tmp_path: Path) -> None:
    """With programs in SLURM's and Python's place that say what they are asked for."""
    program(tmp_path, "scontrol", 'printf "node-a\\nnode-b\\n"')
    program(tmp_path, "srun", 'for SLURM_NODEID in 0 1; do export SLURM_NODEID; "$@"; done')
    program(tmp_path, "python", 'printf "%s|" "$@"; echo')
    env = {"PATH": f"{tmp_path}:{os.environ['PATH']}", "PYTHON": "python", "KIT_RUNS": str(tmp_path / "runs")}
    env |= {"SLURM_JOB_ID": "7", "SLURM_JOB_NODELIST": "node-[a-b]"}
    script = ROOT / "cluster" / "slurm.sh"
    done = subprocess.run(["bash", str(script)], env=env, capture_output=True, text=True, check=True)
    first, second = (line.split("|")[:-1] for line in done.stdout.splitlines())
    assert second == ["-m", "kit", "join", "big", "--wait", "86400"]
    assert first[:7] == ["-m", "kit", "run", "agile", "--profile", "node", "--name"]
    checked(" ".join(first))


def test_slurm_sends_to_the_plan_for_hours() -> None:
    (told,) = re.findall(r"python -m kit (plan [^:\n]+):", (ROOT / "cluster" / "slurm.sh").read_text())
    asked = parser().parse_args(told.split())
    assert (asked.command, asked.profile, asked.gpus) == ("plan", "node", 16)


def of_tools(words: list[str]) -> argparse.Namespace:
    """What a command of the tools asks for."""
    args = parser().parse_args(words)
    assert args.command == "tools"
    return options(argparse.ArgumentParser()).parse_args([args.action, *args.options])


def test_slurm_serves_tools_and_says_where(tmp_path: Path) -> None:
    program(tmp_path, "hostname", "echo node-c")
    program(tmp_path, "srun", '"$@"')
    program(tmp_path, "python", 'printf "%s|" "$@"')
    env = {"PATH": f"{tmp_path}:{os.environ['PATH']}", "PYTHON": "python", "KIT_RUNS": str(tmp_path / "runs")}
    script = ROOT / "cluster" / "slurm_tools.sh"
    done = subprocess.run(["bash", str(script)], env=env, capture_output=True, text=True, check=True)
    args = of_tools(done.stdout.split("|")[2:-1])
    assert (args.action, args.host, args.workers) == ("serve", "0.0.0.0", 43)
    assert (tmp_path / "runs" / "tools.txt").read_text() == f"http://node-c:{args.port}\n"


def checked(command: str) -> None:
    """Check that the command's values mean what the rank file says, and that every notebook that trains takes them."""
    told = [text.strip("\"'") for text in re.findall(r"--set (\S+)", command)]
    values: dict[str, Any] = dict(text.split("=", 1) for text in told)
    found = ProcessConfig.of({**values, "num_processes": int(values["num_processes"])})
    if Path(found.hostfile).exists():
        assert found.machines() == read_hosts(found.hostfile) and [h.slots for h in found.machines()] == [8, 8]
    assert (found.num_processes, found.strategy, found.rollout_engine) == (16, "zero3", "colocate")
    for target in (name for name, paper in papers().items() if paper.published):
        plan(target, "node", told, "big")


@pytest.mark.filterwarnings("error")
def test_kubernetes_says_the_same() -> None:
    service, job = yaml.safe_load_all((ROOT / "cluster" / "kubernetes.yaml").read_text())
    pod = job["spec"]["template"]["spec"]
    (container,) = pod["containers"]
    script = container["command"][2]
    assert pod["subdomain"] == service["metadata"]["name"]
    names = [f"{job['metadata']['name']}-{i}.{pod['subdomain']}" for i in range(job["spec"]["completions"])]
    assert all(f"{name} slots={container['resources']['limits']['nvidia.com/gpu']}" in script for name in names)
    checked(script)
    assert subprocess.run(["bash", "-n", "-c", script]).returncode == 0


def test_kubernetes_serves_tools_and_asks_after_their_health() -> None:
    service, deployment = yaml.safe_load_all((ROOT / "cluster" / "tool_services.yaml").read_text())
    pod = deployment["spec"]["template"]
    (container,) = pod["spec"]["containers"]
    args = of_tools(container["command"][3:])
    assert (args.action, args.tools, args.host) == ("serve", [], "0.0.0.0")
    assert service["spec"]["selector"].items() <= pod["metadata"]["labels"].items()
    probes = [container["readinessProbe"]["httpGet"], container["livenessProbe"]["httpGet"]]
    ports = [service["spec"]["ports"][0]["port"], container["ports"][0]["containerPort"], *(p["port"] for p in probes)]
    assert set(ports) == {args.port} == {int(pod["metadata"]["annotations"]["prometheus.io/port"])}
    asked = {probe["path"] for probe in probes} | {pod["metadata"]["annotations"]["prometheus.io/path"]}
    routes = {route.path for route in front(Service({}, {}, Trajectories(1))).routes}  # type: ignore[attr-defined]
    assert asked <= routes

"""Processes that train together: the same as one, and an error in one is the error of all."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest
import torch
from fake_server import free_port
from places import HELPERS
from several_processes import train
from training_fixtures import task, without_times

from kit.data.store import save_tasks
from kit.models import load_model
from kit.train.dapo import DAPO

HERE = HELPERS
QUIETLY = {"OMP_NUM_THREADS": "1", "KIT_QUIET": "1"}


def started(command: Sequence[str], folder: Path, settings: dict[str, Any]) -> subprocess.CompletedProcess[str]:
    words = [*command, str(HERE / "several_processes.py"), str(folder), json.dumps(settings)]
    return subprocess.run(words, env={**os.environ, **QUIETLY}, capture_output=True, text=True, timeout=300)


def together(folder: Path, n: int, **settings: Any) -> subprocess.CompletedProcess[str]:
    """The run in ``n`` processes that talk by gloo."""
    where = ["--nproc_per_node", str(n), "--master_port", str(free_port())]
    return started([sys.executable, "-m", "torch.distributed.run", *where], folder, settings)


def assert_the_same(one: Path, two: Path, steps: int) -> None:
    """Losses and gradients to a hundred-thousandth over all steps, and with them the weights."""
    rows, others = without_times(one), without_times(two)
    assert len(rows) == len(others) == steps
    assert max(row["grad_norm"] for row in rows) > 0.1
    for row, other in zip(rows, others, strict=True):
        assert other == pytest.approx(row, rel=1e-5, abs=1e-5)
    weights, theirs = (load_model(run / "model").state_dict() for run in (one, two))
    for name, value in weights.items():
        assert torch.allclose(value, theirs[name], atol=1e-4), name


@pytest.mark.parametrize("changed", [{}, {"iterations": 2, "steps": 6}, {"lora_rank": 4, "beta": 0.05}])
def test_two_processes_of_four_are_one_of_eight(tmp_path: Path, changed: dict[str, Any]) -> None:
    """With a ratio that isn't one, with adapters and a KL term too."""
    train(tmp_path / "one", {**changed, "per_device_batch_size": 8})
    done = together(tmp_path / "two", 2, per_device_batch_size=4, **changed)
    assert done.returncode == 0, done.stderr[-3000:]
    assert_the_same(tmp_path / "one", tmp_path / "two", changed.get("steps", 5))


def test_two_processes_replace_the_groups_that_one_would(tmp_path: Path) -> None:
    """DAPO whole. Each replaces its own flat groups, and waits in a round in which only the other has any."""
    told = {**DAPO, "overlong_buffer": 16380, "reward": "coarse", "prompts_per_batch": 4, "group_size": 2}
    train(tmp_path / "one", {**told, "per_device_batch_size": 8})
    done = together(tmp_path / "two", 2, per_device_batch_size=4, **told)
    assert done.returncode == 0, done.stderr[-3000:]
    assert_the_same(tmp_path / "one", tmp_path / "two", 5)
    rows = without_times(tmp_path / "one")
    assert max(row["rounds_played"] for row in rows) > 2
    assert all(row["frac_zero_std_groups_left"] == 0 and row["reward/overlong"] < 0 for row in rows)


def test_a_group_that_no_process_has_whole_is_not_replaced(tmp_path: Path) -> None:
    done = together(tmp_path, 2, per_device_batch_size=2, prompts_per_batch=1, dynamic_sampling=2)
    assert done.returncode != 0
    assert "GRPOSettings.dynamic_sampling=2: a group is replaced whole in one process, and prompts_per_batch=1" in (
        done.stderr
    )


@pytest.mark.parametrize(
    ("fault", "said"),
    [
        ("kill", "Signal 9"),
        ("raise", "sandbox of this process is gone"),
        ("nan", "NotFinite: a: step 3: the gradient's norm is nan, at learning_rate=0.001"),
    ],
)
def test_one_process_gone_ends_the_job_which_then_goes_on(tmp_path: Path, fault: str, said: str) -> None:
    ended = together(tmp_path / "a", 2, per_device_batch_size=2, fault=fault)
    assert ended.returncode != 0 and said in ended.stderr
    assert [row["step"] for row in without_times(tmp_path / "a")] == [1, 2]
    assert together(tmp_path / "a", 2, per_device_batch_size=2).returncode == 0
    assert [row["step"] for row in without_times(tmp_path / "a")] == [1, 2, 3, 4, 5]
    assert (tmp_path / "a" / "model" / "config.json").is_file()


def test_what_the_first_refuses_all_refuse(tmp_path: Path) -> None:
    """In the others nothing would be wrong: they must not wait for one that has gone."""
    assert together(tmp_path, 2, steps=2).returncode == 0
    other = together(tmp_path, 2, steps=3, learning_rate=0.5)
    assert other.returncode != 0
    assert other.stderr.count("holds a run with learning_rate=0.001, now learning_rate=0.5") == 2
    with pytest.raises(ValueError, match="holds a run of 2 processes, now there are 1: go on with 2"):
        train(tmp_path, {"steps": 3})


@pytest.mark.parametrize("per_device", [2, 1])
def test_a_group_spread_over_processes_is_scored_whole(tmp_path: Path, per_device: int) -> None:
    """One group of four a batch: each of two processes plays two of it, in one or two passes."""
    told = {"reward": "siblings", "prompts_per_batch": 1, "steps": 3}
    train(tmp_path / "one", {**told, "per_device_batch_size": 4})
    done = together(tmp_path / "two", 2, per_device_batch_size=per_device, **told)
    assert done.returncode == 0, done.stderr[-3000:]
    assert_the_same(tmp_path / "one", tmp_path / "two", 3)


def test_rewards_of_turns_in_one_process_alone_stop_no_other(tmp_path: Path) -> None:
    """The settings choose the advantages. When a process's own scores chose, the processes' collectives differed."""
    done = together(tmp_path / "a", 2, per_device_batch_size=4, reward="one_rank", steps=2)
    assert done.returncode == 0, done.stderr[-3000:]
    train(tmp_path / "b", {"per_device_batch_size": 8, "steps": 2})
    assert_the_same(tmp_path / "b", tmp_path / "a", 2)


def test_a_missing_reward_of_turns_is_the_error_of_all_processes(tmp_path: Path) -> None:
    done = together(tmp_path, 2, per_device_batch_size=4, reward="one_rank", steps=2, advantage="per_turn")
    assert done.returncode != 0
    assert done.stderr.count("ValueError: advantage='per_turn' needs a reward for every turn") == 2


def test_parts_of_a_reward_are_averaged_by_name_whichever_process_has_them(tmp_path: Path) -> None:
    """Four episodes with ``left`` = 1 in the first process, four with ``right`` = 3 and ``more`` = 5 in the second."""
    done = together(tmp_path, 2, per_device_batch_size=4, reward="own_parts", steps=2)
    assert done.returncode == 0, done.stderr[-3000:]
    for row in without_times(tmp_path):
        assert (row["reward/left"], row["reward/right"], row["reward/more"]) == (0.5, 1.5, 2.5)
        assert "accuracy" not in row and row["turns"] == 2


def test_processes_share_the_held_out_tasks(tmp_path: Path) -> None:
    """Five tasks for two processes, one more for the first: the share of right answers is that of all five."""
    save_tasks(tmp_path / "held-out.jsonl", [task(i) for i in range(5)])
    told = {"held_out": str(tmp_path / "held-out.jsonl"), "steps": 3}
    train(tmp_path / "one", {**told, "per_device_batch_size": 8})
    done = together(tmp_path / "two", 2, per_device_batch_size=4, **told)
    assert done.returncode == 0, done.stderr[-3000:]
    assert_the_same(tmp_path / "one", tmp_path / "two", 3)
    shares = [row["held_out_accuracy"] for row in without_times(tmp_path / "one")]
    assert all(share * 5 == pytest.approx(round(share * 5)) for share in shares) and max(shares) > 0

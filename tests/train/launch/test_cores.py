"""As many processes as there are cores: how many that is, what each takes, and that the training stays the same."""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import Any

import pytest
import torch
from launched import Sampled
from places import HELPERS
from several_processes import RUN
from training_fixtures import OnStep, episode_files, without_times

from kit.files import read_json, write_text
from kit.train.grpo import GRPOSettings
from kit.train.launch.cores import CORES, Share, on_all_cores, roomy, share, usable_cores
from kit.train.launch.launcher import launch
from kit.train.launch.topology import LaunchError, ProcessConfig
from kit.train.sft import SFTSettings, SFTTraining
from tests.train.launch.test_processes import assert_the_same


@pytest.mark.parametrize(
    ("batch", "together", "per_device", "most", "expected"),
    [
        (96, 8, 32, 1, Share(1, 8)),  # as many as fill a core
        (96, 8, 32, 2, Share(2, 8)),
        (96, 8, 8, 2, Share(2, 4)),  # as many in both as in one before: they share the memory
        (22, 1, 22, 1, Share(1, 11)),  # 8 don't divide them
        (96, 8, 32, 5, Share(4, 8)),  # 5 don't divide 12 groups
        (96, 8, 32, 8, Share(6, 4)),  # of 16 each, and at most 32 // 6 = 5
        (96, 8, 32, 64, Share(12, 2)),  # a group each; 32 // 12 = 2
        (8, 1, 4, 2, Share(2, 2)),
        (8, 1, 4, 3, Share(2, 2)),
        (7, 1, 7, 2, Share(1, 7)),  # a prime number of episodes
        (8, 8, 8, 4, Share(1, 8)),  # one group
        (8, 1, 4, 8, Share(8, 1)),  # 4 // 8 is 0: one is the least
    ],
)
def test_a_batch_is_shared_equally_and_groups_stay_whole(
    batch: int, together: int, per_device: int, most: int, expected: Share
) -> None:
    assert share(batch, together, per_device, most) == expected
    assert batch % (expected.processes * expected.per_device_batch_size) == 0


def test_gpus_have_memory_of_their_own(tmp_path: Path) -> None:
    assert share(96, 8, 32, 2, one_memory=False) == Share(2, 24)  # the largest divisor of 48 up to 32
    settings = GRPOSettings(prompts_per_batch=12, group_size=8, per_device_batch_size=8)
    assert on_all_cores(settings, tmp_path, cores=16, gpus=4) == (settings, 4)


def test_a_reader_s_cores_win_over_the_machine_s(tmp_path: Path) -> None:
    all_of_them = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count()
    assert usable_cores({}, quotas=()) == all_of_them
    assert usable_cores({CORES: "3"}) == 3
    for wrong in ("0", "two", "-1", "1.5"):
        with pytest.raises(ValueError, match=f"KIT_CORES='{wrong}': the number of cores to use, at least 1"):
            usable_cores({CORES: wrong})


@pytest.mark.parametrize(
    ("files", "expected"),
    [
        ({"cpu.max": "150000 100000\n"}, 1),  # a core and a half
        ({"cpu.max": "20000 100000\n"}, 1),
        ({"cpu.max": "max 100000\n"}, None),
        ({"cpu.cfs_quota_us": "100000\n", "cpu.cfs_period_us": "100000\n"}, 1),
        ({"cpu.cfs_quota_us": "-1\n", "cpu.cfs_period_us": "100000\n"}, None),
        ({}, None),
    ],
)
def test_a_container_s_quota_is_kept(tmp_path: Path, files: dict[str, str], expected: int | None) -> None:
    for name, text in files.items():
        write_text(tmp_path / name, text)
    quotas = (tmp_path / "cpu.max", tmp_path / "cpu.cfs_quota_us")
    assert usable_cores({}, quotas) == (expected or usable_cores({}, ()))


def test_memory_has_to_have_room_for_them(tmp_path: Path) -> None:
    """2.5 GB each: three in 8 GB, one in 2 GB; a container's limit counts where there is one."""
    assert (roomy(8e9, ()), roomy(2e9, ()), roomy(20e9, ())) == (3, 1, 8)
    write_text(tmp_path / "memory.max", "5100000000\n")
    assert roomy(20e9, (tmp_path / "gone", tmp_path / "memory.max")) == 2
    write_text(tmp_path / "memory.max", "max\n")
    assert roomy(20e9, (tmp_path / "memory.max",)) == 8


def test_a_run_that_was_begun_keeps_its_number(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    settings = GRPOSettings(prompts_per_batch=12, group_size=8, per_device_batch_size=32)
    write_text(tmp_path / "checkpoint" / "settings.json", json.dumps({"processes": 2}))
    found, processes = on_all_cores(settings, tmp_path, cores=8, gpus=0)
    assert (found.per_device_batch_size, processes) == (8, 2)
    out = capsys.readouterr().out
    assert "2 process(es) on 8 core(s), as many as when this run was begun; each takes 48 of a batch's 96" in out


def test_gpus_are_hidden_from_these_tests_and_from_what_they_start() -> None:
    """By their marker ``cores`` (tests/conftest.py): a card would be too few for their processes."""
    assert os.environ["CUDA_VISIBLE_DEVICES"] == "" and not torch.cuda.is_available()


def test_less_than_none_is_refused() -> None:
    with pytest.raises(ValueError, match="num_processes=-1: at least 1 process trains; 0 means one for each core"):
        ProcessConfig(-1)


def test_a_rank_file_says_how_many(tmp_path: Path) -> None:
    path = tmp_path / "hosts.txt"
    path.write_text("node-a slots=8\nnode-b slots=4\n")
    assert [host.slots for host in ProcessConfig(0, hostfile=str(path)).machines()] == [8, 4]
    with pytest.raises(LaunchError, match="8 \\+ 4 slots, but 3 processes are wanted"):
        ProcessConfig(3, hostfile=str(path)).machines()


@pytest.fixture
def as_a_notebook_would(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PYTHONPATH", os.pathsep.join([str(HELPERS), os.environ.get("PYTHONPATH", "")]))


def on_cores(n: int, training: Any, monkeypatch: pytest.MonkeyPatch) -> list[int]:
    """Launch a training that leaves its number of processes open; returns how many rows were shown each time."""
    seen: list[int] = []
    monkeypatch.setenv(CORES, str(n))
    launch(training, ProcessConfig(0), OnStep(lambda rows: seen.append(len(rows))), poll=0.05)
    return seen


@pytest.mark.usefixtures("as_a_notebook_would")
def test_reinforcement_is_the_same_on_one_core_and_on_two(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Episodes, rewards, losses and weights; the run is followed, and a third core changes nothing that was begun."""
    settings = GRPOSettings(**{**vars(RUN), "per_device_batch_size": 8})
    for cores in (1, 2):
        seen = on_cores(cores, Sampled(str(tmp_path / str(cores)), settings), monkeypatch)
        assert seen == sorted(seen) and seen[-1] == 5
    assert read_json(tmp_path / "2" / "checkpoint" / "settings.json")["processes"] == 2
    assert not (tmp_path / "1" / "launch").exists()
    assert_the_same(tmp_path / "1", tmp_path / "2", 5)
    assert on_cores(1, Sampled(str(tmp_path / "2"), settings), monkeypatch)[-1] == 5
    assert len(without_times(tmp_path / "2")) == 5


@pytest.mark.usefixtures("as_a_notebook_would")
def test_demonstrations_teach_the_same_on_one_core_and_on_two(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    start, episodes = episode_files(tmp_path)
    settings = SFTSettings(epochs=4.0, batch_size=4, per_device_batch_size=4, learning_rate=3e-3, freeze_vision=False)
    for cores in (1, 2):
        on_cores(cores, SFTTraining(str(start), str(episodes), str(tmp_path / str(cores)), settings), monkeypatch)
    assert read_json(tmp_path / "2" / "launch" / "job.json")["values"]["settings"]["per_device_batch_size"] == 2
    assert_the_same(tmp_path / "1", tmp_path / "2", 4)

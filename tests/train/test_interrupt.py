"""Interrupted trainings: what is said, what is lost, and that two processes can't write one run."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
import torch
from training_fixtures import LIMITS, Looks, OnStep, even_reward, fresh_chat, fresh_model, task, without_times

from kit.files import FolderInUse, exclusive
from kit.train.checkpoint import newest_checkpoint, step_of
from kit.train.grpo import GRPOSettings, train_grpo
from kit.train.interrupt import TrainingStopped, stoppable, stopped
from kit.train.progress import Progress, Watcher
from kit.train.progress_meter import ProgressMeter
from kit.train.timed_saves import TimedSaves

SETTINGS = GRPOSettings(
    steps=4, prompts_per_batch=2, group_size=2, per_device_batch_size=2, learning_rate=1e-3, save_every=100
)


class Interrupts(Watcher):
    """Interrupts a training at the ``n``-th thing that it is told."""

    def __init__(self, n: int) -> None:
        self.left, self.message = n, ""

    def progress(self, progress: Progress) -> None:
        self.left -= 1
        if self.left == 0:
            raise KeyboardInterrupt

    def stopped(self, message: str) -> None:
        self.message = message


def train(folder: Path, watcher: Watcher | None = None) -> Any:
    chat = fresh_chat()
    model = fresh_model(chat)
    tasks = [task(i) for i in range(3)]
    train_grpo(model, chat, tasks, Looks, LIMITS, even_reward, SETTINGS, folder, watcher=watcher)
    return model


def test_interrupted_anywhere_it_repeats_one_step_at_most_and_ends_the_same(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("kit.train.timed_saves.SAVE_SECONDS", 0.0)
    monkeypatch.setattr("kit.train.timed_saves.SAVE_SHARE", 0.0)
    whole = train(tmp_path / "whole")
    counted = Interrupts(10**9)
    train(tmp_path / "counted", counted)
    moments = 10**9 - counted.left
    assert moments > 40, "every turn is a moment"
    for n in range(2, moments, moments // 7):
        folder, watcher = tmp_path / f"at-{n}", Interrupts(n)
        with pytest.raises(TrainingStopped) as error:
            train(folder, watcher)
        done = step_of(newest_checkpoint(folder / "checkpoint"))
        assert len(without_times(folder)) - done in (0, 1)
        said = f"stopped after step {done} of 4; run this cell again to go on at step {done + 1}" if done else "anew"
        assert said in str(error.value) and watcher.message == str(error.value)
        assert error.value._render_traceback_() == [str(error.value)], "no traceback is shown"
        first: list[int] = []
        resumed = train(folder, OnStep(lambda rows, first=first: first.append(rows[-1]["step"])))
        assert first[0] == done + 1, "it goes on where it said"
        assert without_times(folder) == without_times(tmp_path / "whole")
        for (name, one), other in zip(resumed.named_parameters(), whole.parameters(), strict=True):
            assert torch.equal(one, other), name


def test_what_is_said_without_a_step_and_after_the_last(tmp_path: Path) -> None:
    assert "stopped before the first step was done" in str(stopped(tmp_path, 4))
    (tmp_path / "checkpoint" / "checkpoint-4").mkdir(parents=True)
    assert "stopped after the last step of 4" in str(stopped(tmp_path, 4))
    assert str(stopped(tmp_path)) == "stopped after step 4; run this cell again to go on at step 5"
    ProgressMeter(tmp_path, 6)
    assert str(stopped(tmp_path)) == "stopped after step 4 of 6; run this cell again to go on at step 5"
    with pytest.raises(ZeroDivisionError), stoppable(tmp_path):
        raise ZeroDivisionError  # any other error is itself


@pytest.mark.parametrize(
    ("cost", "times", "saved"),
    [
        (0.0, [4, 8, 12, 16], [2, 4]),  # every five seconds, counted from the last save
        (0.1, [4, 8, 12, 16], [2, 4]),
        (0.5, [4, 8, 12, 16], [3]),  # a save of half a second: every ten seconds at most
        (2.0, [30, 60, 90, 120], [2, 4]),  # one of two seconds: every forty
    ],
)
def test_saves_between_checkpoints_cost_a_twentieth_at_most(cost: float, times: list[float], saved: list[int]) -> None:
    now = [0.0]
    saves = TimedSaves(SimpleNamespace(save_seconds=cost), lambda: now[0])
    found = []
    for step, now[0] in enumerate(times, start=1):
        control = SimpleNamespace(should_save=False)
        saves.on_step_end(SimpleNamespace(), SimpleNamespace(global_step=step), control)
        if control.should_save:
            found.append(step)
            saves.on_save(None, None, None)
    assert found == saved


def test_no_save_in_the_middle_of_a_rollouts_steps() -> None:
    now = [0.0]
    saves = TimedSaves(SimpleNamespace(save_seconds=0.0), lambda: now[0])
    now[0] = 100.0
    control = SimpleNamespace(should_save=False)
    saves.on_step_end(SimpleNamespace(num_iterations=2), SimpleNamespace(global_step=3), control)
    assert not control.should_save
    saves.on_step_end(SimpleNamespace(num_iterations=2), SimpleNamespace(global_step=4), control)
    assert control.should_save


def test_two_processes_cant_train_in_one_folder(tmp_path: Path) -> None:
    code = "import sys, time; from pathlib import Path; from kit.files import exclusive\n"
    code += f"with exclusive(Path({str(tmp_path)!r})): print('held', flush=True); time.sleep(60)"
    with subprocess.Popen([sys.executable, "-c", code], stdout=subprocess.PIPE, text=True) as other:
        assert other.stdout is not None and other.stdout.readline() == "held\n"
        with pytest.raises(
            FolderInUse, match=rf"is being written by process {other.pid}, since \d\d:\d\d: wait for it"
        ):
            train(tmp_path)
        other.kill()
    with exclusive(tmp_path):
        pass  # who is killed holds nothing

"""Progress of a training: what is counted, how the time left is estimated, who is shown it."""

from __future__ import annotations

import sys
from pathlib import Path
from types import ModuleType, SimpleNamespace
from typing import Any

import nbformat
import pytest

from kit.policy import Completion, SamplingParams
from kit.train.progress import Progress, Watcher, duration, read_progress
from kit.train.progress_meter import MeteredPolicy, ProgressMeter
from kit.train.watchers import BarWatcher, LineWatcher, default_watcher, is_quiet, line
from workshop.jobs.execution import merged

ARGS = SimpleNamespace(gradient_accumulation_steps=4)


class Clock:
    """Time that passes when it is told to."""

    now = 0.0

    def __call__(self) -> float:
        return self.now


class Seen(Watcher):
    def __init__(self) -> None:
        self.all: list[Progress] = []

    def progress(self, progress: Progress) -> None:
        self.all.append(progress)


def started(tmp_path: Path, **values: Any) -> tuple[ProgressMeter, Clock, Seen]:
    clock, seen = Clock(), Seen()
    return ProgressMeter(tmp_path, values.pop("steps", 4), watcher=seen, clock=clock, **values), clock, seen


def at(step: int) -> Any:
    return SimpleNamespace(global_step=step)


def one_step(meter: ProgressMeter, clock: Clock, step: int, playing: float, learning: float, turns: int = 10) -> None:
    """Play ``turns`` turns of five episodes for so many seconds, then learn."""
    meter.on_step_begin(ARGS, at(step), None)
    meter.playing(5)
    for _ in range(turns):
        clock.now += playing / turns
        meter.turn()
    meter.played()
    for k in range(4):
        clock.now += learning / 4
        (meter.on_substep_end if k < 3 else meter.on_step_end)(ARGS, at(step + (k == 3)), None)


def test_every_turn_moves_it_and_it_never_goes_back(tmp_path: Path) -> None:
    meter, clock, seen = started(tmp_path)
    for step in range(4):
        one_step(meter, clock, step, playing=6, learning=2)
    shares = [p.share for p in seen.all]
    assert shares == sorted(shares) and shares[0] == 0 and shares[-1] == 1
    playing = [p for p in seen.all if p.phase == "playing" and p.step == 1]
    # Ten turns as the step before, of which playing was three quarters: each moves a quarter step by 3/40.
    assert [round(p.part, 4) for p in playing] == [round(0.075 * k, 4) for k in range(11)]
    assert seen.all[-1].phase == "done" and str(seen.all[-1]) == "4 of 4 steps done"


def test_episodes_that_go_on_for_longer_than_expected_do_not_move_it_back(tmp_path: Path) -> None:
    """The first step expects 3 turns of each of 5 episodes; here they take 5, asked for in rounds."""
    meter, clock, seen = started(tmp_path)
    meter.on_step_begin(ARGS, at(0), None)
    meter.playing(5)
    for _ in range(5):
        meter.asked(5)
        for _ in range(5):
            clock.now += 1
            meter.turn()
    meter.played()
    shares = [p.share for p in seen.all]
    assert shares == sorted(shares) and seen.all[-2].part == pytest.approx(0.6), "all of them: playing is done"


def test_a_rollout_that_goes_on_counts_all_its_episodes_and_never_goes_back(tmp_path: Path) -> None:
    """Five episodes, and then two more in the place of others."""
    meter, _, seen = started(tmp_path)
    meter.on_step_begin(ARGS, at(0), None)
    for episodes in (5, 2):
        meter.playing(episodes)
        meter.asked(episodes)
        for _ in range(episodes):
            meter.turn()
        meter.played()
    shares = [p.share for p in seen.all]
    assert shares == sorted(shares)
    assert [p.detail for p in seen.all if p.phase == "playing"][-1] == "7 turns of 7 episodes"


def test_time_left_is_the_measured_time_of_the_steps_that_are_left(tmp_path: Path) -> None:
    meter, clock, seen = started(tmp_path)
    assert seen.all[0].seconds_left is None
    one_step(meter, clock, 0, playing=6, learning=2)
    assert seen.all[-1].seconds_left == pytest.approx(3 * 8)
    one_step(meter, clock, 1, playing=10, learning=2)
    assert seen.all[-1].seconds_left == pytest.approx(2 * 10)  # the mean of 8 and 12
    assert str(seen.all[-1]) == "step 3 of 4 · saving · about 20 s left"


def test_a_run_that_goes_on_knows_its_time_at_once(tmp_path: Path) -> None:
    rows = [{"step": step, "seconds": 30.0} for step in (1, 2)]
    _, _, seen = started(tmp_path, rows=rows)
    assert seen.all[0].step == 2 and seen.all[0].seconds_left == pytest.approx(60.0)


def test_the_first_step_is_estimated_from_its_own_turns(tmp_path: Path) -> None:
    meter, clock, seen = started(tmp_path, steps=1)
    meter.on_step_begin(ARGS, at(0), None)
    meter.playing(5)
    clock.now = 3.0
    meter.turn()
    assert seen.all[-1].part == pytest.approx(0.04) and seen.all[-1].seconds_left is None, "too early to tell"
    clock.now = 21.0
    for _ in range(6):
        meter.turn()
    # 7 of 3 × 5 turns, of 0.6 of a step: 0.28 are done after 21 s, so 54 s are left.
    assert seen.all[-1].part == pytest.approx(0.28) and seen.all[-1].seconds_left == pytest.approx(54.0)


def test_others_read_it_from_a_file(tmp_path: Path) -> None:
    assert read_progress(tmp_path) is None
    meter, clock, seen = started(tmp_path)
    assert read_progress(tmp_path) == seen.all[0]
    clock.now = 0.5
    meter.on_step_begin(ARGS, at(0), None)
    assert read_progress(tmp_path) == seen.all[0], "no more than one file a second"
    clock.now = 1.5
    meter.playing(5)
    assert read_progress(tmp_path) == seen.all[-1]


def test_of_processes_that_train_together_one_reports(tmp_path: Path) -> None:
    meter, _, seen = started(tmp_path, writes=False)
    meter.playing(5)
    assert seen.all == [] and list(tmp_path.iterdir()) == []


class TwoTurns:
    """A policy that says two things, one after the other."""

    seconds = 7.0

    def __init__(self) -> None:
        self.ended = False

    def reset(self) -> None:
        pass

    def sample(self, requests: Any, params: Any) -> list[Completion]:
        return [Completion((1,), (0.0,), "stop")] * len(requests)

    def stream(self, ready: Any, params: Any) -> Any:
        try:
            for number, _ in ready("all"):
                yield number, Completion((1,), (0.0,), "stop")
        finally:
            self.ended = True


def test_a_metered_policy_samples_what_the_policy_samples_and_counts(tmp_path: Path) -> None:
    meter, _, seen = started(tmp_path)
    meter.playing(2)
    policy: Any = MeteredPolicy(TwoTurns(), meter)
    asked: Any = [(3, "a"), (5, "b")]
    params = SamplingParams((), 0.0, 1)
    assert [number for number, _ in policy.stream(lambda wait: asked, params)] == [3, 5]
    assert len(policy.sample(asked, params)) == 2 and policy.seconds == 7.0
    assert seen.all[-1].detail == "4 turns of 2 episodes"


def test_a_metered_policy_that_is_left_ends_the_policy(tmp_path: Path) -> None:
    meter, _, _ = started(tmp_path)
    inner = TwoTurns()
    stream = MeteredPolicy(inner, meter).stream(lambda wait: [(0, None), (1, None)], SamplingParams((), 0.0, 1))  # type: ignore[list-item]
    next(stream)
    stream.close()  # type: ignore[attr-defined]
    assert inner.ended


def test_durations_are_told_in_words() -> None:
    assert [duration(s) for s in (0, 89, 90, 1234, 9000)] == ["1 s", "89 s", "2 min", "21 min", "2.5 h"]


def test_a_job_prints_a_line_a_step_on_standard_output(capsys: pytest.CaptureFixture[str]) -> None:
    lines = LineWatcher()
    lines.progress(Progress(0, 9, "loading"))
    lines.progress(Progress(1, 9, "saving", seconds_left=160.0))
    row = {"step": 1, "reward": 0.5, "loss": 0.0, "seconds": 20.0}
    lines.step([row])
    lines.step([row])  # the same rows again: nothing new
    out, err = capsys.readouterr()
    assert out == "training: 9 steps\nstep 1/9  reward 0.500  loss 0.000  20.0 s, about 3 min left\n" and err == ""
    assert line(row) == "step 1  reward 0.500  loss 0.000  20.0 s"


@pytest.mark.parametrize(("steps", "stay"), [(898, 10), (24, 10), (10, 10), (3, 3)])
def test_a_notebook_keeps_ten_lines_of_a_training_and_its_last(
    steps: int, stay: int, capsys: pytest.CaptureFixture[str]
) -> None:
    """Those between end in a carriage return, as a stored output folds them."""
    lines = LineWatcher()
    rows: list[dict[str, float]] = []
    for step in range(1, steps + 1):
        rows.append({"step": step, "loss": 10.0 ** (5 - step % 5), "seconds": 1.0})
        lines.progress(Progress(step, steps, "saving", seconds_left=float(steps - step)))
        lines.step(rows)
    out = capsys.readouterr().out
    assert out.count(" loss ") == steps, "the log has every step"
    (stored,) = merged([nbformat.v4.new_output("stream", name="stdout", text=out)])
    kept = stored.text.splitlines()[1:]
    assert len(kept) == stay and kept[-1].startswith(f"step {steps}/{steps}  loss")
    for written in out.split("\n")[1:]:
        screen = ""
        for text in written.split("\r"):
            screen = text + screen[len(text) :]
            assert screen.rstrip() == text.rstrip(), "nothing of a longer line is left"


def test_a_terminal_gets_a_bar(capsys: pytest.CaptureFixture[str]) -> None:
    bar = BarWatcher()
    bar.step([{"step": 1, "reward": 0.25}])
    bar.progress(Progress(1, 4, "playing", 0.5, "7 turns of 5 episodes", 60.0))
    bar.progress(Progress(4, 4, "done"))
    err = capsys.readouterr().err
    assert " 38%|" in err and "step 2 of 4 · playing: 7 turns of 5 episodes · about 60 s left · reward 0.250" in err
    assert "100%|" in err and "4 of 4 steps done" in err


def test_who_is_shown_a_training_that_was_given_no_watcher(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("KIT_QUIET", "1")
    assert is_quiet() and type(default_watcher()) is Watcher
    monkeypatch.setenv("KIT_QUIET", "0")
    monkeypatch.setattr("sys.stderr.isatty", lambda: False, raising=False)
    monkeypatch.delitem(sys.modules, "ipykernel", raising=False)
    assert is_quiet()
    monkeypatch.setattr("sys.stderr.isatty", lambda: True, raising=False)
    assert not is_quiet() and type(default_watcher()) is BarWatcher
    monkeypatch.setitem(sys.modules, "ipykernel", ModuleType("ipykernel"))
    assert type(default_watcher()) is LineWatcher

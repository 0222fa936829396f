"""A training as a notebook shows it: what is drawn, when, and for whom."""

from __future__ import annotations

import re
import sys
from pathlib import Path
from types import ModuleType
from typing import Any

import matplotlib.pyplot as plt
import pytest
from training_fixtures import written

from kit.chat import Chat
from kit.episode import Score
from kit.train import latest_rollout
from kit.train.progress import Progress
from kit.view import LiveTraining, curves
from kit.view.charts import Plot

ROWS = [
    {"step": k, "reward": 0.1 * k, "reward/accuracy": 0.05 * k, "accuracy": 0.1 * k, "held_out_accuracy": 0.2 * k,
     "turns": 4.0, "calls": 3.0, "frac_zero_std_groups": 0.5, "entropy": 0.3, "loss": 1e-8 * k}
    for k in range(1, 5)
]  # fmt: skip


class Screen:
    """Stands in for a notebook: remembers what is displayed and how it is replaced."""

    def __init__(self) -> None:
        self.shown: list[Any] = []

    def display(self, drawn: Any, display_id: bool) -> Handle:
        self.shown.append(drawn)
        return Handle(self, len(self.shown) - 1)


class Handle:
    def __init__(self, screen: Screen, at: int) -> None:
        self.screen, self.at = screen, at

    def update(self, drawn: Any) -> None:
        self.screen.shown[self.at] = drawn


class Clock:
    now = 0.0

    def __call__(self) -> float:
        self.now += 10.0
        return self.now


@pytest.fixture
def screen(monkeypatch: pytest.MonkeyPatch) -> Screen:
    """As in a notebook that somebody runs."""
    found = Screen()
    monkeypatch.setattr("IPython.display.display", found.display)
    monkeypatch.setitem(sys.modules, "ipykernel", ModuleType("ipykernel"))
    for name in ("KIT_QUIET", "KIT_JOB"):
        monkeypatch.delenv(name, raising=False)
    return found


def is_empty(shown: Any) -> bool:
    return bool(shown.data == "")


def bar(screen: Screen) -> tuple[float, str]:
    html = screen.shown[0].data
    found = re.search(r'data-done="([\d.]+)" data-total="100"', html)
    assert found is not None and 'role="progressbar"' in html
    return float(found[1]), re.sub("<[^>]*>", "", html).strip()


def test_the_bar_is_there_at_once_and_moves_with_every_turn(screen: Screen) -> None:
    live = LiveTraining(clock=Clock())
    live.begin()
    assert bar(screen) == (0.0, "loading the model and starting the sandbox …")
    assert "<progress aria-hidden" in screen.shown[0].data, "a browser moves it while there is no share yet"
    live.progress(Progress(1, 4, "playing", 0.25, "7 turns of 5 episodes", 120.0))
    assert "<progress" not in screen.shown[0].data and 'aria-valuenow="31.25"' in screen.shown[0].data
    assert bar(screen) == (31.25, "step 2 of 4 · playing: 7 turns of 5 episodes · about 2 min left")
    live.progress(Progress(4, 4, "done"))
    done, text = bar(screen)
    assert done == 100 and text.startswith("4 of 4 steps done in ")
    assert is_empty(screen.shown[1]) and is_empty(screen.shown[2]), "nothing but the bar to be seen yet"


def test_a_training_stopped_before_its_first_step_has_a_bar_that_stands(screen: Screen) -> None:
    live = LiveTraining(clock=Clock())
    live.begin()
    live.stopped("stopped: nothing was done")
    assert bar(screen) == (0.0, "stopped: nothing was done")
    assert "<progress" not in screen.shown[0].data and 'aria-valuenow="0.00"' in screen.shown[0].data


def test_curves_are_drawn_again_after_each_step(screen: Screen) -> None:
    live = LiveTraining(clock=Clock())
    live.begin()
    for k in range(1, 5):
        live.step(ROWS[:k])
        assert [type(one).__name__ for one in screen.shown] == ["HTML", "Plot", "HTML"]
        assert list(screen.shown[1].axes[0].lines[0].get_xdata()) == list(range(1, k + 1))


def test_the_newest_episode_is_shown_after_each_rollout(screen: Screen, tmp_path: Path, chat: Chat) -> None:
    live = LiveTraining(tmp_path, clock=Clock())
    live.begin()
    live.progress(Progress(0, 4, "learning", 0.6))
    assert is_empty(screen.shown[2]), "nothing was played yet"
    for step in (2, 3):
        latest_rollout.save(tmp_path, step, [written(chat, 0)], [Score(0.5, {"accuracy": 0.5})])
        live.progress(Progress(step - 1, 4, "learning", 0.6))
        assert f"newest episode, of step {step}</b>" in screen.shown[2].body and "+0.50" in screen.shown[2].body
        assert repr(screen.shown[2]) == f"<newest episode, of step {step}>" and len(screen.shown) == 3


@pytest.mark.parametrize("begun", [True, False])
@pytest.mark.parametrize("first", ["episode", "curves", "stopped"])
def test_curves_stand_above_the_episode_whichever_comes_first(
    screen: Screen, tmp_path: Path, chat: Chat, first: str, begun: bool
) -> None:
    """Whoever calls a training without :func:`kit.train.launch.launcher.launch` never calls ``begin``."""
    latest_rollout.save(tmp_path, 1, [written(chat, 0)], [Score(0.5, {"accuracy": 0.5})])
    live = LiveTraining(tmp_path, clock=Clock())
    if begun:
        live.begin()
    if first == "curves":
        live.step(ROWS[:1])
    if first == "stopped":
        live.stopped("stopped before the first step was done; run this cell again to begin anew")
    live.progress(Progress(0, 4, "learning", 0.6))
    live.step(ROWS[:1])
    assert [type(one).__name__ for one in screen.shown] == ["HTML", "Plot", "Html"]


def test_an_interrupt_leaves_the_bar_where_it_was_with_the_way_on(screen: Screen) -> None:
    live = LiveTraining(clock=Clock())
    live.begin()
    live.progress(Progress(2, 4, "playing", 0.0))
    live.stopped("stopped after step 2 of 4; run this cell again to go on at step 3")
    assert bar(screen) == (50.0, "stopped after step 2 of 4; run this cell again to go on at step 3")


def test_the_final_figure_takes_the_place_of_the_live_one(screen: Screen) -> None:
    live = LiveTraining(clock=Clock())
    live.begin()
    live.step(ROWS)
    final = live.figure()
    assert isinstance(final, Plot) and screen.shown[1].data == "" and plt.get_fignums() == []


def test_a_fast_training_is_not_slowed_by_drawing(screen: Screen) -> None:
    live = LiveTraining(clock=lambda: 5.0)
    live.begin()
    for k in range(1, 5):
        live.step(ROWS[:k])
    assert len(screen.shown[1].axes[0].lines[0].get_xdata()) == 1, "drawn once: no time has passed"
    assert len(live.figure().axes[0].lines[0].get_xdata()) == 4


def test_nothing_is_shown_in_tests_and_lines_in_a_job(
    screen: Screen, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("KIT_QUIET", "1")
    live = LiveTraining()
    live.begin()
    live.progress(Progress(0, 4, "playing"))
    live.step(ROWS)
    assert screen.shown == [] and capsys.readouterr() == ("", "")
    monkeypatch.delenv("KIT_QUIET")
    monkeypatch.setenv("KIT_JOB", "1")
    live = LiveTraining()
    live.begin()
    live.progress(Progress(3, 4, "saving", seconds_left=30.0))
    live.step([{**ROWS[0], "seconds": 30.0}])
    assert screen.shown == [] and "about 30 s left" in capsys.readouterr().out


def test_panels_hold_what_belongs_together_on_scales_that_dont_mislead() -> None:
    found = {axis.get_title(): axis for axis in curves(ROWS).axes if axis.get_title()}
    assert list(found) == [
        "reward and its parts",
        "right answers (share)",
        "an episode's length",
        "flat groups (share)",
        "entropy (nats a token)",
        "loss",
    ]
    names = [text.get_text() for text in found["reward and its parts"].get_legend().get_texts()]
    assert names == ["reward", "accuracy"]
    assert found["right answers (share)"].get_ylim() == (-0.04, 1.04)
    assert found["loss"].get_ylim() == (-1, 1) and "on purpose" in found["loss"].texts[0].get_text()
    sft = {axis.get_title(): axis for axis in curves([{"step": 1, "loss": 0.01, "mean_token_accuracy": 0.9}]).axes}
    assert list(sft) == ["right next tokens (share)", "loss"] and not list(sft["loss"].texts)
    with pytest.raises(ValueError, match="none of the 1 rows"):
        curves([{"step": 1}])


def test_a_part_of_the_reward_that_a_step_lacks_is_drawn_as_0() -> None:
    """Steps 1 and 3 have a bonus, step 2 and the last one don't: no line may be drawn over the gap."""
    told = [{"reward/bonus": 0.5}, {}, {"reward/bonus": 0.25}, {"reward/other": 1.0}]
    rows = [{"step": step, "reward": 1.0, **some} for step, some in enumerate(told, 1)]
    (panel,) = [axis for axis in curves(rows).axes if axis.get_title() == "reward and its parts"]
    drawn = {line.get_label(): list(line.get_ydata()) for line in panel.lines}
    assert drawn == {"reward": [1.0] * 4, "bonus": [0.5, 0.0, 0.25, 0.0], "other": [0.0, 0.0, 0.0, 1.0]}


def test_a_single_curve_of_a_panel_that_may_hold_two_says_which_it_is() -> None:
    rows = [{key: value for key, value in row.items() if key != "accuracy"} for row in ROWS]
    found = {axis.get_title(): axis for axis in curves(rows).axes if axis.get_title()}
    names = [text.get_text() for text in found["right answers (share)"].get_legend().get_texts()]
    assert names == ["greedy, held out"]
    assert found["entropy (nats a token)"].get_legend() is None, "its title says what it shows"


def test_a_legend_covers_no_curve() -> None:
    rows = [{**row, "reward": 1.0, "reward/accuracy": 0.9, "reward/format": 0.95, "reward/step": -0.1} for row in ROWS]
    figure = curves(rows)
    figure.draw_without_rendering()
    checked = 0
    for axis in figure.axes:
        if axis.get_legend() and "(share)" not in axis.get_title():
            bottom = axis.get_legend().get_window_extent().y0
            highest = max(float(max(line.get_ydata())) for line in axis.lines)  # type: ignore[arg-type]
            assert axis.transData.transform((1.0, highest))[1] < bottom, axis.get_title()
            checked += 1
    assert checked == 2


def test_a_training_that_was_finished_before_says_so(screen: Screen) -> None:
    live = LiveTraining(clock=Clock())
    live.begin()
    live.step(ROWS)
    steps = ROWS[-1]["step"]
    assert bar(screen) == (100.0, f"already trained: {steps} of {steps} steps")

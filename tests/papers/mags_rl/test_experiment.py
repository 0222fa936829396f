"""Mags-RL's experiment: limits, the two stages' values and rewards, one stage after the other."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from fake_openai import FakeOpenAI

from kit.episode import Action, Episode, Task, Turn
from kit.papers.mags_rl import experiment
from kit.papers.mags_rl.env import MagsEnv
from kit.papers.mags_rl.experiment import Play, Training, magnifier, train_in_stages
from kit.papers.mags_rl.settings import CURRICULUM
from kit.tiny import TINY
from kit.train.grpo import GRPOSettings

TASK = Task("t", (), "How many?", ("3",), {"skill": "count"})
THINK = "<think>One, two, three cards say tea <zoom>[[0, 0, 0.4, 0.4]]</zoom></think>"
FIRST = Turn((), (), THINK, Action("zoom", "[[0, 0, 0.4, 0.4]]", {"asked": 1, "boxes": [[0, 0, 0.4, 0.4]]}))


def answering(answer: str) -> Episode:
    text = f"<rethink>so</rethink><answer>{answer}</answer>"
    return Episode(TASK, (), (FIRST, Turn((), (), text, Action("answer", answer))), "answer")


def training(tmp_path: Path, stage: Any = 2, **more: Any) -> Training:
    return Training(str(TINY), "tasks.jsonl", str(tmp_path), Play(stage=stage), GRPOSettings(), **more)


def test_the_papers_two_stages() -> None:
    found = [
        (one.stage, one.samples, one.temperature, one.settings.steps, one.settings.learning_rate, one.settings.beta)
        for one in CURRICULUM
    ]
    assert found == [(1, 20, 0.09, 300, 2e-6, 0.04), (2, 20, 1.0, 225, 5e-7, 0.03)]
    for one in CURRICULUM:
        assert one.settings.group_size == 16 and one.settings.batch_of()[0] == 64
    assert Play().max_turns == 2 and Play().stage == 2


def test_the_reward_is_the_stages(tmp_path: Path) -> None:
    """One of three counted: 1/3 in stage 2, k/n = 1 in stage 1."""
    for stage, worth in ((1, 1.0), (2, 1 / 3)):
        (score,) = training(tmp_path, stage).group_reward()([answering("3")], TASK.target)
        assert score.parts["zoom"] == pytest.approx(worth) and score.correct is True


def test_a_model_judges_answers_in_training_alone(tmp_path: Path) -> None:
    with FakeOpenAI(lambda body: "0.75") as server:
        own = training(tmp_path, judge_url=server.url)
        wrong = [answering("three of them"), answering("three of them")]
        assert [score.parts["answer"] for score in own.group_reward()(wrong, TASK.target)] == [1.0, 1.0]
        assert server.bodies[0]["model"] == "gpt-4o-mini" and (tmp_path / "verdicts.sqlite").is_file()
        asked = len(server.bodies)
        assert own.held_out_reward()(wrong[:1], TASK.target)[0].parts["answer"] == 0.0 and len(server.bodies) == asked


def test_environments_are_told_stage_frame_and_network(tmp_path: Path) -> None:
    with training(tmp_path, 1, network="bicubic", scale=3).tools() as tools:
        env = Play(stage=1, prompt="brief", frame="thousandths").environment(tools)
        assert isinstance(env, MagsEnv) and (env.stage, env.style, env.frame) == (1, "brief", "thousandths")
        assert (tools.network.name, tools.network.scale, tools.resized) == ("bicubic", 3, None)
    own = training(tmp_path, network="none")
    with replace(own, play=Play(frame="resized")).tools() as tools:
        assert tools.resized is not None, "the model's own pixels are known to its processor"
    assert magnifier("none").network.scale == 1


def test_each_stage_starts_from_the_model_before(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    started: list[tuple[str, str]] = []

    def launched(one: Training, processes: object, watcher: object) -> Path:
        started.append((one.run_dir, one.start))
        return Path(one.run_dir, "model")

    monkeypatch.setattr(experiment, "launch", launched)
    one, two = (training(tmp_path / name, stage) for name, stage in (("one", 1), ("two", 2)))
    assert train_in_stages([one, two]) == tmp_path / "two" / "model"
    assert started == [(one.run_dir, str(TINY)), (two.run_dir, str(tmp_path / "one" / "model"))]
    for wrong in ([], [one, replace(two, run_dir=one.run_dir)]):
        with pytest.raises(ValueError, match="give each stage a folder of its own"):
            train_in_stages(wrong)

"""Mags-RL's experiment: limits, the two stages' values and rewards, one stage after the other."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from fake_openai import FakeOpenAI
from PIL import Image

from kit.chat import Chat
from kit.data.store import load_tasks, save_tasks
from kit.episode import Action, Episode, NamedImage, Task, Turn
from kit.evaluate.baselines import SingleTurnEnv
from kit.rollout import begin
from kit.train.grpo import GRPOSettings
from papers.mags_rl import experiment
from papers.mags_rl.env import MagsEnv
from papers.mags_rl.experiment import Play, Training, arranged, check_way, magnifier, train_in_stages
from tiny import TINY

TASK = Task("t", (), "How many?", ("3",), {"skill": "count"})
THINK = "<think>One, two, three cards say tea <zoom>[[0, 0, 0.4, 0.4]]</zoom></think>"
FIRST = Turn((), (), THINK, Action("zoom", "[[0, 0, 0.4, 0.4]]", {"asked": 1, "boxes": [[0, 0, 0.4, 0.4]]}))


def answering(answer: str) -> Episode:
    text = f"<rethink>so</rethink><answer>{answer}</answer>"
    return Episode(TASK, (), (FIRST, Turn((), (), text, Action("answer", answer))), "answer")


def training(tmp_path: Path, stage: Any = 2, **more: Any) -> Training:
    return Training(str(TINY), "tasks.jsonl", str(tmp_path), Play(stage=stage), GRPOSettings(), **more)


def test_the_reward_is_the_stages(tmp_path: Path) -> None:
    """One of three counted: 1/3 in stage 2, k/n = 1 in stage 1."""
    for stage, worth in ((1, 1.0), (2, 1 / 3)):
        (score,) = training(tmp_path, stage).group_reward()([answering("3")], TASK.target)
        assert score.parts["zoom"] == pytest.approx(worth) and score.correct is True


def test_a_model_judges_answers_in_training_alone(tmp_path: Path) -> None:
    with FakeOpenAI(lambda body: "0.75") as server:
        own = training(tmp_path, judge=f"gpt-4o-mini@{server.url}")
        wrong = [answering("three of them"), answering("three of them")]
        assert [score.parts["answer"] for score in own.group_reward()(wrong, TASK.target)] == [1.0, 1.0]
        assert server.bodies[0]["model"] == "gpt-4o-mini" and (tmp_path / "verdicts.sqlite").is_file()
        asked = len(server.bodies)
        assert own.held_out_reward()(wrong[:1], TASK.target)[0].parts["answer"] == 0.0 and len(server.bodies) == asked


def test_environments_are_told_stage_frame_and_network(tmp_path: Path) -> None:
    play = Play(stage=1, prompt="brief", frame="thousandths", network="bicubic", scale=3)
    with replace(training(tmp_path), play=play).tools() as tools:
        env = play.environment(tools)
        assert isinstance(env, MagsEnv) and (env.stage, env.style, env.frame) == (1, "brief", "thousandths")
        assert (tools.network.name, tools.network.scale, tools.resized) == ("bicubic", 3, None)
    with replace(training(tmp_path), play=Play(frame="resized", network="none")).tools() as tools:
        assert tools.resized is not None, "the model's own pixels are known to its processor"
    assert magnifier("none").network.scale == 1


@pytest.mark.parametrize(
    "values", [{}, {"prompt": "brief", "direct": True}, {"network": "smfanet", "weights": "no.pth"}]
)
def test_a_task_is_begun_without_any_network(
    values: dict[str, Any], chat: Chat, monkeypatch: pytest.MonkeyPatch
) -> None:
    """What a job is checked by before it starts: as its notebook has it, and no weights are read."""
    monkeypatch.setattr("visual_tools.super_resolution.Span.__init__", None)
    monkeypatch.setattr("visual_tools.super_resolution.SMFANetResolution.__init__", None)
    play = Play(**values)
    task = Task("t", (NamedImage("image", Image.new("RGB", (56, 56))),), "How many?", ("3",))
    begun = begin(chat, play.environment(play.idle()), task)
    assert begun.prompt_ids and play.idle().network.name == "none"


@pytest.mark.parametrize(
    ("values", "said"),
    [
        ({"prompt": "nonsense"}, "prompt='nonsense'.*choose one of brief, full"),
        ({"prompt": "nonsense", "direct": True}, "prompt='nonsense': choose one of .*brief or full"),
        ({"stage": 3}, "stage=3.*1 or 2"),
        ({"frame": "inches"}, "frame='inches'.*one of shares"),
        ({"network": "gan"}, "network='gan', scale=2: choose one of span, smfanet, bicubic, none"),
        ({"network": "bicubic", "scale": 0}, "network='bicubic', scale=0.*1 or more"),
        ({"scale": 3}, "span: scale=3; there are networks for 2 and 4"),
    ],
)
def test_values_that_are_refused_before_a_job(values: dict[str, Any], said: str) -> None:
    with pytest.raises(ValueError, match=said):
        play = Play(**values)
        play.environment(play.idle())


def test_frames_of_all_kinds_are_begun_idly() -> None:
    env = Play(frame="resized").environment(Play(frame="resized").idle())
    assert isinstance(env, MagsEnv) and env.frame == "resized"


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


def test_what_the_two_stages_are_compared_with(tmp_path: Path) -> None:
    """All at once and direct answers have as many steps as both stages; more questions have the stages' own."""
    for stage in ("stage1", "stage2"):
        save_tasks(tmp_path / f"{stage}.jsonl", [replace(TASK, id=stage)])
    one, two = (
        replace(
            training(tmp_path / f"run{stage}", stage),
            start="taught",
            tasks=str(tmp_path / f"stage{stage}.jsonl"),
            settings=GRPOSettings(steps=10 * stage),
        )
        for stage in (1, 2)
    )
    assert arranged("two_stages", one, two, "base") == [one, two]
    more = [Path(own.tasks).name for own in arranged("more", one, two, "base")]
    assert more == ["stage1-more.jsonl", "stage2-more.jsonl"]
    [all_of_it], [direct] = arranged("at_once", one, two, "base"), arranged("direct", one, two, "base")
    for alone, start in ((all_of_it, "taught"), (direct, "base")):
        assert (alone.start, alone.run_dir, alone.play.stage, alone.settings.steps) == (start, two.run_dir, 2, 30)
        assert [task.id for task in load_tasks(alone.tasks)] == ["stage1", "stage2"]
        assert alone.settings == replace(one.settings, steps=30), (
            "the first stage's rate and KL term, not the last one's"
        )
        assert alone.play.temperature == one.play.temperature
    assert not all_of_it.play.direct and isinstance(direct.play.environment(magnifier("none")), SingleTurnEnv)
    with pytest.raises(ValueError, match="curriculum 'three': choose one of two_stages"):
        arranged("three", one, two, "base")  # type: ignore[arg-type]
    with pytest.raises(ValueError, match="curriculum 'three': choose one of two_stages, more, at_once, direct"):
        check_way("three")


def test_direct_answers_are_paid_for_being_right_alone(tmp_path: Path) -> None:
    own = training(tmp_path, judge="nobody@http://nobody.asked")
    reward = replace(own, play=Play(direct=True)).group_reward()
    assert [score.total for score in reward([answering("3"), answering("4")], TASK.target)] == [1.0, 0.0]


def test_how_questions_are_told_is_kept_beside_them(tmp_path: Path) -> None:
    Play(prompt="brief", network="bicubic", scale=3, max_new_tokens=7).keep(tmp_path)
    assert Play.kept(tmp_path, max_new_tokens=9) == Play(prompt="brief", network="bicubic", scale=3, max_new_tokens=9)
    with pytest.raises(FileNotFoundError, match="run notebook 41 first"):
        Play.kept(tmp_path / "nowhere")

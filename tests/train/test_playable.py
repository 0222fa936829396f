"""Tasks that can't be shown, begun, played or scored are refused before step 1, all in one message."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from PIL import Image
from training_fixtures import even_reward, fresh_chat, fresh_model

from kit.chat import Chat
from kit.data.store import load_tasks, save_tasks
from kit.environment import ToolEnv
from kit.episode import NamedImage, Task
from kit.protocol import Protocol
from kit.rewards.text_match import f1, max_over_references
from kit.rollout import RolloutConfig
from kit.train.grpo import GRPOSettings, train_grpo
from kit.train.held_out import held_out_accuracy
from kit.train.playable import SHOWN, UnplayableTasks, check_playable

GOOD = Task("good", (NamedImage("image", Image.new("RGB", (56, 56))),), "What?", ("it",), {"box": None})
CONFIG = RolloutConfig(max_turns=2, max_new_tokens=8, max_episode_tokens=60)


class Asked(ToolEnv):
    """Questions about images; it keeps count of the environments that were made."""

    made = 0

    def __init__(self) -> None:
        super().__init__(Protocol(actions=()))
        type(self).made += 1

    def prompt(self, task: Task) -> tuple[str, list[str | NamedImage]]:
        return "", [*task.images, task.question, "!" * int(task.meta.get("marks", 0))]

    def reward(self, answer: str) -> float:
        return max_over_references(f1, answer, self.task.target)

    def draw(self) -> Task:
        return GOOD


def sized(width: int, height: int) -> tuple[NamedImage, ...]:
    return (NamedImage("image", Image.new("RGB", (width, height))),)


@pytest.mark.parametrize(
    ("bad", "fault"),
    [
        ({"images": sized(400, 1)}, "image 'image': it has 400 x 1 pixels; the longer side may be at most 200 times"),
        (
            {"images": sized(64, 13200)},
            "image 'image': it has 64 x 13200 pixels; the longer side may be at most 200 times",
        ),
        ({"target": ()}, "no gold answer"),
        ({"target": None}, "no gold answer"),
        ({"target": " "}, "no gold answer"),
        ({"target": ("it", "")}, "a gold answer is empty"),
        ({"target": ["it", None]}, "a gold answer is empty"),
        ({"meta": {"box": [0.0, 0.0, 1.5, 1.0]}}, "reaches out of"),
        ({"meta": {"box": [0.5, 0.0, 0.25, 1.0]}}, "left must be below right"),
        ({"meta": {"box": [0.0, 0.0, float("nan"), 1.0]}}, "left must be below right"),
        ({"meta": {"box": [0.0, 0.0, 1.0]}}, "give left, top, right and bottom"),
        ({"meta": {"boxes": [[0, 0, 1, 1], [10, 10, 50, 50]]}}, "reaches out of"),
        (
            {"meta": {"box": {"image": "image", "frame": "pixels", "left": 0, "top": 0, "right": 57, "bottom": 5}}},
            "reaches out of its 56 × 56 pixels",
        ),
    ],
)
def test_what_is_wrong_with_a_task_by_itself(bad: dict[str, Any], fault: str) -> None:
    with pytest.raises(UnplayableTasks) as caught:
        check_playable({"mine.jsonl": [GOOD, replace(GOOD, id="bad", **bad)]})
    first, told = str(caught.value).splitlines()
    assert first.startswith("1 of 2 tasks can't be played")
    assert told.strip().startswith("mine.jsonl:2, task bad: ") and fault in told


def test_what_can_be_played_passes(chat: Chat) -> None:
    pixels = {"image": "image", "frame": "pixels", "left": 0, "top": 0, "right": 56, "bottom": 56}
    others = [
        replace(GOOD, target="3"),
        replace(GOOD, target=0),
        replace(GOOD, images=sized(200, 1)),
        replace(GOOD, images=()),
        replace(GOOD, meta={"box": [0, 0, 1, 1], "boxes": [pixels, {**pixels, "frame": "resized"}]}),
    ]
    check_playable({"a": [GOOD], "b": others, "c": []})
    check_playable({"a": [GOOD, replace(GOOD, images=())]}, chat, Asked, CONFIG)


def test_a_prompt_needs_room_for_a_turn(chat: Chat) -> None:
    """By hand: the prompt's tokens and a turn of 8 within the limit, to the token."""
    tokens = len(chat.prompt("", [*GOOD.images, GOOD.question, ""]))
    for limit, fits in ((tokens + 8, True), (tokens + 7, False)):
        config = replace(CONFIG, max_episode_tokens=limit)
        if fits:
            check_playable({"a": [GOOD]}, chat, Asked, config)
            continue
        with pytest.raises(UnplayableTasks) as caught:
            check_playable({"a": [GOOD]}, chat, Asked, config)
        said = f"a:1, task good: the prompt has {tokens} tokens, a turn may have 8: together more than"
        assert f"{said} max_episode_tokens={limit}" in str(caught.value)


def test_all_faults_come_in_one_message_with_file_and_line(chat: Chat, tmp_path: Path) -> None:
    bad = [
        GOOD,
        replace(GOOD, id="wide", images=sized(400, 1), target=()),
        replace(GOOD, id="long", meta={"marks": 90}),
        replace(GOOD, id="letters", target="hello"),
        replace(GOOD, id="odd", meta={"marks": "x"}),
    ]
    save_tasks(tmp_path / "train.jsonl", bad)
    tasks = load_tasks(tmp_path / "train.jsonl")
    assert tasks == bad
    sets = {str(tasks.path): tasks, "more": [replace(GOOD, id="none", target=None)]}
    with pytest.raises(UnplayableTasks) as caught:
        check_playable(sets, chat, Asked, CONFIG)
    found = [line.strip().removeprefix(str(tmp_path)) for line in str(caught.value).splitlines()]
    assert found[0].startswith("5 of 6 tasks can't be played")
    assert found[1].startswith("/train.jsonl:2, task wide: image 'image': it has 400 x 1 pixels")
    assert found[2].startswith("/train.jsonl:2, task wide: no gold answer")
    assert found[3].startswith("/train.jsonl:3, task long: the prompt has")
    letters = "an answer can't be scored: gold answers 'hello': give a list of texts, not one text"
    assert found[4] == f"/train.jsonl:4, task letters: {letters}"
    assert found[5].startswith("/train.jsonl:5, task odd: invalid literal for int()")
    assert found[6] == "more:1, task none: no gold answer (target=None)" and len(found) == 7


def test_very_many_faults_are_counted() -> None:
    with pytest.raises(UnplayableTasks) as caught:
        check_playable({"a": [replace(GOOD, id=str(k), target=()) for k in range(SHOWN + 3)]})
    assert str(caught.value).splitlines()[-1].strip() == "and 3 more"


def test_a_task_that_is_there_twice_is_named_once() -> None:
    bad = replace(GOOD, id="bad", target=())
    with pytest.raises(UnplayableTasks) as caught:
        check_playable({"a": [bad, GOOD, bad]})
    assert len(str(caught.value).splitlines()) == 2


def test_a_prompt_is_not_counted_by_nobody() -> None:
    with pytest.raises(ValueError, match="make_env without chat or config"):
        check_playable({"a": [GOOD]}, None, Asked)


SETTINGS = GRPOSettings(steps=1, prompts_per_batch=1, group_size=2, per_device_batch_size=2)


def test_training_says_before_step_1_which_tasks_it_could_not_play(tmp_path: Path) -> None:
    """The long one is not in the first batch; the held-out one is never trained on."""
    chat = fresh_chat()
    model = fresh_model(chat)
    save_tasks(
        tmp_path / "train.jsonl",
        [*(replace(GOOD, id=f"t{k}") for k in range(5)), replace(GOOD, id="long", question="?" * 99)],
    )
    save_tasks(tmp_path / "test.jsonl", [replace(GOOD, id="held", question="x" * 99)])
    held_out = held_out_accuracy([str(tmp_path / "test.jsonl")], 1, lambda policy, tasks: [], even_reward)
    tasks = load_tasks(tmp_path / "train.jsonl")
    with pytest.raises(UnplayableTasks) as caught:
        train_grpo(model, chat, tasks, Asked, CONFIG, even_reward, SETTINGS, tmp_path / "run", held_out=held_out)
    said = str(caught.value)
    assert f"{tmp_path / 'train.jsonl'}:6, task long: the prompt has" in said and "max_episode_tokens=60" in said
    assert f"{tmp_path / 'test.jsonl'}:1, task held: the prompt has" in said and "2 of 7 tasks" in said
    assert not (tmp_path / "run" / "metrics.jsonl").exists() or not (tmp_path / "run" / "metrics.jsonl").read_text()
    Asked.made = 0
    folder = train_grpo(
        model, chat, tasks[:5], Asked, CONFIG, even_reward, SETTINGS, tmp_path / "run"
    )  # the same folder goes on
    assert folder.is_dir() and Asked.made == 2 + 1  # the batch's two, and one in which all five tasks were begun


def test_training_names_bad_tasks_before_anything_is_played(tmp_path: Path) -> None:
    chat = fresh_chat()

    bad = [replace(GOOD, id="wide", images=sized(400, 1)), replace(GOOD, id="long", question="?" * 99)]
    with pytest.raises(UnplayableTasks, match=r"(?s)task wide: image 'image'.*task long: the prompt has"):
        train_grpo(fresh_model(chat), chat, [GOOD, *bad], Asked, CONFIG, even_reward, SETTINGS, tmp_path)
    assert not (tmp_path / "metrics.jsonl").exists()

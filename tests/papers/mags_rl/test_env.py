"""Mags-RL's environment: two rounds, the boxes that are magnified, and what is told of all others."""

from __future__ import annotations

import json
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from PIL import Image

from kit.chat import Chat
from kit.data.store import load_episodes, save_episodes
from kit.episode import NamedImage, Observation, Task
from kit.policy.scripted import ScriptedPolicy
from kit.rollout import RolloutConfig, rollout
from kit.tools.boxes import Frame
from kit.train.playable import solve
from papers.mags_rl.env import FIRST, MORE, SECOND, MagsEnv
from papers.mags_rl.zoom import MOST, Checked, Magnifier, check, read
from visual_tools.super_resolution import super_resolution

QUARTERS = np.zeros((280, 280, 3), dtype=np.uint8)
QUARTERS[:140, :140], QUARTERS[:140, 140:], QUARTERS[140:, :140] = (255, 0, 0), (0, 255, 0), (0, 0, 255)
ORIGINAL = Image.fromarray(QUARTERS)
TASK = Task(
    "t",
    (NamedImage("image", ORIGINAL.resize((140, 140), Image.Resampling.NEAREST)),),
    "Which colour?",
    ("blue",),
    originals=(NamedImage("image", ORIGINAL),),
)
BICUBIC = Magnifier(super_resolution("bicubic", 2))
ANSWER = "<rethink>It is blue.</rethink><answer>blue</answer>"


def asking(boxes: str) -> str:
    return f"<think>Bottom left. <zoom>{boxes}</zoom></think>"


@pytest.fixture(params=["brief", "full"])
def env(request: Any) -> MagsEnv:
    one = MagsEnv(BICUBIC, prompt=request.param)
    one.reset(options={"task": TASK})
    return one


def first(task: Task, text: str, **more: Any) -> tuple[Observation, dict[str, Any]]:
    """The first round on a task."""
    env = MagsEnv(BICUBIC, **more)
    env.reset(options={"task": task})
    seen, _, terminated, _, info = env.step(text)
    assert not terminated
    return seen, info


def test_a_part_is_magnified_from_the_original_and_looked_at_again(env: MagsEnv) -> None:
    seen, reward, terminated, _, info = env.step(asking("[[0.0, 0.5, 0.5, 1.0]]"))
    assert (seen.text, seen.status, reward, terminated) == ("", "ok", 0.0, False)
    assert [(image.name, image.image.size) for image in seen.images] == [("zoom_1", (280, 280))], "140 pixels, twice"
    assert seen.images[0].image.getpixel((100, 100)) == (0, 0, 255)
    assert seen.closing.startswith("Which colour?")
    assert info["action"].arguments == {"asked": 1, "boxes": [[0.0, 0.5, 0.5, 1.0]]}
    assert env.step(ANSWER)[1:3] == (1.0, True)


def test_several_parts_of_which_some_cannot_be(env: MagsEnv) -> None:
    seen, _, _, _, info = env.step(asking("[[0, 0, 0.5, 0.5], [0.5, 0, 0.2, 0.5], [0.5, 0.5, 1, 1]]"))
    assert [image.name for image in seen.images] == ["zoom_1", "zoom_3"]
    assert seen.text == "Error: box 2 is empty or reversed: x1 must be below x2, and y1 below y2\n"
    assert seen.status == "ok", "two are shown"
    assert info["action"].arguments["asked"] == 3 and len(info["action"].arguments["boxes"]) == 2


@pytest.mark.parametrize(
    ("boxes", "told"),
    [
        ("[[0.5, 0.2, 0.1, 0.4]]", "box 1 is empty or reversed"),
        ("[[0.1, 0.4, 0.5, 0.2]]", "box 1 is empty or reversed"),
        ("[[0.1, 0.1, 0.1, 0.4]]", "box 1 is empty or reversed"),
        ("[[0.5, 0.5, 1.2, 0.9]]", "box 1 reaches out of the image"),
        ("[[-0.1, 0.5, 0.2, 0.9]]", "box 1 reaches out of the image"),
        ("[[100, 100, 200, 200]]", "box 1 reaches out of the image"),
        ("[[0.0, 0.0, 0.8, 0.5]]", "box 1 must be smaller than 40% of the image"),
        ("[[0.2, 0.0, 0.7, 0.8]]", "box 1 must be smaller than 40% of the image"),  # 0.7 − 0.2 is a little below 0.5
        ("[[0.1, 0.1, 0.12, 0.4]]", "box 1 is 6 x 84 pixels: each side needs 8"),
        ("[[NaN, 0, 0.2, 0.2]]", "box 1 needs four numbers"),
        ("[[0, 0, Infinity, 0.2]]", "box 1 needs four numbers"),
        ('[["left", 0, 0.2, 0.2]]', "box 1 needs four numbers"),
        ("[[true, 0, 0.2, 0.2]]", "box 1 needs four numbers"),
        ("[[0, 0, 0.2]]", "box 1 needs four numbers"),
        ("[[0, 0, 1" + "0" * 400 + ", 0.2]]", "box 1 needs four numbers"),
        ("the card at the bottom", "isn't a list of boxes: write [[x1, y1, x2, y2], …]"),
        ("[0.1, 0.1, 0.3, 0.3]", "'[0.1, 0.1, 0.3, 0.3]' isn't a list of boxes: write [[x1, y1, x2, y2], …]"),
        ("", "isn't a list of boxes"),
        ("{}", "isn't a list of boxes"),
        ("<zoom>[[0, 0, 0.4, 0.4]]", "isn't a list of boxes"),
        ("[" * 100_000, "isn't a list of boxes"),
        ("[[0, 0, 1" + "0" * 5000 + ", 1]]", "isn't a list of boxes"),
    ],
)
def test_what_is_wrong_with_a_box_is_told_by_name(env: MagsEnv, boxes: str, told: str) -> None:
    seen, _, terminated, _, info = env.step(asking(boxes))
    assert told in seen.text and len(seen.text) < 400
    assert (seen.status, seen.images, terminated) == ("error", (), False)
    assert info["action"].arguments["boxes"] == []
    assert env.step(ANSWER)[1:3] == (1.0, True), "it goes on"


@pytest.mark.parametrize(
    "boxes",
    [
        "[0.1, 0.1, 0.3, 0.3]",
        "[0, 0, 1, 1]",
        "[100, 100, 300, 200]",
        "[0.1, 0.1, 0.3, 0.3, 0.5, 0.5, 0.7, 0.7]",
        '["0.1, 0.1, 0.3, 0.3"]',
        '[{"bbox_2d": [10, 10, 40, 40], "label": "card"}]',
        "[null, null, null, null]",
        "[0.1, 0.1, NaN, 0.3]",
        "(0.1, 0.1, 0.3, 0.3)",
    ],
)
def test_what_is_no_list_of_lists_is_refused_once(env: MagsEnv, boxes: str) -> None:
    seen, _, _, _, info = env.step(asking(boxes))
    assert seen.text.count("Error") == seen.text.count("\n") == 1
    assert "isn't a list of boxes: write [[x1, y1, x2, y2], …]" in seen.text
    assert info["action"].arguments == {"asked": 0, "boxes": []}


SHARES = "numbers are shares of the image's width and height, from 0 to 1"
THOUSANDTHS = "numbers are thousandths of the image's width and height, from 0 to 1000"
PIXELS = "numbers are pixels of the image, which is 140 x 140"


@pytest.mark.parametrize(
    ("frame", "boxes", "unit"),
    [
        ("shares", "[[10, 10, 60, 60]]", SHARES),
        ("shares", "[[100, 100, 300, 300]]", SHARES),
        ("shares", "[[0.1, 0.1, 0.3, 0.3], [560, 10, 900, 40], [1, 1, 30, 30]]", SHARES),
        ("shares", "[[-20, 0, 1, 1]]", SHARES),
        ("thousandths", "[[0.1, 0.1, 0.3, 0.3]]", THOUSANDTHS),
        ("thousandths", "[[100, 100, 1920, 1080]]", THOUSANDTHS),
        ("pixels", "[[0.1, 0.1, 0.3, 0.3]]", PIXELS),
        ("pixels", "[[100, 100, 300, 300]]", PIXELS),
        ("resized", "[[0.1, 0.1, 0.3, 0.3]]", PIXELS.replace("140", "112")),
        ("resized", "[[70, 70, 130, 130]]", PIXELS.replace("140", "112")),
    ],
)
def test_of_numbers_in_another_unit_the_one_that_is_meant_is_told_once(frame: Frame, boxes: str, unit: str) -> None:
    told = check(boxes, TASK.images[0], (280, 280), frame, (112, 112)).told
    assert told.count(unit) == 1 and told[-1] == unit


@pytest.mark.parametrize(
    "boxes", ["[[0.7, 0.7, 1.2, 0.9]]", "[[0.5, 0.5, 0.1, 0.9]]", "[[0, 0, 1, 0.5]]", "[[0, 0, 1, 2, 3]]"]
)
def test_of_others_the_unit_is_not_told(boxes: str) -> None:
    assert len(check(boxes, TASK.images[0], (280, 280)).told) == 1


def test_just_below_forty_percent_is_small_enough() -> None:
    assert check("[[0.0, 0.0, 0.8, 0.499]]", TASK.images[0], (280, 280)).told == ()


def test_five_hundred_boxes() -> None:
    boxes = [[k % 20 / 20, k // 20 / 25, k % 20 / 20 + 0.05, k // 20 / 25 + 0.04] for k in range(500)]
    seen, info = first(TASK, asking(json.dumps(boxes)))
    assert len(seen.images) == MOST and info["action"].arguments["asked"] == 500
    assert seen.text == "Error: only the first 8 of 500 boxes are looked at\n"
    seen, info = first(TASK, asking(json.dumps([[0.0, 0.0, 0.3, 0.3]] * 500)))
    assert [image.name for image in seen.images] == ["zoom_1"] and info["action"].arguments["asked"] == 500
    assert "Error: box 2 shows the same as box 1\n" in seen.text and "Error: and 3 more\n" in seen.text


def test_two_boxes_are_the_same_from_seven_tenths_on() -> None:
    """Of [0, 0, .4, .4], [.1, 0, .5, .4] has .12 in common of .20: .6. [.06, 0, .46, .4]: .136 of .184, .739."""
    apart = check("[[0, 0, 0.4, 0.4], [0.1, 0, 0.5, 0.4]]", TASK.images[0], (280, 280))
    assert list(apart.boxes) == [1, 2]
    alike = check("[[0, 0, 0.4, 0.4], [0.06, 0, 0.46, 0.4]]", TASK.images[0], (280, 280))
    assert list(alike.boxes) == [1] and alike.told == ("box 2 shows the same as box 1",)


def test_no_part_at_all_is_told_and_goes_on(env: MagsEnv) -> None:
    seen, _, terminated, _, info = env.step("<think>I see it.</think>")
    assert not terminated and seen.status == "format" and info["action"] is None
    assert seen.text.startswith("No part was asked for") and seen.closing.startswith("Which colour?")
    assert env.step(ANSWER)[1:3] == (1.0, True)


def test_an_empty_list_is_a_choice(env: MagsEnv) -> None:
    seen, _, _, _, info = env.step(asking("[]"))
    assert (seen.text, seen.images, seen.status) == ("", (), "ok")
    assert info["action"].arguments == {"asked": 0, "boxes": []}


def test_of_several_lists_the_first_counts(env: MagsEnv) -> None:
    text = "<think><zoom>[[0, 0, 0.4, 0.4]]</zoom> no <zoom>[[0.5, 0.5, 1, 1]]</zoom></think>"
    seen, *_, info = env.step(text)
    assert info["action"].arguments["boxes"] == [[0.0, 0.0, 0.4, 0.4]]
    assert seen.text == "Error: only the first <zoom> is looked at: name all parts in one list\n"


@pytest.mark.parametrize("first", ["[]", "the card", "[[0, 0, 0.4, 0.4]]"])
@pytest.mark.parametrize("more", ["<zoom>[[0.5, 0.5, 1, 1]]</zoom>", "<zoom>[]</zoom> or <zoom>b</zoom>"])
def test_that_other_lists_arent_looked_at_is_told(env: MagsEnv, first: str, more: str) -> None:
    alone = env.step(asking(first))[0]
    env.reset(options={"task": TASK})
    seen = env.step(f"<think><zoom>{first}</zoom>, then {more}</think>")[0]
    assert seen.text == alone.text + MORE and seen.images == alone.images and seen.closing == alone.closing
    assert MORE not in alone.text


@pytest.mark.parametrize("text", ["<think>Again.</think>", asking("[[0, 0, 0.4, 0.4]]"), "", "<rethink>Blue."])
def test_a_second_round_without_an_answer_is_the_end(env: MagsEnv, text: str) -> None:
    env.step(asking("[[0.0, 0.5, 0.5, 1.0]]"))
    seen, reward, terminated, _, info = env.step(text)
    assert terminated and (seen.status, reward, info["action"]) == ("format", 0.0, None)


def test_an_answer_in_the_first_round_is_one(env: MagsEnv) -> None:
    assert env.step("<answer>blue</answer>")[1:3] == (1.0, True)


def test_a_new_episode_begins_with_the_first_round(env: MagsEnv) -> None:
    env.step(asking("[]"))
    env.reset(options={"task": TASK})
    assert env.protocol is FIRST and not env.step("<think>a</think>")[2]


@pytest.mark.parametrize("size", [(1, 1), (4, 4), (1, 3000), (10_000, 10_000)])
def test_images_of_a_pixel_and_of_a_hundred_megapixels(size: tuple[int, int]) -> None:
    image = NamedImage("image", Image.new("L", size, 90))
    task = Task("t", (NamedImage("image", image.image.resize((28, 28))),), "?", ("x",), originals=(image,))
    seen, _ = first(task, asking("[[0.1, 0.1, 0.7, 0.7]]"))
    if max(size) > 9999:
        assert [image.image.size for image in seen.images] == [(1024, 1024)]
    else:
        assert not seen.images and "each side needs 8" in seen.text


@pytest.mark.parametrize(
    ("frame", "boxes"),
    [
        ("shares", "[[0, 0.5, 0.5, 1]]"),
        ("thousandths", "[[0, 500, 500, 1000]]"),
        ("pixels", "[[0, 70, 70, 140]]"),
        ("resized", "[[0, 56, 56, 112]]"),
    ],
)
def test_boxes_in_every_frame_show_the_same(frame: Frame, boxes: str) -> None:
    magnifier = Magnifier(BICUBIC.network, resized=lambda image: (112, 112))
    env = MagsEnv(magnifier, frame=frame)
    env.reset(options={"task": TASK})
    seen, _, _, _, info = env.step(asking(boxes))
    assert seen.images[0].image.getpixel((100, 100)) == (0, 0, 255)
    assert info["action"].arguments["boxes"] == [[0.0, 0.5, 0.5, 1.0]]


def test_prompts_say_stage_and_frame() -> None:
    systems = {
        (stage, style): MagsEnv(BICUBIC, stage, style).prompt(TASK)[0]
        for stage in (1, 2)
        for style in ("brief", "full")
    }
    assert len(set(systems.values())) == 4
    assert "one part" in systems[1, "full"] and "Every part" not in systems[1, "full"]
    assert "from 0 to 1," not in MagsEnv(BICUBIC, prompt="full", frame="thousandths").prompt(TASK)[0]
    assert MagsEnv(BICUBIC).prompt(TASK)[1] == ["image: ", TASK.images[0], "Which colour?"]


def test_settings_that_cannot_be_are_named() -> None:
    with pytest.raises(ValueError, match="frame='resized': give Magnifier"):
        MagsEnv(BICUBIC, frame="resized")


@given(st.text() | st.recursive(st.none() | st.floats() | st.integers() | st.text(), st.lists).map(json.dumps))
def test_any_text_can_be_a_list_of_boxes(text: str) -> None:
    found = check(text, TASK.images[0], (280, 280))
    assert isinstance(found, Checked) and len(found.boxes) <= min(MOST, max(0, found.asked))
    assert found.asked == len(read(text) or ())


@pytest.mark.parametrize(
    ("text", "holds"),
    [
        (asking("[]"), True),
        (f"  {asking('[]')}\n", True),
        ("<think>a</think>", False),
        ("<zoom>[]</zoom><think>a</think>", False),
        ("<think>a<zoom>[]</zoom><zoom>[]</zoom></think>", False),
        ("Well. " + asking("[]"), False),
        (asking("[]") + "<answer>1</answer>", False),
        ("<think><zoom>[]</think></zoom>", False),
    ],
)
def test_the_form_of_the_first_round(text: str, holds: bool) -> None:
    assert FIRST.well_formed(text) is holds
    assert SECOND.well_formed(ANSWER) and FIRST.stops == ("</think>", "</answer>")


def test_an_episode_of_two_rounds_is_played_stored_and_solved(chat: Chat, tmp_path: Any) -> None:
    turns = [asking("[[0.0, 0.5, 0.5, 1.0]]"), ANSWER]
    policy = ScriptedPolicy(chat, lambda episode: turns[len(episode.turns)])
    (played,) = rollout(policy, chat, [TASK], lambda: MagsEnv(BICUBIC), RolloutConfig(2))
    told = chat.decode(played.turns[0].observation_ids)
    assert played.ended == "answer" and played.calls == 1
    assert "zoom_1: <" in told and told.index("Which colour?") > told.rindex("<|image_pad|>")
    save_episodes(tmp_path / "episodes.jsonl", [played])
    assert load_episodes(tmp_path / "episodes.jsonl") == [played], "boxes and all"
    assert [seen.status for seen in solve(MagsEnv(BICUBIC), TASK, turns)] == ["ok"]
    (unanswered,) = rollout(
        ScriptedPolicy(chat, lambda e: turns[0]), chat, [TASK], lambda: MagsEnv(BICUBIC), RolloutConfig(2)
    )
    assert unanswered.ended == "format"

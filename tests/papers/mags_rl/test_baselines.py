"""Mags-RL's baselines: one example before the question, one part alone, no part at all."""

from __future__ import annotations

import pytest
from PIL import Image

from kit.episode import NamedImage, Task
from kit.papers.mags_rl.baselines import OneShotEnv, no_crops, one_part
from kit.papers.mags_rl.env import MagsEnv
from kit.papers.mags_rl.zoom import Magnifier
from kit.tools.super_resolution import Bicubic

LOOK = "<think>Both. <zoom>[[0, 0, 0.5, 0.5], [0.5, 0.5, 1, 1]]</zoom></think>"
ANSWER = "<rethink>so</rethink><answer>2</answer>"


def task(name: str, skill: str) -> Task:
    return Task(name, (NamedImage("image", Image.new("RGB", (80, 80))),), f"{name}?", ("2",), {"skill": skill})


def test_the_example_is_of_the_same_skill_and_of_another_image() -> None:
    env = OneShotEnv([task("a", "relation"), task("b", "count"), task("c", "count")])
    assert env.example_for(task("b", "count")).id == "b", "no source tells that they are one image"
    assert env.example_for(task("z", "count")).id == "b" and env.example_for(task("z", "attribute")).id == "a"
    system, parts = env.prompt(task("z", "count"))
    assert system == ""
    assert [part if isinstance(part, str) else part.name for part in parts] == [
        "example: ", "example", "b? 2\n", "image: ", "image", "z?"
    ]  # fmt: skip
    one, other = (Task(n, (), "?", ("2",), {"skill": "count", "source": n}) for n in "xy")
    assert OneShotEnv([one, other]).example_for(one) is other
    with pytest.raises(ValueError, match="needs an example"):
        OneShotEnv([])


@pytest.mark.parametrize(("around", "shown"), [(one_part, ["zoom_1"]), (no_crops, [])])
def test_less_is_shown_and_all_else_stays(around: object, shown: list[str]) -> None:
    env = around(MagsEnv(Magnifier(Bicubic(2))))  # type: ignore[operator]
    env.reset(options={"task": task("t", "count")})
    seen, _, terminated, _, info = env.step(LOOK)
    assert [image.name for image in seen.images] == shown and not terminated
    assert seen.closing == "t?" and seen.status == "ok"
    assert len(info["action"].arguments["boxes"]) == 2
    assert env.step(ANSWER)[1:3] == (1.0, True)

"""Mags-RL's baselines: one example before the question, one part alone, no part at all."""

from __future__ import annotations

import pytest
from PIL import Image

from kit.episode import NamedImage, Task
from kit.evaluate.baselines import SingleTurnEnv
from kit.papers.mags_rl.baselines import no_crops, one_part, with_example
from kit.papers.mags_rl.env import MagsEnv
from kit.papers.mags_rl.zoom import Magnifier
from kit.tools.super_resolution import Bicubic

LOOK = "<think>Both. <zoom>[[0, 0, 0.5, 0.5], [0.5, 0.5, 1, 1]]</zoom></think>"
ANSWER = "<rethink>so</rethink><answer>2</answer>"


def task(name: str, skill: str) -> Task:
    return Task(name, (NamedImage("image", Image.new("RGB", (80, 80))),), f"{name}?", ("2",), {"skill": skill})


def test_the_example_is_of_the_same_skill_and_of_another_image() -> None:
    examples = [task("a", "relation"), task("b", "count"), task("c", "count")]
    asked = with_example(task("z", "count"), examples)
    assert [image.name for image in asked.images] == ["example", "image"]
    assert asked.question == "example: b? 2. image: z?" and asked.target == ("2",)
    assert with_example(task("b", "count"), examples).question.startswith("example: c? 2.")
    assert with_example(task("z", "attribute"), examples).question.startswith("example: a? 2.")
    env = SingleTurnEnv()
    assert env.prompt(asked)[1] == ["example: ", asked.images[0], "image: ", asked.images[1], asked.question]
    with pytest.raises(ValueError, match="task b: one shot needs an example about another image"):
        with_example(task("b", "count"), [task("b", "count")])


@pytest.mark.parametrize(("around", "shown"), [(one_part, ["zoom_1"]), (no_crops, [])])
def test_less_is_shown_and_all_else_stays(around: object, shown: list[str]) -> None:
    env = around(MagsEnv(Magnifier(Bicubic(2))))  # type: ignore[operator]
    env.reset(options={"task": task("t", "count")})
    seen, _, terminated, _, info = env.step(LOOK)
    assert [image.name for image in seen.images] == shown and not terminated
    assert seen.closing == "t?" and seen.status == "ok"
    assert len(info["action"].arguments["boxes"]) == 2
    assert env.step(ANSWER)[1:3] == (1.0, True)

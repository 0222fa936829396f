"""What a task of VISTA-Gym claims, and how it is found out that it isn't so."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import replace
from typing import Any, ClassVar

import pytest
from PIL import Image

from kit.episode import NamedImage, Task
from papers.vista_gym.validate import validate
from visual_tools.tool import Arguments, PureTool


class Width(PureTool):
    """Says how wide an image is."""

    name, family, algorithm = "sides.width", "perception", "Its width."

    def look(self, image: Image.Image, arguments: Arguments) -> int:
        return image.width

    def answer(self, seen: int, arguments: Arguments) -> str:
        return f"It is {seen}, wide."


CALL = json.dumps({"tool": "sides.width", "arguments": {}})


def named(width: int) -> tuple[NamedImage]:
    return (NamedImage("image", Image.new("RGB", (width, 8))),)


TASK = Task("t", named(4), "How wide?", ("40",), {"calls": [CALL]}, originals=named(40))


class Twice(PureTool):
    """Doubles a number."""

    name, family, algorithm, needs_image = "sums.twice", "solvers", "Times two.", False
    properties: ClassVar[Mapping[str, Any]] = {"of": {"type": "number"}}

    def look(self, image: None, arguments: Arguments) -> int:
        return int(arguments["of"]) * 2

    def answer(self, seen: int, arguments: Arguments) -> str:
        return f"Equal(Twice,{seen})"


TWICE = json.dumps({"tool": "sums.twice", "arguments": {"of": 40}})


def test_a_task_that_its_calls_solve_is_one() -> None:
    assert validate(TASK, [Width()]) == ""
    unsuitable = json.dumps({"tool": "sides.width", "arguments": {"image": "none"}})
    assert validate(replace(TASK, meta={"calls": [CALL], "wrong": unsuitable}), [Width()]) == ""
    assert validate(replace(TASK, meta={}), []) == "", "of a task that wasn't drawn only the gold answer is proven"


def test_the_calls_of_two_steps_need_the_original_at_the_first() -> None:
    """The second call computes with what the first one read, so it says the same of any image."""
    task = replace(TASK, target=("80",), meta={"calls": [CALL, TWICE]})
    assert validate(task, [Width(), Twice()]) == ""
    shown = replace(task, images=named(40))
    assert "on what the prompt shows: show less of it" in validate(shown, [Width(), Twice()])
    alone = replace(shown, meta={"calls": [TWICE]})
    assert validate(alone, [Width(), Twice()]) == "", "a call that looks at no image claims nothing of it"


@pytest.mark.parametrize(
    ("changes", "why"),
    [
        ({"target": ("41",)}, "a script finds 'It is 40, wide.', the gold answer is '41'"),
        ({"images": named(40)}, "on what the prompt shows: show less of it"),
        ({"meta": {"calls": []}}, "holds 0 calls; a script has 1 to 3"),
        ({"meta": {"calls": [CALL] * 4}}, "holds 4 calls"),
        ({"meta": {"calls": ['{"tool": "sides.height"}']}}, "there is no tool 'sides.height'"),
        ({"meta": {"calls": [CALL], "wrong": CALL}}, "finds the answer: 'It is 40, wide.'"),
    ],
)
def test_what_a_task_claims_and_is_not(changes: dict[str, Any], why: str) -> None:
    assert why in validate(replace(TASK, **changes), [Width()])

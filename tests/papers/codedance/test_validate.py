"""Tasks prove themselves without a model, in the agent's own environment."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from kit.episode import NamedImage, Task
from kit.train.playable import solve
from papers.codedance.answers import is_right
from papers.codedance.env import CodeDanceEnv
from papers.codedance.expert import turns_of
from papers.codedance.tasks import MAKERS, draw, make_tasks
from papers.codedance.validate import validate
from turn_sandbox import Sandbox


@pytest.mark.parametrize("kind", MAKERS)
def test_a_script_reaches_the_gold_answer_of_every_task(kind: str, box: Sandbox) -> None:
    found = {task.id: validate(task, box) for task in make_tasks({kind: 30}, 4)}
    assert {id: why for id, why in found.items() if why} == {}


def changed(kind: str, **fields: Any) -> Task:
    """A task of which something was changed after it was drawn; ``meta`` is added to."""
    [task] = make_tasks({kind: 1}, 0)
    return replace(task, **{**fields, "meta": {**task.meta, **fields.get("meta", {})}})


def test_what_was_changed_is_named(box: Sandbox) -> None:
    other = make_tasks({"board/hard": 2}, 1)[0]
    assert validate(changed("chart_value/easy", target=("11",)), box) == "not as it was drawn: target"
    assert "image" in validate(changed("board/hard", images=other.images), box)
    assert "original" in validate(changed("board/hard", originals=other.originals), box)
    assert "expression" in validate(changed("geometry/hard", meta={"expression": "1 + 1"}), box)


def test_code_that_misses_is_told(box: Sandbox) -> None:
    """A crop of the wrong part, of none, a repair that doesn't mend: the script can't read what it needs."""
    unread = "what has to be read can't be, neither in the prompt nor after its code"
    assert validate(changed("board/hard", meta={"boxes": [[0.0, 0.0, 0.35, 0.35]]}), box) == unread
    assert "need 0 <= x1 < x2" in validate(changed("composed/hard", meta={"boxes": [[0.5, 0.0, 0.5, 1.0]]}), box)
    tasks = make_tasks({"sheet/hard": 12}, 0)
    turned = next(task for task in tasks if task.meta["repair"] == "rotate(image, -90)")
    wrong = replace(turned, meta={**turned.meta, "repair": "rotate(image, 90)"})
    assert validate(wrong, box) == unread


def test_a_count_of_another_colour_is_wrong(box: Sandbox) -> None:
    task = changed("count/hard")
    other = "green" if task.meta["colour"] != "green" else "red"
    why = validate(changed("count/hard", meta={"colour": other}), box)
    assert why.startswith("a script finds '") and why.endswith(f"the gold answer is '{task.target[0]}'")


def test_of_a_task_that_wasnt_drawn_the_gold_answer_is_proven(box: Sandbox) -> None:
    image = make_tasks({"sheet/easy": 1}, 0)[0].images[0].image
    task = Task("own", (NamedImage("image", image),), "What is the total?", ("12.50",), {"kind": "own"})
    assert validate(task, box) == ""


@pytest.mark.parametrize("kind", MAKERS)
def test_plain_python_reaches_what_the_functions_of_brief_do(kind: str, box: Sandbox) -> None:
    """Under the prompt of real models: what the expert's code prints is the answer, what it makes can be read."""
    for task in make_tasks({kind: 12}, 4):
        turns = turns_of(task, needless=0.0, prompt="full")
        assert not any(name in turn for turn in turns for name in ("crop(image", "count(image", "brighten(image"))
        seen = solve(CodeDanceEnv(box, "full"), task, turns)
        made = [image for one in seen for image in one.images]
        drawn = draw(*task.meta["drawn"])
        assert not made or drawn.readable(made[-1].image), task.id
        printed = [one.text.removeprefix("<interpreter>").strip() for one in seen if not one.images]
        assert not printed or is_right(printed[-1], task.target), task.id

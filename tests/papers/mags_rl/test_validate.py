"""Tasks prove themselves without a model, in the agent's own environment."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest
from PIL import Image

from kit.episode import NamedImage, Task
from papers.mags_rl.questions import MAKERS
from papers.mags_rl.tasks import make_tasks
from papers.mags_rl.validate import validate


@pytest.mark.parametrize("kind", MAKERS)
def test_a_script_reaches_the_gold_answer_of_every_kind(kind: str) -> None:
    tasks = [*make_tasks({kind: 2}, 4), *make_tasks({kind: 1}, 4, card=47)]
    assert {task.id: why for task in tasks if (why := validate(task))} == {}


def changed(kind: str, **fields: Any) -> Task:
    """A task of which something was changed after it was drawn; ``meta`` is added to."""
    [task] = make_tasks({kind: 1}, 0)
    return replace(task, **{**fields, "meta": {**task.meta, **fields.get("meta", {})}})


def test_what_was_changed_is_named() -> None:
    [other] = make_tasks({"attribute/hard": 1}, 1)
    assert validate(changed("attribute/hard", target=("no",))) == "not as it was drawn: target"
    assert validate(changed("attribute/hard", images=other.images)) == "not as it was drawn: image, original"
    assert validate(changed("attribute/hard", question="?", meta={"source": "x"})).endswith("question, source")
    assert validate(changed("count/easy", meta={"count": 9, "boxes": []})) == "not as it was drawn: count, boxes"


def test_a_script_that_looks_at_another_card_or_keeps_no_form_is_found_out() -> None:
    [task] = make_tasks({"attribute/hard": 1}, 0)
    place = int(task.meta["looks"][0])
    wrong = changed("attribute/hard", meta={"looks": [(place + 1) % 4]})
    assert "earns 0.000 instead of 1" in validate(wrong)
    assert "isn't in the protocol's form" in validate(changed("attribute/hard", meta={"seen": "<zoom> a, b, c, d"}))


SHOWN = (NamedImage("image", Image.new("RGB", (28, 28), "white")),)


def scene(target: str = "2", **fields: Any) -> Task:
    boxes = fields.pop("boxes", [[0.0, 0.0, 0.2, 0.2], [0.5, 0.5, 0.75, 0.75]])
    return Task(
        "s", SHOWN, "How many?", (target,), {"things": [], "boxes": boxes, "count": 2, "difficulty": "medium"} | fields
    )


def test_composed_scenes_are_checked_by_their_boxes() -> None:
    """The smaller box has 0.2 · 0.2 = 0.04 of the pixels: medium."""
    assert validate(scene()) == ""
    assert validate(scene("3")) == "2 things are there, the count is 2, the gold answer '3'"
    assert validate(scene(difficulty="hard")) == "0.0400 of the pixels decide: that is medium"
    assert "lies outside the scene" in validate(scene(boxes=[[0.0, 0.0, 0.2, 1.2]]))


def test_of_a_task_that_wasnt_made_here_the_gold_answer_is_proven() -> None:
    task = Task("own", SHOWN, "What is it?", ("12.50",), {})
    assert validate(task) == ""

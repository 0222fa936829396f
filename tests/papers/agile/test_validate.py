"""Puzzles prove themselves without a model: made sets pass; what can't be solved, or is solved already, does not."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from kit.train.playable import UnsolvedTask, solve
from papers.agile.env import JigsawEnv
from papers.agile.tasks import training_set
from papers.agile.validate import validate


def test_a_puzzle_that_is_solved_as_shown_or_never_is_named(box: Any) -> None:
    (task,) = training_set(1, 0)
    whole = tuple(image.name for image in task.images)
    solved = replace(task, target=whole, meta={**task.meta, "level": 4})
    assert validate(solved, box) == "4 of 4 pieces are in place at the start, and its level is 4"
    assert validate(replace(task, meta={**task.meta, "level": 1}), box).startswith("0 of 4 pieces are in place")
    hides_nothing = replace(task, originals=task.images)
    assert validate(hides_nothing, box).startswith("piece A is shown as its original is")


@pytest.mark.parametrize(
    ("turns", "said"),
    [
        (["<code>x = 1</code>"], "turn 1 of a script isn't in the protocol's form"),
        (["<think>I look.</think><code>look()</code>"], r"turn 1 of a script ends with error: .*NameError"),
        (["<think>I look.</think><code>a = observation(state)</code>"], "turn 1 of a script ends with ok"),
        (['<think>I know.</think><answer>["A"]</answer>'], r"a script's answer, .* earns 0\.000 instead of 1"),
    ],
)
def test_a_script_that_does_not_solve_a_task_says_where(box: Any, turns: list[str], said: str) -> None:
    (task,) = training_set(1, 0)
    with pytest.raises(UnsolvedTask, match=said):
        solve(JigsawEnv(box), task, turns)

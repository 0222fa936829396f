"""Prove a task without a model: the gold answer is right, a script reaches it, and hard is what it says.

The scripted expert plays the task in the agent's own environment. What it answers has to be found out there, by
comparing pixels (:mod:`pictures.readable`) with what the prompt shows or with what code made of it::

    board    crop → the card comes back → its lines can be read → the asked one is the gold answer
    chart    the bars can be read → print(2 + 6 + 4) → the output is the gold answer
    count    print(count(image, "red")) → the output is the gold answer
"""

from __future__ import annotations

import re
from collections.abc import Mapping

from kit.episode import Task, content_hash
from kit.train.playable import UnsolvedTask, solve
from papers.codedance.answers import is_right
from papers.codedance.drawn import Drawn
from papers.codedance.env import CodeDanceEnv
from papers.codedance.expert import turns_of
from papers.codedance.tasks import draw, source_of, unfit
from papers.complete import of_complete
from turn_sandbox import Sandbox


@of_complete
def validate(task: Task, tools: Sandbox) -> str:
    """Tell why a task isn't what it claims to be; empty: it is.

    Of a task that wasn't drawn, from the hub or of one's own, only the gold answer can be proven.

    Args:
        task: the task.
        tools: runs the script's code.
    """
    if not is_right(task.target[0], task.target):
        return f"the gold answer {task.target!r} isn't right by its own rule"
    if "drawn" not in task.meta:
        return ""
    kind, seed, side, k = task.meta["drawn"]
    drawn = draw(kind, seed, side, k)
    return _changed(task, drawn) or unfit(drawn, kind) or _guessed(drawn) or _unsolved(task, drawn, tools)


def _changed(task: Task, drawn: Drawn) -> str:
    """Name what of a task isn't as it was drawn."""
    opened = drawn.original if drawn.original is not None else drawn.image
    same = {
        "image": [image.sha256 for image in task.images] == [content_hash(drawn.image)],
        "original": [image.sha256 for image in task.tool_images] == [content_hash(opened)],
        "question": task.question == drawn.question,
        "target": tuple(task.target) == (drawn.answer,),
        "source": task.meta["source"] == source_of(drawn),
        "expression": task.meta["expression"] == drawn.expression,
    }
    changed = [name for name, holds in same.items() if not holds]
    return f"not as it was drawn: {', '.join(changed)}" if changed else ""


CONSTANTS = ("2", "3", "4", "180")
"""Numbers that a figure or a chart brings: its sides or bars, its equal angles, the sum of its angles."""


def _guessed(drawn: Drawn) -> str:
    """Say what of an expression nobody can know: it stands neither in the image nor in the question."""
    known = {*drawn.facts.values(), *re.findall(r"\d+", drawn.question), *CONSTANTS}
    unknown = [number for number in re.findall(r"\d+", drawn.expression) if number not in known]
    return f"{drawn.expression}: nothing tells {', '.join(unknown)}" if unknown else ""


def _unsolved(task: Task, drawn: Drawn, tools: Sandbox) -> str:
    """Let the expert play, and say what of its answer can't be found out."""
    try:
        seen = solve(CodeDanceEnv(tools), task, turns_of(task, needless=0.0))
    except UnsolvedTask as error:
        return str(error)
    made = [image for observation in seen for image in observation.images]
    if not drawn.readable([*task.images, *made][-1].image):
        return "what has to be read can't be, neither in the prompt nor after its code"
    printed = [observation.text.removeprefix("<interpreter>").strip() for observation in seen if not observation.images]
    found = printed[-1] if printed else _found(drawn.facts, task)
    return "" if is_right(found, task.target) else f"a script finds {found!r}, the gold answer is {task.target[0]!r}"


def _found(facts: Mapping[str, str], task: Task) -> str:
    """Find the value of the fact that the question names; of one fact alone, its value."""
    named = [value for name, value in facts.items() if re.search(rf"\b{name}\b", task.question)]
    return [*named, *facts.values()][0] if len(named) == 1 or len(facts) == 1 else ""

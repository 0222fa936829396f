"""Prove a task without a model: the gold answer is right, a script reaches it, and hard is what it says.

A script plays the task in the agent's own environment. It writes the code that the task calls for, and *reads* by
comparing pixels (:mod:`kit.data.readable`): first what the prompt shows, then what its code made of it. So it knows of
a chart or a card what an agent could have seen there, and no more::

    board    crop → the card comes back → its lines can be read → the asked one is the gold answer
    chart    the bars can be read → print(2 + 6 + 4) → the output is the gold answer
    count    print(count(image, "red")) → the output is the gold answer
"""

from __future__ import annotations

import re
from collections.abc import Mapping

from kit.episode import Task, content_hash
from kit.papers.codedance.answers import is_right
from kit.papers.codedance.drawn import Drawn
from kit.papers.codedance.env import CodeDanceEnv
from kit.papers.codedance.expert import code_of
from kit.papers.codedance.tasks import draw, source_of, unfit
from kit.sandbox import Sandbox


def validate(task: Task, box: Sandbox) -> str:
    """Say why a task isn't what it claims to be; nothing if it is.

    Of a task that wasn't drawn, from the hub or of one's own, only the gold answer can be proven.

    Args:
        task: the task.
        box: runs the script's code.
    """
    if not task.target or not is_right(task.target[0], task.target):
        return f"the gold answer {task.target!r} isn't right by its own rule"
    if "drawn" not in task.meta:
        return ""
    kind, seed, side, k = task.meta["drawn"]
    drawn = draw(kind, seed, side, k)
    if fault := _changed(task, drawn) or unfit(drawn, kind) or _guessed(drawn):
        return fault
    env = CodeDanceEnv(box)
    try:
        return _played(env, task, drawn)
    finally:
        env.close()


def _changed(task: Task, drawn: Drawn) -> str:
    """Name what of a task isn't as it was drawn."""
    opened = drawn.original if drawn.original is not None else drawn.image
    same = {
        "image": task.images[0].sha256 == content_hash(drawn.image),
        "original": task.tool_images[0].sha256 == content_hash(opened),
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


def _played(env: CodeDanceEnv, task: Task, drawn: Drawn) -> str:
    """Let the script play, and say what keeps it from the gold answer."""
    env.reset(options={"task": task})
    looked, said = drawn.readable(task.images[0].image), ""
    for code in code_of(task):
        told, *_ = env.step(f"<think>Look.</think><code>{code}</code>")
        if told.status != "ok":
            return f"{code}: {told.text}"
        if told.images:
            looked = drawn.readable(told.images[-1].image)
        else:
            said = told.text.removeprefix("<interpreter>").strip()
    if not looked:
        return "what has to be read can't be, neither in the prompt nor after its code"
    answer = said or _found(drawn.facts, task)
    _, reward, *_ = env.step(f"<think>It is {answer}.</think><answer>{answer}</answer>")
    return "" if reward == 1.0 else f"the script's answer is {answer!r}, the gold answer {task.target[0]!r}"


def _found(facts: Mapping[str, str], task: Task) -> str:
    """Find the value of the fact that the question names; of one fact alone, its value."""
    named = [value for name, value in facts.items() if re.search(rf"\b{name}\b", task.question)]
    return [*named, *facts.values()][0] if len(named) == 1 or len(facts) == 1 else ""

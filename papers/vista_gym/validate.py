"""Prove a task without a model: the gold answer is right, and a script reaches it by the offline tools.

A drawn task says in ``meta["calls"]`` which calls find its answer, at most three, each as a turn writes it. They are
played in the agent's own environment, and what the last one says must hold the gold answer. A task whose prompt shows
less than the tools open (``Task.originals``) claims that it can't be answered without them: the same calls must fail on
what the prompt shows. A call that ``meta["wrong"]`` names as unsuitable must not find the answer.
"""

from __future__ import annotations

import json
import re
from collections.abc import Sequence
from dataclasses import replace

from kit.episode import Task
from kit.tools.base import Tool
from kit.train.playable import UnsolvedTask, solve
from papers.complete import of_complete
from papers.vista_gym.answers import is_right
from papers.vista_gym.env import VistaGymEnv

MOST_CALLS = 3
"""Calls in which a drawn task must be solved."""


@of_complete
def validate(task: Task, tools: Sequence[Tool]) -> str:
    """Tell why a task isn't what it claims to be; empty: it is.

    Of a task that wasn't drawn, only the gold answer can be proven.

    Args:
        task: the task.
        tools: those that its calls name, at least.
    """
    if not is_right(task.target[0], task.target):
        return f"the gold answer {task.target!r} isn't right by its own rule"
    if "calls" not in task.meta:
        return ""
    calls = list(task.meta["calls"])
    if not 1 <= len(calls) <= MOST_CALLS:
        return f"meta['calls'] holds {len(calls)} calls; a script has 1 to {MOST_CALLS}"
    try:
        said = _replies(task, calls, tools)
    except UnsolvedTask as error:
        return str(error)
    if not holds(said[-1], task):
        return f"a script finds {said[-1]!r:.200}, the gold answer is {task.target[0]!r}"
    return _enough(task, calls, tools, said) or _unsuitable(task, tools)


def _enough(task: Task, calls: Sequence[str], tools: Sequence[Tool], said: Sequence[str]) -> str:
    """Say that what the prompt shows is enough for the script, if it is; calls that look at no image say nothing."""
    looks = {tool.name for tool in tools if getattr(tool, "needs_image", True)}
    if not task.originals or not any(json.loads(call)["tool"] in looks for call in calls):
        return ""
    try:
        *before, last = _replies(replace(task, originals=()), calls, tools)
    except UnsolvedTask:
        return ""
    enough = holds(last, task) and before == list(said[:-1])
    return f"the calls find {last!r:.200} on what the prompt shows: show less of it" if enough else ""


def _unsuitable(task: Task, tools: Sequence[Tool]) -> str:
    """Say that the call which is named as unsuitable finds the answer, if it does."""
    if not (wrong := task.meta.get("wrong")):
        return ""
    try:
        [found] = _replies(task, [wrong], tools)
    except UnsolvedTask:
        return ""
    return f"the unsuitable call {wrong} finds the answer: {found!r:.200}" if holds(found, task) else ""


def _replies(task: Task, calls: Sequence[str], tools: Sequence[Tool]) -> list[str]:
    turns = [f"<think>Look it up.</think><tool_call>{call}</tool_call>" for call in calls]
    answer = f"<think>Found.</think><answer>{task.target[0]}</answer>"
    return [seen.text for seen in solve(VistaGymEnv(tools), task, [*turns, answer])]


def holds(reply: str, task: Task) -> bool:
    """Check that a reply is the gold answer, or has it among its words: 5 of ``Equal(LengthOfLine(AB),5)``."""
    return any(is_right(word, task.target) for word in (reply, *re.split(r"[\s,;:()\[\]]+", reply)) if word)


def solvable(tasks: Sequence[Task], tools: Sequence[Tool]) -> list[Task]:
    """Keep the tasks that are what they claim to be; where a tool misreads an image, the task is left out."""
    return [task for task in tasks if not validate(task, tools)]

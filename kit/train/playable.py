"""Check tasks when they are made and before a training: can each be shown, begun, played and scored?

Tried without a model, all faults in one message, each with its file and line::

    data/mine/coding-train.jsonl:3, task a-7: image 'image': it has 400 x 1 pixels; the longer side may be at most 200 …
    data/mine/coding-train.jsonl:9, task a-13: the prompt has 30112 tokens, a turn may have 2048: together more than
        max_episode_tokens=28192

==============  =======================================================================================
what            when it passes
==============  =======================================================================================
images          the model's family reads images of their size; without a chat, every family of the kit
gold answers    there is one, none is blank, and the environment can score an answer by it
boxes           in ``meta["box"]`` and ``meta["boxes"]``: inside the image, neither empty nor turned round
prompt          it can be told, and leaves room for a whole turn within ``max_episode_tokens``
solution        by a paper's ``validate``: a script reaches the full reward with the tools, and needs them
==============  =======================================================================================
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from typing import Any

from kit.chat import Chat
from kit.environment import ToolEnv
from kit.episode import NamedImage, Observation, Task
from kit.models import unreadable
from kit.models.family import ModelFamily
from kit.rollout import Environment, RolloutConfig, begin
from kit.tools.boxes import Box, convert
from kit.waiting import counted

Sets = Mapping[str, Sequence[Task | None]]
"""What a set is called in messages, such as the file that it is written to, line by line → its tasks. In the place of a
task that isn't to be checked stands None."""

Validate = Callable[[Task], str]
"""Tells why a task teaches nothing, such as that no script solves it; empty: it does."""

Fault = tuple[Task, str]
"""A task and what is wrong with it."""

SHOWN = 50
"""Faults that one message lists; the others are counted."""


class UnplayableTasks(ValueError):
    """Some tasks can't be played or scored; the message lists them with their files, lines and limits."""


class UnsolvedTask(ValueError):
    """A script that should solve a task doesn't; the message says at which turn it fails, and how."""


def check_playable(
    sets: Sets,
    chat: Chat | None = None,
    make_env: Callable[[], Environment] | None = None,
    config: RolloutConfig | None = None,
    validate: Validate | None = None,
) -> None:
    """Refuse tasks that can't be shown, begun, played, scored or solved.

    Args:
        sets: the tasks.
        chat: of the model that is going to play; None: images have to suit every family of the kit.
        make_env: makes the environment that tasks are begun in; None: prompts aren't checked. Needs the other two.
        config: the limits that will hold.
        validate: of the tasks' paper (:attr:`papers.registry.Paper.validate`), several at once; None: isn't asked.

    Raises:
        UnplayableTasks: all faults of all sets.
    """
    families, tasks = [chat.family] if chat else [], _all(sets)
    found = [(task, fault) for task in tasks for fault in _faults(task, families)]
    if make_env is not None:
        if chat is None or config is None:
            raise ValueError("check_playable: make_env without chat or config; a prompt is counted by all three")
        # Of a prompt with an image that can't be read no tokens can be counted.
        found += _begin(chat, _without(found, tasks), make_env(), config)
    if validate is not None:
        some = _without(found, tasks)
        with ThreadPoolExecutor() as pool:  # they wait for their tools most of the time
            tried = pool.map(validate, some)
            whys = counted(lambda _: next(tried), some, "tasks")
            found += [(task, why) for task, why in zip(some, whys, strict=True) if why]
    _refuse(sets, found)


def solve(env: ToolEnv, task: Task, turns: Sequence[str]) -> list[Observation]:
    """Play a script's turns on a task, and make sure that they earn all there is.

    Args:
        env: the paper's environment.
        task: the task.
        turns: of a script that knows the answer, the answer last.

    Returns:
        The observation of each turn but the last.

    Raises:
        UnsolvedTask: a turn isn't in the protocol's form, a tool fails, or the answer isn't right.
    """
    env.reset(options={"task": task})
    seen: list[Observation] = []
    try:
        for number, text in enumerate(turns, 1):
            if not env.protocol.well_formed(text):
                raise UnsolvedTask(f"turn {number} of a script isn't in the protocol's form: {text!r:.80}")
            observation, reward, ended, _, _ = env.step(text)
            if observation.status != "ok" or ended != (number == len(turns)):
                raise UnsolvedTask(f"turn {number} of a script ends with {observation.status}: {observation.text:.200}")
            seen.append(observation)
    finally:
        env.close()
    if reward < 1:
        raise UnsolvedTask(f"a script's answer, {task.target!r:.80}, earns {reward:.3f} instead of 1")
    return seen[:-1]


def _without(found: Sequence[Fault], tasks: Sequence[Task]) -> list[Task]:
    """The tasks that have no fault."""
    bad = {id(task) for task, _ in found}
    return [task for task in tasks if id(task) not in bad]


def _all(sets: Sets) -> list[Task]:
    return [task for tasks in sets.values() for task in tasks if task is not None]


def _refuse(sets: Sets, found: Sequence[Fault]) -> None:
    """Raise an error that lists the faults in the order of the sets; none: do nothing."""
    if not found:
        return
    places = {id(task): f"{name}:{k}" for name, tasks in sets.items() for k, task in enumerate(tasks, 1)}
    order = {at: k for k, at in enumerate(places)}
    found = sorted(found, key=lambda one: order.get(id(one[0]), len(order)))
    told = [f"{places.get(id(task), 'a task made on the way')}, task {task.id}: {fault}" for task, fault in found]
    lines = list(dict.fromkeys(told))  # a task may be there several times
    rest = [f"and {len(lines) - SHOWN} more"] if len(lines) > SHOWN else []
    count = f"{len({id(task) for task, _ in found})} of {len({*map(id, _all(sets))})} tasks can't be played"
    raise UnplayableTasks("\n  ".join([f"{count}; correct them or leave them out:", *lines[:SHOWN], *rest]))


def _faults(task: Task, families: Sequence[ModelFamily]) -> list[str]:
    """What is wrong with a task by itself."""
    whys = {image.name: unreadable(image.image.size, families) for image in task.images}
    return [
        *(f"image {name!r}: {why}" for name, why in whys.items() if why),
        *([gold] if (gold := gold_fault(task.target)) else []),
        *_box_faults(task),
    ]


def gold_fault(target: Any) -> str:
    """Why nothing can be compared with a target; empty: something can."""
    if target is None or (isinstance(target, str) and not target.strip()):
        return f"no gold answer (target={target!r})"
    if isinstance(target, list | tuple | set | frozenset | dict):
        if not target:
            return f"no gold answer (target={target!r})"
        if any(gold is None or (isinstance(gold, str) and not gold.strip()) for gold in target):
            return f"a gold answer is empty (target={target!r:.80})"
    return ""


def _box_faults(task: Task) -> list[str]:
    """Why boxes of ``meta`` aren't on their image: four shares of its sides, or the fields of a :class:`Box`."""
    given = [task.meta.get("box"), *(task.meta.get("boxes") or ())]
    boxes = [box for box in given if box is not None]
    return [f"box {box!r:.80}: {why}" for box in boxes if (why := _box_fault(box, task.tool_images))]


def _box_fault(given: Any, images: Sequence[NamedImage]) -> str:
    sizes = {image.name: image.image.size for image in images}
    try:
        box = Box(**given) if isinstance(given, Mapping) else Box(next(iter(sizes), ""), "shares", *map(float, given))
        if sizes and box.image not in sizes:
            return f"the task has no image {box.image!r}"
        if box.frame != "resized":  # the model's own frame, of which only its processor knows
            convert(box, "shares", sizes.get(box.image, (1, 1)))
    except TypeError:
        return "give left, top, right and bottom as shares of the image's sides, 0 to 1"
    except ValueError as error:
        return str(error)
    return ""


def _begin(chat: Chat, tasks: Sequence[Task], env: Environment, config: RolloutConfig) -> list[Fault]:
    """Begin tasks one after the other in one environment, and find what is wrong."""
    try:
        return [(task, fault) for task in tasks if (fault := _begin_fault(chat, env, task, config))]
    finally:
        env.close()


def _begin_fault(chat: Chat, env: Any, task: Task, config: RolloutConfig) -> str:
    try:
        env.reset(options={"task": task})
        prompt = begin(chat, env, task).prompt_ids
    except Exception as error:  # whatever a prompt can't be made of, the task is named with it
        return str(error) if isinstance(error, ValueError) else f"{type(error).__name__}: {error}"
    try:
        if hasattr(env, "reward"):
            env.reward("")  # any text can be scored, unless it is by golds of a wrong shape
    except Exception as error:
        return f"an answer can't be scored: {error or type(error).__name__}"
    turn, limit = config.max_new_tokens, config.max_episode_tokens
    if len(prompt) + turn <= limit:
        return ""
    return f"the prompt has {len(prompt)} tokens, a turn may have {turn}: together more than max_episode_tokens={limit}"

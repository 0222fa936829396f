"""The base of all environments: a turn's text in, an observation out.

A paper's environment says which tags there are, what the agent is told (:meth:`ToolEnv.prompt`), which tools it has
(:meth:`ToolEnv.tools`) and when an answer is right (:meth:`ToolEnv.reward`). The rest is here once: an answer ends the
episode, a text without an action ends it or is told what it lacks (``on_no_action``), and whatever else goes wrong
comes back as an observation. How long an episode may be is the loop's business (:class:`kit.rollout.RolloutConfig`).
"""

from __future__ import annotations

import copy
import pickle
from abc import abstractmethod
from collections.abc import Sequence
from typing import Any, Literal, Self, get_args

import gymnasium
import numpy as np
from PIL import Image

from kit.episode import Action, NamedImage, Observation, Task
from kit.protocol import FormatError, Protocol
from kit.tools.base import Tool, run_tool

OnNoAction = Literal["end", "tell"]
"""What follows a turn that holds no action: the episode ends, or the agent is told what the turn lacks and goes on."""


class AnyText(gymnasium.Space[str]):
    """Any string whatever: a policy may say anything."""

    def __init__(self, max_length: int = 64, seed: int | None = None) -> None:
        super().__init__(shape=None, dtype=None, seed=seed)
        self.max_length = max_length

    def sample(self, mask: Any = None, probability: Any = None) -> str:
        """Random Unicode (no surrogates), to try an environment's patience."""
        length = int(self.np_random.integers(self.max_length + 1))
        return "".join(chr(c) for c in self.np_random.integers(1, 0xD7FF, size=length))

    def contains(self, x: Any) -> bool:
        """Check that ``x`` is a string."""
        return isinstance(x, str)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, AnyText) and other.max_length == self.max_length

    def __repr__(self) -> str:
        return f"AnyText({self.max_length})"


class Observations(gymnasium.Space[Observation]):
    """Text, named images and a status: :class:`kit.episode.Observation`."""

    def __init__(self, seed: int | None = None) -> None:
        super().__init__(shape=None, dtype=None, seed=seed)

    def sample(self, mask: Any = None, probability: Any = None) -> Observation:
        """A random small image."""
        pixels = self.np_random.integers(0, 256, size=(28, 28, 3)).astype(np.uint8)
        return Observation("", (NamedImage("image", Image.fromarray(pixels)),))

    def contains(self, x: Any) -> bool:
        """Check that ``x`` is an observation."""
        return isinstance(x, Observation)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Observations)

    def __repr__(self) -> str:
        return "Observations()"


def after_names(images: Sequence[NamedImage]) -> list[str | NamedImage]:
    """Images as a user message shows them: each after its name."""
    return [part for image in images for part in (f"{image.name}: ", image)]


def full_sizes(task: Task) -> str:
    """Say how large the images are that tools open, where the prompt shows them smaller; empty: it doesn't.

    A box in pixels that is read off the one would be another part of the other.
    """
    if not task.originals:
        return ""
    first, *others = (f"{image.image.width} x {image.image.height}" for image in task.originals)
    names = [image.name for image in task.originals]
    more = "".join(f", {name} {size}" for name, size in zip(names[1:], others, strict=True))
    return f"\nIn full size, as it is opened, {names[0]} has {first} pixels{more}."


class ToolEnv(gymnasium.Env[Observation, str]):
    """An environment of a tool-using agent, one task at a time.

    Gymnasium's vector environments take several: ``SyncVectorEnv``, and ``AsyncVectorEnv(…, shared_memory=False)``,
    since observations are of any size, each of whose environments opens a sandbox of its own if it needs one.

    Args:
        protocol: the tags.
        tasks: what :meth:`reset` draws from when it isn't given a task.
        deadline: seconds for one call of a tool, which is done by a copy in another process and ended there, so tools
            must hold nothing between two calls (:func:`kit.tools.base.run_tool`); None: tools have limits of their own.
        on_no_action: what follows a turn without an action: the episode ends, or the agent is told and goes on.

    Raises:
        ValueError: ``on_no_action`` is neither.
    """

    metadata: dict[str, Any] = {"render_modes": []}  # noqa: RUF012 (gymnasium's own convention)

    def __init__(
        self,
        protocol: Protocol,
        tasks: Sequence[Task] = (),
        deadline: float | None = None,
        on_no_action: OnNoAction = "end",
    ) -> None:
        if on_no_action not in get_args(OnNoAction):
            raise ValueError(f"on_no_action={on_no_action!r}: choose one of {', '.join(get_args(OnNoAction))}")
        self.action_space = AnyText()
        self.observation_space = Observations()
        self.protocol = protocol
        self.tasks = tuple(tasks)
        self.deadline = deadline
        self.on_no_action = on_no_action
        self.toolset: dict[str, Tool] = {}
        self.images: dict[str, NamedImage] = {}
        self.running = False

    @abstractmethod
    def prompt(self, task: Task) -> tuple[str, list[str | NamedImage]]:
        """System text and user message."""

    def tools(self, task: Task) -> Sequence[Tool]:
        """Make the tools of one task; they are closed with its episode."""
        del task
        return ()

    @abstractmethod
    def reward(self, answer: str) -> float:
        """Score an answer, from 0 to 1."""

    @abstractmethod
    def draw(self) -> Task:
        """A task of this environment's own, by ``self.np_random``."""

    def act(self, action: Action) -> Observation:
        """Call the tool that an action names; whatever happens is an observation."""
        tool = self.toolset.get(action.name)
        if tool is None:
            known = ", ".join(self.toolset) or "none"
            return Observation(f"Error: there is no tool {action.name!r:.60}; there are {known}", status="error")
        return run_tool(tool, action, self.images, self.deadline)

    def reset(
        self, *, seed: int | None = None, options: dict[str, Any] | None = None
    ) -> tuple[Observation, dict[str, Any]]:
        """Start ``options["task"]``, or one drawn with ``seed``.

        Raises:
            ValueError: another option, or a task that is none.
        """
        self.close()
        task = (options or {}).get("task")
        if {*(options or {})} - {"task"} or not isinstance(task, Task | None):
            raise ValueError(f"reset(options={options!r:.100}): the only option is 'task', a kit.episode.Task")
        super().reset(seed=seed)
        if task is None and self.tasks:
            task = self.tasks[int(self.np_random.integers(len(self.tasks)))]
        self.task = task or self.draw()
        self.toolset = {tool.name: tool for tool in self.tools(self.task)}
        self.images = {image.name: image for image in self.task.tool_images}
        self.running = True
        return Observation(self.task.question, self.task.images), {"task": self.task.id}

    def check_running(self) -> None:
        """Refuse a step outside of an episode.

        Raises:
            gymnasium.error.ResetNeeded: none has begun, or it has ended; no text is at fault.
        """
        if not self.running:
            raise gymnasium.error.ResetNeeded(f"{type(self).__name__}.step: no episode is running; reset() begins one")

    def step(self, action: str) -> tuple[Observation, float, bool, bool, dict[str, Any]]:
        """Do one turn's text. The reward is the answer's at the end and 0 before; what trains is a paper's own.

        Raises:
            gymnasium.error.ResetNeeded: no episode is running.
        """
        self.check_running()
        parsed = self.protocol.parse(action)
        if isinstance(parsed, FormatError):
            self.running = self.on_no_action != "end"
            seen = Observation(f"Error: {parsed.message}", status="format")
            return seen, 0.0, not self.running, False, {"action": None}
        if parsed.name == self.protocol.final:
            self.running = False
            return Observation(""), self.reward(parsed.text), True, False, {"action": parsed}
        observation = self.act(parsed)
        self.images.update((image.name, image) for image in observation.images)
        lost = observation.status == "episode_lost"
        self.running = not lost
        return observation, 0.0, lost, False, {"action": None if lost else parsed}

    def close(self) -> None:
        """Close the episode's tools; the environment can be reset again."""
        for tool in self.toolset.values():
            tool.close()
        self.toolset, self.running = {}, False

    def __deepcopy__(self, memo: dict[int, Any]) -> Self:
        """Copy an environment between episodes: what all share (a sandbox, networks, tools) the copy shares as well.

        Raises:
            TypeError: within an episode, whose tools may be at work in other processes.
        """
        if self.toolset:
            raise TypeError(f"{type(self).__name__} has an episode's tools open: close() it, then copy it")
        made = object.__new__(type(self))
        vars(made).update(vars(self), images=dict(self.images))
        for name in ("action_space", "observation_space", "_np_random"):
            setattr(made, name, copy.deepcopy(getattr(self, name), memo))
        return made

    def __reduce_ex__(self, protocol: Any) -> Any:
        for name, value in vars(self).items():
            try:
                pickle.dumps(value)
            except Exception as error:
                raise TypeError(
                    f"{type(self).__name__}.{name} can't be pickled ({error}): make another environment where one is "
                    "needed, as AsyncVectorEnv does by the functions it is given"
                ) from error
        return super().__reduce_ex__(protocol)

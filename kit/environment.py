"""What every environment of a tool-using agent does alike: read a turn, act or end, give up nothing.

A paper's environment says which tags there are, what the agent is told (:meth:`ToolEnv.prompt`), what its actions do
(:meth:`ToolEnv.act`) and when an answer is right (:meth:`ToolEnv.reward`). The rest is here once: a text without an
action ends the episode, an answer ends it, and whatever else goes wrong comes back as an observation.
"""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from types import ModuleType
from typing import Any

import gymnasium
import numpy as np
from PIL import Image

from kit.episode import Action, NamedImage, Observation, Task
from kit.protocol import FormatError, Protocol
from kit.sandbox import Sandbox


def module_source(module: ModuleType) -> str:
    """A module's text, for a session's ``setup``: what agents call is code that is tested like any other."""
    return Path(str(module.__file__)).read_text(encoding="utf-8")


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
        """Whether ``x`` is a string."""
        return isinstance(x, str)


class Observations(gymnasium.Space[Observation]):
    """Text, named pictures and a status: :class:`kit.episode.Observation`."""

    def __init__(self, seed: int | None = None) -> None:
        super().__init__(shape=None, dtype=None, seed=seed)

    def sample(self, mask: Any = None, probability: Any = None) -> Observation:
        """A random small picture."""
        pixels = self.np_random.integers(0, 256, size=(28, 28, 3)).astype(np.uint8)
        return Observation("", (NamedImage("image", Image.fromarray(pixels)),))

    def contains(self, x: Any) -> bool:
        """Whether ``x`` is an observation."""
        return isinstance(x, Observation)


class CodeSession:
    """One episode's Python session in the sandbox, begun when the first code comes.

    Args:
        box: the sandbox, shared by any number of sessions.
        variables, images: what the session's Python holds by name.
        setup: trusted code that runs once, before the agent's.
        before, after: trusted code around each turn's; if it raises, the turn fails and leaves no trace.
    """

    def __init__(
        self,
        box: Sandbox,
        variables: Mapping[str, Any],
        images: Mapping[str, Image.Image],
        setup: str,
        before: str = "",
        after: str = "",
    ) -> None:
        self._open = lambda: box.episode(variables=dict(variables), images=dict(images), setup=setup)
        self._around = {"before": before, "after": after}
        self._session: Any = None

    def run(self, code: str, show: Callable[[Sequence[NamedImage]], Sequence[NamedImage]]) -> Observation:
        """What a turn's code printed, and of the pictures it made those that ``show`` picks; or why it failed."""
        if self._session is None:
            self._session = self._open()
        result = self._session.run(code, **self._around)
        if result.status != "ok":
            reason = result.error or result.status
            return Observation(f"Error: {reason[:200]}", status=result.status)
        text = f"Output: {result.stdout[:500].rstrip()}\n" if result.stdout else ""
        return Observation(text, tuple(show(result.images)))

    def close(self) -> None:
        """End the session, if it was begun."""
        if self._session is not None:
            self._session.close()


class ToolEnv(gymnasium.Env[Observation, str]):
    """One task at a time.

    Args:
        protocol: the tags.
        tasks: what :meth:`reset` draws from when it isn't given a task.
    """

    metadata: dict[str, Any] = {"render_modes": []}  # noqa: RUF012 (gymnasium's own convention)

    def __init__(self, protocol: Protocol, tasks: Sequence[Task] = ()) -> None:
        self.action_space = AnyText()
        self.observation_space = Observations()
        self.protocol = protocol
        self.tasks = tuple(tasks)
        self.session: CodeSession | None = None

    @abstractmethod
    def prompt(self, task: Task) -> tuple[str, list[str | NamedImage]]:
        """System text and user message."""

    @abstractmethod
    def act(self, action: Action) -> Observation:
        """Do what a turn asks for; whatever happens is an observation."""

    @abstractmethod
    def reward(self, answer: str) -> float:
        """What an answer is worth, from 0 to 1."""

    @abstractmethod
    def draw(self) -> Task:
        """A task of this environment's own, by ``self.np_random``."""

    def open(self, task: Task) -> CodeSession | None:
        """A session for the task's code; None where no code is run."""
        del task
        return None

    def reset(
        self, *, seed: int | None = None, options: dict[str, Any] | None = None
    ) -> tuple[Observation, dict[str, Any]]:
        """Start ``options["task"]``, or one drawn with ``seed``."""
        super().reset(seed=seed)
        task = (options or {}).get("task")
        if task is None and self.tasks:
            task = self.tasks[int(self.np_random.integers(len(self.tasks)))]
        self.close()
        self.task = task or self.draw()
        self.session = self.open(self.task)
        return Observation(self.task.question, self.task.images), {"task": self.task.id}

    def step(self, action: str) -> tuple[Observation, float, bool, bool, dict[str, Any]]:
        """Do one turn's text. The reward is the answer's at the end and 0 before; papers' own are in kit.rewards."""
        parsed = self.protocol.parse(action)
        if isinstance(parsed, FormatError):
            return Observation(f"Error: {parsed.message}", status="format"), 0.0, True, False, {"action": None}
        if parsed.name == self.protocol.final:
            return Observation(""), self.reward(parsed.text), True, False, {"action": parsed}
        observation = self.act(parsed)
        lost = observation.status == "episode_lost"
        return observation, 0.0, lost, False, {"action": None if lost else parsed}

    def close(self) -> None:
        """End the session; the environment can be reset again."""
        if self.session is not None:
            self.session.close()
            self.session = None

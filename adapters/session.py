"""One episode at a time in another trainer's hands: a turn's text, or a call, in; what the policy is shown next, out.

A turn goes through :func:`kit.rollout.advance`, as in the kit's own loop, so what is replied and recorded, and when an
episode ends, is the same. Only tokens are the other trainer's: the limits in tokens are its own as well.
"""

from __future__ import annotations

import base64
import io
import json
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from threading import Lock
from types import SimpleNamespace
from typing import Any, cast

from kit.chat import Chat
from kit.environment import ToolEnv
from kit.episode import Action, Episode, NamedImage, Observation, Task
from kit.images import rgb
from kit.models import unreadable
from kit.policy import Completion, SamplingParams
from kit.protocol import Protocol
from kit.rollout import RolloutConfig, advance, begin, content
from kit.tools.base import Tool, run_tool, validator

Parts = list[str | NamedImage]
"""A message in reading order: texts and images."""

OVER = "The episode is over."


class SessionError(RuntimeError):
    """A session asked for what it can't do: it has no episode, its episode is over, or it is at work on one."""


class _Uncoded:
    """In the place of a chat encoder: writes no tokens; reads the images that all families of models can read."""

    end_id = -1
    family = SimpleNamespace(title="one of the kit's model families")

    def unreadable(self, image: NamedImage) -> str:
        return unreadable(image.image.size)

    def prompt(self, system: str, user: Any) -> list[int]:
        del system, user
        return []

    def reply(self, content: Any, *, closed: bool) -> list[int]:
        del content, closed
        return []


_CHAT = cast(Chat, _Uncoded())


class Session:
    """Plays one episode after the other; what an episode holds, such as a sandbox's session, is given back at its end.

    Args:
        env: the environment, this session's own.
        play: limits of an episode; those in turns are kept.

    Attributes:
        episode: the one that runs, or the last one; None before the first.
    """

    def __init__(self, env: ToolEnv, play: RolloutConfig) -> None:
        self.env, self.play = env, play
        self.episode: Episode | None = None
        self._failure: Exception | None = None
        self._at_work = Lock()

    @property
    def running(self) -> bool:
        """Say whether a turn can be said."""
        return self.episode is not None and self.episode.ended == "running"

    def begin(self, task: Task) -> tuple[str, Parts]:
        """Begin an episode; returns system text and user message. One that runs is given up.

        Raises:
            SessionError: another thread is at work on one.
            ValueError: no model family could read the task's images.
        """
        with self._alone():
            self.env.reset(options={"task": task})
            self._failure, self.episode = None, begin(_CHAT, self.env, task)
            system, user = self.env.prompt(task)
            return system, list(user)

    def say(self, text: str) -> Parts:
        """Do a turn's text; returns the reply, which is empty after an answer.

        Raises:
            SessionError: no episode runs, or another thread is at work on it.
            Exception: the machinery's own, which is no agent's doing: the episode has failed.
        """
        return self._advance(text, lambda: self.env.step(text))

    def call(self, name: str, arguments: Mapping[str, Any], thought: str = "") -> Parts:
        """Do a call of a tool, or the answer: as the turn's text that a policy would have written for it.

        Arguments that don't fit are told, as for any call.

        Args:
            name: of the tool, or the answer's tag.
            arguments: by name.
            thought: the reasoning before it.

        Raises:
            SessionError, Exception: as for :meth:`say`.
        """
        protocol, tool = self.env.protocol, self.env.toolset.get(name)
        if tool is not None and not protocol.call and (wrong := _refused(tool, arguments)):
            action = Action(name, json.dumps(dict(arguments), ensure_ascii=False, default=str))
            text = written(protocol, name, arguments, thought)
            return self._advance(text, lambda: (wrong, 0.0, False, False, {"action": action}))
        return self.say(written(protocol, name, arguments, thought))

    def finish(self) -> Episode:
        """Return the episode, ended; one that runs is out of tokens, whose count is the trainer's.

        Raises:
            SessionError: there is none.
            Exception: what made it fail, if that wasn't the agent's doing.
        """
        if self._failure is not None:
            raise self._failure
        if self.episode is None:
            raise SessionError(f"{type(self.env).__name__}: no episode has begun, so there is nothing to score")
        if self.running:
            with self._alone():
                self.episode = self.episode.end("tokens")
                self.env.close()
        return self.episode

    def close(self) -> None:
        """Give back what the episode holds; another may begin."""
        self.env.close()

    def _advance(self, text: str, step: Any) -> Parts:
        with self._alone():
            if self.episode is None or not self.running:
                raise SessionError(f"{type(self.env).__name__}: no episode is running; begin one")
            try:
                params = SamplingParams(self.env.protocol.stops, max_new_tokens=1)
                sample = Completion((), (), "stop")
                self.episode = advance(_CHAT, self.episode, sample, text, step(), self.play, params)
            except Exception as error:
                self._failure = error
                raise
            if not self.running:
                self.env.close()
            seen = self.episode.turns[-1].observation
            return content(seen) if seen is not None else []

    @contextmanager
    def _alone(self) -> Iterator[None]:
        if not self._at_work.acquire(blocking=False):
            raise SessionError(f"{type(self.env).__name__}: at work on an episode; two at once need two environments")
        try:
            yield
        finally:
            self._at_work.release()


def written(protocol: Protocol, name: str, arguments: Mapping[str, Any], thought: str = "") -> str:
    """Write a call as the turn's text that a protocol reads it from.

    >>> written(Protocol(("code",)), "code", {"code": "print(1)"}, "I compute.")
    '<think>I compute.</think><code>print(1)</code>'

    Args:
        protocol: the tags.
        name: of the tool, or the answer's tag.
        arguments: by name; of a tool with a tag of its own, one text.
        thought: the reasoning before it.
    """
    tag = protocol.call if protocol.call and name != protocol.final else name
    held: Any = {"tool": name, "arguments": dict(arguments)} if tag != name else next(iter(arguments.values()), "")
    body = held if isinstance(held, str) else json.dumps(held, ensure_ascii=False)
    action = f"<{tag}>{body}</{tag}>"
    if tag != protocol.final and f"</{tag}>" not in protocol.stops:  # stands inside the reasoning, which ends the turn
        return f"<{protocol.reasoning}>{thought} {action}</{protocol.reasoning}>"
    return f"<{protocol.reasoning}>{thought}</{protocol.reasoning}>{action}"


def encoded(named: NamedImage) -> str:
    """An image as PNG in base64, which loses nothing, for messages that are sent."""
    file = io.BytesIO()
    rgb(named.image).save(file, "PNG")
    return base64.b64encode(file.getvalue()).decode()


def _refused(tool: Tool, arguments: Mapping[str, Any]) -> Observation | None:
    """The refusal of arguments that don't fit a tool's schema, in the words of every tool; None: they fit."""
    schema = {**tool.parameters, "additionalProperties": False}
    if validator(schema).is_valid(dict(arguments)):
        return None
    strict = cast(Tool, SimpleNamespace(name=tool.name, parameters=schema))
    return run_tool(strict, Action(tool.name, "", arguments), {})

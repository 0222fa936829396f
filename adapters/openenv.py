"""A paper as an environment of OpenEnv: a server for many episodes at once, and its client.

::

    python -m adapters.openenv NAME --split train --data runs/laptop/data --set prompt=full     # port 8000, 64 episodes

    with PaperClient("http://127.0.0.1:8000").sync() as env:
        seen = env.reset(task="…").observation                 # seen.system, seen.message: texts and images
        while not (result := env.step(policy(seen))).done:
            seen = result.observation
        result.reward, result.observation.parts

Each connection is a session of its own: it is closed, and its sandbox given back, when its client goes away, killed
ones too. All share one sandbox pool.

What it can't do: one connection has one episode at a time, and a second ``reset`` gives the first up; OpenEnv's plain
HTTP requests keep no session, so a step by them is refused; a connection more than ``--episodes`` is told that the
server is full; a session that is silent for ten minutes is closed. An episode is scored by itself and as a whole, so
credit of turns is in ``turns`` alone, and a reward that needs a group is what held-out tasks are judged by.
"""

from __future__ import annotations

import argparse
import base64
import io
import json
import random
import signal
from collections.abc import Sequence
from contextlib import suppress
from typing import Any

import uvicorn
from openenv.core.client_types import StepResult
from openenv.core.env_client import EnvClient
from openenv.core.env_server import Action, ConcurrencyConfig, Environment, Observation, State, create_fastapi_app
from PIL import Image
from starlette.websockets import WebSocketDisconnect
from websockets.exceptions import ConnectionClosed

from adapters.opened import GOLDEN, Opened, open_paper
from adapters.session import Parts, encoded

SILENT = 600.0
"""Seconds after which a session that says nothing is closed."""


class Turn(Action):
    """A turn's text, as the policy wrote it."""

    text: str


class Message(Observation):
    """Next for the policy: texts and images, those as PNG in base64; at the end, the reward's parts.

    Attributes:
        task: its id.
        system: the system text, of the first message.
        content: blocks ``{"text": …}`` or ``{"name": …, "image": …}``, in reading order.
        status: how the turn's action ended; None where nothing was replied.
        ended: why the episode is over, or ``running``.
        parts: of the reward.
        turns: the reward of every turn, where the paper has one.
        correct: whether the answer is right.
    """

    task: str = ""
    system: str = ""
    content: list[dict[str, str]] = []  # noqa: RUF012 (pydantic copies it)
    status: str | None = None
    ended: str = "running"
    parts: dict[str, float] = {}  # noqa: RUF012
    turns: list[float] = []  # noqa: RUF012
    correct: bool | None = None

    @property
    def message(self) -> list[str | Image.Image]:
        """Texts and images in reading order."""
        return [
            Image.open(io.BytesIO(base64.b64decode(one["image"]))) if "image" in one else one["text"]
            for one in self.content
        ]


class PaperEnvironment(Environment[Turn, Message, State]):
    """One session of a paper that is open.

    Args:
        opened: the paper.
    """

    SUPPORTS_CONCURRENT_SESSIONS = True

    def __init__(self, opened: Opened) -> None:
        super().__init__()
        self.opened, self.session = opened, opened.session()
        self._state = State()

    def reset(self, seed: int | None = None, episode_id: str | None = None, task: str = "", **more: Any) -> Message:
        """Begin the task of that id, or one drawn with ``seed``.

        Raises:
            ValueError: another argument.
            KeyError: the split has no such task.
        """
        if more:
            raise ValueError(f"reset({min(more)}=…) is unknown; there are task, an id, seed and episode_id")
        name = task or random.Random(seed).choice(list(self.opened.tasks))
        system, user = self.session.begin(self.opened.task(name))
        self._state = State(episode_id=episode_id or name, task=name)
        return Message(task=name, system=system, content=_content(user))

    def step(self, action: Turn, timeout_s: float | None = None, **more: Any) -> Message:
        """Do a turn; the last one's reward is the episode's.

        Raises:
            adapters.session.SessionError: no episode runs in this session.
        """
        del timeout_s, more
        content = _content(self.session.say(action.text))
        episode = self.session.episode
        assert episode is not None
        seen = episode.turns[-1].observation
        self._state.step_count += 1
        told = Message(task=episode.task.id, content=content, status=seen.status if seen else None, reward=0.0)
        if self.session.running:
            return told
        score = self.opened.score(self.session)
        paid = {"parts": dict(score.parts), "turns": list(score.turns), "correct": score.correct}
        return told.model_copy(update={"reward": score.total, "done": True, "ended": episode.ended, **paid})

    @property
    def state(self) -> State:
        """Id of the episode, of its task, and how many turns it has."""
        return self._state

    def close(self) -> None:
        """Give the episode up, and what it holds back."""
        self.opened.forget(self.session)


class PaperClient(EnvClient[str, Message, State]):
    """Plays episodes of a server, one after the other; ``.sync()`` does without ``async``."""

    async def _send(self, message: dict[str, Any]) -> None:
        with suppress(ConnectionClosed):  # by a full server, whose last words are still to be read
            await super()._send(message)

    def _step_payload(self, action: str) -> dict[str, Any]:
        return {"text": action}

    def _parse_result(self, payload: dict[str, Any]) -> StepResult[Message]:
        told = Message(**payload["observation"], reward=payload["reward"], done=payload["done"])
        return StepResult(told, payload["reward"], payload["done"])

    def _parse_state(self, payload: dict[str, Any]) -> State:
        return State(**payload)


def app(opened: Opened, episodes: int = 64) -> Any:
    """Make the server's application.

    Args:
        opened: the paper.
        episodes: at once.
    """
    limits = ConcurrencyConfig(max_concurrent_envs=episodes, session_timeout=SILENT)
    served = create_fastapi_app(lambda: PaperEnvironment(opened), Turn, Message, concurrency_config=limits)

    async def quiet(scope: Any, receive: Any, send: Any) -> None:
        try:
            await served(scope, receive, send)
        except WebSocketDisconnect:  # the client has gone away, and its session is closed
            return

    return quiet


def main(argv: Sequence[str] | None = None) -> None:
    """Serve a paper until it is told to stop."""
    parser = argparse.ArgumentParser(prog="python -m adapters.openenv", description="Serve a paper's episodes.")
    parser.add_argument("paper", help="its name: python -m kit list")
    parser.add_argument("--split", default=GOLDEN, help="name of a file of tasks in --data; golden needs none")
    parser.add_argument("--data", default="", help="folder of tasks")
    parser.add_argument(
        "--set", action="append", default=[], metavar="NAME=VALUE", help="a value of its limits or tools"
    )
    parser.add_argument("--host", default="127.0.0.1")
    parser.add_argument("--port", type=int, default=8000)
    parser.add_argument("--episodes", type=int, default=64, help="at once; a connection more is refused")
    args = parser.parse_args(argv)
    try:
        values = dict(map(_value, args.set))
        signal.signal(signal.SIGTERM, signal.default_int_handler)  # to end as Ctrl-C does: with all given back
        with open_paper(args.paper, args.split, args.data, **values) as opened:
            uvicorn.run(app(opened, args.episodes), host=args.host, port=args.port, log_level="warning")
    except ValueError as error:
        parser.error(str(error))
    except KeyboardInterrupt:
        return


def _value(told: str) -> tuple[str, Any]:
    """NAME=VALUE; a value that is JSON is that, any other is a text."""
    name, equals, text = told.partition("=")
    if not equals:
        raise ValueError(f"--set {told!r}: write NAME=VALUE")
    try:
        return name, json.loads(text)
    except ValueError:
        return name, text


def _content(parts: Parts) -> list[dict[str, str]]:
    return [{"text": one} if isinstance(one, str) else {"name": one.name, "image": encoded(one)} for one in parts]


if __name__ == "__main__":
    main()

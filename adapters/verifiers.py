"""A paper as an environment of verifiers: its own command evaluates it, prime-rl trains on it.

An environment is found there by the name of an installed module, so each paper gets one of three lines::

    python -m adapters.verifiers NAME environments/      # writes a package; pip install it
    vf-eval papers-NAME -n 8 --model MODEL --client.base-url http://127.0.0.1:8000/v1 --no-push \\
        --env.taskset.split train --env.taskset.data runs/laptop/data

or, in Python, ``load_environment("NAME", split="train", data="runs/laptop/data")``. Every turn is a user's message with
images, as data URLs; the reward's parts are the trace's rewards, and add up.

What it can't do: a chat endpoint takes messages, so a turn goes back to it as text, which it renders and encodes anew:
ids may differ from those that were sampled. (``TrainClientConfig``, by which prime-rl trains, keeps ids; it needs an
engine of vLLM's, and wasn't tried.) Rewards belong to a whole episode, and episodes of a task know nothing of each
other, so credit of turns is lost, and a reward that needs a group is what held-out tasks are judged by.
"""

from __future__ import annotations

import asyncio
import atexit
import sys
from collections.abc import Callable
from contextlib import ExitStack
from functools import partial
from pathlib import Path
from threading import Lock
from typing import Any

import httpx
import verifiers.v1 as vf
from pydantic import Field
from verifiers.v1.dialects.chat import message_to_wire
from verifiers.v1.utils import loaders

from adapters.opened import GOLDEN, Opened, open_paper, tasks_of
from adapters.session import Parts, encoded
from kit.episode import NamedImage
from kit.policy.endpoint import close_turn
from papers.registry import find_paper

__all__ = ["PaperEnv", "PaperHarness", "PaperTaskset"]

PREFIX = "papers_"
"""Before a paper's name: the module by which verifiers finds it."""

PROJECT = """[build-system]
requires = ["setuptools>=77"]
build-backend = "setuptools.build_meta"

[project]
name = "{module}"
version = "0.1.0"
description = "{title}: {summary}"
dependencies = ["verifiers", "visual-agents-kit"]

[tool.setuptools]
py-modules = ["{module}"]
"""
MODULE = '''"""{title}: {summary}"""

from adapters.verifiers import PaperEnv, PaperHarness, PaperTaskset

__all__ = ["PaperEnv", "PaperHarness", "PaperTaskset"]
'''


class PaperConfig(vf.TasksetConfig):
    """A split of tasks and the values they are played by, as for :func:`adapters.opened.open_paper`."""

    split: str = GOLDEN
    data: str = ""
    values: dict[str, Any] = Field(default_factory=dict)

    @property
    def paper(self) -> str:
        """The paper's name, as it is registered."""
        return self.id.rsplit("/", 1)[-1].split("@", 1)[0].replace("-", "_").removeprefix(PREFIX)


class PaperTask(vf.Task[vf.TaskData]):
    """A task by its id; what it shows is told by its environment, as the first turn."""

    why_not: Callable[[], str] | None = None

    async def validate(self, runtime: Any) -> bool | None:
        """Check by the paper's own rule that the task can be solved; None: the paper has none."""
        del runtime
        return None if self.why_not is None else not await asyncio.to_thread(self.why_not)


class PaperTaskset(vf.Taskset[PaperTask, PaperConfig]):
    """The tasks of a paper's split."""

    def load(self) -> list[PaperTask]:
        """Name each task."""
        told, made = self.config, []
        rule = (record := find_paper(told.paper)).load_validate()
        for task in tasks_of(record, told.split, told.data):
            made.append(one := PaperTask(vf.TaskData(name=task.id, description=task.question), told.task))
            one.why_not = rule and partial(lambda task: rule(task, _open_for_good(told).tools), task)
        return made


class PaperHarness(vf.Harness[vf.HarnessConfig]):
    """Asks the model for one turn in this process; it runs nothing itself: tools are the environment's."""

    APPENDS_SYSTEM_PROMPT = True
    SUPPORTS_RESUME = True
    EXECUTES_CODE = False
    NEEDS_CONTAINER = False

    async def launch(
        self, ctx: Any, trace: Any, runtime: Any, endpoint: str, secret: str, mcp_urls: Any, data: Any
    ) -> vf.ProgramResult:
        """Send the conversation so far; the reply is kept in the trace."""
        body = {"model": ctx.model, "messages": [message_to_wire(message) for message in data.prompt]}
        async with httpx.AsyncClient(timeout=None) as client:
            told = await client.post(
                f"{endpoint}/chat/completions", json=body, headers={"Authorization": f"Bearer {secret}"}
            )
        return vf.ProgramResult(int(told.is_error), "", told.text if told.is_error else "")


class PaperEnvConfig(vf.EnvConfig):
    """One agent, in this process; how many turns it has, the paper's limits say."""

    agent: vf.AgentConfig = vf.AgentConfig(runtime=vf.SubprocessConfig())


class PaperEnv(vf.Env[PaperEnvConfig]):
    """Plays a paper's tasks, each in a session of its own."""

    opened: Opened

    async def start(self) -> None:
        """Open the paper: its sandbox is shared by all episodes."""
        told, self._stack = self.taskset.config, ExitStack()
        self.opened = await asyncio.to_thread(
            lambda: self._stack.enter_context(open_paper(told.paper, told.split, told.data, **told.values))
        )

    async def stop(self) -> None:
        """Close it, even if it couldn't be opened."""
        await asyncio.to_thread(getattr(self, "_stack", ExitStack()).close)

    async def run(self, task: Any, agents: Any) -> None:
        """Play a task: turns until the episode is over, then the reward's parts."""
        playing = self.opened.playing(task.data.name)
        session, system, user = await asyncio.to_thread(playing.__enter__)
        try:
            messages = [{"role": "system", "content": system}] if system else []
            messages.append(_message(user))
            stops = self.opened.play.stops
            async with agents.agent.interaction(task) as interaction:
                while session.running:
                    segment = await interaction.turn(messages)
                    if segment.terminated:
                        break
                    said = segment.messages[-1].content or ""
                    text, _ = close_turn(said, session.env.protocol.stops if stops is None else stops, True)
                    messages = [_message(await asyncio.to_thread(session.say, text))]
            score = await asyncio.to_thread(self.opened.score, session)
            for part, value in score.parts.items():
                interaction.trace.record_reward(part, value)
            interaction.trace.record_metrics({"correct": float(bool(score.correct)), "calls": session.finish().calls})
        finally:
            await asyncio.to_thread(playing.__exit__, *sys.exc_info())


def load_environment(paper: str, split: str = GOLDEN, data: str = "", **values: Any) -> vf.Env:
    """Make a paper's environment in this process, installed or not.

    Args:
        paper: as it is registered.
        split, data, values: as for :func:`adapters.opened.open_paper`.

    Raises:
        papers.registry.PaperError: no such paper.
    """
    module = f"{PREFIX}{find_paper(paper).name}"
    sys.modules.setdefault(module, sys.modules[__name__])
    told = PaperConfig(id=module, split=split, data=data, values=values)
    return loaders.load_environment(PaperEnvConfig(taskset=told))


def write_package(paper: str, folder: str | Path) -> Path:
    """Write the installable environment of a paper; returns its folder.

    Args:
        paper: as it is registered.
        folder: of environments.

    Raises:
        papers.registry.PaperError: no such paper.
    """
    record = find_paper(paper)
    module = f"{PREFIX}{record.name}"
    home = Path(folder) / module
    home.mkdir(parents=True, exist_ok=True)
    told = {"module": module, "title": record.title, "summary": record.summary.replace('"', "'")}
    (home / "pyproject.toml").write_text(PROJECT.format(**told), encoding="utf-8")
    (home / f"{module}.py").write_text(MODULE.format(**told), encoding="utf-8")
    return home


_OPEN: dict[str, Opened] = {}
_OPENING = Lock()


def _open_for_good(told: PaperConfig) -> Opened:
    """A paper that stays open until this process ends: tasks are checked outside of any environment."""
    with _OPENING:
        if (key := told.model_dump_json()) not in _OPEN:
            atexit.register((stack := ExitStack()).close)
            _OPEN[key] = stack.enter_context(open_paper(told.paper, told.split, told.data, **told.values))
        return _OPEN[key]


def _message(parts: Parts) -> dict[str, Any]:
    """A user's message as endpoints take it: texts, and images as data URLs, which lose nothing."""
    return {"role": "user", "content": [_part(one) for one in parts] or ""}


def _part(one: str | NamedImage) -> dict[str, Any]:
    if isinstance(one, str):
        return {"type": "text", "text": one}
    return {"type": "image_url", "image_url": {"url": f"data:image/png;base64,{encoded(one)}"}}


if __name__ == "__main__":
    print(*(f"pip install {write_package(name, sys.argv[-1])}" for name in sys.argv[1:-1]), sep="\n")

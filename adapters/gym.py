"""The papers as Gymnasium's environments: texts in, texts and images out, the reward's parts in ``info``.

Importing this registers every paper as ``papers/NAME-v0``; ``module:id`` does both at once::

    env = gymnasium.make("adapters.gym:papers/NAME-v0", split="train", data="runs/laptop/data")
    message, info = env.reset(seed=0)              # info["system"] stands before the message
    message, reward, terminated, truncated, info = env.step("<think>…</think><code>…</code>")

What it can't do: a step's reward is 0 before the last, so credit of single turns is in ``info["turns"]`` alone; an
episode is scored by itself, so a reward of a group is what held-out tasks are judged by; and tokens are nobody's here.
"""

from __future__ import annotations

from contextlib import ExitStack
from pathlib import Path
from typing import Any

import gymnasium
import numpy as np

from adapters.opened import GOLDEN, Opened, open_paper
from adapters.session import Parts
from kit.environment import AnyText
from kit.images import rgb
from papers.registry import papers

PREFIX = "papers"
"""Before every id."""

Message = tuple[str | np.ndarray, ...]
"""Texts, and images as arrays of bytes (height, width, 3), in reading order."""


class Messages(gymnasium.Space[Message]):
    """Messages of texts and images, any number of each and of any size."""

    def __init__(self, seed: int | None = None) -> None:
        super().__init__(shape=None, dtype=None, seed=seed)

    def sample(self, mask: Any = None, probability: Any = None) -> Message:
        """A word and a small image of noise."""
        return "image: ", self.np_random.integers(0, 256, size=(28, 28, 3), dtype=np.uint8)

    def contains(self, x: Any) -> bool:
        """Check that all of ``x`` are texts or images."""
        return isinstance(x, tuple) and all(isinstance(one, str) or _is_image(one) for one in x)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Messages)

    def __repr__(self) -> str:
        return "Messages()"


class PaperEnv(gymnasium.Env[Message, str]):
    """One paper's tasks, an episode at a time; its sandbox is its own and closed with it.

    Args:
        paper: as it is registered, or one that is open already, whose tools several environments then share.
        split, data, values: as for :func:`adapters.opened.open_paper`.

    Raises:
        papers.registry.PaperError, ValueError: as there.
    """

    metadata: dict[str, Any] = {"render_modes": []}  # noqa: RUF012 (gymnasium's own convention)

    def __init__(self, paper: str | Opened, split: str = GOLDEN, data: str | Path = "", **values: Any) -> None:
        self.action_space, self.observation_space = AnyText(), Messages()
        self._stack = ExitStack()
        opened = (
            paper if isinstance(paper, Opened) else self._stack.enter_context(open_paper(paper, split, data, **values))
        )
        self.opened, self.session = opened, opened.session()

    def reset(
        self, *, seed: int | None = None, options: dict[str, Any] | None = None
    ) -> tuple[Message, dict[str, Any]]:
        """Begin the task whose id is ``options["task"]``, or one drawn with ``seed``.

        Raises:
            ValueError: another option.
            KeyError: the split has no such task.
        """
        super().reset(seed=seed)
        if unknown := {*(options or {})} - {"task"}:
            raise ValueError(f"reset(options={options!r:.100}): {min(unknown)!r} is unknown; there is 'task', an id")
        names = list(self.opened.tasks)
        name = (options or {}).get("task") or names[int(self.np_random.integers(len(names)))]
        system, user = self.session.begin(self.opened.task(name))
        return _message(user), {"task": name, "system": system}

    def step(self, action: str) -> tuple[Message, float, bool, bool, dict[str, Any]]:
        """Do a turn's text. The last one's reward is the episode's, with its ``parts``, ``turns`` and ``correct``.

        Raises:
            gymnasium.error.ResetNeeded: no episode is running.
        """
        if not self.session.running:
            raise gymnasium.error.ResetNeeded(f"{self.opened.paper.name}: no episode is running; reset() begins one")
        reply = _message(self.session.say(action))
        episode = self.session.episode
        assert episode is not None
        seen = episode.turns[-1].observation
        info: dict[str, Any] = {"status": seen.status if seen else None, "ended": episode.ended}
        if self.session.running:
            return reply, 0.0, False, False, info
        score = self.opened.score(self.session)
        info |= {"parts": dict(score.parts), "turns": score.turns, "correct": bool(score.correct)}
        return reply, float(score.total), episode.ended != "turns", episode.ended == "turns", info

    def close(self) -> None:
        """Close the episode, and what the environment opened for itself."""
        self.session.close()
        self._stack.close()


def register() -> tuple[str, ...]:
    """Register every paper that isn't yet; returns all ids."""
    ids = {f"{PREFIX}/{name}-v0": name for name in papers()}
    for one in ids.keys() - gymnasium.registry.keys():
        gymnasium.register(one, entry_point="adapters.gym:PaperEnv", kwargs={"paper": ids[one]}, order_enforce=False)
    return tuple(ids)


def _message(parts: Parts) -> Message:
    return tuple(one if isinstance(one, str) else np.asarray(rgb(one.image)) for one in parts)


def _is_image(one: Any) -> bool:
    return isinstance(one, np.ndarray) and one.dtype == np.uint8 and one.ndim == 3 and one.shape[2] == 3


register()

"""The nouns of the kit: task, turn, observation, episode, score.

Everything is frozen; an episode grows by making a new one (:meth:`Episode.add`). Token ids live
here exactly as they were sampled or appended, and the loss mask is read off beside them:

==================  ====================================  =========
tokens              who wrote them                        loss mask
==================  ====================================  =========
``prompt_ids``      the task, through :mod:`kit.chat`     0
``Turn.ids``        the policy                            1
``observation_ids`` the environment (role tokens too)     0
==================  ====================================  =========
"""

from __future__ import annotations

import hashlib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, Literal

from turn_sandbox.images import NamedImage as NamedImage
from turn_sandbox.images import content_hash as content_hash

Status = Literal["ok", "error", "timeout", "died", "limit", "episode_lost", "format", "unserved"]
"""How a turn's action ended: the sandbox's states; ``format`` for text that holds no action; ``unserved`` for a call
that a tool service didn't take up (a full queue, a worker that can't be started), which is no agent's fault."""

Ended = Literal["running", "answer", "format", "turns", "tokens", "lost"]
"""Why an episode ended: it answered; a turn held no action; out of turns; out of tokens; its sandbox was lost."""


@dataclass(frozen=True)
class Task:
    """One problem: images, a question and what counts as right.

    Attributes:
        id: unique within a data set.
        images: what the policy sees first, in reading order; the prompt shows all of them, and no other.
        question: text of the user's turn.
        target: what the reward compares with (for a puzzle, the labels in their right order).
        meta: what an environment, an expert or a table needs (grid size, difficulty, source image), in strings,
            numbers and lists: it is stored as JSON.
        originals: what the tools open where the prompt hides detail, as when a 4K image is shrunk to what a processor
            reads: the same names in the same order as ``images``. Empty: the tools open ``images`` themselves.

    Raises:
        ValueError: originals that aren't those of the images.
    """

    id: str
    images: tuple[NamedImage, ...]
    question: str
    target: Any
    meta: Mapping[str, Any] = field(default_factory=dict)
    originals: tuple[NamedImage, ...] = ()

    def __post_init__(self) -> None:
        shown, opened = [image.name for image in self.images], [image.name for image in self.originals]
        if opened and opened != shown:
            raise ValueError(
                f"task {self.id}: originals {opened} of images {shown}; give one of each name, in the same order"
            )

    @property
    def tool_images(self) -> tuple[NamedImage, ...]:
        """Images that the tools open: the originals, or :attr:`images` where there are none."""
        return self.originals or self.images


def fingerprint(task: Task, ids: Sequence[int] = ()) -> str:
    """Make a string that changes with a task's question, target or images, or with an episode's ``ids``."""
    hashes = [image.sha256 for image in (*task.images, *task.originals)]
    content = repr((task.question, task.target, hashes, list(ids)))
    return f"{task.id}:{hashlib.sha256(content.encode()).hexdigest()[:16]}"


@dataclass(frozen=True)
class Action:
    """An action of a turn, as its protocol read it.

    Attributes:
        name: the tool's name, or the tag of the answer.
        text: what the action's tags enclose.
        arguments: of a tool that is called with JSON, by name; None where the text is free.
    """

    name: str
    text: str
    arguments: Mapping[str, Any] | None = None


@dataclass(frozen=True)
class Observation:
    """The environment's reply to an action: text, named images, text after them, and how the action ended."""

    text: str
    images: tuple[NamedImage, ...] = ()
    status: Status = "ok"
    closing: str = ""


@dataclass(frozen=True)
class Turn:
    """One turn of the policy and what the environment appended to it.

    Attributes:
        ids: the sampled tokens, stop string included, exactly as sampled.
        logprobs: log-probability of each of ``ids`` under the sampling policy.
        text: ``ids`` as text.
        action: the action in ``text``; None if it holds none.
        observation: None on the last turn.
        observation_ids: tokens the environment appended, closing and opening role tokens included.
    """

    ids: tuple[int, ...]
    logprobs: tuple[float, ...]
    text: str
    action: Action | None = None
    observation: Observation | None = None
    observation_ids: tuple[int, ...] = ()

    def __post_init__(self) -> None:
        if len(self.ids) != len(self.logprobs):
            raise ValueError(f"Turn: {len(self.ids)} ids but {len(self.logprobs)} logprobs; one of each per token")


@dataclass(frozen=True)
class Episode:
    """A task played: the prompt's tokens and the turns after it."""

    task: Task
    prompt_ids: tuple[int, ...]
    turns: tuple[Turn, ...] = ()
    ended: Ended = "running"

    def add(self, turn: Turn) -> Episode:
        """Return a copy of this episode with one more turn."""
        return replace(self, turns=(*self.turns, turn))

    def end(self, why: Ended) -> Episode:
        """Return a copy of this episode, ended."""
        return replace(self, ended=why)

    @property
    def ids(self) -> list[int]:
        """Every token in order: prompt, then each turn and its observation."""
        ids = list(self.prompt_ids)
        for turn in self.turns:
            ids += [*turn.ids, *turn.observation_ids]
        return ids

    @property
    def mask(self) -> list[int]:
        """The loss mask beside :attr:`ids`: 1 where the policy sampled, 0 elsewhere."""
        mask = [0] * len(self.prompt_ids)
        for turn in self.turns:
            mask += [1] * len(turn.ids) + [0] * len(turn.observation_ids)
        return mask

    @property
    def images(self) -> tuple[NamedImage, ...]:
        """Every image in the order its tokens appear: the task's, then each observation's."""
        pictures = list(self.task.images)
        for turn in self.turns:
            # Pictures whose tokens were never appended (the episode ended first) are not part of the context.
            if turn.observation is not None and turn.observation_ids:
                pictures += turn.observation.images
        return tuple(pictures)

    @property
    def answer(self) -> str | None:
        """The text of the final answer, or None."""
        last = self.turns[-1].action if self.turns else None
        return last.text if last is not None and last.name == "answer" else None

    @property
    def calls(self) -> int:
        """Number of turns that held an action other than the answer."""
        return sum(turn.action is not None and turn.action.name != "answer" for turn in self.turns)


@dataclass(frozen=True)
class Score:
    """A reward and its named parts (already weighted: they add up to ``total``).

    Attributes:
        turns: the reward of every turn, where a paper rewards each turn for itself; else empty.
        correct: whether the answer is right; None: the reward doesn't say.
    """

    total: float
    parts: Mapping[str, float]
    turns: tuple[float, ...] = ()
    correct: bool | None = None

"""Policies: what turns a context into the next turn.

A request is ids and pictures, a sample is ids, their log-probabilities and why it stopped. Every
back end keeps to :class:`Policy`, so the rollout loop never knows which one it drives.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal, Protocol

from kit.episode import Episode, Picture

Finish = Literal["stop", "eos", "length"]
"""Why a sample ended: a stop string; the end-of-turn token; the token limit."""


@dataclass(frozen=True)
class Request:
    """A context to continue: its ids, and every picture in them in order.

    Attributes:
        episode: the same context as nouns; scripted and served policies read it instead of the ids.
        seed: fixes the sample, whatever else is asked for in the same call.
    """

    ids: tuple[int, ...]
    images: tuple[Picture, ...]
    episode: Episode | None = None
    seed: int = 0


@dataclass(frozen=True)
class Params:
    """How to sample.

    Attributes:
        stops: strings that end a turn; their tokens stay in the sample.
        temperature: 0 is greedy.
        max_new_tokens: limit of one turn.
    """

    stops: tuple[str, ...]
    temperature: float = 1.0
    max_new_tokens: int = 256

    def __post_init__(self) -> None:
        if self.temperature < 0:
            raise ValueError(f"Params.temperature={self.temperature}: must be 0 (greedy) or more")
        if self.max_new_tokens < 1:
            raise ValueError(f"Params.max_new_tokens={self.max_new_tokens}: a turn needs at least 1 token")


@dataclass(frozen=True)
class Sample:
    """A sampled turn: ids, log-probabilities of those ids, and why it ended."""

    ids: tuple[int, ...]
    logprobs: tuple[float, ...]
    finish: Finish


class Policy(Protocol):
    """Anything that samples turns."""

    def reset(self) -> None:
        """A new rollout begins: forget what was remembered of the last."""
        ...

    def sample(self, requests: Sequence[Request], params: Params) -> list[Sample]:
        """One sample for each request, in order."""
        ...

"""Policies: what turns a context into the next turn.

A request is ids and images, a sample is ids, their log-probabilities and why it stopped. Every
back end keeps to :class:`Policy`, so the rollout loop never knows which one it drives.
"""

from __future__ import annotations

import math
import time
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import FIRST_COMPLETED, Future, ThreadPoolExecutor
from concurrent.futures import wait as wait_for
from dataclasses import dataclass
from typing import Literal, Protocol, TypeVar

from kit.episode import Episode, NamedImage

FinishReason = Literal["stop", "eos", "length"]
"""Why a sample ended: a stop string; the end-of-turn token; the token limit."""


@dataclass(frozen=True)
class GenerationRequest:
    """A context to continue: its ids, and every image in them in order.

    Attributes:
        episode: the same context as nouns; scripted and served policies read it instead of the ids.
        seed: fixes the sample, whatever else is asked for in the same call.
    """

    ids: tuple[int, ...]
    images: tuple[NamedImage, ...]
    episode: Episode | None = None
    seed: int = 0


@dataclass(frozen=True)
class SamplingParams:
    """Settings of sampling.

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
            raise ValueError(f"SamplingParams.temperature={self.temperature}: must be 0 (greedy) or more")
        if self.max_new_tokens < 1:
            raise ValueError(f"SamplingParams.max_new_tokens={self.max_new_tokens}: a turn needs at least 1 token")


class NotFinite(ArithmeticError):
    """Logits, a loss, gradients or weights are infinite or NaN: the model is none any more."""


@dataclass(frozen=True)
class Completion:
    """A sampled turn: ids, log-probabilities of those ids, and why it ended.

    Raises:
        NotFinite: a log-probability isn't finite, so neither were the logits.
    """

    ids: tuple[int, ...]
    logprobs: tuple[float, ...]
    finish: FinishReason

    def __post_init__(self) -> None:
        check_logprobs(self.logprobs)


def check_logprobs(logprobs: Sequence[float]) -> None:
    """Refuse tokens of a distribution that is none.

    Raises:
        NotFinite: a log-probability isn't finite.
    """
    if not all(map(math.isfinite, logprobs)):
        raise NotFinite(
            "the logits to sample from aren't finite: this model's weights are broken, as by a learning_rate that was "
            "too high; take an earlier checkpoint"
        )


Wait = Literal["none", "one", "all"]
"""For which requests to wait: none, one that is ready, or all that may still come."""


class RequestSource(Protocol):
    """Source of a policy's requests while episodes are played: some are ready, others wait for environments."""

    def __call__(self, wait: Wait) -> list[tuple[int, GenerationRequest]]:
        """Requests not handed out before, each with its number. Nothing, though it waited: nothing will come."""
        ...


class Policy(Protocol):
    """Anything that samples turns."""

    def reset(self) -> None:
        """A new rollout begins: forget what was remembered of the last."""
        ...

    def sample(self, requests: Sequence[GenerationRequest], params: SamplingParams) -> list[Completion]:
        """One sample for each request, in order."""
        ...

    def stream(self, ready: RequestSource, params: SamplingParams) -> Iterator[tuple[int, Completion]]:
        """Samples with their requests' numbers, each as soon as it is there, until nothing will come any more."""
        ...


def stream_batched(policy: Policy, ready: RequestSource, params: SamplingParams) -> Iterator[tuple[int, Completion]]:
    """A policy's ``stream``, made of its ``sample``: in each round one turn of every episode that goes on.

    Args:
        policy: the policy to ask.
        ready: source of requests with their numbers.
        params: temperature, stop strings, tokens of a turn.
    """
    while asked := ready("all"):
        samples = policy.sample([request for _, request in asked], params)
        yield from zip([number for number, _ in asked], samples, strict=True)


def sample_streaming(policy: Policy, requests: Sequence[GenerationRequest], params: SamplingParams) -> list[Completion]:
    """A policy's ``sample``, made of its ``stream``.

    Args:
        policy: the policy to ask.
        requests: one for each sample.
        params: temperature, stop strings, tokens of a turn.
    """
    asked = list(enumerate(requests))

    def ready(wait: Wait) -> list[tuple[int, GenerationRequest]]:
        handed, asked[:] = asked[:], []
        return handed

    samples = dict(policy.stream(ready, params))
    return [samples[number] for number in range(len(requests))]


Asked = TypeVar("Asked")
Got = TypeVar("Got")


def timed(found: Iterator[Got], spent: Callable[[float], None]) -> Iterator[Got]:
    """``found``, with the seconds that each of its steps took told to ``spent``; what is done in between isn't."""
    while True:
        began = time.perf_counter()
        try:
            item = next(found)
        except StopIteration:
            return
        finally:
            spent(time.perf_counter() - began)
        yield item


def in_threads(
    ready: Callable[[Wait], list[tuple[int, Asked]]],
    one: Callable[[Asked], Got],
    workers: int,
    give_up: Callable[[], None] = lambda: None,
    poll: float = 0.01,
) -> Iterator[tuple[int, Got]]:
    """Answers of ``one`` as they come, ``workers`` at once: for servers, which schedule what they are asked.

    Args:
        ready: source of requests with their numbers.
        one: answers one request.
        workers: requests at once.
        give_up: called if nobody wants the answers any more, before those still asked for are waited for.
        poll: seconds after which to see what else has become ready, while answers are waited for.
    """
    running: dict[Future[Got], int] = {}
    with ThreadPoolExecutor(workers) as pool:
        try:
            while True:
                wait: Wait = "none" if running else "one"
                running |= {pool.submit(one, request): number for number, request in ready(wait)}
                if not running:
                    return
                done, _ = wait_for(running, poll, FIRST_COMPLETED)
                for future in done:
                    yield running.pop(future), future.result()
        except BaseException:
            for future in running:
                future.cancel()
            give_up()
            raise

"""A policy whose rollouts are looked at before they are played."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from kit.chat import Chat
from kit.episode import Task
from kit.policy import Completion, GenerationRequest, Policy, RequestSource, SamplingParams

Look = Callable[[Chat, Sequence[Task], Callable[[], Any], Any], None]
"""Is shown what a rollout is given (chat, tasks, what makes an environment, limits); its error ends the rollout."""


@dataclass(frozen=True)
class Rehearsal:
    """Samples as the wrapped policy does; :func:`kit.rollout.rollout` calls :attr:`look` first.

    Attributes:
        policy: samples the turns.
        look: sees what is about to be played.
    """

    policy: Policy
    look: Look

    def reset(self) -> None:
        """A new rollout begins."""
        self.policy.reset()

    def sample(self, requests: Sequence[GenerationRequest], params: SamplingParams) -> list[Completion]:
        """One sample for each request, in order."""
        return self.policy.sample(requests, params)

    def stream(self, ready: RequestSource, params: SamplingParams) -> Iterator[tuple[int, Completion]]:
        """Samples with their requests' numbers, each as soon as it is there."""
        return self.policy.stream(ready, params)

"""A policy that says what a function tells it to: for experts, tests and lessons without a model."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence

from kit.chat import Chat
from kit.episode import Episode
from kit.policy import Completion, GenerationRequest, RequestSource, SamplingParams, stream_batched

Script = Callable[[Episode], str]
"""From the episode so far to the text of the next turn."""


def next_turn(turns: Sequence[str], episode: Episode) -> str:
    """Choose the turn that comes next in an episode of an expert whose turns are all written.

    Args:
        turns: all of them, the answer last.
        episode: the episode so far.

    Raises:
        ValueError: it goes on after the answer.
    """
    if len(episode.turns) >= len(turns):
        raise ValueError(f"expert on task {episode.task.id}: its answer was turn {len(turns)}, the last")
    return turns[len(episode.turns)]


class ScriptedPolicy:
    """Encodes the script's text; every token has log-probability 0, since nothing was left to chance."""

    def __init__(self, chat: Chat, script: Script) -> None:
        self.chat = chat
        self.script = script

    def reset(self) -> None:
        """Nothing to forget."""

    def sample(self, requests: Sequence[GenerationRequest], params: SamplingParams) -> list[Completion]:
        """The script's next turn for each request.

        Raises:
            ValueError: a request carries no episode.
        """
        samples = []
        for request in requests:
            if request.episode is None:
                raise ValueError("ScriptedPolicy: the request has no episode; use it through kit.rollout")
            text = self.script(request.episode)
            ids = tuple(self.chat.text(text))[: params.max_new_tokens]
            stopped = text.rstrip().endswith(params.stops)
            samples.append(Completion(ids, (0.0,) * len(ids), "stop" if stopped else "eos"))
        return samples

    def stream(self, ready: RequestSource, params: SamplingParams) -> Iterator[tuple[int, Completion]]:
        """In rounds: no turn takes longer than another."""
        return stream_batched(self, ready, params)

"""Ask a policy one question outside an episode, as a judge is asked."""

from __future__ import annotations

from collections.abc import Sequence

from kit.chat import Chat
from kit.episode import Episode, NamedImage, Task
from kit.policy import GenerationRequest, Policy, SamplingParams

VERDICT = SamplingParams(("<|im_end|>",), 0.0, 16)
"""How a judge answers: greedily, in a word."""


def ask(
    policy: Policy, chat: Chat, parts: Sequence[str | NamedImage], task: Task, params: SamplingParams = VERDICT
) -> str:
    """Ask a policy in one user message without a system text; returns what it says.

    Args:
        policy: the model, such as a :class:`kit.policy.endpoint.ServedPolicy`.
        chat: encodes what it is asked.
        parts: texts and images of the message.
        task: what it is asked about, for policies that look at the episode.
        params: of its answer.
    """
    ids = tuple(chat.prompt("", list(parts)))
    images = tuple(part for part in parts if isinstance(part, NamedImage))
    [said] = policy.sample([GenerationRequest(ids, images, Episode(task, ids))], params)
    return chat.decode(said.ids)

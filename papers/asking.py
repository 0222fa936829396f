"""Ask a policy one question outside an episode, as a judge is asked: what it says can be read, or it is an error."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Sequence

from kit.chat import Chat
from kit.episode import Episode, NamedImage, Task
from kit.policy import Completion, GenerationRequest, Policy, RequestSource, SamplingParams, stream_batched

VERDICT = SamplingParams(("<|im_end|>",), 0.0, 1024)
"""How a judge answers: greedily. A word is a few tokens; the others are for models that think first."""

TRIES = 3
"""How often a policy is asked for a reply that can be read, before it is given up on."""

_THOUGHT = re.compile(
    r"<\s*(?P<close>/)?\s*(?:seed:)?(?:think(?:ing)?|thoughts?|reason(?:ing)?|analysis|reflection|scratchpad)\s*>"
    r"|\[(?P<close2>/)?THINK\]|◁(?P<close3>/)?think▷",
    re.IGNORECASE,
)
_CHANNEL, _FINAL = "<|channel|>", "<|channel|>final<|message|>"


def without_thoughts(text: str) -> str:
    """Leave out what a model thought before it replied, also where the thought isn't opened or never closed.

    >>> without_thoughts("<think>1 seems fair.</think> 0.25"), without_thoughts("0.5 <think>Or 1")
    ('0.25', '0.5')
    """
    text = text.rpartition(_FINAL)[2] if _FINAL in text else text.partition(_CHANNEL)[0]
    said, at, thinking = "", 0, False
    for tag in _THOUGHT.finditer(text):
        if any(tag.groups()):
            said, at, thinking = said if thinking else "", tag.end(), False  # a template may have opened it
        elif not thinking:
            said, thinking = said + text[at : tag.start()], True
    said += "" if thinking else text[at:]
    return re.sub(r"<\|\w{1,40}\|>", "", said).strip()


class Readable:
    """A policy of which only replies count that are whole and can be read: any other is asked for again.

    Args:
        policy: the policy to ask.
        chat: decodes what it says.
        can_read: whether a reply is what was asked for.
        wanted: the same in words, for the error.
    """

    def __init__(self, policy: Policy, chat: Chat, can_read: Callable[[str], bool], wanted: str) -> None:
        self.policy, self.chat, self.can_read, self.wanted = policy, chat, can_read, wanted

    def reset(self) -> None:
        """Forget what the policy remembers."""
        self.policy.reset()

    def sample(self, requests: Sequence[GenerationRequest], params: SamplingParams) -> list[Completion]:
        """One readable sample for each request, in order.

        Raises:
            kit.policy.endpoint.EndpointError: none in :data:`TRIES` tries; with what came last.
        """
        said = self.policy.sample(requests, params)
        for _ in range(TRIES - 1):
            wrong = [k for k, one in enumerate(said) if self._fault(one, params)]
            if not wrong:
                return said
            again = self.policy.sample([requests[k] for k in wrong], params)
            for k, one in zip(wrong, again, strict=True):
                said[k] = one
        if faults := list(filter(None, (self._fault(one, params) for one in said))):
            from kit.policy.endpoint import EndpointError

            name = getattr(self.policy, "model", type(self.policy).__name__)
            where = f"endpoint {self.policy.url}, model {name}" if hasattr(self.policy, "url") else f"model {name}"
            raise EndpointError(
                f"{where}: in {TRIES} tries no reply that is {self.wanted}; {faults[0]}. It isn't counted, and what "
                "is stored is kept: name another model, or one that keeps to what it is asked, and go on"
            )
        return said

    def stream(self, ready: RequestSource, params: SamplingParams) -> Iterator[tuple[int, Completion]]:
        """As :meth:`sample`, in rounds."""
        return stream_batched(self, ready, params)

    def _fault(self, said: Completion, params: SamplingParams) -> str:
        """Why a reply doesn't count; empty: it does."""
        text = self.chat.decode(said.ids)
        shown = f"the last: {text[:200]!r}" + (f" … {text[-60:]!r}" if len(text) > 260 else "")
        if said.finish == "length":
            return f"{shown}, cut at max_new_tokens={params.max_new_tokens}"
        return "" if text.strip() and self.can_read(text) else shown


def ask(
    policy: Policy,
    chat: Chat,
    parts: Sequence[str | NamedImage],
    task: Task,
    can_read: Callable[[str], bool],
    wanted: str,
    params: SamplingParams = VERDICT,
) -> str:
    """Ask a policy in one user message without a system text; returns what it says.

    Args:
        policy: the model, such as a :class:`kit.policy.endpoint.ServedPolicy`.
        chat: encodes what it is asked.
        parts: texts and images of the message.
        task: what it is asked about, for policies that look at the episode.
        can_read: whether a reply is what was asked for; any other is asked for again.
        wanted: the same in words, for the error: ``a number from 0 to 1``.
        params: of its answer.

    Raises:
        kit.policy.endpoint.EndpointError: it doesn't reply, or never so that it can be read.
    """
    ids = tuple(chat.prompt("", list(parts)))
    images = tuple(part for part in parts if isinstance(part, NamedImage))
    readable = Readable(policy, chat, can_read, wanted)
    [said] = readable.sample([GenerationRequest(ids, images, Episode(task, ids))], params)
    return chat.decode(said.ids)

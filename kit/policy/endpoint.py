"""A policy behind any OpenAI-compatible endpoint (a hosted model, vLLM, llama.cpp, Ollama, …).

The endpoint speaks text and images, the kit speaks ids. A context's ids are turned back into messages
(every role and image token in them was written by :mod:`kit.chat`, so this is exact), images go
as data URLs, and the reply is encoded by :mod:`kit.chat`. Two things therefore differ from a
model sampled in this process, and both matter only to reinforcement learning, for which served
samples must not be used:

- ``Completion.ids`` are *our* tokens for the reply's text, not the tokens the endpoint sampled;
- ``Completion.logprobs`` are 0 for every token: the endpoint's don't belong to these ids.

``GenerationRequest.seed`` isn't sent: not every endpoint knows it, and few keep to it.
An endpoint drops the stop string it stopped at; it is put back, so that the turn reads as written.

What isn't a text that the model wrote to its end or to the limit is asked for again, then an error: null or empty
content, a refusal, a filter, calls taken out of the text, an error with status 200 (:mod:`.replies`).
"""

from __future__ import annotations

import base64
import io
import json
import os
import re
import time
from collections.abc import Callable, Iterator, Sequence
from typing import Any

import openai

from kit.chat import Chat
from kit.episode import NamedImage
from kit.images import rgb
from kit.policy import (
    Completion,
    FinishReason,
    GenerationRequest,
    RequestSource,
    SamplingParams,
    in_threads,
    sample_streaming,
)
from kit.policy.replies import Ended, UnusableReply, text_of
from kit.tools.retry import RetriesExhausted, TransientError, is_transient, retry, retry_after


class EndpointError(RuntimeError):
    """An endpoint can't be used, or didn't answer after all retries; the message says which and what to do."""


def data_url(picture: NamedImage) -> str:
    """An image as a PNG in a ``data:`` URL."""
    buffer = io.BytesIO()
    rgb(picture.image).save(buffer, "PNG")
    return "data:image/png;base64," + base64.b64encode(buffer.getvalue()).decode()


def messages(chat: Chat, request: GenerationRequest) -> list[dict[str, Any]]:
    """A request's ids as chat-completions messages; the assistant's open turn at the end is left out.

    Raises:
        ValueError: a message without a role, or images are missing or left over.
    """
    start, first, last = (
        chat.tokenizer.convert_tokens_to_ids(t) for t in ("<|im_start|>", "<|vision_start|>", "<|vision_end|>")
    )
    pictures = iter(request.images)
    out: list[dict[str, Any]] = []
    for block in _split(request.ids, start)[1:]:
        closed = chat.end_id in block
        block = block[: block.index(chat.end_id)] if closed else block
        parts: list[dict[str, Any]] = []
        for piece in _split(block, first):
            if last in piece:
                image = next(pictures, None)
                if image is None:
                    raise ValueError(f"messages: the ids hold more pictures than the request's {len(request.images)}")
                parts.append({"type": "image_url", "image_url": {"url": data_url(image)}})
                piece = piece[piece.index(last) + 1 :]
            text = chat.decode(piece)
            if text:
                parts.append({"type": "text", "text": text})
        if not parts or parts[0]["type"] != "text":
            raise ValueError("messages: a message without a role; these ids were not written by kit.chat")
        role, _, rest = parts[0]["text"].partition("\n")
        parts = [{"type": "text", "text": rest}, *parts[1:]] if rest else parts[1:]
        if closed or parts:
            only_text = all(part["type"] == "text" for part in parts)
            content: Any = "".join(part["text"] for part in parts) if only_text else parts
            out.append({"role": role, "content": content})
    if next(pictures, None) is not None:
        raise ValueError("messages: the request has more pictures than its ids have places for them")
    return out


def _split(ids: Sequence[int], at: int) -> list[list[int]]:
    """``ids`` cut before each ``at``, which is left out: what precedes the first, then one list for each."""
    blocks: list[list[int]] = [[]]
    for i in ids:
        if i == at:
            blocks.append([])
        else:
            blocks[-1].append(i)
    return blocks


def close_turn(text: str, stops: Sequence[str], stopped: bool) -> tuple[str, bool]:
    """A reply as a policy of ours would have written it, and whether it ends with a stop string.

    Cut after the first stop string (for endpoints that ignore ``stop``); where the endpoint stopped
    and dropped the string, the closing tag of the last tag left open is put back.

    Args:
        text: the reply.
        stops: stop strings, such as ``</code>``.
        stopped: whether the endpoint says that it stopped, and not that the model ended of itself.
    """
    found = [match.end() for stop in stops if (match := re.search(re.escape(stop), text))]
    if found:
        return text[: min(found)], True
    opened = {stop: text.rfind(stop.replace("</", "<", 1)) for stop in stops if stop.startswith("</")}
    stop = max(opened, key=lambda s: opened[s], default="")
    if stopped and stop and opened[stop] >= 0:
        return text + stop, True
    return text, False


class ServedPolicy:
    """Samples turns from a chat-completions endpoint, several at once.

    Args:
        base_url: of the API, ``http://host:port/v1``.
        model: its name at the endpoint.
        chat: encodes the replies.
        key_env: environment variable that holds the API key; local servers mostly need none.
        retries: how often a request is tried again after a fault that may pass (429, 5xx, a dropped
            connection, a time-out, a reply that isn't what was asked for).
        timeout: seconds for one request.
        workers: requests at once.
        longest_wait: seconds; an endpoint that asks for a longer pause is given up on.
        sleep: waits so many seconds; tests put their own here.
    """

    def __init__(
        self,
        base_url: str,
        model: str,
        chat: Chat,
        key_env: str = "OPENAI_API_KEY",
        retries: int = 5,
        timeout: float = 120.0,
        workers: int = 8,
        longest_wait: float = 120.0,
        sleep: Callable[[float], None] = time.sleep,
    ) -> None:
        self.model = model
        self.chat = chat
        self.key_env = key_env
        self.retries = retries
        self.workers = workers
        self.longest_wait = longest_wait
        self._sleep = sleep
        # Retries are done here: the client's own don't cover replies that aren't JSON, nor say what was tried.
        self._client = openai.OpenAI(
            base_url=base_url, api_key=os.environ.get(key_env) or "none", max_retries=0, timeout=timeout
        )
        self.url = str(self._client.base_url)

    def reset(self) -> None:
        """Nothing to forget: every request carries its whole conversation."""

    def sample(self, requests: Sequence[GenerationRequest], params: SamplingParams) -> list[Completion]:
        """One sample for each request, in order; see the module's words on ids and log-probabilities.

        Raises:
            EndpointError: a request failed for good; naming endpoint, model and cause.
        """
        return sample_streaming(self, requests, params)

    def stream(self, ready: RequestSource, params: SamplingParams) -> Iterator[tuple[int, Completion]]:
        """Each as its reply comes; raises as :meth:`sample` does."""
        return in_threads(ready, lambda request: self._one(request, params), self.workers)

    def _one(self, request: GenerationRequest, params: SamplingParams) -> Completion:
        prompt = messages(self.chat, request)
        said, ended = self._ask(prompt, params)
        text, complete = close_turn(said, params.stops, ended == "stop")
        ids = self.chat.text(text)
        finish: FinishReason = "stop" if complete else "length" if ended == "length" else "eos"
        if finish == "eos":
            ids.append(self.chat.end_id)
        return Completion(tuple(ids), (0.0,) * len(ids), finish)

    def _ask(self, prompt: list[dict[str, Any]], params: SamplingParams) -> tuple[str, Ended]:
        """One completion's text and why it ends, tried again as long as that may help."""
        try:
            return retry(lambda: self._once(prompt, params), self.retries, self.longest_wait, self._sleep)
        except RetriesExhausted as error:
            raise EndpointError(
                f"endpoint {self.url}, model {self.model}: {error}. {error.way_out}: what is stored is kept"
            ) from error

    def _once(self, prompt: list[dict[str, Any]], params: SamplingParams) -> tuple[str, Ended]:
        try:
            # The raw reply: the client's types promise fields that an endpoint may leave out or fill with anything.
            reply = self._client.chat.completions.with_raw_response.create(
                model=self.model,
                messages=prompt,  # type: ignore[arg-type]
                stop=list(params.stops),
                temperature=params.temperature,
                max_tokens=params.max_new_tokens,
            )
        except openai.APIStatusError as error:
            cause = f"HTTP {error.status_code}: {error.message[:200]}"
            if not is_transient(error.status_code):
                raise EndpointError(self._refused(error.status_code, cause)) from error
            raise TransientError(cause, retry_after(error.response.headers)) from error
        except openai.APIError as error:
            raise TransientError(f"{type(error).__name__}: {error}"[:200]) from error
        try:
            return text_of(json.loads(reply.content))
        except UnusableReply as error:
            raise TransientError(str(error)) from error
        except (ValueError, RecursionError) as error:
            page = ", a page: the URL mostly ends in /v1" if reply.content.lstrip().startswith(b"<") else ""
            raise TransientError(f"a reply that isn't JSON ({reply.content[:200]!r}){page}") from error

    def _refused(self, status: int, cause: str) -> str:
        ways_out = {
            401: f"set the environment variable {self.key_env} to a valid key",
            403: f"the key in {self.key_env} may not use this model",
            404: "check the URL (it mostly ends in /v1) and the model's name",
        }
        return f"endpoint {self.url}, model {self.model}: {cause}; {ways_out.get(status, 'the request was refused')}"

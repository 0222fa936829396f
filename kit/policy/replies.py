"""Read what a chat-completions endpoint replied: a text, and why it ends; anything else is a fault of the endpoint."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Literal

Ended = Literal["stop", "eos", "length", "unsaid"]
"""At a stop string or no one says where, of itself, at the limit, or without a word."""

ENDED: Mapping[str, Ended] = {
    "": "unsaid",
    **dict.fromkeys(("stop", "stop_sequence"), "stop"),
    **dict.fromkeys(("eos", "eos_token", "end_turn"), "eos"),
    **dict.fromkeys(("length", "max_tokens", "model_length"), "length"),
}
"""Words for why a reply ended, of the servers in use, and what they mean. With any other (``content_filter``,
``error``, ``abort``, …) the reply isn't what the model had to say."""


class UnusableReply(ValueError):
    """A reply that isn't what was asked for; the message says what came."""


def text_of(reply: Any) -> tuple[str, Ended]:
    """The text of a reply's first choice, and what ended it, if that is said.

    Args:
        reply: the reply's JSON; it may be anything.

    Raises:
        UnusableReply: it has no choice or no text, or the model didn't end it.
    """
    choices = reply.get("choices") if isinstance(reply, dict) else None
    if not isinstance(choices, list) or not choices:
        raise UnusableReply(f"a reply without choices ({str(reply)[:200]!r})")
    choice = choices[0]
    message = choice.get("message") if isinstance(choice, dict) else None
    if not isinstance(message, dict):
        raise UnusableReply(f"a choice without a message ({str(choice)[:200]!r})")
    reason = str("" if choice.get("finish_reason") is None else choice["finish_reason"]).lower()
    came = f"finish_reason {choice.get('finish_reason')!r}, content {str(message.get('content'))[:200]!r}"
    if message.get("refusal"):
        raise UnusableReply(f"a refusal ({str(message['refusal'])[:200]!r})")
    if message.get("tool_calls") or message.get("function_call"):
        raise UnusableReply(f"calls taken out of the text ({came}): start the endpoint without a parser of tools")
    if (fault := choice.get("error") or reply.get("error")) or reason not in ENDED:
        raise UnusableReply(f"a reply that the model didn't end ({came}){f': {fault!s:.200}' if fault else ''}")
    text = _content(message.get("content"), came)
    if not any(sign.isprintable() and sign != " " for sign in text):  # those of no width are none
        thought = message.get("reasoning_content") or message.get("reasoning")
        why = ": it only thought; allow more tokens, or have it reply without thinking" if thought else ""
        raise UnusableReply(f"a reply without a text ({came}){why}")
    # OpenAI says stop of both; vLLM and SGLang add the string, and no text where the model ended of itself.
    at = [choice[name] for name in ("stop_reason", "matched_stop") if name in choice]
    of_itself = ENDED[reason] == "stop" and at and not any(isinstance(one, str) for one in at)
    return text, "eos" if of_itself else ENDED[reason]


def _content(content: Any, came: str) -> str:
    """The text of a message, which may lie in parts; what a model thought isn't part of it."""
    if content is None or isinstance(content, str):
        return content or ""
    texts = []
    for part in content if isinstance(content, list) else [content]:
        part = {"type": "text", "text": part} if isinstance(part, str) else part
        kind = part.get("type", "text") if isinstance(part, dict) else None
        if kind in ("text", "output_text") and isinstance(part.get("text"), str):
            texts.append(part["text"])
        elif kind not in ("thinking", "redacted_thinking", "reasoning"):
            raise UnusableReply(f"a content that isn't a text ({came})")
    return "".join(texts)

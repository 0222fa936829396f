"""A small chat-completions server on loopback, with faults on demand.

It speaks the protocol's JSON, checks requests the way a strict server does, and answers with what a function says.

    with FakeOpenAI(reply=lambda body: "…") as server:
        server.faults += ["429", "500"]
        ServedPolicy(server.url, "tiny", chat)
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from fake_server import FakeServer

Reply = Callable[[dict[str, Any]], str]


class FakeOpenAI(FakeServer):
    """The server.

    Args:
        reply: from a request's body to the text of the completion, stop strings included.
        key: the API key it demands, if any.

    Attributes:
        honours_stop: whether it stops at stop strings (and drops them), as the real ones do.
    """

    empty = b'{"id": "x", "object": "chat.completion", "created": 0, "model": "m"}'  # no choices

    def __init__(self, reply: Reply, key: str | None = None) -> None:
        super().__init__()
        self.reply, self.key = reply, key
        self.honours_stop = True

    @property
    def url(self) -> str:
        return f"{self.address}/v1"

    def error(self, message: str) -> dict[str, Any]:
        return {"error": {"message": message, "type": "error", "param": None, "code": None}}

    def answer(self, path: str, headers: Any, body: dict[str, Any]) -> tuple[int, dict[str, Any]]:
        if path != "/v1/chat/completions":
            return 404, self.error(f"Unknown request URL: {path}")
        if self.key and headers.get("Authorization") != f"Bearer {self.key}":
            return 401, self.error("Incorrect API key provided")
        if (problem := check_request(body)) is not None:
            return 400, self.error(problem)
        return 200, self.completion(body)

    def completion(self, body: dict[str, Any]) -> dict[str, Any]:
        """A chat.completion object; generation ends before the first stop string, as the protocol says."""
        text = self.reply(body)
        ends = [at for stop in body.get("stop") or [] if (at := text.find(stop)) >= 0]
        if ends and self.honours_stop:
            text = text[: min(ends)]
        return {
            "id": "chatcmpl-1",
            "object": "chat.completion",
            "created": 1,
            "model": body["model"],
            "choices": [
                {
                    "index": 0,
                    "message": {"role": "assistant", "content": text, "refusal": None},
                    "logprobs": None,
                    "finish_reason": "stop",
                }
            ],
            "usage": {"prompt_tokens": 1, "completion_tokens": 1, "total_tokens": 2},
        }


def check_request(body: dict[str, Any]) -> str | None:
    """What is wrong with a request, by the protocol's rules; None if nothing is."""
    if not isinstance(body.get("model"), str):
        return "model: a string is required"
    messages = body.get("messages")
    if not isinstance(messages, list) or not messages:
        return "messages: a non-empty list is required"
    for i, message in enumerate(messages):
        if message.get("role") not in ("system", "user", "assistant"):
            return f"messages[{i}].role: {message.get('role')!r}"
        content = message.get("content")
        parts = [{"type": "text", "text": content}] if isinstance(content, str) else content
        for part in parts or [{}]:
            if part.get("type") == "text" and isinstance(part.get("text"), str):
                continue
            url = (part.get("image_url") or {}).get("url", "")
            if part.get("type") != "image_url" or not url.startswith("data:image/") or message["role"] != "user":
                return f"messages[{i}].content: bad part {str(part)[:80]}"
    if len(body.get("stop") or []) > 4:
        return "stop: at most 4"
    return None

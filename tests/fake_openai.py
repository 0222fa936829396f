"""A small chat-completions server on loopback, with faults on demand.

It speaks HTTP/1.1 and the protocol's JSON, checks requests the way a strict server does, and answers
with what a function says. Faults are queued; each request takes the next one, then serves normally.

    with FakeOpenAI(reply=lambda body: "…") as server:
        server.faults += ["429", "500"]
        ServedPolicy(server.url, "tiny", chat)
"""

from __future__ import annotations

import json
import threading
from collections.abc import Callable
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from types import TracebackType
from typing import Any

Reply = Callable[[dict[str, Any]], str]


class FakeOpenAI:
    """The server.

    Args:
        reply: from a request's body to the text of the completion, stop strings included.
        key: the API key it demands, if any.

    Attributes:
        faults: ``429`` (with Retry-After), ``429-date``, ``429-long``, ``500``, ``drop`` (closes the
            connection without a byte), ``cut`` (half a body), ``junk`` (not JSON), ``empty`` (no choices),
            ``slow`` (answers after ``delay`` seconds).
        bodies: every request's JSON, in order.
        honours_stop: whether it stops at stop strings (and drops them), as the real ones do.
    """

    def __init__(self, reply: Reply, key: str | None = None) -> None:
        self.reply = reply
        self.key = key
        self.faults: list[str] = []
        self.bodies: list[dict[str, Any]] = []
        self.honours_stop = True
        self.retry_after = "7"
        self.delay = 5.0
        self.released = threading.Event()
        self._lock = threading.Lock()
        self._server = ThreadingHTTPServer(("127.0.0.1", 0), self._handler())
        self._thread = threading.Thread(target=self._server.serve_forever, args=(0.02,), daemon=True)

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self._server.server_address[1]}/v1"

    def __enter__(self) -> FakeOpenAI:
        self._thread.start()
        return self

    def __exit__(self, kind: type | None, error: BaseException | None, trace: TracebackType | None) -> None:
        self.released.set()
        self._server.shutdown()
        self._server.server_close()
        self._thread.join()

    def _handler(self) -> type[BaseHTTPRequestHandler]:
        fake = self

        class Handler(BaseHTTPRequestHandler):
            protocol_version = "HTTP/1.1"

            def log_message(self, format: str, *args: Any) -> None: ...

            def do_POST(self) -> None:
                body = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
                with fake._lock:
                    fake.bodies.append(body)
                    fault = fake.faults.pop(0) if fake.faults else ""
                self._answer(body, fault)

            def _answer(self, body: dict[str, Any], fault: str) -> None:
                if fault == "drop":
                    self.close_connection = True
                elif fault.startswith("429"):
                    self._error(429, "Rate limit reached", {"Retry-After": fake.retry_after})
                elif fault == "500":
                    self._error(500, "The server had an error")
                elif fault == "junk":
                    self._send(200, b"<html>gateway</html>")
                elif fault == "empty":
                    self._send(200, b'{"id": "x", "object": "chat.completion", "created": 0, "model": "m"}')
                elif self.path != "/v1/chat/completions":
                    self._error(404, f"Unknown request URL: {self.path}")
                elif fake.key and self.headers.get("Authorization") != f"Bearer {fake.key}":
                    self._error(401, "Incorrect API key provided")
                elif (problem := check_request(body)) is not None:
                    self._error(400, problem)
                else:
                    if fault == "slow":
                        fake.released.wait(fake.delay)
                    self._send(200, json.dumps(fake.completion(body)).encode(), cut=fault == "cut")

            def _error(self, status: int, message: str, headers: dict[str, str] | None = None) -> None:
                body = {"error": {"message": message, "type": "error", "param": None, "code": None}}
                self._send(status, json.dumps(body).encode(), headers)

            def _send(self, status: int, data: bytes, headers: dict[str, str] | None = None, cut: bool = False) -> None:
                self.send_response(status)
                self.send_header("Content-Type", "application/json")
                self.send_header("Content-Length", str(len(data)))
                for name, value in (headers or {}).items():
                    self.send_header(name, value)
                self.end_headers()
                try:
                    self.wfile.write(data[: len(data) // 2] if cut else data)
                except OSError:  # the client gave up waiting
                    cut = True
                self.close_connection = cut

        return Handler

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

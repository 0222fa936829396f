"""A small JSON server on loopback, with faults on demand; services that tests need are made of it."""

from __future__ import annotations

import json
import socket
import threading
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from types import TracebackType
from typing import Any, Self


def free_port() -> int:
    """A port of loopback that nobody listens on."""
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        return int(free.getsockname()[1])


class FakeServer:
    """It speaks HTTP/1.1. Faults are queued; each request takes the next one, then is answered normally.

    Attributes:
        faults: ``429`` (with Retry-After), ``429-date``, ``429-long``, ``500`` and other statuses, ``drop`` (closes the
            connection without a byte), ``cut`` (half a body), ``junk`` (not JSON), ``empty`` (JSON that says nothing),
            ``slow`` (answers after ``delay`` seconds); what begins with ``{``, ``[`` or ``<`` is the body itself.
        bodies: every request's JSON, in order.
    """

    empty: bytes = b"{}"

    def __init__(self) -> None:
        self.faults: list[str] = []
        self.bodies: list[dict[str, Any]] = []
        self.retry_after = "7"
        self.delay = 5.0
        self.released = threading.Event()
        self._lock = threading.Lock()
        self._server = ThreadingHTTPServer(("127.0.0.1", 0), self._handler())
        self._thread = threading.Thread(target=self._server.serve_forever, args=(0.02,), daemon=True)

    @property
    def address(self) -> str:
        return f"http://127.0.0.1:{self._server.server_address[1]}"

    def __enter__(self) -> Self:
        self._thread.start()
        return self

    def __exit__(self, kind: type | None, error: BaseException | None, trace: TracebackType | None) -> None:
        self.released.set()
        self._server.shutdown()
        self._server.server_close()
        self._thread.join()

    def answer(self, path: str, headers: Any, body: dict[str, Any]) -> tuple[int, dict[str, Any]]:
        """Status and JSON for a request."""
        raise NotImplementedError

    def error(self, message: str) -> dict[str, Any]:
        """The JSON this service says an error with."""
        raise NotImplementedError

    def _handler(self) -> type[BaseHTTPRequestHandler]:
        fake = self

        class Handler(BaseHTTPRequestHandler):
            protocol_version = "HTTP/1.1"

            def log_message(self, format: str, *args: Any) -> None: ...

            def do_GET(self) -> None:
                self.do_POST()

            def do_POST(self) -> None:
                body = json.loads(self.rfile.read(int(self.headers.get("Content-Length") or 0)) or b"{}")
                with fake._lock:
                    fake.bodies.append(body)
                    fault = fake.faults.pop(0) if fake.faults else ""
                if fault == "drop":
                    self.close_connection = True
                elif fault.startswith("429"):
                    self._json(429, fake.error("Rate limit reached"), {"Retry-After": fake.retry_after})
                elif fault.isdigit():
                    self._json(int(fault), fake.error("The server had an error"))
                elif fault.startswith(("{", "[", "<")):
                    self._send(200, fault.encode())
                elif fault in ("junk", "empty"):
                    self._send(200, b"<html>gateway</html>" if fault == "junk" else fake.empty)
                else:
                    if fault == "slow":
                        fake.released.wait(fake.delay)
                    status, reply = fake.answer(self.path, self.headers, body)
                    self._send(status, json.dumps(reply).encode(), cut=fault == "cut")

            def _json(self, status: int, reply: dict[str, Any], headers: dict[str, str] | None = None) -> None:
                self._send(status, json.dumps(reply).encode(), headers)

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

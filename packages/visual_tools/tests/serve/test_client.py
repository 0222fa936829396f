"""Whatever a tool service answers, or doesn't: what an agent reads of it, and what ends the run instead."""

from __future__ import annotations

import json
import re
import socket
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager

import pytest
from served import free_port, said
from toy_tools import TOYS

from visual_tools.serve.client import ServiceError, ServiceGone, ToolService, remote


@contextmanager
def answering(reply: bytes | Callable[[socket.socket], None]) -> Iterator[str]:
    """A server that answers every request so, and its address."""

    def serve(listening: socket.socket) -> None:
        while True:
            try:
                connection, _ = listening.accept()
            except OSError:
                return
            threading.Thread(target=answer, args=(connection,), daemon=True).start()

    def answer(connection: socket.socket) -> None:
        with connection:
            connection.recv(65536)
            try:
                if callable(reply):
                    reply(connection)
                else:
                    connection.sendall(reply)
            except OSError:
                pass

    with socket.create_server(("127.0.0.1", 0)) as listening:
        threading.Thread(target=serve, args=(listening,), daemon=True).start()
        yield f"http://127.0.0.1:{listening.getsockname()[1]}"
        listening.shutdown(socket.SHUT_RDWR)


def http(body: object, status: str = "200 OK") -> bytes:
    data = body if isinstance(body, bytes) else json.dumps(body).encode()
    return f"HTTP/1.1 {status}\r\nContent-Length: {len(data)}\r\nConnection: close\r\n\r\n".encode() + data


ODD = {
    "no text": {"status": "ok"},
    "no status": {"text": "a"},
    "a null": {"text": None, "status": "ok"},
    "a number": {"text": 7, "status": "ok"},
    "another status": {"text": "a", "status": "splendid"},
    "a status that is a number": {"text": "a", "status": 7},
    "a list": ["a", "ok"],
    "a page": b"<html>It works!</html>",
    "nothing": b"",
    "cut JSON": b'{"text": "a", "sta',
    "JSON too deep": b"[" * 100_000,
}


@pytest.mark.parametrize("body", ODD.values(), ids=ODD)
def test_what_no_tool_service_says_ends_the_run(body: object) -> None:
    with answering(http(body)) as address:
        (echo,) = remote([TOYS[0]()], ToolService(address, retries=1))
        with pytest.raises(ServiceError, match=address):
            said(echo, text="a")


REFUSED = {
    "a full queue": ("503 Service Unavailable", {"error": "2 calls wait already"}, "unserved"),
    "arguments": ("422 Unprocessable", {"error": "an image of 1 x 9 pixels"}, "error"),
    "a size": ("413 Too Large", {"error": "a request of more than 1 bytes"}, "error"),
}


@pytest.mark.parametrize(("status", "body", "ends"), REFUSED.values(), ids=REFUSED)
def test_what_a_service_refuses_is_told(status: str, body: dict[str, str], ends: str) -> None:
    with answering(http(body, status)) as address:
        (echo,) = remote([TOYS[0]()], ToolService(address, retries=0))
        seen = said(echo, text="a")
    assert seen.status == ends and body["error"] in seen.text


PAGES = {
    "a size": ("413 Request Entity Too Large", b"<html><h1>413 Request Entity Too Large</h1>nginx"),
    "a request": ("400 Bad Request", b"<html>The plain HTTP request was sent to HTTPS port"),
    "a firewall": ("422 Unprocessable", b"<html>blocked"),
    "no words": ("413 Payload Too Large", b""),
    "another service": ("422 Unprocessable", {"detail": [{"msg": "Field required"}]}),
    "a null": ("422 Unprocessable", {"error": None}),
    "a full queue of somebody's": ("503 Service Unavailable", {"error": {"code": 7}}),
}


@pytest.mark.parametrize(("status", "body"), PAGES.values(), ids=PAGES)
def test_what_stands_before_a_service_is_no_agent_s_fault(status: str, body: object) -> None:
    with answering(http(body, status)) as address:
        (echo,) = remote([TOYS[0]()], ToolService(address, retries=0))
        with pytest.raises(ServiceError, match=address):
            said(echo, text="a")


def test_what_an_agent_reads_names_no_address() -> None:
    with answering(http({"error": "an image of 1 x 9 pixels"}, "422 Unprocessable")) as address:
        (echo,) = remote([TOYS[0]()], ToolService(address, retries=0))
        assert said(echo, text="a").text == "Error: an image of 1 x 9 pixels"


NOWHERE = ("", "127.0.0.1:8765", "ftp://host", "http://", "http:///call", "http://a host:8765", "http://[::1")


@pytest.mark.parametrize("address", [*NOWHERE, "http://127.0.0.1:port", "http://127.0.0.1:8765 "])
def test_an_address_that_is_none_is_refused_at_once(address: str) -> None:
    with pytest.raises(ValueError, match=f"tool service {re.escape(repr(address))}: give its address"):
        ToolService(address)


@pytest.mark.parametrize("status", ["404 Not Found", "401 Unauthorized", "500 Internal Error", "502 Bad Gateway"])
def test_what_is_nobody_s_fault_in_an_episode_ends_the_run(status: str) -> None:
    with answering(http({"error": "there is no tool 'toy.echo'"}, status)) as address:
        (echo,) = remote([TOYS[0]()], ToolService(address, retries=0))
        with pytest.raises(ServiceError, match="there is no tool"):
            said(echo, text="a")


def dribbled(at: int) -> Callable[[socket.socket], None]:
    """Sends a right answer, from some place on a byte at a time."""
    whole = http({"text": "a", "status": "ok"})

    def send(connection: socket.socket) -> None:
        connection.sendall(whole[:at])
        for k in range(at, len(whole)):
            time.sleep(0.3)
            connection.sendall(whole[k : k + 1])

    return send


@pytest.mark.parametrize("at", [0, 20, 60], ids=["from the first byte", "in the head", "in the body"])
def test_a_limit_is_for_the_whole_answer(at: int) -> None:
    with answering(dribbled(at)) as address:
        (echo,) = remote([TOYS[0]()], ToolService(address, retries=0, timeout=1.0))
        with pytest.raises(ServiceGone, match=r"not in 1 s"):
            said(echo, text="a")


def test_a_service_that_is_not_there_ends_the_run() -> None:
    (echo,) = remote([TOYS[0]()], ToolService(f"http://127.0.0.1:{free_port()}", retries=0))
    with pytest.raises(ServiceGone, match=r"no tool service answers at http://127.0.0.1.* run the same command"):
        said(echo, text="a")

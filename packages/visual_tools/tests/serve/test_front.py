"""The web front without workers: bodies that are wrong, images, what is told of it."""

from __future__ import annotations

import asyncio
import base64
import io
import json
import socket
from typing import Any

import httpx
import pytest
from PIL import Image
from prometheus_client.parser import text_string_to_metric_families
from served import refusal

from visual_tools.serve import app as front_module
from visual_tools.serve.app import Service, front, grouped
from visual_tools.serve.command import bound
from visual_tools.serve.page import page
from visual_tools.serve.pool import LIMITS, Limits, Pool
from visual_tools.serve.store import OVERHEAD, ImageRefused, Stored, Trajectories, check
from visual_tools.serve.wire import Recent


def service(most: int = 10**6) -> Service:
    """One with a pool that was never started."""
    pool = Pool("toys", ["toy.echo=toy_tools:Toy"], 1, LIMITS)
    return Service({"toys": pool}, {"toy.echo": "toys"}, Trajectories(most), read)


def read(turn: str) -> tuple[str, dict[str, Any]] | None:
    """Turns as these tests' policies write them."""
    if turn == "answer":
        return None
    call = json.loads(turn)
    return call["tool"], call.get("arguments", {})


def ask(method: str, path: str, body: Any = b"", of: Service | None = None) -> httpx.Response:
    content = body if isinstance(body, bytes) else json.dumps(body).encode()

    async def once() -> httpx.Response:
        transport = httpx.ASGITransport(app=front(of or service()))
        async with httpx.AsyncClient(transport=transport, base_url="http://tools") as client:
            return await client.request(method, path, content=content)

    return asyncio.run(once())


def png(size: tuple[int, int] = (8, 4)) -> bytes:
    file = io.BytesIO()
    Image.new("RGB", size, "red").save(file, "PNG")
    return file.getvalue()


WRONG = (
    ("POST", "/call", b"", 400, "Invalid JSON"),
    ("POST", "/call", b"{", 400, "Invalid JSON"),
    ("POST", "/call", b"\xff\xfe{}", 400, "Invalid JSON"),
    ("POST", "/call", b'{"tool": "toy.echo", "arguments": ' + b"[" * 100_000, 400, "Invalid JSON"),
    ("POST", "/call", b"[]", 422, "object"),
    ("POST", "/call", {}, 422, "tool: Field required"),
    ("POST", "/call", {"tool": 3}, 422, "tool: Input should be a valid string"),
    ("POST", "/call", {"tool": "x" * 300}, 422, "at most 200 characters"),
    ("POST", "/call", {"tool": "toy.echo", "arguments": []}, 422, "arguments: "),
    ("POST", "/call", {"tool": "toy.echo", "colour": 1}, 422, "colour: Extra inputs"),
    ("POST", "/call", {"tool": "toy.ech"}, 404, "there is no tool 'toy.ech'; there are toy.echo"),
    ("POST", "/call", {"tool": "toy.echo", "trajectory": "t"}, 410, "trajectory 't' isn't known, or not any more"),
    ("PUT", "/trajectories/t/images/image", b"", 422, "0 bytes that are no image"),
    ("PUT", "/trajectories/t/images/image", b"GIF89a" + bytes(90), 422, "send a PNG, JPEG, WEBP file"),
    ("PUT", "/trajectories/t/images/image", png()[:50], 422, "that are no image"),
    ("POST", "/get_observation", {"actions": []}, 422, "trajectory_ids: Field required"),
    ("POST", "/get_observation", {"trajectory_ids": ["a"], "actions": []}, 422, "1 trajectory_ids, 0 actions, 0 extra"),
    ("POST", "/get_observation", {"trajectory_ids": ["a"], "actions": [3]}, 422, "actions.0: "),
)


@pytest.mark.parametrize(("method", "path", "body", "status", "told"), WRONG)
def test_what_is_wrong_with_a_request_is_told(method: str, path: str, body: Any, status: int, told: str) -> None:
    answer = ask(method, path, body)
    assert (answer.status_code, told in answer.json()["error"]) == (status, True), answer.text


def test_a_body_that_is_too_large_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(front_module, "MOST_BODY", 1000)
    for size in (1001, 5000):
        answer = ask("PUT", "/trajectories/t/images/image", bytes(size))
        assert answer.status_code == 413 and "more than 1,000 bytes; send less at once" in answer.json()["error"]


def test_an_image_of_too_many_pixels_is_refused() -> None:
    file = io.BytesIO()
    Image.new("1", (10_000, 5_001)).save(file, "PNG")
    with pytest.raises(ImageRefused, match=r"10000 x 5001 pixels; a tool opens 50,000,000 at most"):
        check(file.getvalue())


def test_images_are_kept_and_forgotten() -> None:
    one = service()
    assert ask("PUT", "/trajectories/t/images/image", png(), one).json()["sha256"] == check(png()).key
    assert ask("GET", "/health", of=one).json()["trajectories"] == 1
    assert ask("DELETE", "/trajectories/t", of=one).json() == {"known": True}
    assert ask("DELETE", "/trajectories/t", of=one).json() == {"known": False}


def test_the_trajectory_that_nobody_asked_for_longest_makes_room() -> None:
    kept = Trajectories(3 * (100 + OVERHEAD))
    image = Stored(bytes(100), "key")
    for name in "abc":
        kept.put(name, "image", image)
    assert kept.images("a") is not None
    kept.put("d", "image", image)
    assert [kept.images(name) is not None for name in "abcd"] == [True, False, True, True]
    kept.put("a", "image", image)
    assert (kept.bytes, kept.evicted, len(kept)) == (3 * (100 + OVERHEAD), 1, 3)
    with pytest.raises(ImageRefused, match=r"trajectory 'a' would hold 4,496 bytes; 3,372 are kept"):
        for name in "xyz":
            kept.put("a", name, image)


def test_both_ends_forget_the_same_images() -> None:
    recent = Recent[int](2)
    for key in ("a", "b"):
        recent.put(key, ord(key))
    assert recent.get("a") == ord("a")
    recent.put("c", 3)
    assert [recent.get(key) for key in "abc"] == [ord("a"), None, 3]


def test_turns_without_a_call_need_no_worker() -> None:
    body = {"trajectory_ids": ["a", "b", "c"], "actions": ["answer", "hm", '{"tool": "x"}']}
    said = ask("POST", "/get_observation", body).json()
    assert (said["dones"], said["valids"]) == ([True, False, False], [True, False, False])
    assert said["observations"][0] == "" and all(text.startswith("Error: ") for text in said["observations"][1:])


def test_turns_that_nobody_said_how_to_read_are_refused() -> None:
    one = service()
    one.read = None
    answer = ask("POST", "/get_observation", {"trajectory_ids": ["a"], "actions": ["answer"]}, one)
    assert answer.status_code == 501 and "start the service with what reads them" in answer.json()["error"]


def test_images_may_come_with_a_turn() -> None:
    one = service()
    for image, kept in ((base64.b64encode(png()).decode(), 1), ("no base64!", 0), (7, 0)):
        one.store.drop("t")
        extra = [{"images": {"image": image}}]
        body = {"trajectory_ids": ["t"], "actions": ["answer"], "extra_fields": extra}
        said = ask("POST", "/get_observation", body, one).json()
        assert (len(one.store), said["valids"]) == (kept, [bool(kept)])


def test_a_service_that_starts_says_so() -> None:
    answer = ask("GET", "/health")
    assert (answer.status_code, answer.json()["status"]) == (503, "starting")
    names = {family.name for family in text_string_to_metric_families(ask("GET", "/metrics").text)}
    assert {"kit_calls", "kit_call_seconds", "kit_calls_waiting", "kit_workers", "kit_restarts"} <= names
    assert "toy.echo" in ask("GET", "/").text


def test_the_page_escapes_what_a_tool_died_of() -> None:
    health = service().health()
    health["pools"]["toys"]["workers"][0]["problem"] = "<script>"
    assert "<script>" not in page(health) and "&lt;script&gt;" in page(health)


def test_light_tools_share_a_pool_and_models_have_their_own() -> None:
    places = {"a": "visual_tools.charts.tools:A", "b": "visual_tools.charts.more:B", "c": "mine:C"}
    assert grouped(places, ["b"]) == {
        "charts": {"a": "visual_tools.charts.tools:A"},
        "b": {"b": "visual_tools.charts.more:B!"},
        "mine": {"c": "mine:C"},
    }


def test_a_tool_that_cant_be_started_refuses_its_calls() -> None:
    told = asyncio.run(refusal(Pool("gone", ["gone=nowhere:Tool"], 2, Limits(start=60))))
    assert "gone: can't be started: ValueError: tool 'nowhere:Tool': no such class" in told


def test_replies_need_not_wait_for_nagle() -> None:
    """asyncio switches his algorithm off only on sockets that say they are TCP's: else a call takes 40 ms more."""
    with bound("127.0.0.1", 0) as listening:
        assert listening.proto == socket.IPPROTO_TCP

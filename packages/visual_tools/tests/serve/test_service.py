"""A whole service: the same replies as in this process, and every way in which it can be hurt."""

from __future__ import annotations

import io
import json
import os
import re
import signal
import socket
import subprocess
import sys
from collections import Counter
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import httpx
import psutil
import pytest
from PIL import ExifTags, Image
from served import free_port, said, until
from toy_tools import HERE, OPTIONS, TOYS

from visual_tools.command import main
from visual_tools.serve.client import RemoteTool, ServiceError, ToolService, remote
from visual_tools.serve.command import running
from visual_tools.tool import Reply

DEADLINE = 2.0
LIMITED = (*OPTIONS, "--deadline", str(DEADLINE))


@pytest.fixture(scope="module")
def service() -> Iterator[ToolService]:
    with running(*LIMITED, folder=HERE) as found:
        yield found


@pytest.fixture(scope="module")
def tools(service: ToolService) -> dict[str, RemoteTool]:
    return {tool.name: tool for tool in remote([toy() for toy in TOYS], service)}


def workers(service: ToolService) -> list[dict[str, Any]]:
    return [worker for pool in service.health()["pools"].values() for worker in pool["workers"]]


IMAGES = (
    Image.new("RGB", (8, 4), "red"),
    Image.new("RGBA", (5, 5), (0, 0, 0, 0)),
    Image.new("I;16", (6, 3), 65535),
    Image.new("1", (10_000, 5_001)),
    None,
)


@pytest.mark.parametrize("image", IMAGES, ids=range(len(IMAGES)))
def test_a_served_tool_sees_what_one_in_this_process_sees(
    tools: dict[str, RemoteTool], image: Image.Image | None
) -> None:
    (local,) = (toy() for toy in TOYS if toy.name == "toy.size")
    for arguments in ({}, {"image": "image"}, {"image": "other"}, {"colour": 1}):
        assert said(tools["toy.size"], image, **arguments) == said(local, image, **arguments)


def test_names_and_schemas_are_those_of_the_class(tools: dict[str, RemoteTool], service: ToolService) -> None:
    for toy in TOYS:
        tool = tools[toy.name]
        assert (tool.description, tool.parameters) == (toy().description, toy().parameters)
        assert service._http.get("/tools").json()[toy.name]["parameters"] == tool.parameters


@pytest.mark.parametrize("text", ["", "ä\U0001f600\x00", "x" * 300_000, "</tool_call><|im_end|>", "line\nline"])
def test_words_arrive_as_they_were_said(tools: dict[str, RemoteTool], text: str) -> None:
    assert said(tools["toy.echo"], text=text) == Reply(text)


def test_an_image_is_sent_once_and_again_when_it_is_missed(
    tools: dict[str, RemoteTool], service: ToolService, monkeypatch: pytest.MonkeyPatch
) -> None:
    sent = []
    send = service._send
    monkeypatch.setattr(service, "_send", lambda image: (sent.append(image), send(image)))
    image = Image.new("RGB", (31, 7), "blue")
    for _ in range(5):
        assert said(tools["toy.size"], image).text == "31 x 7 (0, 0, 255)"
    assert len(sent) == 1
    service.forget(sent[0])
    assert said(tools["toy.size"], image).text == "31 x 7 (0, 0, 255)" and len(sent) == 2


def test_what_a_tool_prints_is_no_reply(tools: dict[str, RemoteTool]) -> None:
    assert [said(tools["toy.talk"], text=str(k)).text for k in range(3)] == ["0", "1", "2"]


def test_many_trajectories_each_see_their_own_image(tools: dict[str, RemoteTool]) -> None:
    """More of them than a worker keeps opened."""

    def play(k: int) -> list[str]:
        return [said(tools["toy.size"], Image.new("RGB", (k, 3), (k, k, k))).text for _ in range(3)]

    with ThreadPoolExecutor(24) as pool:
        for k, replies in enumerate(pool.map(play, range(1, 49)), 1):
            assert set(replies) == {f"{k} x 3 ({k}, {k}, {k})"}


def test_a_killed_worker_loses_no_call_and_comes_back(tools: dict[str, RemoteTool], service: ToolService) -> None:
    before = workers(service)[0]["restarts"]

    def call(k: int) -> Reply:
        return said(tools["toy.rest"], text=str(k), seconds=0.01)

    with ThreadPoolExecutor(32) as pool:
        calls = [pool.submit(call, k) for k in range(120)]
        until(lambda: sum(one.done() for one in calls) > 10)
        os.kill(workers(service)[0]["pid"], signal.SIGKILL)
        replies = [one.result() for one in calls]
    ends = Counter(reply.status for reply in replies)
    assert ends["ok"] >= 119 and ends["ok"] + ends["died"] == 120, "one was in hand at most"
    assert all(reply.text == str(k) for k, reply in enumerate(replies) if reply.status == "ok")
    assert all("toy.rest died during this call (signal 9)" in r.text for r in replies if r.status == "died")
    assert workers(service)[0]["restarts"] == before + 1


def test_a_worker_that_dies_between_calls_is_noticed_by_none(
    tools: dict[str, RemoteTool], service: ToolService
) -> None:
    pid = workers(service)[0]["pid"]
    os.kill(pid, signal.SIGKILL)
    until(lambda: workers(service)[0]["pid"] != pid)
    assert said(tools["toy.echo"], text="still here") == Reply("still here")


def test_a_deadly_call_says_so_each_time(tools: dict[str, RemoteTool]) -> None:
    for _ in range(2):
        assert said(tools["toy.die"]).status == "died"
    assert said(tools["toy.echo"], text="a").text == "a"


def test_a_tool_that_hangs_is_cut_at_its_deadline(tools: dict[str, RemoteTool], service: ToolService) -> None:
    seen = said(tools["toy.rest"], seconds=600.0)
    assert (seen.status, "gave no answer within 2 s" in seen.text) == ("timeout", True)
    assert said(tools["toy.rest"], text="back", seconds=0.0) == Reply("back")
    assert "toy.rest gave no answer" in workers(service)[0]["problem"]
    assert re.search(r'kit_restarts_total\{pool="toy_tools",why="timeout"\} [1-9]', service.metrics())


@pytest.mark.slow
def test_nothing_grows(tools: dict[str, RemoteTool], service: ToolService) -> None:
    """10,000 calls, 500 of them malformed: as many processes and files as before, and no memory to speak of."""
    said(tools["toy.echo"], text="a")
    (worker,) = workers(service)
    child = psutil.Process(worker["pid"])
    parent = child.parent()
    assert parent is not None
    malformed = (({"text": 7}, "error"), ({"colour": "\ud800"}, "error"))

    def hundred_calls(k: int) -> None:
        assert said(tools["toy.size"], Image.new("RGB", (200, 200), (k % 256, k // 256, 7))).status == "ok"
        assert service._http.post("/call", content=b'{"tool": ').status_code == 400
        assert service._http.put("/trajectories/t/images/image", content=b"no image").status_code == 422
        assert service._http.post("/call", json={"tool": "toy.ech"}).status_code == 404
        for _ in range(94):
            assert service.call("toy.echo", {"text": "a"}) == Reply("a")
        for arguments, status in malformed:
            assert service.call("toy.echo", arguments).status == status

    def held() -> tuple[int, int, int, float]:
        rss = sum(process.memory_info().rss for process in (parent, child)) / 1e6
        return len(parent.children(True)), parent.num_fds(), child.num_fds(), rss

    for k in range(10):
        hundred_calls(k)
    before = held()
    for k in range(10, 110):
        hundred_calls(k)
    after = held()
    print(f"processes, files of the front and of the worker, MB: {before}, after 10,000 calls {after}")
    assert after[:3] == before[:3] and after[3] < before[3] + 12


def test_a_full_queue_refuses_in_words() -> None:
    with running(*OPTIONS, "--waiting", "2", folder=HERE) as service:
        (rest,) = remote([toy() for toy in TOYS if toy.name == "toy.rest"], ToolService(service.address, retries=0))
        with ThreadPoolExecutor(12) as pool:
            replies = list(pool.map(lambda _: said(rest, text="a", seconds=0.3), range(12)))
        refused = [reply for reply in replies if reply.status == "unserved"]
        assert refused and all("2 calls wait already; ask again later, or start more" in r.text for r in refused)
        assert {reply.text for reply in replies if reply.status == "ok"} == {"a"}


def test_a_service_that_is_started_anew_is_sent_what_it_misses() -> None:
    """Meanwhile the client waits; a second service at another address minds its own business."""
    port, image = str(free_port()), Image.new("RGB", (3, 2), "red")
    size = [toy() for toy in TOYS if toy.name == "toy.size"]
    with running(*OPTIONS, folder=HERE) as other:
        with running(*OPTIONS, "--port", port, folder=HERE) as service:
            (tool,) = remote(size, ToolService(service.address, retries=8))
            assert said(tool, image).text == "3 x 2 (255, 0, 0)"
            (worker,) = workers(service)
            server = psutil.Process(worker["pid"]).parent()
            assert main(["serve", "--port", port]) == 2, "the port is taken"
            assert server is not None
            server.kill()
            until(lambda: not psutil.pid_exists(worker["pid"]))
        with ThreadPoolExecutor(1) as pool:
            waits = pool.submit(said, tool, image)
            with running(*OPTIONS, "--port", port, folder=HERE):
                seen = waits.result()
        assert seen.text == "3 x 2 (255, 0, 0)"
        assert said(remote(size, other)[0], image).text == "3 x 2 (255, 0, 0)"


def test_a_photo_is_seen_upright(service: ToolService) -> None:
    """A telephone's files lie on their sides, and say so."""
    for kind in ("JPEG", "PNG", "WEBP"):
        file, exif = io.BytesIO(), Image.Exif()
        exif[ExifTags.Base.Orientation] = 6
        Image.new("RGB", (16, 8), "red").save(file, kind, exif=exif)
        with httpx.Client(base_url=service.address, trust_env=False) as http:
            assert http.put(f"/trajectories/{kind}/images/image", content=file.getvalue()).status_code == 200
        assert service.post("/call", {"trajectory": kind, "tool": "toy.size"})["text"].startswith("8 x 16 ")


def test_every_answer_is_what_the_front_says(service: ToolService) -> None:
    file = io.BytesIO()
    Image.new("RGB", (3, 2), "red").save(file, "PNG")
    with httpx.Client(base_url=service.address, trust_env=False) as http:
        assert (http.get("/nowhere").status_code, http.get("/call").status_code) == (404, 405)
        assert http.get("/nowhere").json() == {"error": "GET /nowhere: Not Found"}
        assert http.get("/call").json() == {"error": "GET /call: Method Not Allowed"}
        assert http.head("/health").status_code == 200
        long = http.put(f"/trajectories/{'x' * 201}/images/image", content=file.getvalue())
        assert long.status_code == 422 and "more than 200 signs" in long.json()["error"]
        for body in (b"{", b"\xff", b"[" * 100_000, b""):
            assert (
                http.post("/call", content=body).status_code == 400 and "JSON" in http.post("/call", content=body).text
            )
    refused = service._http.post("/get_observation", json={"trajectory_ids": ["t"], "actions": ["a"]})
    assert refused.status_code == 501 and "start the service with what reads them" in refused.json()["error"]


def test_halves_of_characters_are_the_tool_s_business(tools: dict[str, RemoteTool]) -> None:
    (local,) = (toy() for toy in TOYS if toy.name == "toy.echo")
    for text in ("a\ud800b", "\udfff", "\x00"):
        assert said(tools["toy.echo"], text=text) == said(local, text=text)
    deep: Any = "a"
    for _ in range(300):
        deep = [deep]
    assert said(tools["toy.echo"], text=deep) == said(local, text=deep)


def test_a_client_that_has_said_all_gets_its_answer(service: ToolService) -> None:
    body = json.dumps({"tool": "toy.rest", "arguments": {"text": "there", "seconds": 0.3}}).encode()
    host, port = service.address.removeprefix("http://").split(":")
    with socket.create_connection((host, int(port)), timeout=20) as connection:
        connection.sendall(f"POST /call HTTP/1.1\r\nHost: x\r\nContent-Length: {len(body)}\r\n\r\n".encode() + body)
        connection.shutdown(socket.SHUT_WR)
        seen = b""
        while b"there" not in seen and (part := connection.recv(4096)):
            seen += part
    assert b"200 OK" in seen and b"there" in seen


def test_a_call_at_work_hears_that_the_service_ends() -> None:
    with running(*OPTIONS, folder=HERE) as service, ThreadPoolExecutor(1) as pool:
        server = psutil.Process(workers(service)[0]["pid"]).parent()
        assert server is not None
        call = {"tool": "toy.rest", "arguments": {"text": "a", "seconds": 25}}
        with httpx.Client(base_url=service.address, trust_env=False, timeout=60) as http:
            waits = pool.submit(http.post, "/call", json=call)
            until(lambda: workers(service)[0]["state"] == "busy")
            server.send_signal(signal.SIGTERM)
            answer = waits.result()
    assert (answer.status_code, answer.json()) == (503, {"error": "the service is closing"})


def test_a_service_ends_with_whoever_started_it() -> None:
    """Killed in a way that leaves no time to tidy up."""
    code = f"""
import os, signal
from pathlib import Path
from visual_tools.serve.command import running
with running(*{OPTIONS!r}, folder=Path({str(HERE)!r})) as service:
    print(*(worker["pid"] for pool in service.health()["pools"].values() for worker in pool["workers"]))
    os.kill(os.getpid(), signal.SIGKILL)
"""
    done = subprocess.run([sys.executable, "-u", "-c", code], capture_output=True, text=True)
    assert done.returncode == -signal.SIGKILL
    (pid,) = map(int, done.stdout.split())
    until(lambda: not psutil.pid_exists(pid))


def test_a_service_that_is_not_there_is_told() -> None:
    with pytest.raises(ValueError, match="tool service 'localhost': give its address, such as http"):
        ToolService("localhost")
    with pytest.raises(ServiceError, match="no tool service answers"):
        ToolService(f"http://127.0.0.1:{free_port()}").health()


@pytest.mark.parametrize(
    ("options", "told"),
    [
        (["--port", "99999"], "must be a whole number from 0 to 65535"),
        (["--host", "203.0.113.9"], "can't be had"),
        (["--workers", "0"], "'0': must be a whole number, at least 1"),
        (["--tools", "toy.ech"], "no tool 'toy.ech'"),
        (["--gpus", "0.5"], "--gpus 0.5: processes choose by --device; --engine ray divides GPUs"),
        (["--engine", "ray"], "pip install --no-deps -r locks/ray.txt"),
    ],
)
def test_a_service_that_cant_be_is_refused(
    options: list[str], told: str, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(sys.modules, "ray", None)  # where it is installed, too
    try:
        code = main(["serve", *options])
    except SystemExit as ended:  # argparse's own
        code = int(ended.code or 0)
    assert code == 2
    assert told in capsys.readouterr().err

"""Tools served by Ray: what worker processes say, and back after a kill -9; ``make test-ray`` has Ray."""

from __future__ import annotations

import asyncio
import os
import signal
import subprocess
import sys
from collections import Counter
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from importlib.util import find_spec
from typing import Any

import psutil
import pytest
from PIL import Image
from served import refusal, said, until
from toy_tools import HERE, OPTIONS, TOYS

from visual_tools.command import find_tool
from visual_tools.serve.client import RemoteTool, ToolService, remote
from visual_tools.serve.command import running
from visual_tools.serve.pool import Limits
from visual_tools.tool import Reply

pytestmark = pytest.mark.skipif(find_spec("ray") is None, reason="needs Ray: make test-ray")

REAL = ("groundingdino.detect", "multimath.solve")
RAY = (*OPTIONS, *REAL, "--engine", "ray", "--deadline", "2")
PATIENCE = 120
"""Seconds in which Ray, slower than processes, has to do what it will."""


@pytest.fixture(scope="module")
def service() -> Iterator[ToolService]:
    with running(*RAY, folder=HERE, wait=300) as found:
        yield found


@pytest.fixture(scope="module")
def tools(service: ToolService) -> dict[str, RemoteTool]:
    return {tool.name: tool for tool in remote([toy() for toy in TOYS], service)}


def toys(service: ToolService) -> dict[str, Any]:
    (worker,) = service.health()["pools"]["toy_tools"]["workers"]
    return worker


def replicas(service: ToolService) -> list[psutil.Process]:
    """The processes of the toys' replicas, all of this machine's that end with the service that started them."""
    return [one for one in psutil.process_iter() if "ServeReplica:toy_tools" in " ".join(_words(one))]


def _words(process: psutil.Process) -> list[str]:
    try:
        return process.cmdline()
    except psutil.Error:
        return []


@pytest.mark.parametrize("name", REAL)
def test_the_same_calls_have_the_same_answers(service: ToolService, name: str) -> None:
    tool = find_tool(name)
    (served,) = remote([tool], service)
    assert tool.goldens
    for golden in tool.goldens:
        shown = golden.image() if golden.image else None
        for arguments in (golden.arguments, {}, {"colour": 1}):
            assert said(served, shown, **arguments) == said(tool, shown, **arguments)
        assert said(served, shown, **golden.arguments) == Reply(golden.says)


def test_many_trajectories_each_see_their_own_image(tools: dict[str, RemoteTool]) -> None:
    def play(k: int) -> list[str]:
        return [said(tools["toy.size"], Image.new("RGB", (k, 3), (k, k, k))).text for _ in range(3)]

    with ThreadPoolExecutor(24) as pool:
        for k, replies in enumerate(pool.map(play, range(1, 49)), 1):
            assert set(replies) == {f"{k} x 3 ({k}, {k}, {k})"}


def test_a_killed_replica_loses_no_call_and_comes_back(tools: dict[str, RemoteTool], service: ToolService) -> None:
    before = toys(service)["restarts"]

    def call(k: int) -> Reply:
        return said(tools["toy.rest"], text=str(k), seconds=0.05)

    with ThreadPoolExecutor(24) as pool:
        calls = [pool.submit(call, k) for k in range(120)]
        until(lambda: sum(one.done() for one in calls) > 10, PATIENCE)
        (replica,) = replicas(service)
        os.kill(replica.pid, signal.SIGKILL)
        replies = [one.result() for one in calls]
    ends = Counter(reply.status for reply in replies)
    assert ends["ok"] >= 119 and ends["ok"] + ends["died"] == 120, "one was in hand at most"
    assert all(reply.text == str(k) for k, reply in enumerate(replies) if reply.status == "ok")
    assert toys(service)["restarts"] - before == ends["died"]
    until(lambda: service.health()["status"] == "ok", PATIENCE)


def test_a_deadly_call_says_so(tools: dict[str, RemoteTool]) -> None:
    seen = said(tools["toy.die"])
    assert (seen.status, "toy.die died during this call" in seen.text) == ("died", True)
    assert said(tools["toy.echo"], text="back") == Reply("back")


def test_a_tool_that_hangs_is_cut_at_its_deadline_and_replaced(
    tools: dict[str, RemoteTool], service: ToolService
) -> None:
    (hung,) = replicas(service)
    seen = said(tools["toy.rest"], seconds=600.0)
    assert (seen.status, "gave no answer within 2 s" in seen.text) == ("timeout", True)
    assert said(tools["toy.echo"], text="others go on") == Reply("others go on")
    until(lambda: not hung.is_running() and service.health()["status"] == "ok", PATIENCE)
    assert said(tools["toy.rest"], text="back", seconds=0.0) == Reply("back")
    assert "toy.rest gave no answer" in toys(service)["problem"]


def test_a_tool_that_cant_be_loaded_or_has_no_gpu_refuses_its_calls() -> None:
    """In a Ray of its own, beside the other."""
    from visual_tools.serve.on_ray import RayPool, ray_started

    def tried(place: str) -> str:
        return asyncio.run(refusal(RayPool("gone", [f"gone={place}"], 1, Limits(), gpus=2000)))

    with ray_started():
        assert "gone: can't be started: " in (told := tried("nowhere:Tool")) and "no such class" in told
        told = tried("nowhere:Model!")
    assert "can't be started: ValueError: --gpus 2000: Ray knows of " in told and "leave it out" in told


def test_nobody_imports_ray_unasked() -> None:
    code = "import sys, visual_tools.command, visual_tools.serve.command; sys.exit('ray' in sys.modules)"
    assert subprocess.run([sys.executable, "-c", code]).returncode == 0

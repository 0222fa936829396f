"""What serving a tool costs: ``python -m benchmarks serving``. Compares within one run; nothing here is asserted.

The light tool reads an equation and solves it; its service runs on this machine, so the network is the loopback. Each
call comes from a thread of its own, as those of episodes do.
"""

from __future__ import annotations

import json
import os
import signal
import statistics
import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor

import psutil
from PIL import Image

from benchmarks.telling import tell
from kit.episode import NamedImage
from kit.images import rgb
from visual_tools.serve.client import RemoteTool, ToolService
from visual_tools.serve.command import running
from workshop.jobs.tools import find_tool

LIGHT, SEES = "multimath.solve", "groundingdino.detect"
QUESTION = {"question": "2x + 3 = 11. What is x?"}
TURN = f"<tool_call>{json.dumps({'tool': LIGHT, 'arguments': QUESTION})}</tool_call>"
CALLERS = (1, 24, 128)
"""Trajectories that call at once."""


def _times(call: Callable[[], object], calls: int, callers: int) -> tuple[list[float], float]:
    """Milliseconds of each call, and of all of them together."""

    def timed(_: int) -> float:
        began = time.perf_counter()
        call()
        return 1e3 * (time.perf_counter() - began)

    with ThreadPoolExecutor(callers) as pool:
        began = time.perf_counter()
        each = list(pool.map(timed, range(calls)))
        return each, 1e3 * (time.perf_counter() - began)


def _processor() -> float:
    """Milliseconds of processor time that this process and all it started have used."""
    mine = psutil.Process()
    used = [process.cpu_times() for process in (mine, *mine.children(recursive=True))]
    return 1e3 * sum(times.user + times.system for times in used)


def _overhead(service: ToolService, calls: int) -> dict[str, float]:
    figures: dict[str, float] = {}
    local = find_tool(LIGHT)
    for name, tool in (("plain", local), ("served", RemoteTool(local, service))):
        tool.call(QUESTION, {})
        for callers in CALLERS:
            before = _processor()
            each, whole = _times(lambda tool=tool: tool.call(QUESTION, {}), calls, callers)  # type: ignore[misc]
            figures[f"{name}, {callers} at once: median ms"] = statistics.median(each)
            figures[f"{name}, {callers} at once: p99 ms"] = sorted(each)[int(0.99 * (len(each) - 1))]
            figures[f"{name}, {callers} at once: calls/s"] = 1e3 * calls / whole
            figures[f"{name}, {callers} at once: processor ms a call"] = (_processor() - before) / calls
    figures["overhead, one caller: median ms"] = (
        figures["served, 1 at once: median ms"] - figures["plain, 1 at once: median ms"]
    )
    return figures


def _batching(service: ToolService, calls: int, size: int = 64) -> dict[str, float]:
    """Turns a second, one a request and ``size`` a request."""
    rates = {}
    for n in (1, size):
        body = {"trajectory_ids": ["t"] * n, "actions": [TURN] * n}
        _, whole = _times(lambda body=body: service.post("/get_observation", body), max(1, calls // n), 1)  # type: ignore[misc]
        rates[n] = 1e3 * max(1, calls // n) * n / whole
    return {"turns/s, one a request": rates[1], f"turns/s, {size} a request": rates[size]}


def _images(service: ToolService) -> dict[str, float]:
    """The first call about an image of 800 x 600 pixels, which sends it, and later ones."""
    local = find_tool(SEES)
    tool, arguments = RemoteTool(local, service), {"caption": "red circle"}
    first: list[float] = []
    later: list[float] = []
    plain: list[float] = []
    for seed in range(10):
        image = rgb(Image.effect_noise((800, 600), 40 + seed))
        images = {"image": NamedImage("image", image)}
        for times, one in ((first, tool), (later, tool), (later, tool), (plain, local)):
            each, _ = _times(lambda one=one, images=images: one.call(arguments, images), 1, 1)  # type: ignore[misc]
            times += each
    middle = statistics.median
    return {
        "800 x 600, first call: overhead ms": middle(first) - middle(plain),
        "800 x 600, later calls: overhead ms": middle(later) - middle(plain),
    }


def _faults(service: ToolService) -> dict[str, float]:
    """Seconds from a worker's death to the next reply, for each pool."""
    figures = {}
    for name, pool in service.health()["pools"].items():
        tool = find_tool(pool["tools"][0])
        golden = tool.goldens[0]
        images = {"image": NamedImage("image", golden.image())} if golden.image else {}
        os.kill(pool["workers"][0]["pid"], signal.SIGKILL)
        began, remote = time.perf_counter(), RemoteTool(tool, service)
        while remote.call(golden.arguments, images).text != golden.says:
            time.sleep(0.01)
        figures[f"{name}: s from kill -9 to the next reply"] = time.perf_counter() - began
    return figures


def serving_bench(calls: int = 600) -> dict[str, float]:
    """Measure, print and return what a served call costs over a plain one, batching's gain, and how long a death lasts.

    Args:
        calls: of each measurement.
    """
    tell("a service is started, then called by 1, 24 and 128 threads; a minute or two")
    with running("--tools", LIGHT, SEES) as service:
        figures = _overhead(service, calls) | _batching(service, calls) | _images(service) | _faults(service)
    for name, value in figures.items():
        print(f"  {name:44s} {value:10.2f}")
    return figures

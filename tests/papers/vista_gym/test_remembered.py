"""Tools that remember: each call about each image is worked out once, and told the same to everybody."""

from __future__ import annotations

import gc
import threading
import weakref
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import pytest
from PIL import Image

from kit.episode import Action, NamedImage
from kit.tools.base import run_tool
from papers.vista_gym.remembered import Remembered, remembered
from visual_tools.tool import PureTool


class Corner(PureTool):
    """Says how red the upper left pixel is, if it is asked for a number."""

    name, family = "corner", "perception"
    algorithm = "One pixel."
    properties = {"times": {"type": "integer"}}  # noqa: RUF012

    def look(self, image: Any, arguments: Any) -> int:
        return int(image.getpixel((0, 0))[0])

    def answer(self, seen: int, arguments: Any) -> str:
        if arguments.get("times") == 0:
            raise ValueError("times is 0: nothing is left")
        return str(seen * arguments.get("times", 1))


def shown(red: int, name: str = "image") -> dict[str, NamedImage]:
    return {name: NamedImage(name, Image.new("RGB", (4, 4), (red, 0, 0)))}


def test_a_call_is_worked_out_once_for_each_image_whatever_its_name() -> None:
    tool = Remembered(Corner())
    assert [tool.call({"times": 2}, shown(7)).text for _ in range(3)] == ["14"] * 3 and tool.worked == 1
    assert tool.call({"times": 2, "image": "other"}, shown(7, "other")).text == "14" and tool.worked == 1
    assert tool.call({"times": 2}, shown(8)).text == "16" and tool.worked == 2, "other pixels"
    assert tool.call({"times": 3}, shown(7)).text == "21" and tool.worked == 3, "another call"


def test_a_refusal_is_remembered_and_raised_each_time() -> None:
    tool = Remembered(Corner())
    for _ in range(2):
        with pytest.raises(ValueError, match="nothing is left"):
            tool.call({"times": 0}, shown(7))
    assert tool.worked == 1
    images = shown(9)
    kept = weakref.ref(images["image"])
    with pytest.raises(ValueError, match="nothing is left"):
        tool.call({"times": 0}, images)
    del images
    gc.collect()
    assert kept() is None, "a refusal that is kept holds no image"
    with pytest.raises(ValueError, match="no image 'gone'"):
        tool.call({"image": "gone"}, shown(7))


def test_an_interrupt_is_no_reply(monkeypatch: pytest.MonkeyPatch) -> None:
    tool, ends = Remembered(Corner()), [KeyboardInterrupt(), None]

    def look(image: Any, arguments: Any) -> int:
        if end := ends.pop(0):
            raise end
        return 5

    monkeypatch.setattr(tool.tool, "_look", look)
    with pytest.raises(KeyboardInterrupt):
        tool.call({}, shown(7))
    assert tool.call({}, shown(7)).text == "5"


def test_rollouts_that_ask_at_once_wait_for_one_answer(monkeypatch: pytest.MonkeyPatch) -> None:
    tool, asked, go = Remembered(Corner()), threading.Barrier(9), threading.Event()
    monkeypatch.setattr(tool.tool, "_look", lambda image, arguments: go.wait(10) and 9)

    def ask() -> str:
        asked.wait(10)
        return tool.call({}, shown(7)).text

    with ThreadPoolExecutor(8) as pool:
        replies = [pool.submit(ask) for _ in range(8)]
        asked.wait(10)
        go.set()
        assert [reply.result(10) for reply in replies] == ["9"] * 8
    assert tool.worked == 1


def test_the_oldest_is_forgotten_first() -> None:
    tool = Remembered(Corner(), most=2)
    for red in (1, 2, 3, 3, 2, 1):
        tool.call({}, shown(red))
    assert tool.worked == 4, "1, 2, 3, and 1 again"


def test_what_an_agent_sees_of_it_is_the_tools_own() -> None:
    [tool] = remembered([Corner()])
    assert (tool.name, tool.description, tool.parameters) == (Corner.name, Corner().description, Corner().parameters)
    assert tool.needs_image and tool.on_error == "tell"
    for arguments in ({"times": 2}, {"times": 0}, {"times": "two"}, {"image": "gone"}):
        action = Action("corner", "", arguments)
        assert run_tool(tool, action, shown(7)) == run_tool(Corner(), action, shown(7))
    tool.close()

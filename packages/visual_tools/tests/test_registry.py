"""Every tool of the toolbox: its golden calls, its schema, and images and arguments that nobody asked it for."""

from __future__ import annotations

from typing import Any

import pytest
from jsonschema import Draft202012Validator
from PIL import Image

from turn_sandbox.images import NamedImage
from visual_tools.registry import TOOLS, toolbox
from visual_tools.tool import Golden, PureTool, Reply, run

BOX = toolbox()
ODD: tuple[tuple[str, tuple[int, int], Any], ...] = (
    ("RGB", (1, 1), "red"),
    ("RGB", (300, 1), "white"),
    ("L", (40, 30), 128),
    ("RGBA", (40, 30), (0, 0, 0, 0)),
    ("I;16", (40, 30), 65535),
)
"""Images that nobody asked a tool for: mode, size and colour."""


def said(tool: PureTool, arguments: Any, image: Image.Image | None) -> Reply:
    images = {"image": NamedImage("image", image)} if image is not None else {}
    return run(tool, arguments, images)


def opened(golden: Golden) -> Image.Image | None:
    return golden.image() if golden.image else None


def test_a_tool_is_registered_under_its_own_name() -> None:
    assert {name: tool.name for name, tool in BOX.items()} == {name: name for name in TOOLS}


@pytest.mark.parametrize("name", TOOLS)
def test_golden_calls_and_again(name: str) -> None:
    """Worked out by hand, and the same the second time: nothing is held."""
    tool = BOX[name]
    assert tool.goldens
    for golden in [*tool.goldens, *tool.goldens]:
        assert said(tool, golden.arguments, opened(golden)) == Reply(golden.says)


@pytest.mark.parametrize("name", TOOLS)
def test_a_tool_says_what_it_is(name: str) -> None:
    tool = BOX[name]
    Draft202012Validator.check_schema(dict(tool.parameters))
    assert tool.description.endswith(".") and tool.algorithm.endswith(".")
    assert set(tool.required) <= set(tool.properties)
    assert tool.served is None or (tool.served.licence and "/" in tool.served.id and ":" in tool.served.loader)


@pytest.mark.parametrize("name", TOOLS)
def test_whatever_image_it_is_shown_it_says_something(name: str) -> None:
    """One pixel, a line, gray, transparent, 16 bits: told, or answered, never raised."""
    tool = BOX[name]
    if not tool.needs_image:
        return
    for mode, size, colour in ODD:
        seen = said(tool, tool.goldens[0].arguments, Image.new(mode, size, colour))
        assert seen.text and seen.status in ("ok", "error")
    gone = run(tool, tool.goldens[0].arguments, {})
    assert gone.text == f"Error: {name}: no image ''; there is none"


@pytest.mark.parametrize("name", TOOLS)
def test_arguments_that_it_does_not_have_are_refused(name: str) -> None:
    golden = BOX[name].goldens[0]
    assert "was unexpected" in said(BOX[name], {**golden.arguments, "colour_of_the_sky": 1}, opened(golden)).text
    for known in BOX[name].properties:
        assert said(BOX[name], {**golden.arguments, known: {"a": [None]}}, opened(golden)).status == "error"

"""The README: its calls are made, and its tables say what the classes say."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from visual_tools.registry import TOOLS, toolbox

PAGE = (Path(__file__).parents[1] / "README.md").read_text()
CALLS, SERVED = re.findall(r"```python\n(.*?)```", PAGE, re.DOTALL)[:2]


def test_the_calls_are_answered_alike_here_and_served(capfd: pytest.CaptureFixture[str]) -> None:
    exec(CALLS + SERVED, {})
    here, refused, there = capfd.readouterr().out.splitlines()
    assert here == there and re.match(r"red circle \[20, 30, 6[01], 7[01]\]", here)
    assert refused == "Error: groundingdino.detect: caption: 7 is not of type 'string'"


def test_it_names_each_tool_and_the_licence_of_what_is_served() -> None:
    tools, models = (re.findall(r"^\| (.*) \|$", part, re.MULTILINE) for part in PAGE.split("## Licences"))
    assert re.findall(r"`([a-z_.]+)`", "".join(row.split(" | ")[0] for row in tools)) != []
    assert set(re.findall(r"`([a-z_.]+)`", "".join(row.split(" | ")[0] for row in tools))) == set(TOOLS)
    said = {(name, row.split(" | ")[0], row.split(" | ")[2]) for row in models for name in re.findall(r"`(.*?)`", row)}
    assert said == {(n, tool.served.id, tool.served.licence) for n, tool in toolbox().items() if tool.served}

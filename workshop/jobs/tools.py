"""The papers' tools by hand, ``python -m kit tools``: :mod:`visual_tools.command` with what the papers bring."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import partial
from typing import Any

from kit.protocol import FormatError, Protocol
from papers.registry import papers
from visual_tools import command
from visual_tools.serve.command import running as service_running
from visual_tools.tool import PureTool

PROTOCOL = Protocol(actions=("tool_call",), call="tool_call")

running = partial(service_running, program=("kit", "tools"))
"""A service in a process of its own, for as long as a block lasts."""


def places() -> dict[str, str]:
    """Every tool of every registered paper: name → place of its class."""
    return {name: place for paper in papers().values() for name, place in paper.load_tools().items()}


def find_tool(name: str, served: bool = False, device: str = "cpu") -> PureTool:
    """Make a tool of the papers by its name, or any by the place of its class (:func:`visual_tools.command.find_tool`).

    Args:
        name: of the tool, or the place.
        served: with the model behind it.
        device: where the model runs.

    Raises:
        visual_tools.command.ToolError: there is no such tool, or no model behind it.
    """
    return command.find_tool(name, served, device, places())


def read_turn(text: str) -> tuple[str, Mapping[str, Any]] | None:
    """Read a policy's turn for a service: the tool that it calls, and its arguments; None: it answers.

    Raises:
        ValueError: it is neither; the message is for the policy.
    """
    parsed = PROTOCOL.parse(text)
    if isinstance(parsed, FormatError):
        raise ValueError(parsed.message)
    return None if parsed.name == PROTOCOL.final else (parsed.name, parsed.arguments or {})


def main(argv: Sequence[str]) -> int:
    """Do what the command line says; returns the exit code."""
    return command.main(argv, places(), read_turn, "python -m kit tools")

"""The code tool: a fence around the code is taken off, and what stands outside of it is told."""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial
from typing import Any

import pytest

from kit.episode import Action
from kit.models import FAMILIES
from kit.tools.base import run_tool
from kit.tools.code import CodeTool, told
from turn_sandbox import Limits
from turn_sandbox.limits import READABLE_FIGURES

NOTE = "Note: outside the code fence, so not run: 'It prints.'\n"


@pytest.fixture
def tool(box: Any) -> Iterator[CodeTool]:
    tool = CodeTool(box, {"n": 2}, {}, render=partial(told, nothing="Nothing."))
    yield tool
    tool.close()


@pytest.mark.parametrize(
    ("code", "status", "text"),
    [
        ("print(n)", "ok", "Output: 2\n"),
        ("```python\nprint(n)\n```", "ok", "Output: 2\n"),
        ("```python\nprint(n)\n```\nIt prints.", "ok", f"Output: 2\n{NOTE}"),
        ("```python\nn = 3\n```\nIt prints.", "ok", f"Nothing.\n{NOTE}"),
        ("```\n\nm\n```", "error", "Error: NameError: name 'm' is not defined (line 2)"),
        ("```\nm\n```\nIt prints.", "error", f"Error: NameError: name 'm' is not defined (line 1)\n{NOTE}"),
        ("print('  a  b\\n0 1  2')", "ok", "Output:\n  a  b\n0 1  2\n"),
        ("print('\\n  a')", "ok", "Output:\n  a\n"),
        ("print(7 * 'x' + 600 * '1')", "ok", f"Output: xxxxxxx{492 * '1'}…\n"),
        ("print(500 * '1')", "ok", f"Output: {500 * '1'}\n"),
        ("```python\n```", "error", "Error: EmptyCode: there is no statement in it"),
    ],
)
def test_code_runs_without_its_fence(tool: CodeTool, code: str, status: str, text: str) -> None:
    for action in (Action("code", code), Action("code", "{}", {"code": code})):
        seen = run_tool(tool, action, {})
        assert (seen.status, seen.text) == (status, text)


def test_what_the_sandbox_returns_every_family_reads() -> None:
    for limits in (Limits(), READABLE_FIGURES):
        assert limits.image_aspect <= min(family.max_aspect for family in FAMILIES)
        assert limits.image_min_px >= 1

"""Questions and statements in real notations: each is answered rightly, or refused with what isn't understood."""

from __future__ import annotations

import tomllib
from pathlib import Path
from typing import Any

import pytest

from visual_tools.geometry.tools import GoalCDL, SolveForms, SolveText, TextCDL
from visual_tools.tool import run

TOOLS = {tool.name: tool for tool in (GoalCDL(), SolveForms(), SolveText(), TextCDL())}
ASKED = [
    (name, one)
    for name, questions in tomllib.loads(Path(__file__).with_name("questions.toml").read_text("utf-8")).items()
    for one in questions
]


@pytest.mark.parametrize(("name", "one"), ASKED, ids=[one["ask"] for _, one in ASKED])
def test_a_question_is_answered_rightly_or_refused_by_name(name: str, one: dict[str, Any]) -> None:
    tool = TOOLS[name]
    arguments = {tool.required[0]: one["ask"]}
    if name == "intergps.solve":
        arguments = {"forms": one["ask"], "goal": "x"}
    seen = run(tool, arguments, {})
    if "says" in one:
        assert (seen.status, seen.text) == ("ok", one["says"])
    else:
        assert seen.status == "error" and name in seen.text and one["refused"] in seen.text, seen.text


def test_most_of_150_questions_are_answered() -> None:
    assert len(ASKED) >= 150
    assert sum("says" in one for _, one in ASKED) >= 90

"""Parameters: what a cell may declare, and which values are refused with which message."""

from __future__ import annotations

import re

import pytest

from kit.jobs.parameters import ParameterError, check_values, parse, read_parameters

CELL = """steps: int = 3  # rollout batches
rate: float = 2  # learning rate
fast: bool = False  # skip the slow part
model: str = "a#b"  # checkpoint
levels: list[int] = [0, 1]  # difficulties
names: list[str] = []  # runs
"""


def test_a_parameters_cell_is_read_with_types_defaults_and_help() -> None:
    found = read_parameters(CELL, "toy")
    assert {name: (p.type, p.default, p.help) for name, p in found.items()} == {
        "steps": ("int", 3, "rollout batches"),
        "rate": ("float", 2.0, "learning rate"),
        "fast": ("bool", False, "skip the slow part"),
        "model": ("str", "a#b", "checkpoint"),
        "levels": ("list[int]", [0, 1], "difficulties"),
        "names": ("list[str]", [], "runs"),
    }
    assert isinstance(found["rate"].default, float)


@pytest.mark.parametrize(
    ("line", "message"),
    [
        ("steps = 3  # how many", "toy, parameters cell, line 1: 'steps = 3  # how many'; write `name: type = value"),
        ("print(3)", "write `name: type = value  # help`"),
        ("steps: int | None = 3  # how many", r"steps: int \| None; types are bool, int, float, str and lists"),
        ("steps: int = 3", "steps has no help; write `steps: int = value  # help`"),
        ("steps: int = 3.5  # how many", "steps=3.5; expected int"),
        ("steps: int = 2 * 3  # how many", r"steps = 2 \* 3; give a plain value"),
    ],
)
def test_a_parameters_cell_that_cannot_be_checked_is_refused(line: str, message: str) -> None:
    with pytest.raises(ParameterError, match=message):
        read_parameters(line, "toy")


@pytest.mark.parametrize(
    ("name", "value", "message"),
    [
        ("stps", 3, "here has no parameter 'stps': did you mean steps"),
        ("zzz", 3, "here has no parameter 'zzz': it has steps, rate, fast, model, levels, names"),
        ("steps", 4.0, "here: steps=4.0; expected int"),
        ("steps", True, "here: steps=True; expected int"),
        ("fast", 1, "here: fast=1; expected bool"),
        ("rate", "1e-3", "rate='1e-3'; expected float; YAML reads 1e-3 as text, write 1.0e-3"),
        ("rate", float("nan"), "rate=nan; expected float"),
        ("model", 7, "model=7; expected str"),
        ("levels", [0, "1"], "expected list.int."),
    ],
)
def test_unknown_names_and_wrong_types_are_refused(name: str, value: object, message: str) -> None:
    with pytest.raises(ParameterError, match=message):
        check_values(read_parameters(CELL, "toy"), {name: value}, "here")


@pytest.mark.parametrize(
    ("name", "text", "value"),
    [
        ("steps", "50", 50),
        ("rate", "1e-4", 1e-4),
        ("rate", "3", 3.0),
        ("fast", "True", True),
        ("model", "50", "50"),
        ("levels", "[2, 3]", [2, 3]),
        ("levels", "2,3", [2, 3]),
        ("levels", "2", [2]),
        ("levels", "", []),
        ("names", "agile-0, agile-1", ["agile-0", "agile-1"]),
    ],
)
def test_text_from_the_command_line_becomes_the_parameters_type(name: str, text: str, value: object) -> None:
    got = parse(read_parameters(CELL, "toy")[name], text, "--set")
    assert got == value and type(got) is type(value)


@pytest.mark.parametrize(
    ("name", "text"), [("steps", "1.5"), ("steps", "many"), ("fast", "1"), ("levels", "2,x"), ("levels", "[2")]
)
def test_text_of_another_type_is_refused(name: str, text: str) -> None:
    with pytest.raises(ParameterError, match=re.escape(f"--set: {name}={text}; expected")):
        parse(read_parameters(CELL, "toy")[name], text, "--set")

"""Parameters: what a cell may declare, and which values are refused with which message."""

from __future__ import annotations

import re

import pytest

from workshop.jobs.notebooks import parameters, sources
from workshop.jobs.parameters import (
    MAY_BE_0,
    MOST,
    Parameter,
    ParameterError,
    check_range,
    check_values,
    parse,
    read_parameters,
)

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


@pytest.mark.parametrize(
    "text", ["1" * 400, "-" + "1" * 400, "1e999", "NaN", "Infinity", "[" * 100_000, "1" * 5000, "0x10"]
)
@pytest.mark.parametrize("name", ["steps", "rate", "levels"])
def test_what_no_number_can_be_is_refused_by_name(name: str, text: str) -> None:
    parameter = read_parameters(CELL, "toy")[name]
    try:
        value = parse(parameter, text, "--set")
    except ParameterError as error:
        assert str(error).startswith(f"--set: {name}=")
    else:
        assert name != "rate" and "1" * 400 in str(value), "integers have no end"


@pytest.mark.parametrize(
    ("line", "wrong", "right", "allowed"),
    [
        ("steps: int = 3  # rollout batches", [-1, 0], [1, 10**6], "at least 1"),
        ("temperature: float = 1.0  # of sampling; paper: 0.09", [-0.5, 0.0], [1e-3, 2.0], "above 0"),
        ("learning_rate: float = 1e-4  # at its peak", [-1e-4, 0.0], [1e9], "above 0"),
        ("lora_rank: int = 0  # rank; 0: all weights", [-1], [0, 8], "at least 0"),
        ("questions: int = 40  # of each skill; 0: all a benchmark has", [-3], [0, 3], "at least 0"),
        ("epochs: float = 2.0  # passes; paper: 0", [-1.0], [0.0, 0.5], "at least 0"),
        ("beta: float = 0.04  # weight of the KL term", [-0.04], [0.0], "at least 0"),
        ("group_size: int = 8  # attempts", [-8, 0, 1], [2], "at least 2"),
        ("guesses: float = 0.6  # share; paper: 0", [-0.1, 1.1, 60.0], [0.0, 1.0], "at least 0 and at most 1"),
        ("test_share: float = 0.5  # share of them", [0.0, 1.5], [1.0], "above 0 and at most 1"),
        ("seed: int = 8  # fixes all", [-1, 2**32], [0, 2**32 - 1], "at least 0 and at most 4294967295"),
        ("levels: list[int] = [1, 2]  # pieces", [[1, -1]], [[0], []], "at least 0"),
        ("share: float = 0.25  # of 1,000 or 2.0 of them", [0.0], [0.1], "above 0"),
    ],
)  # fmt: skip
def test_a_number_out_of_range_is_refused_by_name(
    line: str, wrong: list[float], right: list[float], allowed: str
) -> None:
    (parameter,) = read_parameters(line, "toy").values()
    for value in right:
        check_range(parameter, value, "here")
    for value in wrong:
        with pytest.raises(ParameterError, match=f"^here: {parameter.name}=-?[0-9.e+-]+: must be {allowed} \\("):
            check_range(parameter, value, "here")


def numbers() -> list[tuple[str, Parameter]]:
    """Every numeric parameter of every notebook."""
    kinds = ("int", "float", "list[int]", "list[float]")
    return [(s.number, p) for s in sources() for p in parameters(s).values() if p.type in kinds]


def test_no_number_of_a_notebook_may_be_negative_and_its_own_value_may_be() -> None:
    assert len(numbers()) > 250
    for number, parameter in numbers():
        check_range(parameter, parameter.default, number)
        minus = [-1] if parameter.type.startswith("list") else -1
        with pytest.raises(ParameterError, match=f"^{number}: {parameter.name}=-1: must be "):
            check_range(parameter, minus, number)


def test_every_name_in_the_ranges_is_a_parameters() -> None:
    assert {*MAY_BE_0, *MOST} <= {parameter.name for _, parameter in numbers()}

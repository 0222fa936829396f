"""Numbers on a command line: what no command can work with is refused by argparse, by name."""

from __future__ import annotations

import argparse
import re
from collections.abc import Iterator
from pathlib import Path

import pytest

from kit.files import ROOT
from workshop.command import main, parser
from workshop.command_line import above_0, amount, count, port, share, whole

NO_NUMBER = ["", " ", "x", "NaN", "inf", "-inf", "1e999", "1" * 5000, "0x10", "-1", "1,5", "½"]


@pytest.mark.parametrize("kind", [count, whole, port, share, amount, above_0])
@pytest.mark.parametrize("text", NO_NUMBER)
def test_what_is_no_number_or_negative_is_refused(kind: argparse._ActionType, text: str) -> None:
    with pytest.raises(argparse.ArgumentTypeError, match=r"must be a "):
        kind(text)  # type: ignore[operator]


def test_ends_of_ranges() -> None:
    assert [whole("0"), count("1"), port("65535"), share("0"), share("1"), amount("0"), above_0("0.001")] == [
        *(0, 1, 65535, 0.0, 1.0, 0.0, 0.001)
    ]
    assert [type(value) for value in (whole("3"), count("3"), share("1"))] == [int, int, float]
    for kind, text in ((count, "0"), (count, "1.5"), (port, "65536"), (share, "1.01"), (above_0, "0")):
        with pytest.raises(argparse.ArgumentTypeError, match=re.escape(f"'{text}': must be")):
            kind(text)


@pytest.mark.parametrize(
    "argv",
    [
        *(["plan", "13", "--gpus", text] for text in ("0", "-1", "1.5", "two", "1e3")),
        *(["plan", "13", "--memory", text] for text in ("-3", "0", "nan", "inf", "24GB")),
        *(["plan", "13", "--tokens", text] for text in ("0", "-5")),
        *(["plan", "13", "--picture-tokens", text] for text in ("0", "-5")),
        *(["plan", "13", "--tflops", text] for text in ("0", "-312", "nan")),
        *(["plan", "13", "--bandwidth", text] for text in ("0", "-2")),
        *(["join", "run", "--wait", text] for text in ("-1", "nan")),
        *(["course", "grade", "folder", "--seed", text] for text in ("-1", "x")),
        *(["tools", "serve", "--port", text] for text in ("-1", "65536", "70000")),
        *(["tools", "serve", "--workers", text] for text in ("0", "-1")),
        *(["tools", "serve", "--deadline", text] for text in ("0", "-1", "nan", "inf")),
        ["tools", "serve", "--waiting", "-1"],
        ["tools", "serve", "--gpus", "-0.5"],
        ["bench", "kernels", "0"],
    ],
    ids=" ".join,
)
def test_a_commands_numbers_are_refused_by_name(argv: list[str], capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit) as ended:
        main(argv)
    name = "count" if argv[0] == "bench" else argv[-2]
    told = capsys.readouterr().err.splitlines()[-1]
    assert ended.value.code == 2 and f"argument {name}: '{argv[-1]}': must be a" in told


def actions(made: argparse.ArgumentParser) -> Iterator[argparse.Action]:
    """Every option of a parser and of its commands."""
    for action in made._actions:
        yield action
        if isinstance(action, argparse._SubParsersAction):
            for below in action.choices.values():
                yield from actions(below)


def test_every_number_of_a_command_has_a_range() -> None:
    assert not [action.dest for action in actions(parser()) if action.type in (int, float)]


@pytest.mark.parametrize("script", sorted((ROOT / "data_scripts").glob("*.py")), ids=lambda path: path.stem)
def test_every_number_of_a_data_script_has_a_range(script: Path) -> None:
    assert not re.search(r"type=(int|float)\b", script.read_text())

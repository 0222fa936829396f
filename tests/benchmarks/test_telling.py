"""What long commands tell on stderr, and where they are silent."""

from __future__ import annotations

import pytest

from benchmarks.telling import progress, tell


@pytest.fixture(autouse=True)
def neither(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("KIT_QUIET", "CI"):
        monkeypatch.delenv(name, raising=False)


def test_a_part_is_told_on_stderr_alone(capsys: pytest.CaptureFixture[str]) -> None:
    tell("reading")
    assert list(progress(range(3), "counting")) == [0, 1, 2]
    shown = capsys.readouterr()
    assert shown.out == "" and shown.err.startswith("reading\n")
    assert "counting: 0 of 3" in shown.err and "counting: 3 of 3" in shown.err, "lines, since this is no terminal"


@pytest.mark.parametrize("variable", ["KIT_QUIET", "CI"])
def test_nothing_is_told_where_quiet_was_asked_for(
    variable: str, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv(variable, "1")
    tell("reading")
    assert list(progress([1, 2], "counting")) == [1, 2]
    assert capsys.readouterr().err == ""
    monkeypatch.setenv(variable, "0")
    tell("reading")
    assert capsys.readouterr().err == "reading\n"

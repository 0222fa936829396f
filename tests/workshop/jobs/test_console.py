"""The line of a notebook that runs: how far it is, at what, and for whom a bar is drawn."""

from __future__ import annotations

import io
import os
import re
import time
from dataclasses import asdict
from pathlib import Path

import pytest

from kit.files import ROOT, write_json
from kit.train.progress import Progress
from workshop.jobs.console import StageLine, Tee, near, short_title
from workshop.jobs.notebooks import find

(SOURCE,) = find("03")


def cell(kind: str, source: str, status: str) -> dict[str, object]:
    return {"cell_type": kind, "source": source, "metadata": {"papermill": {"status": status}}}


NOTEBOOK = {
    "cells": [
        cell("markdown", "# 03 · Title", "completed"),
        cell("markdown", "## A group\nof four", "completed"),
        cell("code", "## no heading", "running"),
        cell("markdown", "## Later", "pending"),
    ]
}


def test_the_bar_knows_cells_headings_and_trainings(tmp_path: Path) -> None:
    line = StageLine(SOURCE, tmp_path, bar=False)
    assert line._state() == (0, "")
    line.saved(NOTEBOOK)
    assert line._state() == (0.5, "A group")
    write_json(tmp_path / "grpo" / "progress.json", asdict(Progress(1, 4, "playing", 0.0, "", 95.0)))
    os.utime(tmp_path / "grpo" / "progress.json", (time.time() + 1,) * 2)
    share, text = line._state()
    assert share == 1 - 0.5 * (1 - 0.25 / 2) and text == "step 2 of 4, 2 min left"
    write_json(tmp_path / "grpo" / "progress.json", asdict(Progress(4, 4, "done")))
    os.utime(tmp_path / "grpo" / "progress.json", (time.time() + 1,) * 2)
    assert line._state() == (0.75, "A group")
    os.utime(tmp_path / "grpo" / "progress.json", (time.time() - 60,) * 2)
    assert line._state() == (0.5, "A group"), "a training of an earlier notebook"


class Terminal(io.StringIO):
    def isatty(self) -> bool:
        return True


def test_a_bar_is_for_terminals_and_a_plain_line_for_all(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for screen, bar in ((io.StringIO(), True), (Terminal(), False), (Terminal(), True)):
        monkeypatch.setattr("sys.stdout", screen)
        with StageLine(SOURCE, tmp_path, bar) as line:
            line.saved(NOTEBOOK)
            time.sleep(0.6)
        drawn = screen.getvalue()
        assert ("\r" in drawn and "A group" in drawn) == (isinstance(screen, Terminal) and bar)
        assert re.search(rf"{re.escape(short_title(SOURCE))}  \d+ s\n$", drawn)


def test_a_notebook_that_fails_gets_no_line_of_success(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(RuntimeError), StageLine(SOURCE, tmp_path, bar=True):
        raise RuntimeError("it broke")
    assert capsys.readouterr().out == ""


def test_titles_are_short_and_paths_as_typed(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    assert short_title(SOURCE).rstrip() == "03 · GRPO by hand"
    monkeypatch.chdir(ROOT)
    assert near(ROOT / "runs" / "x.html") == os.path.join("runs", "x.html")
    assert near(tmp_path / "x.html") == str(tmp_path / "x.html")


def test_a_tee_writes_into_both() -> None:
    one, two = io.StringIO(), io.StringIO()
    both = Tee(one, two)
    both.write("said")
    both.flush()
    assert one.getvalue() == two.getvalue() == "said"

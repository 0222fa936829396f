"""Tables of runs for pandas or R: every number a row, every episode a row, and what was written."""

from __future__ import annotations

import csv
from pathlib import Path

import pytest

from kit.files import run_folder, write_json, write_text
from workshop.command import main
from workshop.jobs.export import export


@pytest.fixture(autouse=True)
def runs(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("KIT_RUNS", str(tmp_path / "runs"))
    return tmp_path / "runs"


def ran(name: str, seed: int) -> Path:
    folder = run_folder(name)
    entry = {"status": "done", "profile": "laptop", "parameters": {"seed": seed}}
    write_json(folder / "params.json", {"notebooks": {"13_agile_grpo": entry}})
    write_text(folder / "grpo" / "metrics.jsonl", '{"step": 1, "reward": 0.25, "why": "x"}\n{"step": 2, "reward": 1}\n')
    write_text(folder / "general" / "qa" / "metrics.jsonl", '{"step": 1, "loss": 0.5}\n')
    outcomes = [
        {"task": 'a,"b"', "correct": True, "kinds": ["x", "y"], "seed": 0},
        {"task": "c", "correct": False, "depth": None, "seed": 0},
    ]
    write_json(folder / "stages" / "sft.json", {"paper": "agile", "outcomes": outcomes})
    return folder


def read(path: Path) -> list[list[str]]:
    with path.open(newline="", encoding="utf-8") as file:
        return list(csv.reader(file))


def test_a_run_becomes_two_tables_in_its_folder(capsys: pytest.CaptureFixture[str]) -> None:
    folder = ran("a-3", 3)
    assert main(["export", "a-3", "--csv"]) == 0
    told = capsys.readouterr().out.splitlines()
    assert told == [f"{folder / 'metrics.csv'}: 3 rows", f"{folder / 'outcomes.csv'}: 2 rows"]
    assert read(folder / "metrics.csv") == [
        ["run", "training", "step", "metric", "value"],
        ["a-3", "general/qa", "1", "loss", "0.5"],
        ["a-3", "grpo", "1", "reward", "0.25"],
        ["a-3", "grpo", "2", "reward", "1"],
    ]
    assert read(folder / "outcomes.csv") == [
        ["run", "stage", "task", "correct", "kinds", "seed", "depth"],
        ["a-3", "sft", 'a,"b"', "True", '["x", "y"]', "3", ""],
        ["a-3", "sft", "c", "False", "", "3", ""],
    ]


def test_several_runs_are_in_one_table(tmp_path: Path) -> None:
    ran("a-0", 0), ran("a-1", 1)
    told = export(["a-0", "a-1"], str(tmp_path / "all.csv"))
    assert told == [f"{tmp_path / 'all.csv'}: 6 rows", f"{tmp_path / 'all-outcomes.csv'}: 4 rows"]
    assert {row[0] for row in read(tmp_path / "all.csv")[1:]} == {"a-0", "a-1"}
    export(["a-0", "a-1"], str(tmp_path / "folder"))
    assert len(read(tmp_path / "folder" / "outcomes.csv")) == 5


def test_what_isnt_there_is_said(tmp_path: Path) -> None:
    (ran("a-0", 0) / "stages" / "sft.json").unlink()
    assert export(["a-0"], str(tmp_path / "out"))[1].endswith("outcomes.csv: not written, there are none")
    assert not (tmp_path / "out" / "outcomes.csv").exists()
    (run_folder("empty") / "data").mkdir()
    for names, where, message in (
        (["empty"], "", "empty: no training and no measured stage yet"),
        (["a-0", "empty"], "", "2 runs: say where their tables go: --csv FOLDER, or --csv FILE.csv"),
        (["empty"], "a-0", "--csv a-0: that is a run, not a place: python -m kit export a-0 empty --csv FOLDER"),
        (["a-0"], str(tmp_path / "x.xlsx"), "give a folder, or a file that ends in .csv"),
        (["a-9"], "", "no run 'a-9'"),
    ):
        with pytest.raises(ValueError, match=message):
            export(names, where)

"""What list and view print."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest

from kit.episode import Action, Episode, Task, Turn
from kit.evaluate.intervals import Interval
from kit.evaluate.results import write_results
from kit.files import run_folder
from kit.jobs.listing import claims_table, table, view
from kit.papers.agile.metrics import save_stage
from kit.papers.visual_arft.metrics import save_stage as write_reading


@pytest.fixture(autouse=True)
def elsewhere(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("KIT_RUNS", str(tmp_path / "runs"))


def test_a_table_is_aligned_under_its_head() -> None:
    assert table([["a", "long"], ["wider", "b"]]) == "a      long\n-----  ----\nwider  b"


def played(right: bool, ended_by: str) -> Episode:
    task = Task(f"t-{ended_by}", (), "?", ("B", "A", "C", "D"), {"m": 2, "level": 2, "source": "scene"})
    answer = '["B", "A", "C", "D"]' if right else '["A", "B", "C", "D"]'
    turn = Turn((1,), (0.0,), answer, Action("answer", answer))
    return Episode(task, (1,), (turn,), "answer")


def test_stages_are_shown_before_results_are_written() -> None:
    folder = run_folder("toy")
    save_stage(folder, "sft", [played(False, "a")])
    save_stage(folder, "grpo", [played(True, "a")])
    (row,) = [line for line in view("toy").splitlines() if line.startswith("acc_2x2 ")]
    assert row.index("0.000 [") < row.index("1.000 [")


def test_stages_of_another_paper_are_shown_with_its_metrics() -> None:
    folder = run_folder("reader")
    task = Task("t", (), "Who?", ("red cars",), {"difficulty": "hard", "queries": ["a", "b"], "source": "Chad"})
    turn = Turn((1,), (0.0,), "x", Action("answer", "red car"))
    metrics = write_reading(folder, "grpo", [Episode(task, (1,), (turn,), "answer")])
    assert "f1_text_hard  0.500 [" in view("reader")
    write_results(
        folder / "results.json",
        notebook="24_visual_arft_claims",
        profile="x",
        seed=0,
        minutes=1,
        stages={"grpo": metrics},
    )
    assert "f1_text_hard  0.500 [" in view("reader")


def test_results_and_claims_are_shown() -> None:
    folder = run_folder("toy")
    claims = {"A1": {"verdict": "holds", "evidence": "0.0 < 0.1"}}
    stages = {"grpo": {"acc_2x2": Interval(0.9, 0.8, 0.95, 30)}}
    write_results(
        folder / "results.json",
        notebook="14_agile_claims",
        profile="smoke",
        seed=0,
        minutes=1,
        stages=stages,
        claims=claims,
    )
    shown = view("toy")
    assert "0.900 [0.800, 0.950]" in shown and "A1     holds" in shown
    assert claims_table({}) == ""


def test_results_of_a_notebook_of_ones_own_are_shown_without_a_papers() -> None:
    path = run_folder("mine") / "results.json"
    stages = {"before": {"found": Interval(0.25, 0.2, 0.3, 9)}, "after": {"found": Interval(0.5, 0.4, 0.6, 9)}}
    write_results(path, notebook="90_mine", profile="laptop", seed=0, minutes=1, stages=stages)
    assert re.search(r"found +0.250 \[0.200, 0.300\] +0.500 \[0.400, 0.600\]", view("mine"))


def test_the_last_training_step_is_shown() -> None:
    folder = run_folder("toy") / "grpo"
    folder.mkdir()
    rows = [{"step": i, "reward": i / 10, "loss": 0.5} for i in (1, 2)]
    (folder / "metrics.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows) + '{"step": 3, "rew')
    assert "grpo: step 2, reward 0.200, loss 0.500" in view("toy")


def test_an_unknown_run_names_the_known_ones() -> None:
    (run_folder("toy") / "params.json").write_text('{"notebooks": {}}')
    with pytest.raises(ValueError, match=r"no run 'tyo' in .*: there are toy"):
        view("tyo")

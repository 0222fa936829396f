"""What list and view print."""

from __future__ import annotations

import json
import re
from dataclasses import replace
from pathlib import Path

import pytest

from kit.episode import Action, Episode, Task, Turn
from kit.evaluate.accuracy import accuracy_evaluation
from kit.evaluate.intervals import Interval
from kit.files import run_folder, runs_folder, start_run, write_json
from papers.agile.metrics import EVALUATION, outcome, save_stage
from papers.results import write_results
from papers.visual_arft.metrics import save_stage as write_reading
from workshop.command import main
from workshop.jobs import together
from workshop.jobs.compare import compare, paired_differences
from workshop.jobs.listing import claims_table, listing, table, view
from workshop.jobs.run_page import write


@pytest.fixture(autouse=True)
def elsewhere(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("KIT_RUNS", str(tmp_path / "runs"))


def test_a_table_is_aligned_under_its_head() -> None:
    assert table([["a", "long"], ["wider", "b"]]) == "a      long\n-----  ----\nwider  b"


NO_RECORDS = ('{"a": 1}', "3", "[1]", '{"notebooks": []}', '{"notebooks": null}', '{"notebooks": {"13": 5}}')


@pytest.mark.parametrize("text", [*NO_RECORDS, '{"notebooks": {"13": {}}}', "", "{", "\0\0\0"])
def test_a_damaged_record_is_named(text: str, capsys: pytest.CaptureFixture[str]) -> None:
    (run_folder("toy") / "params.json").write_text(text)
    assert main(["list"]) == 1
    assert re.search(
        r"toy/params.json is (no record of a run|not JSON) ?.*repair or remove it", capsys.readouterr().err
    )


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


def test_the_five_questions_are_told_by_a_run_that_answers_them() -> None:
    folder = run_folder("toy")
    gain = Interval(0.5, 0.25, 0.75, 30)
    stages = {"grpo": {"acc_2x2": gain, "gain_over_sft": gain}}
    path = folder / "results.json"
    write_results(path, notebook="14_agile_claims", profile="smoke", seed=0, minutes=1, stages=stages)
    assert re.search(
        r"1 Does reinforcement add\?\n +after GRPO minus before +0.500 \[0.250, 0.750\], n = 30", view("toy")
    )
    assert "after GRPO minus before" in re.findall('alt="([^"]*)"', write("toy").read_text())[-1]


def test_stages_that_only_the_five_questions_need_are_no_columns() -> None:
    folder = run_folder("toy")
    for stage in ("grpo", "grpo-blank"):
        save_stage(folder, stage, [played(True, "a")])
    assert "grpo-blank" not in view("toy").partition("files:")[0]


def test_results_of_a_notebook_of_ones_own_are_shown_without_a_papers() -> None:
    path = run_folder("mine") / "results.json"
    stages = {"before": {"found": Interval(0.25, 0.2, 0.3, 9)}, "after": {"found": Interval(0.5, 0.4, 0.6, 9)}}
    write_results(path, notebook="90_mine", profile="laptop", seed=0, minutes=1, stages=stages)
    assert re.search(r"found +0.250 \[0.200, 0.300\] +0.500 \[0.400, 0.600\]", view("mine"))


def test_a_notebooks_own_stages_wait_for_its_results() -> None:
    accuracy_evaluation("", lambda episode, target: True).save_stage(run_folder("mine"), "sft", [played(True, "a")])
    assert "sft" not in view("mine")


def test_the_last_training_step_is_shown() -> None:
    folder = run_folder("toy") / "grpo"
    folder.mkdir()
    rows = [{"step": i, "reward": i / 10, "loss": 0.5} for i in (1, 2)]
    (folder / "metrics.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows) + '{"step": 3, "rew')
    assert "grpo: step 2, reward 0.200, loss 0.500" in view("toy")


def test_an_unknown_run_names_the_known_ones() -> None:
    (run_folder("toy") / "params.json").write_text('{"notebooks": {}}')
    with pytest.raises(ValueError, match=r"no run 'tyo' in .*: did you mean toy\? Else there are toy"):
        view("tyo")


def comparable(name: str, seed_right: int, rate: float) -> None:
    """A run of eight puzzles of four images, some solved, trained at a rate."""
    folder = run_folder(name)
    task = {k: Task(f"t-{k}", (), "?", ("B", "A"), {"m": 2, "level": 2, "source": f"scene-{k % 4}"}) for k in range(8)}
    said = {k: '["B", "A"]' if k < seed_right else '["A", "B"]' for k in task}
    turn = {k: Turn((1,), (0.0,), said[k], Action("answer", said[k])) for k in task}
    save_stage(folder, "grpo", [Episode(task[k], (1,), (turn[k],), "answer") for k in task])
    settings = {"settings": {"learning_rate": rate, "steps": 4}}
    write_json(folder / "grpo" / "checkpoint" / "settings.json", settings)
    rows = [json.dumps({"step": k, "reward": rate * k, "turns": 2.0}) for k in (1, 2)]
    (folder / "grpo" / "metrics.jsonl").write_text("\n".join(rows) + "\n")


def test_runs_are_compared_where_they_differ(capsys: pytest.CaptureFixture[str]) -> None:
    comparable("slow", 2, 0.1)
    comparable("fast", 6, 0.3)
    shown = compare(["slow", "fast"])
    assert re.search(r"grpo: learning_rate +0.1 +0.3", shown) and "steps" not in shown
    # Two of eight against six of eight, the same puzzles: half of them more.
    assert re.search(r"2×2 solved +0.250 \[.*\] +0.750 \[.*\] +\+0.500 \[\+0.\d+, \+", shown)
    assert main(["view", "slow", "fast"]) == 0
    page = runs_folder() / "slow-beside-fast.html"
    assert f"page: {page}" in capsys.readouterr().out
    drawn = re.findall('alt="([^"]*)"', page.read_text())
    assert any("2×2 solved" in words for words in drawn) and any("step" in words for words in drawn)


def test_runs_that_played_other_tasks_have_no_column_of_differences() -> None:
    """One solved 1 of 2 puzzles, the other 0 of 2 others: nothing pairs, and the two values stand side by side."""
    save_stage(run_folder("one"), "sft", [played(True, "a"), played(False, "b")])
    save_stage(run_folder("two"), "sft", [played(False, "c"), played(False, "d")])
    shown = compare(["one", "two"])
    assert "no differences of two to one: they played other tasks" in shown
    assert "no shared tasks" not in shown and "two − one" not in shown and "difference: to" not in shown
    assert "the agent after imitation, its cold start (sft):" in shown
    assert re.search(r"2×2 solved +0.500 \[.*\] +0.000 \[", shown)


def test_a_difference_of_shares_ends_at_one() -> None:
    """All of three puzzles more: the rule of three alone would leave 3/3 open on both sides, from 0 to 2."""
    outcomes = {n: [replace(outcome(played(n == "y", k)), image=k) for k in "abc"] for n in "xy"}
    more = paired_differences(EVALUATION, outcomes["x"], outcomes["y"])["acc_2x2"]
    assert (more.value, more.low, more.high) == (1.0, 0.0, 1.0)


def test_the_name_of_several_runs_is_answered_with_theirs(capsys: pytest.CaptureFixture[str]) -> None:
    for name in ("many-0", "many-1", "many-0-tag"):
        comparable(name, 2, 0.1)
    page = together.write({"": {"many-0": 0, "many-1": 1}}, runs_folder() / "many.html", "2 runs of many")
    for words in (["view", "many"], ["export", "many", "--csv"]):
        assert main(words) == 1
        assert f"many is 2 runs: many-0 many-1; their page is {page}" in capsys.readouterr().err
    assert f"pages of several runs:\n  {page}" in listing()
    with pytest.raises(ValueError, match="no run 'man'"):
        view("man")


def test_what_cant_be_compared_is_said() -> None:
    comparable("one", 2, 0.1)
    save_stage(run_folder("other"), "sft", [played(False, "a")])
    with pytest.raises(ValueError, match="no measured stage in common \\(one: grpo; other: sft\\)"):
        compare(["one", "other"])
    with pytest.raises(ValueError, match=r"no run 'lost' in .*: there are one, other"):
        compare(["one", "lost"])


def test_a_misspelt_run_is_answered_with_the_nearest() -> None:
    comparable("agile-0", 2, 0.1)
    with pytest.raises(ValueError, match=r"no run 'agil-0' in .*: did you mean agile-0\? Else there are agile-0"):
        view("agil-0")


def test_a_run_made_in_notebooks_is_listed_and_a_branch_says_of_what() -> None:
    (run_folder("by-hand") / "data").mkdir()
    start_run("by-hand", "try", {"data": 11})
    (run_folder("empty")).mkdir(exist_ok=True)
    rows = {line.split()[0]: line for line in listing().splitlines()[-3:]}
    assert "in notebooks" in rows["by-hand"] and rows["by-hand"].endswith("data")
    assert rows["by-hand-try"].endswith("branch of by-hand, data") and "empty" not in listing()


def test_a_view_begins_with_what_came_out() -> None:
    comparable("toy", 6, 0.1)
    assert view("toy").split("\n\n")[1].startswith("2×2 solved: grpo 0.750 [")
    claims = {"A2": {"verdict": "holds", "evidence": "0.0 < 0.1"}}
    stages = {"sft": {"acc_2x2": Interval(0.3, 0.2, 0.4, 30)}, "grpo": {"acc_2x2": Interval(0.9, 0.8, 0.95, 30)}}
    path = run_folder("toy") / "results.json"
    write_results(path, notebook="14_agile_claims", profile="x", seed=0, minutes=1, stages=stages, claims=claims)
    first, second = view("toy").split("\n\n")[1:3]
    assert first == "2×2 solved: sft 0.300 [0.200, 0.400] → grpo 0.900 [0.800, 0.950], n = 30"
    assert "A2 holds: from an undecided start: the cold start helps little, RL helps most" in second

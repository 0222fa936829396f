"""Several runs on one page: who belongs together, means over seeds, what was not run."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest

from kit.episode import Action, Episode, Task, Turn
from kit.files import run_folder, runs_folder, write_json, write_text
from papers.agile.metrics import EVALUATION, save_stage
from workshop.jobs.together import grouped, mean_of, mean_rows, page_of, rows, stages_of, told, write


@pytest.fixture(autouse=True)
def elsewhere(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("KIT_RUNS", str(tmp_path / "runs"))


def ran(name: str, seed: int, rate: float, right: int, stage: str = "grpo") -> None:
    """A run that solved ``right`` of eight puzzles, each of an image of its own, and trained two steps."""
    folder, found = run_folder(name), []
    for k in range(8):
        task = Task(f"t-{k}", (), "?", ("B", "A"), {"m": 2, "level": 2, "source": f"scene-{k}"})
        said = '["B", "A"]' if k < right else '["A", "B"]'
        found.append(Episode(task, (1,), (Turn((1,), (0.0,), said, Action("answer", said)),), "answer"))
    save_stage(folder, stage, found)
    parameters = {"run": name, "seed": seed, "learning_rate": rate}
    entry = {"status": "done", "profile": "laptop", "parameters": parameters}
    write_json(folder / "params.json", {"notebooks": {"13_agile_grpo": entry}})
    steps = [json.dumps({"step": k, "reward": rate * k, "held_out_accuracy": right / 8}) for k in (1, 2)]
    write_text(folder / "grpo" / "metrics.jsonl", "\n".join(steps) + "\n")


def test_runs_that_differ_in_their_seed_alone_belong_together() -> None:
    ran("a-0", 0, 0.1, 2)
    ran("a-1", 1, 0.1, 4)
    ran("b-0", 0, 0.3, 6)
    groups = grouped(["a-0", "a-1", "b-0"])
    assert groups == {"learning_rate=0.1": {"a-0": 0, "a-1": 1}, "learning_rate=0.3": {"b-0": 0}}
    assert grouped(["a-0", "a-1"]) == {"": {"a-0": 0, "a-1": 1}}


def test_a_value_that_was_not_set_is_the_notebooks_own() -> None:
    ran("plain", 0, 0.1, 2)
    entry = {"status": "done", "profile": "laptop", "parameters": {"run": "plain"}}
    write_json(run_folder("plain") / "params.json", {"notebooks": {"13_agile_grpo": entry}})
    ran("other", 1, 0.3, 2)
    assert [re.sub("=.*", "", setting) for setting in grouped(["plain", "other"])] == ["learning_rate"] * 2


def test_runs_that_tell_no_values_are_never_taken_for_seeds_of_one_setting() -> None:
    for name in ("x", "y"):
        (run_folder(name) / "data").mkdir()
    assert grouped(["x", "y"]) == {"x": {"x": 0}, "y": {"y": 1}}


def test_a_mean_is_over_all_tasks_of_all_seeds() -> None:
    """2 of 8 and 4 of 8: 6 of 16, with a wider interval than one run's, since seeds differ; a third run had none."""
    ran("a-0", 0, 0.1, 2)
    ran("a-1", 1, 0.1, 4)
    run_folder("a-2")
    groups = {"": {"a-0": 0, "a-1": 1, "a-2": 2}}
    mean = mean_of(EVALUATION, groups[""], "grpo")["acc_2x2"]
    assert mean.value == 6 / 16 and mean.n == 16
    head, *shown = rows(EVALUATION, groups, "grpo")
    assert head[:2] == ["run", "2×2 solved"]
    assert [row[0] for row in shown] == ["a-0", "a-1", "a-2", "mean of 2 runs, 2 seeds"]
    assert [row[1].partition(" [")[0] for row in shown] == ["0.250", "0.500", "not run", "0.375"]
    assert "mean of 2 runs, 2 seeds  0.375 [" in told(groups)


def test_what_no_training_can_change_is_never_what_runs_are_told_by() -> None:
    """The full pictures solve 8 of 8 in both runs, the agents 2 and 4 of 8: 6 of 16 is what came out."""
    for seed, right in enumerate((2, 4)):
        ran(f"a-{seed}", seed, 0.1, 8, "direct_originals")
        ran(f"a-{seed}", seed, 0.1, right)
    groups = {"": {"a-0": 0, "a-1": 1}}
    assert stages_of(EVALUATION, groups) == ["grpo", "direct_originals"]
    text = " ".join(told(groups).split())
    assert text.startswith("the agent after reinforcement learning (grpo): run ") and "1.000 [" not in text
    assert "As an agent it reaches 0.38 [" in text and "This is one training" not in text
    page = write(groups, page_of(["a-0", "a-1"]), "a").read_text()
    assert "<h2>the agent after reinforcement learning (grpo)</h2>" in page
    assert "<summary>the base, asked directly and shown the full images (direct_originals)</summary>" in page
    assert ">setting<" not in page and "<h2>curves of the training grpo</h2>" in page


def test_a_mean_curve_has_the_steps_and_metrics_that_all_runs_have() -> None:
    one = [{"step": 1, "reward": 0.25, "note": "x"}, {"step": 2, "reward": 0.5, "loss": 1.0}]
    other = [{"step": 2, "reward": 1.0}, {"step": 3, "reward": 1.0}]
    assert mean_rows([one, other]) == [{"step": 2, "reward": 0.75}]


def test_the_page_stands_alone_and_says_what_was_not_run() -> None:
    for name, seed, rate, right in (("a-0", 0, 0.1, 2), ("a-1", 1, 0.1, 4), ("b-0", 0, 0.3, 6)):
        ran(name, seed, rate, right)
    (run_folder("b-0") / "grpo" / "metrics.jsonl").unlink()
    write_text(run_folder("a-0") / "overview.html", "x")
    groups = grouped(["a-0", "a-1", "b-0"])
    page = write(groups, page_of(["a-0", "a-1", "b-0"]), "three <runs>")
    text = page.read_text()
    assert page == runs_folder() / "a-0-beside-a-1-beside-b-0.html" and "three &lt;runs&gt;" in text
    assert 'content="light dark"' in text and "prefers-color-scheme:dark" in text and "http" not in text
    assert '<a href="a-0/overview.html"' in text and 'href="a-1' not in text
    assert "mean of 2 runs, 2 seeds" in text and "Not run in b-0." in text and "+0.250 [" in text
    assert text.count("data:image/png") == 2, "bars of the settings, curves of the training"


def test_runs_without_anything_still_have_a_page() -> None:
    run_folder("a-0"), run_folder("a-1")
    groups = {"": {"a-0": 0, "a-1": 1}}
    text = write(groups, runs_folder() / "a.html", "a").read_text()
    assert "No stage has been measured yet." in text and told(groups) == "nothing measured"


def test_runs_of_several_papers_have_no_page() -> None:
    ran("a-0", 0, 0.1, 2)
    write_json(run_folder("c") / "stages" / "grpo.json", {"paper": "codedance"})
    with pytest.raises(ValueError, match="runs of one paper can be compared, these are of agile, codedance"):
        told({"": {"a-0": 0, "c": 1}})

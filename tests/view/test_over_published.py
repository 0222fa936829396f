"""A reader's curve over the published ones: all are drawn, theirs in front; curves are saved rounded, read by name."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest

from kit.files import write_text
from kit.train.metrics import Row, read_metrics, training_minutes
from kit.view.charts import COLOURS, GRAY
from kit.view.curves import over_published
from papers.published_curves import CURVES, published_curves, save_curve
from papers.registry import papers, published

MINE: list[Row] = [{"step": k, "reward": 0.1 * k, "accuracy": 0.5} for k in (1, 2, 3)]
THEIRS: dict[str, list[Row]] = {
    "a-0": [{"step": k, "reward": 0.2 * k} for k in (1, 2)],
    "a-1": [{"step": k, "reward": 0.3 * k} for k in (1, 2)],
}


def test_every_published_run_is_drawn_behind_the_reader_s() -> None:
    """Accuracy is in the reader's rows alone: only what all have is drawn."""
    figure = over_published(MINE, THEIRS)
    [axis] = [axis for axis in figure.axes if axis.get_title()]
    assert axis.get_title() == "reward and its parts"
    drawn = [(list(map(float, line.get_ydata())), line.get_color()) for line in axis.lines]
    assert drawn == [([0.2, 0.4], GRAY), ([0.3, 0.6], GRAY), ([0.1, 0.2, pytest.approx(0.3)], COLOURS[0])]
    assert [text.get_text() for text in figure.legends[0].get_texts()] == ["published, 2 seed(s)", "this run"]


def test_a_loss_is_drawn_where_its_value_says_something() -> None:
    """Cross-entropy does; GRPO's is 0 but for rounding."""
    cloned: list[Row] = [{"step": k, "loss": 2.0 / k} for k in (1, 2)]
    paid: list[Row] = [{"step": k, "loss": 1e-8 * k, "reward": 0.5} for k in (1, 2)]
    titles = [[a.get_title() for a in over_published(rows, {"a-0": rows}).axes] for rows in (cloned, paid)]
    assert titles == [["loss"], ["reward and its parts"]]


def test_nothing_published_or_nothing_shared_is_said() -> None:
    with pytest.raises(ValueError, match="no published curves of this name"):
        over_published(MINE, {})
    with pytest.raises(ValueError, match="published a-0, published a-1, this run share no metric"):
        over_published([{"step": 1, "loss": 1.0}], THEIRS)


def test_curves_are_rounded_and_found_by_name_training_and_tag(tmp_path: Path) -> None:
    write_text(tmp_path / "metrics.jsonl", '{"step": 1, "reward": 0.123456789, "seconds": 1234567.89}\n')
    for run in ("a-10", "a-2", "a-2-em", "ab-1"):
        save_curve(tmp_path / "metrics.jsonl", tmp_path / "curves" / run / "grpo.jsonl")
    assert published_curves("a", "grpo", folder=tmp_path / "curves") == {
        "a-2": [{"step": 1, "reward": 0.123457, "seconds": 1234570.0}],
        "a-10": [{"step": 1, "reward": 0.123457, "seconds": 1234570.0}],
    }
    assert list(published_curves("a", "grpo", "em", tmp_path / "curves")) == ["a-2-em"]
    assert published_curves("a", "sft", folder=tmp_path / "curves") == {}
    with pytest.raises(ValueError, match=r"none\.jsonl holds no step"):
        save_curve(tmp_path / "none.jsonl", tmp_path / "x.jsonl")


RESTATED = {f"vista_gym-{seed}-no_tools": f"vista_gym-no_tools-{seed}" for seed in range(3)} | {
    "agile-guesses_0-0": "agile-decided-0",
    "agile-guesses_30-0": "agile-half-0",
}
"""Runs of a claim's arm as it was stated when its figures were published → the runs of its arm as it is stated now."""


def test_the_curves_are_of_runs_that_the_records_name() -> None:
    """Of those that there are so far; the first steps to the last, of every training that a run did itself."""
    last, measured = {}, {name for name, results in published().items() if results}
    for paper in papers().values():
        for runs in paper.published.runs.values() if paper.published and paper.name in measured else ():
            trained = "grpo" if runs.notebooks[-1].endswith("_grpo") else "sft"
            last |= {runs.called(seed): trained for seed in range(runs.seeds)}
    there = {RESTATED.get(path.name, path.name) for path in CURVES.iterdir()}
    assert there <= set(last) and {f"{name}-0" for name in measured} <= there
    for run in CURVES.iterdir():
        assert (run / f"{last[RESTATED.get(run.name, run.name)]}.jsonl").is_file()
        for path in run.iterdir():
            steps = [row["step"] for row in read_metrics(path)]
            assert steps == list(range(1, len(steps) + 1)) and len(steps) > 1, path


def test_the_published_training_minutes_are_those_of_the_curves(tmp_path: Path) -> None:
    """The same runs: their steps' seconds add up to what the results file says of them."""
    told = {
        name: results["training_minutes"]
        for name, results in published().items()
        if "training_minutes" in (results or {})
    }
    assert told
    for paper, minutes in told.items():
        # Laid out as a run's own folder is, for one rule of what a step's time counts.
        for training in ("sft", "stage1", "grpo"):
            for run in published_curves(paper, training):
                (tmp_path / run / training).mkdir(parents=True)
                shutil.copy(CURVES / run / f"{training}.jsonl", tmp_path / run / training / "metrics.jsonl")
        counted = training_minutes(tmp_path.glob(f"{paper}-*"), ("sft", "stage1", "grpo"))
        assert counted == pytest.approx(minutes, abs=0.01), paper

"""A run's page: while it runs and after."""

from __future__ import annotations

from dataclasses import asdict
from pathlib import Path

import pytest
from training_fixtures import batch, fresh_chat

from kit.episode import Score
from kit.files import run_folder, write_json, write_text
from kit.jobs.run_page import watch, write
from kit.train import latest_rollout as latest
from kit.train.progress import Progress


@pytest.fixture(autouse=True)
def elsewhere(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("KIT_RUNS", str(tmp_path / "runs"))


def test_a_runs_page_shows_curves_and_what_was_played_last() -> None:
    """Of a job that is still running: nothing but metrics and a rollout is there."""
    folder = run_folder("training") / "grpo"
    write_text(folder / "metrics.jsonl", '{"step": 1, "reward": 0.25, "loss": 0.5}\n{"step": 2, "reward": 0.5, "los')
    (episode, *_) = batch(fresh_chat())
    latest.save(folder, 2, [episode], [Score(0.5, {"accuracy": 0.5})])
    page = write("training").read_text()
    assert "✓ right" not in page and "✗ wrong" not in page, "no paper is known that could judge the answer"
    write_text(folder.parent / "params.json", '{"notebooks": {"13_agile_grpo": {"profile": "x", "status": "running"}}}')
    page = write("training").read_text()
    assert "✗ wrong" in page or "✓ right" in page
    assert page.startswith("<!doctype html>") and "<title>run training</title>" in page
    assert (
        "grpo</b><small>1 steps" in page and 'alt="curves of grpo" style="max-width:100%" src="data:image/png' in page
    )
    assert "played before step 2" in page and episode.task.id in page and "+0.50" in page
    assert "http" not in page.replace("http://www.w3.org", ""), "it stands alone"


def test_a_page_is_written_again_while_something_trains(monkeypatch: pytest.MonkeyPatch) -> None:
    folder = run_folder("training") / "grpo"
    write_text(folder / "metrics.jsonl", '{"step": 1, "reward": 0.25}\n')
    write_json(folder / "progress.json", asdict(Progress(1, 4, "playing", 0.5, "7 turns of 8 episodes", 90.0)))
    pages = []

    def sleep(seconds: float) -> None:
        pages.append((run_folder("training") / "overview.html").read_text())
        phase = "done" if len(pages) == 2 else "learning"
        write_json(folder / "progress.json", asdict(Progress(2, 4, phase)))  # type: ignore[arg-type]

    monkeypatch.setattr("time.sleep", sleep)
    last = watch("training").read_text()
    assert len(pages) == 2 and all('<meta http-equiv="refresh" content="10">' in page for page in pages)
    assert "step 2 of 4 · playing: 7 turns of 8 episodes" in pages[0] and "step 3 of 4 · learning" in pages[1]
    assert "refresh" not in last


def test_no_page_without_a_run() -> None:
    with pytest.raises(ValueError, match="no run 'nowhere'"):
        write("nowhere")

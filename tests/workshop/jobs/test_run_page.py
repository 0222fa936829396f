"""A run's page: while it runs and after."""

from __future__ import annotations

import io
import re
from dataclasses import asdict
from pathlib import Path
from typing import Any

import pytest
from training_fixtures import batch, fresh_chat

from kit.data.store import save_tasks
from kit.episode import Action, Episode, Score, Task, Turn
from kit.evaluate import shown
from kit.files import run_folder, write_json, write_text
from kit.train import latest_rollout as latest
from kit.train.progress import Progress
from papers.registry import find_paper
from workshop.jobs.ending import ending
from workshop.jobs.run_page import repository, watch, write


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
    assert "grpo</b><small>1 step<" in page and 'alt="reward and its parts' in page and ".kit-drawn{filter" in page
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


def said(id: str, answer: str, target: list[str], **meta: Any) -> Episode:
    episode = Episode(Task(id, (), "Which colour is it?", target, meta), (1, 2))
    text = f"<answer>{answer}</answer>"
    return episode.add(Turn((3,), (-1.0,), text, Action("answer", answer))).end("answer")


NOTEBOOKS = {"notebooks": {"15_agile_general": {"profile": "laptop", "status": "done"}}}

QUESTION, PUZZLE = said("question-1", "The red", ["red"], skill="colour"), said("puzzle-1", '["B", "A"]', ["B", "A"])


@pytest.mark.parametrize(
    ("training", "episode", "marks"),
    [
        ("general/qa", QUESTION, "✓ right"),
        ("general/half", QUESTION, "✓ right"),
        ("general/half", PUZZLE, "✓ right"),
        ("general/half", said("puzzle-2", '["A", "B"]', ["B", "A"]), "✗ wrong"),
        ("general/qa", said("question-2", "blue", ["red"], skill="colour"), "✗ wrong"),
        ("grpo", PUZZLE, "✓ right"),
        ("grpo", said("puzzle-2", '["A", "B"]', ["B", "A"]), "✗ wrong"),
        ("elsewhere/half", QUESTION, ""),
    ],
)
def test_each_training_is_judged_by_its_own_rule(training: str, episode: Episode, marks: str) -> None:
    """A side experiment whose rule nobody told is not judged by that of the run's main task."""
    folder = run_folder("training")
    write_json(folder / "params.json", NOTEBOOKS)
    write_text(folder / training / "metrics.jsonl", '{"step": 1, "reward": 0.25}\n')
    latest.save(folder / training, 1, [episode], [Score(1.0, {"accuracy": 1.0})])
    page = write("training").read_text()
    assert [mark for mark in ("✓ right", "✗ wrong") if mark in page] == ([marks] if marks else [])


def results_of(**values: tuple[float, float, float]) -> dict[str, Any]:
    """A results file whose stages have these values of AGILE's first headline, with intervals."""
    records = {name: dict(zip(("value", "low", "high"), v, strict=True)) | {"n": 24} for name, v in values.items()}
    metrics = {f"{stage}/acc_2x2": record for stage, record in records.items()}
    claims = {"A1": {"verdict": "holds", "evidence": "of this test"}}
    return {"notebook": "14_agile_claims", "metrics": metrics, "claims": claims}


def test_a_page_tells_its_story_in_order() -> None:
    folder = run_folder("training")
    write_json(folder / "params.json", NOTEBOOKS)
    direct, sft, grpo = (0.86, 0.58, 0.98), (0.23, 0.05, 0.55), (0.87, 0.66, 0.97)
    write_json(folder / "results.json", results_of(direct=direct, untrained=(0, 0, 0.2), sft=sft, grpo=grpo))
    for training in ("sft", "grpo", "extra", "general/half"):
        paid = "" if training == "sft" else '"reward": 0.5, '
        row = f'{{"step": 1, "loss": 0.5, {paid}"held_out_accuracy": 0.25}}\n'
        write_text(folder / training / "metrics.jsonl", row)
    outcome = {"task": "puzzle-1", "reason": "turns"}
    write_json(folder / "stages" / "sft.json", {"outcomes": [outcome], "calls": [[["swap", "ok"], ["crop", "error"]]]})
    solved = outcome | {"reason": "solved"}
    write_json(folder / "stages" / "grpo.json", {"outcomes": [solved], "calls": [[["observation", "ok"]]]})
    save_tasks(folder / "data" / "eval-2x2.jsonl", [QUESTION.task, PUZZLE.task])
    page = write("training").read_text()
    parts = (
        '<h1 style="font-size:22px;margin:0">AGILE: run training</h1>',
        "Asked directly, the base reaches 0.86 [0.58, 0.98] (2×2 solved). As an agent it reaches 0.23 [0.05, 0.55]",
        "So what training taught is to act",
        "interval, 2×2 solved: 2×2 solved base, asked directly 0.86, agent before RL 0.23, agent after",
        'alt="held-out tasks, in the course of the training, share right over step: greedy, held out 0.25"',
        "one task, before and after",
        "<b>sft</b><small>1 step<",
        "<b>grpo</b><small>1 step<",
        "<b>extra</b><small>1 step<",
        "A1 holds",
        "<summary>side experiment: general/half</summary>",
        "<b>general/half</b><small>1 step<",
        "<summary>all figures and files</summary>",
    )
    places = [page.find(part) for part in parts]
    assert -1 not in places and places == sorted(places), dict(zip(parts, places, strict=True))
    told = re.sub(r"\s+", " ", re.sub("<[^>]*>", " ", page))
    assert (
        "puzzle-1 Which colour is it? before RL swap → crop (error) → out of turns after RL observation → solved"
        in told
    )


def test_a_page_shows_a_task_before_and_after_as_the_agents_played_it() -> None:
    """Of the tasks that were kept whole in both stages the one that reinforcement solved."""
    folder, evaluation = run_folder("training"), find_paper("agile").load_evaluation()
    write_json(folder / "params.json", NOTEBOOKS)
    write_json(folder / "results.json", results_of(sft=(0, 0, 0.2), grpo=(1, 0.9, 1)))
    right, wrong = '["B", "A"]', '["A", "B"]'
    both_wrong, solved = (said(f"puzzle-{k}", wrong, ["B", "A"], m=2, level=1, image="a") for k in (1, 2))
    after = said("puzzle-2", right, ["B", "A"], m=2, level=1, image="a")
    evaluation.save_stage(folder, "sft", [both_wrong, solved])
    evaluation.save_stage(folder, "grpo", [both_wrong, after])
    assert shown.load(folder, "grpo") == {"puzzle-1": both_wrong, "puzzle-2": after}
    page = write("training").read_text()
    story = page[page.index("one task, before and after") :]
    assert "puzzle-2" in story and "puzzle-1" not in story
    told = re.sub(r"\s+", " ", re.sub("<[^>]*>", " ", story))
    assert re.search(r"before RL .*✗ wrong.*\[&#34;A&#34;.*after RL .*✓ right.*\[&#34;B&#34;", told), told[:2000]


def test_a_page_says_what_was_not_measured() -> None:
    folder = run_folder("training")
    write_json(folder / "params.json", NOTEBOOKS)
    write_text(folder / "grpo" / "metrics.jsonl", '{"step": 1, "reward": 0.5}\n')
    page = write("training").read_text()
    assert "Nothing has been measured in this run yet." in page and "one task, before and after" not in page
    assert "No held-out tasks were played" in page
    write_json(folder / "results.json", results_of(grpo=(0.5, 0.4, 0.6)))
    page = write("training").read_text()
    assert "What the base does when it is asked directly was not measured. As an agent it reaches 0.50" in page
    assert "Not measured: base, asked directly, agent before RL." in page


def test_a_job_ends_with_the_finding_three_bars_and_what_to_open(monkeypatch: pytest.MonkeyPatch) -> None:
    folder = run_folder("training")
    write_json(folder / "params.json", NOTEBOOKS)
    write_text(folder / "14_agile_claims.ipynb", "{}")
    write_json(folder / "results.json", results_of(direct=(0.5, 0.4, 0.6), sft=(0, 0, 0.2), grpo=(1, 0.9, 1)))
    text = ending("training")
    assert text.startswith("Asked directly, the base reaches 0.50 [0.40, 0.60] (2×2 solved). As an agent")
    bars = re.findall(r"^  \D+  (█*)(░*)  [01]\.", text, re.MULTILINE)
    assert [(len(full), len(empty)) for full, empty in bars] == [(15, 15), (0, 30), (30, 0)]
    assert (folder / "overview.html").is_file() and str(folder / "overview.html") in text
    assert "make lab" in text and str(folder / "14_agile_claims.ipynb") in text and len(text.splitlines()) <= 15
    monkeypatch.setattr("sys.stdout", io.TextIOWrapper(io.BytesIO(), encoding="latin-1"))
    assert "  ###############---------------  0.500" in ending("training")


def test_a_job_that_measured_nothing_says_where_its_notebook_is() -> None:
    folder = run_folder("training")
    write_text(folder / "02_sandbox.ipynb", "{}")
    text = ending("training")
    assert "02_sandbox.ipynb" in text and "overview" not in text and "reaches" not in text


def test_a_page_that_is_sent_has_no_link_that_dies(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """Notebooks are linked where the repository has them for everybody, else named."""
    folder = run_folder("training")
    write_text(folder / "14_agile_claims.ipynb", "{}")
    write_text(folder / "mine.ipynb", "{}")
    assert "Its notebooks: 14_agile_claims.ipynb, mine.ipynb." in write("training").read_text()
    write_text(tmp_path / "CITATION.cff", 'title: A kit\nrepository-code: "https://example.org/kit/"\n')
    address = repository(tmp_path)
    assert address == "https://example.org/kit"
    monkeypatch.setattr("workshop.jobs.run_page.repository", lambda root: address)
    page = write("training").read_text()
    link = '<a href="https://example.org/kit/blob/main/notebooks/14_agile_claims.ipynb">14_agile_claims.ipynb</a>'
    assert f"Its notebooks: {link}, mine.ipynb." in page and page.count("<a ") == 1


def test_no_page_without_a_run() -> None:
    with pytest.raises(ValueError, match="no run 'nowhere'"):
        write("nowhere")

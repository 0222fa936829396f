"""A run's stages are compared on the tasks that they share, and where they don't share all it is said."""

from __future__ import annotations

from pathlib import Path

import pytest

from kit.episode import Action, Episode, Task, Turn
from kit.evaluate.outcomes import Outcome
from kit.files import run_folder, write_json, write_text
from papers.agile.metrics import save_stage
from workshop.jobs.ending import ending
from workshop.jobs.run_page import write
from workshop.jobs.same_tasks import on_shared_tasks, told

RIGHT = '["B", "A", "C", "D"]'


def episode(task: str, right: bool) -> Episode:
    answer = RIGHT if right else '["A", "B", "C", "D"]'
    asked = Task(task, (), "?", ("B", "A", "C", "D"), {"m": 2, "level": 2, "source": task})
    return Episode(asked, (1,), (Turn((1,), (0.0,), answer, Action("answer", answer)),), "answer")


def outcomes(*tasks: str) -> list[Outcome]:
    return [Outcome(task=t, image=t, correct=True, reason="solved", turns=1, tool_calls=0, tokens=1) for t in tasks]


@pytest.fixture
def run(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """After the cold start it solved a and b of four tasks; after reinforcement a of a and c. Shared: a, c."""
    monkeypatch.setenv("KIT_RUNS", str(tmp_path / "runs"))
    folder = run_folder("mixed")
    save_stage(folder, "sft", [episode("a", True), episode("b", True), episode("c", False), episode("d", False)])
    save_stage(folder, "grpo", [episode("a", True), episode("c", True)])
    write_text(folder / "13_agile_grpo.ipynb", "{}")
    return folder


def test_a_finding_is_of_the_tasks_that_the_stages_share(run: Path) -> None:
    """Before 1 of a and c, after 2 of 2."""
    text = " ".join(ending("mixed").split())
    assert "it reaches 0.50 [" in text and "after the cold start and 1.00 [" in text
    says = "Stages were played on different tasks (grpo 2, sft 4): compared are the 2 that all have."
    assert says in text and says in write("mixed").read_text()


def test_the_same_tasks_need_no_word(run: Path) -> None:
    save_stage(run, "grpo", [episode(task, True) for task in "abcd"])
    assert told(run, has_results=False) == told(run, has_results=True) == ""
    assert "different tasks" not in ending("mixed")


def test_figures_of_a_results_file_stay_and_are_said_to_mix(run: Path) -> None:
    assert told(run, has_results=True) == (
        "The stages were not played on the same tasks (grpo 2, sft 4): differences may be the tasks'."
    )


def test_a_stage_that_shares_no_task_is_left_out(run: Path) -> None:
    write_json(run / "stages" / "direct.json", {"outcomes": [{"task": "z"}]})
    assert told(run, has_results=False).endswith("the 2 that all have; left out is what shares none: direct.")
    stages = {"direct": outcomes("z"), "sft": outcomes("a", "b"), "grpo": outcomes("b", "c"), "own": outcomes("q")}
    kept = {name: [o.task for o in some] for name, some in on_shared_tasks(stages).items()}
    assert kept == {"sft": ["b"], "grpo": ["b"], "own": ["q"]}

"""Runs that are stored, or refused by name, and the figures that are made of them; no notebook is executed."""

from __future__ import annotations

import json
import subprocess
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from kit.episode import Action, Episode, Task, Turn
from kit.evaluate.outcomes import Evaluation
from kit.files import read_json, start_run, write_json, write_text
from papers.published_outcomes import OutcomesError
from papers.registry import Paper, find_paper
from tests.workshop.publishing.test_results import package as package
from workshop.jobs.run import JobError
from workshop.publishing import outcomes
from workshop.publishing.current import folder_of, results_folder, uncommitted
from workshop.publishing.outcomes import check_splits, made_by, publish, split, store, stored_of
from workshop.publishing.publish import show_curves

NOW = "c0ffee123456"
VALUES = {"seed": "0", "dots": "4"}


@pytest.fixture
def paper(package: Path, monkeypatch: pytest.MonkeyPatch) -> Paper:
    """The paper of test_results, whose code has the digest :data:`NOW`."""
    for name in ("training_digest", "trained_as", "digest_of"):
        monkeypatch.setattr(outcomes, name, lambda *_: NOW)
    monkeypatch.setattr(outcomes, "commit", lambda: "a" * 40)
    return find_paper("counting")


def entry(digest: str = NOW) -> dict[str, Any]:
    """What a notebook of a run recorded."""
    return {"status": "done", "parameters": {}, "minutes": 1.0, "made_by": {"digest": digest, "commit": "a" * 40}}


def ran(paper: Paper, seed: int = 0, tag: str = "", right: bool = True, **notebooks: Mapping[str, Any]) -> Path:
    """A run as its notebooks leave it: two tasks, one of them right or none."""
    name = f"counting-{seed}.{NOW[:6]}"
    folder = start_run(name, tag, {"data": 60} if tag else {})
    if not tag:
        write_text(folder / "data" / "dots.txt", "4")
    write_text(folder / "grpo" / "metrics.jsonl", json.dumps({"step": 1, "reward": 1 / 3, "seconds": 60.0}) + "\n")
    evaluation: Evaluation[Any] = paper.load_evaluation()
    evaluation.save_stage(folder, "grpo", [played("t0", "4" if right else "5"), played("t1", "5")])
    made = {"60_counting": entry(), **({} if tag else {"61_counting_claims": entry()}), **notebooks}
    write_json(folder / "params.json", {"name": folder.name, "notebooks": made})
    return folder


def played(task: str, answer: str) -> Episode:
    turn = Turn((1,), (0.0,), answer, Action("answer", answer))
    return Episode(Task(task, (), "How many?", "4", {}), (1,), (turn,), "answer")


def test_a_run_is_stored_and_figures_need_it_no_more(paper: Paper) -> None:
    for seed, tag, arm in ((0, "", "main"), (1, "", "main"), (0, "far", "far")):
        ran(paper, seed, tag, right=not tag)
        store(paper, arm, seed, NOW, VALUES)
        assert stored_of(paper, paper.published.files[0]).has(arm, seed, NOW, VALUES)  # type: ignore[union-attr]
        assert not stored_of(paper, paper.published.files[0]).has(arm, seed, "other", VALUES)  # type: ignore[union-attr]
    made = read_json(folder_of(paper) / "counting.json")["runs"]
    assert [(run["arm"], run["seed"], run["trained_at"], run["training_minutes"]) for run in made] == [
        ("far", 0, ["a" * 40], 1.0),
        ("main", 0, ["a" * 40], 1.0),
        ("main", 1, ["a" * 40], 1.0),
    ]
    assert publish(paper, only_plan=True)[0] == "results/counting.json: it is new"
    path = folder_of(paper).parent / "counting.json"
    assert not path.exists(), "a plan writes nothing"
    publish(paper)
    found = read_json(path)
    assert found["metrics"]["far/acc_all"]["value"] == 0.0 and found["metrics"]["grpo/acc_all"]["value"] == 0.5
    assert found["commit"] == "a" * 40 and found["trained"]["commits"] == ["a" * 40] and found["digest"] == NOW
    assert found["trained"]["since"] == min(run["date"] for run in made)
    ran(paper, 0, "far")
    store(paper, "far", 0, NOW, VALUES)
    assert publish(paper)[0] == (
        "results/counting.json: 2 of 3 differ from what was published, first: far/acc_all 0.0 → 0.5; C1 holds by other "
        "evidence"
    )


@pytest.mark.parametrize(
    ("tag", "arm", "base", "own", "why"),
    [
        (
            "",
            "main",
            {},
            {"60_counting": entry("0ther")},
            "counting-0.c0ffee: 60_counting was begun by 0ther, and today",
        ),
        ("", "main", {}, {"60_counting": {"status": "done"}}, "60_counting was begun by code that nobody recorded"),
        ("", "main", {}, {"61_counting_claims": entry("0ther")}, "61_counting_claims was begun by 0ther"),
        ("far", "far", {}, {"60_counting": entry("0ther")}, "counting-0.c0ffee-far: 60_counting was begun by 0ther"),
        ("far", "far", {"60_counting": entry("0ther")}, {}, "run counting-0.c0ffee: 60_counting was begun by 0ther"),
    ],
)
def test_a_run_of_other_code_is_refused_whatever_its_name(
    paper: Paper, tag: str, arm: str, base: dict[str, Any], own: dict[str, Any], why: str
) -> None:
    """Of a branch, also the run that it keeps data and cold start of."""
    ran(paper, **(base if tag else own))
    if tag:
        ran(paper, tag=tag, **own)
    with pytest.raises(JobError, match=why):
        store(paper, arm, 0, NOW, VALUES)
    assert not folder_of(paper).exists()


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("train", "test"),
        ("stage1", "test-small"),
        ("coldstart", "eval-2x2"),
        ("development", "test"),
        ("coding-development", "coding-train"),
        ("search-train", "mat-search"),
    ],
)
def test_a_task_in_two_splits_is_refused(paper: Paper, one: str, other: str) -> None:
    folder = ran(paper)
    write_text(folder / "data" / f"{other}.jsonl", '{"kind": "task", "id": "a"}\n{"kind": "task", "id": "b"}\n')
    write_text(folder / "data" / f"{one}.jsonl", '{"kind": "episode", "task": {"kind": "task", "id": "c"}}\n')
    check_splits(folder)
    write_text(folder / "data" / f"{one}.jsonl", '{"kind": "episode", "task": {"kind": "task", "id": "b"}}\n')
    with pytest.raises(
        JobError, match=r"run counting-0.c0ffee: task b stands in .*\.jsonl and in .*, so in two splits"
    ):
        store(paper, "main", 0, NOW, VALUES)
    assert split(one) != split(other)


def test_a_stage_of_fewer_tasks_than_another_seeds_is_refused(paper: Paper) -> None:
    ran(paper)
    store(paper, "main", 0, NOW, VALUES)
    paper.load_evaluation().save_stage(ran(paper, 1), "grpo", [played("t0", "4")])
    with pytest.raises(OutcomesError, match=r"counting-1.c0ffee: stage grpo has 1 tasks, in counting-0.c0ffee 2"):
        store(paper, "main", 1, NOW, VALUES)


def test_no_run_is_begun_and_nothing_published_by_files_of_no_commit(
    paper: Paper, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert made_by(paper, NOW) == {"digest": NOW, "commit": "a" * 40}
    with pytest.raises(JobError, match=r"the code that trains has changed \(0ther → c0ffee123456\)"):
        made_by(paper, "0ther")
    monkeypatch.setattr(outcomes, "commit", lambda: "unknown")
    with pytest.raises(JobError, match="can't be told: give the command in a clone"):
        made_by(paper, NOW)
    monkeypatch.setattr(outcomes, "uncommitted", lambda: ["kit/chat.py", "new.py"])
    for refused in (lambda: made_by(paper, NOW), lambda: publish(paper)):
        with pytest.raises(JobError, match=r"kit/chat.py, new.py: changed or new, and in no commit"):
            refused()


@pytest.mark.parametrize(
    ("file", "counts"),
    [
        ("kit/chat.py", True),
        ("kit/new.py", True),
        ("notebooks/percent/13_agile_grpo.py", True),
        ("results/agile.json", False),
        ("results/outcomes/agile.csv.gz", False),
        ("docs/results.md", False),
        ("README.md", False),
        ("notebooks/13_agile_grpo.ipynb", False),
    ],
)
def test_what_has_to_be_committed_is_code(tmp_path: Path, file: str, counts: bool) -> None:
    write_text(tmp_path / "kit" / "chat.py", "")
    assert uncommitted(tmp_path) == [], "no repository"
    here = ["git", "-C", str(tmp_path), "-c", "user.name=A", "-c", "user.email=a@example.org"]
    for args in (["init", "-q"], ["add", "."], ["commit", "-qm", "first"]):
        subprocess.run([*here, *args], check=True)
    write_text(tmp_path / file, "changed = 1\n")
    assert uncommitted(tmp_path) == ([file] if counts else [])


def test_what_cannot_make_figures_is_named(paper: Paper, package: Path) -> None:
    (package / "measured.py").unlink()
    ran(paper)
    store(paper, "main", 0, NOW, VALUES)
    with pytest.raises(
        JobError, match=r"counting\.measured:measured, which makes figures of outcomes, can't be loaded"
    ):
        publish(paper)


def test_curves_of_a_run_that_two_arms_name_are_kept(paper: Paper) -> None:
    """Notebook 12 shows cold starts of runs whose reinforcement isn't published."""
    assert paper.published is not None
    named_twice = {**paper.published.runs, "later_runs": paper.published.runs["runs"]}
    both = replace(paper, published=replace(paper.published, runs=named_twice))
    shown = [results_folder(paper) / "curves" / f"counting-{seed}" for seed in (0, 1)]
    for folder in shown:
        write_text(folder / "sft.jsonl", "{}")
    show_curves(both, {("main", 0)})
    assert [folder.exists() for folder in shown] == [True, False]

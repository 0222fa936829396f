"""Published results are proved current by smoke runs at their commit and here; whatever differs is named."""

from __future__ import annotations

import json
import subprocess
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from kit.files import read_json, write_json
from papers.published import Published, ResultsFile, Runs
from papers.registry import Paper
from workshop.jobs.run import JobError
from workshop.publishing import current, prove
from workshop.publishing.current import outdated
from workshop.publishing.prove import differences, observed, prove_all, smoke, worktree

RECORD = 'PAPER = Paper(name="counting", published=Published(seeds=2))\n'

NOTEBOOK = """# %% [markdown]
# # 70 · Counting

# %% tags=["parameters"]
dots: int = 3  # how many

# %%
found = count(dots)
"""


def git(folder: Path, *args: str) -> str:
    here = ["git", "-C", str(folder), "-c", "user.name=A", "-c", "user.email=a@example.org"]
    return subprocess.run([*here, *args], capture_output=True, text=True, check=True).stdout.strip()


@pytest.fixture
def project(tmp_path: Path) -> Path:
    """A project of one paper under git, its results made at its only commit."""
    folder = tmp_path / "project"
    for name, text in {
        "kit/papers/counting/paper.py": RECORD,
        "kit/papers/counting/reward.py": "RIGHT = 0.8\n",
        "notebooks/percent/70_counting.py": NOTEBOOK,
        "notebooks/profiles/counting.yaml": "laptop: {70: {dots: 5}}\n",
        "weights/model.safetensors": "numbers",
        "locks/cpu.txt": "torch\n",
    }.items():
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_text(text)
    git(tmp_path, "init", "-q", str(folder))
    git(folder, "add", ".")
    git(folder, "commit", "-qm", "first")
    write_json(folder / "results" / "counting.json", {"commit": git(folder, "rev-parse", "HEAD"), "digest": "then"})
    return folder


@pytest.fixture
def paper(project: Path, monkeypatch: pytest.MonkeyPatch) -> Paper:
    """Its record. The smoke run is a stand-in that scores one right answer by the checkout's own reward."""
    runs, figures = {"runs": Runs("counting", 2, ("70_counting",))}, (ResultsFile("70_counting", "counting"),)
    found = Paper(
        name="counting",
        title="Counting",
        summary="",
        environment="",
        evaluation="kit.papers.counting.metrics:EVALUATION",
        notebooks=("70_counting",),
        published=Published(runs, figures, ("weights",)),
        notebooks_dir=project / "notebooks",
    )

    def played(paper: Paper, root: Path, runs: Path) -> Path:
        [reward] = root.glob("**/papers/counting/reward.py")
        right = float(reward.read_text().partition("=")[2])
        metric = {"value": right, "low": 0.0, "high": 1.0, "n": 1}
        write_json(runs / "results.json", {"metrics": {"grpo/reward": metric}, "claims": {}})
        return runs

    monkeypatch.setattr(prove, "smoke", played)
    for module in (prove, current):
        monkeypatch.setattr(module, "digest_of", lambda paper, figures: "now")
        monkeypatch.setattr(module, "training_digest", lambda paper: "trains now")
    return found


def test_a_proof_is_recorded_and_not_repeated(paper: Paper, project: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert prove_all([paper], root=project)
    assert "results/counting.json is current" in capsys.readouterr().out
    recorded = read_json(project / "results" / "counting.json")
    assert recorded["digest"] == "then"
    assert recorded["proved"]["digest"] == "now" and recorded["proved"]["compared"] == 4
    assert prove_all([paper], root=project) and "made or proved with this code" in capsys.readouterr().out
    assert prove_all([paper], again=True, root=project) and "4 values compared" in capsys.readouterr().out
    assert len(git(project, "worktree", "list").splitlines()) == 1, "the checkout is gone"


@pytest.mark.parametrize(
    ("file", "old", "new", "told"),
    [
        ("kit/papers/counting/reward.py", "0.8", "0.7", "results.json grpo/reward value: 0.8 → 0.7"),
        (
            "notebooks/percent/70_counting.py",
            "count(dots)",
            "count(dots + 1)",
            "its code, first in line 2: 'found = count(dots)' → 'found = count(dots + 1)'",
        ),
        ("notebooks/profiles/counting.yaml", "dots: 5", "dots: 6", "70_counting, laptop: dots=5 → 6"),
        ("weights/model.safetensors", "numbers", "others", "weights: the base weights"),
        ("kit/papers/counting/paper.py", "seeds=2", "seeds=3", "which runs, values and data scripts make the results"),
    ],
)
def test_what_differs_is_named_and_nothing_is_recorded(
    paper: Paper, project: Path, capsys: pytest.CaptureFixture[str], file: str, old: str, new: str, told: str
) -> None:
    (project / file).write_text((project / file).read_text().replace(old, new))
    assert not prove_all([paper], root=project)
    text = capsys.readouterr().out
    assert told in text and "counting.json is stale" in text and "python -m kit results counting" in text
    assert "proved" not in read_json(project / "results" / "counting.json")


def test_of_figures_made_of_outcomes_only_what_trains_must_be_the_same(
    paper: Paper, project: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    """A cell that only draws has changed. The proof lasts until what trains changes again."""
    source = project / "notebooks" / "percent" / "70_counting.py"
    source.write_text(source.read_text() + '\n# %% tags=["figure"]\nmore = count(dots) + 1\n')
    assert not prove_all([paper], root=project) and "its code, first in line" in capsys.readouterr().out
    path = project / "results" / "counting.json"
    write_json(path, {**read_json(path), "trained": {"digest": "then", "outcomes": ""}})
    assert prove_all([paper], root=project)
    assert read_json(path)["proved"]["trains"] == "trains now"
    assert current.trained_as(paper) == "then", "a further seed is one of theirs"
    said, cell = iter(("before", "after") * 2), "70_counting.ipynb 1a2b3c “print(claim)” prints"
    monkeypatch.setattr(prove, "observed", lambda folder: {cell: next(said)})
    assert prove_all([paper], again=True, root=project), "its claims notebook may say them in other words"
    write_json(path, {key: value for key, value in read_json(path).items() if key != "trained"})
    assert not prove_all([paper], again=True, root=project)
    write_json(path, {**read_json(path), "trained": {"digest": "then", "outcomes": ""}})
    made = {**read_json(path), "proved": {"digest": "before", "trains": "trains now"}}
    assert "--figures makes them of its outcomes anew" in current.outdated(paper, paper.published.files[0], made)
    monkeypatch.setattr(current, "training_digest", lambda paper: "changed since")
    assert current.trained_as(paper) == "changed since"


def test_both_show_what_is_published_now(paper: Paper, project: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """What stood beside the results when they were made, and was taken back since, is shown by neither."""
    gone, path, seen, played = project / "results" / "gone.json", project / "results" / "counting.json", [], prove.smoke
    write_json(gone, {})
    git(project, "add", str(gone))
    git(project, "commit", "-qm", "second")
    write_json(path, {**read_json(path), "commit": git(project, "rev-parse", "HEAD")})
    gone.unlink()

    def smoke(paper: Paper, root: Path, runs: Path) -> Path:
        seen.append([one.name for one in (root / "results").iterdir()])
        return played(paper, root, runs)

    monkeypatch.setattr(prove, "smoke", smoke)
    assert prove_all([paper], root=project) and seen == [["counting.json"]] * 2


def test_other_locks_are_told_and_make_nothing_stale(
    paper: Paper, project: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (project / "locks/cpu.txt").write_text("another torch\n")
    assert prove_all([paper], root=project)
    assert "locks/cpu.txt has changed since; both runs use what is installed here" in capsys.readouterr().out


def test_a_renamed_metric_is_followed_through_the_map(paper: Paper, project: Path) -> None:
    (project / "results" / "renamed.toml").write_text('[counting]\n"grpo/reward" = "grpo/score"\n')
    assert differences({"a grpo/reward value": "1"}, {"a grpo/score value": "1"}, {"grpo/reward": "grpo/score"}) == []
    assert not prove_all([paper], root=project), "the name was not changed after all"


def test_what_only_moved_is_no_difference(paper: Paper, project: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """A record is found at its older place, the base's weights too, and paths in the record are read as today's."""
    record = 'PAPER = Paper(published=Published(weights=["weights"], script="kit.papers.counting.made:{made}"))\n'
    (project / "kit/papers/counting/paper.py").write_text(record.format(made="dots"))
    git(project, "commit", "-qam", "the record names places")
    write_json(project / "results" / "counting.json", {"commit": git(project, "rev-parse", "HEAD")})
    (project / "papers").mkdir()
    git(project, "mv", "kit/papers/counting", "papers/counting")
    git(project, "mv", "weights", "tiny")
    written = record.replace("kit.papers", "papers").replace('"weights"', '"tiny"')
    (project / "papers/counting/paper.py").write_text(written.format(made="dots"))
    assert paper.published is not None
    today = replace(
        paper, evaluation="papers.counting.metrics:EVALUATION", published=replace(paper.published, weights=("tiny",))
    )
    (project / "results" / "renamed.toml").write_text('[moved]\n"kit/papers" = "papers"\n"weights" = "tiny"\n')
    assert prove_all([today], root=project), capsys.readouterr().out
    (project / "papers/counting/paper.py").write_text(written.format(made="spots"))
    assert not prove_all([today], again=True, root=project), "what changed beside the move is seen"


def test_differences_are_of_what_was_there_before() -> None:
    old = {"a": "1", "b": "2", "n.ipynb 1 “x” prints": "one\ntwo\n", "n.ipynb 2 “y” prints": "gone with its code"}
    new = {"a": "1", "b": "3", "c": "new", "n.ipynb 1 “x” prints": "one\nthree\n"}
    assert differences(old, new, {}) == ["b: 2 → 3", "n.ipynb 1 “x” prints: line 2: 'two' → 'three'"]
    assert differences({"a": "1"}, {}, {}) == ["a: 1 → it is gone"]


def test_everything_a_run_came_to_is_read_and_no_time(tmp_path: Path) -> None:
    metric = {"value": 0.5, "low": 0.0, "high": 1.0, "n": 2}
    write_json(tmp_path / "results.json", {"metrics": {"sft/acc": metric}, "claims": {"C1": {"verdict": "holds"}}})
    write_json(tmp_path / "stages" / "sft.json", {"commit": "abc", "metrics": {"acc": metric}})
    (tmp_path / "sft" / "model").mkdir(parents=True)
    (tmp_path / "sft" / "metrics.jsonl").write_text('{"step": 1, "loss": 0.25, "seconds": 3.0}\n')
    (tmp_path / "sft" / "model" / "model.safetensors").write_bytes(b"weights")
    out: list[dict[str, Any]] = [{"output_type": "stream", "name": "stdout", "text": ["R = ", "0.9"]}]
    cells = [{"cell_type": "code", "source": ["print(R)"], "outputs": out}, {"cell_type": "markdown", "source": []}]
    (tmp_path / "13.ipynb").write_text(json.dumps({"cells": cells}))
    found = observed(tmp_path)
    assert {name: value for name, value in found.items() if "acc" not in name and "prints" not in name} == {
        "results.json C1 verdict": "holds",
        "sft/metrics.jsonl step 1 step": "1",
        "sft/metrics.jsonl step 1 loss": "0.25",
        "sft/model/model.safetensors": "9a129038d9a0",  # sha256 of b"weights"
    }
    assert found["results.json sft/acc value"] == found["stages/sft.json acc value"] == "0.5"
    assert [value for name, value in found.items() if name.endswith("“print(R)” prints")] == ["R = 0.9"]


def test_a_commit_that_cannot_be_had_is_named(project: Path, tmp_path: Path) -> None:
    match = r"commit abcdefabcdef, .* isn't in this repository; prove them in a clone that"
    with pytest.raises(JobError, match=match), worktree("abcdef" * 6 + "abcd", project):
        pass
    with pytest.raises(JobError, match="with files that were never committed"), worktree("abc+changes", project):
        pass
    first = git(project, "rev-parse", "HEAD")
    git(project, "commit", "-qm", "second", "--allow-empty")
    git(tmp_path, "clone", "-q", "--depth", "1", f"file://{project}", "shallow")
    match = "fetch its history: git fetch --unshallow"
    with pytest.raises(JobError, match=match), worktree(first, tmp_path / "shallow"):
        pass


def test_a_failed_smoke_run_says_why(paper: Paper, tmp_path: Path) -> None:
    (tmp_path / "kit").mkdir()
    (tmp_path / "kit" / "__main__.py").write_text("raise SystemExit('no such thing')")
    with pytest.raises(JobError, match=r"(?s)the smoke run of counting in .* failed:.*no such thing"):
        smoke(paper, tmp_path, tmp_path / "runs")


def test_results_without_a_digest_are_not_current(paper: Paper) -> None:
    assert paper.published is not None
    figures = paper.published.files[0]
    assert outdated(paper, figures, None) == "isn't there"
    assert "not proved current since" in outdated(paper, figures, {})
    assert outdated(paper, figures, {"digest": "now"}) == outdated(paper, figures, {"proved": {"digest": "now"}}) == ""
    assert outdated(replace(paper), figures, {"digest": "then"})

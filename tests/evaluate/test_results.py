"""Results files: complete, true about the machine, and written as a whole or not at all."""

from __future__ import annotations

import json
import math
import platform
import subprocess
from pathlib import Path

import pytest

from kit.evaluate.intervals import Interval
from kit.evaluate.results import commit, hardware, read_results, versions, write_results

GIVEN = {"notebook": "13_agile_grpo", "profile": "laptop", "seed": 3, "minutes": 1.234}


def test_file_has_what_the_design_says(tmp_path: Path) -> None:
    path = tmp_path / "a" / "results.json"
    claims = {"A1": {"verdict": "holds", "evidence": "because"}}
    stages = {"grpo": {"acc_2x2": Interval(0.5, 0.25, 0.75, 8), "one_seed": Interval(1.0, -math.inf, math.inf, 1)}}
    results = write_results(path, stages=stages, claims=claims, **GIVEN)
    assert json.loads(path.read_text()) == results
    assert set(results) == {
        "notebook", "profile", "commit", "seed", "hardware", "versions", "minutes", "metrics", "claims"
    }  # fmt: skip
    assert results["metrics"] == {
        "grpo/acc_2x2": {"value": 0.5, "low": 0.25, "high": 0.75, "n": 8},
        "grpo/one_seed": {"value": 1.0, "low": None, "high": None, "n": 1},
    }
    assert (results["seed"], results["minutes"], results["claims"]) == (3, 1.23, claims)


@pytest.mark.parametrize("value", [math.nan, math.inf])
def test_a_number_that_is_none_is_refused_and_the_old_file_stays(tmp_path: Path, value: float) -> None:
    path = tmp_path / "results.json"
    path.write_text("{}")
    with pytest.raises(ValueError, match="grpo/acc"):
        write_results(path, stages={"grpo": {"acc": Interval(value, 0, 1, 1)}}, **GIVEN)
    assert [p.name for p in tmp_path.iterdir()] == ["results.json"] and path.read_text() == "{}"


def test_a_fourth_verdict_is_refused(tmp_path: Path) -> None:
    with pytest.raises(ValueError, match=r"claim A1: verdict 'maybe'"):
        write_results(tmp_path / "r.json", stages={}, claims={"A1": {"verdict": "maybe"}}, **GIVEN)


def test_machine_and_versions_are_those_in_use() -> None:
    import torch

    assert versions()["python"] == platform.python_version()
    assert versions()["torch"] == torch.__version__
    found = hardware()
    assert found["cpu"] and found["cores"] >= 1 and found["memory_gb"] > 0
    assert len(found["gpus"]) == torch.cuda.device_count()


def test_gpus_are_recorded_by_name(gpus: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("torch.cuda.get_device_name", lambda number: f"card {number}")
    assert hardware()["gpus"] == [f"card {number}" for number in range(gpus)]


def test_commit_names_the_head_and_admits_changes(tmp_path: Path) -> None:
    def git(*args: str) -> str:
        who = ["-c", "user.name=a", "-c", "user.email=a@b.c"]
        return subprocess.run(["git", *who, *args], cwd=tmp_path, capture_output=True, text=True, check=True).stdout

    git("init")
    (tmp_path / "file").write_text("1")
    git("add", "file")
    git("commit", "-m", "first")
    head = git("rev-parse", "HEAD").strip()
    assert commit(tmp_path) == head
    (tmp_path / "file").write_text("2")
    assert commit(tmp_path) == head + "+changes"
    inside = tmp_path / "kit-0123456789ab"
    inside.mkdir()
    assert commit(inside) == "0123456789ab", "the project around it is another one"


@pytest.mark.parametrize(
    ("folder", "said", "expected"),
    [
        ("visual-agents-kit-82bcef2", "", "82bcef2"),
        ("kit-" + "0a" * 20, "", "0a" * 20),  # as GitHub names an archive of a commit
        ("kit-0123abc", "9f9f9f9", "9f9f9f9"),  # what is said goes first
        ("anything", "9f9f9f9", "9f9f9f9"),
        ("visual-agents-kit-main", "", "unknown"),
        ("visual-agents-kit", "", "unknown"),
        ("kit-2025.1", "", "unknown"),
        ("82bcef2", "", "unknown"),
    ],
)
def test_without_git_the_commit_is_told_or_stands_in_the_archive_s_name(
    folder: str, said: str, expected: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("KIT_COMMIT", said)
    (tmp_path / folder).mkdir()
    assert commit(tmp_path / folder) == commit(tmp_path / "gone" / folder) == expected


def test_files_beside_it_are_read_as_one_and_none_may_say_the_same_twice(tmp_path: Path) -> None:
    one, two = tmp_path / "results.json", tmp_path / "results-more.json"
    verdict = {"verdict": "holds", "evidence": ""}
    assert read_results(one) is None
    write_results(one, stages={"a": {"x": Interval(0.5, 0, 1, 1)}}, claims={"A1": verdict}, **GIVEN)
    write_results(two, stages={"a": {"y": Interval(0.5, 0, 1, 1)}}, claims={"A8": verdict}, **GIVEN)
    read = read_results(one)
    assert read is not None and set(read["metrics"]) == {"a/x", "a/y"} and set(read["claims"]) == {"A1", "A8"}
    write_results(two, stages={"a": {"x": Interval(0.5, 0, 1, 1)}}, **GIVEN)
    with pytest.raises(ValueError, match=r"a/x stand in results\.json as well"):
        read_results(one)

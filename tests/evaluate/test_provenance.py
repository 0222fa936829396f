"""Where figures come from: true about the machine, its packages and the commit."""

from __future__ import annotations

import platform
import subprocess
from pathlib import Path

import pytest

from kit.evaluate.provenance import commit, hardware, versions


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

"""Runs: where they lie, and files that are written whole or not at all."""

from __future__ import annotations

import errno
import os
from pathlib import Path

import pytest

from kit.files import ROOT, find_run, read_json, run_folder, runs_folder, write_json, write_text


@pytest.fixture(autouse=True)
def elsewhere(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("KIT_RUNS", str(tmp_path / "runs"))


@pytest.mark.parametrize("name", ["../up", "", ".hidden", "a/b", "x" * 65])
def test_a_name_that_leaves_the_folder_is_refused(name: str) -> None:
    with pytest.raises(ValueError, match="run name"):
        find_run(name)


def test_a_full_disk_is_named_with_its_free_bytes(monkeypatch: pytest.MonkeyPatch) -> None:
    path = run_folder("toy") / "params.json"
    write_json(path, {"kept": 1})

    def full(*_: object) -> None:
        raise OSError(errno.ENOSPC, "No space left on device")

    monkeypatch.setattr(os, "fsync", full)
    with pytest.raises(OSError, match=rf"the disk is full: {path.parent} has [\d,]+ bytes free") as caught:
        write_json(path, {"kept": 2})
    assert caught.value.errno == errno.ENOSPC
    assert read_json(path) == {"kept": 1}
    assert [p.name for p in path.parent.iterdir()] == ["params.json"], "nothing half-written stays"


def test_a_file_is_replaced_as_a_whole() -> None:
    path = run_folder("toy") / "a.txt"
    write_text(path, "one")
    write_text(path, "two")
    assert path.read_text() == "two" and path.stat().st_mode & 0o777 == 0o644


def test_a_broken_record_is_named() -> None:
    path = run_folder("toy") / "params.json"
    path.write_text("{")
    with pytest.raises(ValueError, match=r"params.json is not JSON .*repair or remove it"):
        read_json(path)


def test_runs_lie_in_the_project_unless_told_otherwise(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.delenv("KIT_RUNS", raising=False)
    assert runs_folder() == ROOT / "runs"
    monkeypatch.setenv("KIT_RUNS", str(tmp_path))
    assert run_folder("a") == tmp_path / "a"

"""Runs: where they lie, and files that are written whole or not at all."""

from __future__ import annotations

import errno
import os
from pathlib import Path

import pytest

from kit.files import (
    ROOT,
    append_bytes,
    atomic_dir,
    find_run,
    read_json,
    run_folder,
    runs_folder,
    write_json,
    write_text,
)


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


def test_a_folder_is_replaced_as_a_whole_or_not_at_all(tmp_path: Path) -> None:
    folder = tmp_path / "model"
    with atomic_dir(folder) as partial:
        (partial / "old").touch()
    with pytest.raises(RuntimeError, match="half"), atomic_dir(folder) as partial:
        (partial / "new").touch()
        raise RuntimeError("half")
    assert [path.name for path in folder.iterdir()] == ["old"]
    with atomic_dir(folder) as partial:
        assert not list(partial.iterdir()), "what the failed attempt left is gone"
    assert [path.name for path in tmp_path.iterdir()] == ["model"] and not list(folder.iterdir())


def test_of_processes_that_make_a_folder_at_once_the_first_wins(tmp_path: Path) -> None:
    folder = tmp_path / "index"
    with atomic_dir(folder, concurrent=True) as slow:
        with atomic_dir(folder, concurrent=True) as quick:
            (quick / "quick").touch()
        (slow / "slow").touch()
    assert [path.name for path in folder.iterdir()] == ["quick"] and [path.name for path in tmp_path.iterdir()] == [
        "index"
    ]


def test_a_file_that_cannot_be_written_is_named(tmp_path: Path) -> None:
    (tmp_path / "a").touch()
    for write in (write_text, lambda path, text: append_bytes(path, text.encode())):
        with pytest.raises(OSError, match=r"cannot write .*a/b: .* choose another folder"):
            write(tmp_path / "a" / "b", "text")

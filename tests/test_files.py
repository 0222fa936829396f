"""Runs: where they lie, and files that are written whole or not at all."""

from __future__ import annotations

import errno
import os
import stat
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from kit.files import (
    ROOT,
    append_bytes,
    atomic_dir,
    exclusive,
    explain_full_disk,
    find_run,
    is_held,
    read_json,
    run_folder,
    runs_folder,
    start_run,
    write_json,
    write_text,
)


@pytest.fixture(autouse=True)
def elsewhere(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("KIT_RUNS", str(tmp_path / "runs"))


@pytest.mark.parametrize(
    "name", ["../up", "", " ", "a b", "a\n", ".", "..", ".hidden", "a/b", "/a", "a\\b", "é", "x" * 65]
)
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


@pytest.mark.parametrize("said", ["unexpected pos 64 vs 0", "write: No space left on device (os error 28)"])
def test_a_full_disk_is_known_by_a_library_s_words(said: str, tmp_path: Path) -> None:
    with pytest.raises(OSError, match="the disk is full"), explain_full_disk(tmp_path / "model", Exception):
        raise RuntimeError(said)
    with pytest.raises(RuntimeError, match="another"), explain_full_disk(tmp_path / "model", Exception):
        raise RuntimeError("another")


def test_a_file_is_replaced_as_a_whole() -> None:
    path = run_folder("toy") / "a.txt"
    write_text(path, "one")
    write_text(path, "two")
    assert path.read_text() == "two" and path.stat().st_mode & 0o777 == 0o644


@pytest.fixture
def umask() -> Iterator[Callable[[int], int]]:
    before = os.umask(0)
    os.umask(before)
    yield os.umask
    os.umask(before)


def mode(path: Path) -> int:
    return stat.S_IMODE(path.stat().st_mode)


@pytest.mark.parametrize(("mask", "expected"), [(0o022, 0o644), (0o002, 0o664), (0o077, 0o600), (0o027, 0o640)])
def test_a_new_file_has_the_permissions_that_the_umask_leaves(umask: Any, mask: int, expected: int) -> None:
    folder = run_folder("toy")
    umask(mask)
    write_text(folder / "a.txt", "one")
    append_bytes(folder / "b.txt", b"one")
    assert mode(folder / "a.txt") == mode(folder / "b.txt") == expected


@pytest.mark.parametrize("kept", [0o600, 0o640, 0o664, 0o444, 0o755])
def test_a_file_that_is_replaced_keeps_its_permissions(umask: Any, kept: int) -> None:
    path = run_folder("toy") / "a.txt"
    write_text(path, "one")
    path.chmod(kept)
    umask(0o027)
    write_text(path, "two")
    assert path.read_text() == "two" and mode(path) == kept


@pytest.mark.parametrize("concurrent", [False, True])
def test_a_new_folder_has_the_permissions_that_the_umask_leaves(umask: Any, tmp_path: Path, concurrent: bool) -> None:
    umask(0o027)
    with atomic_dir(tmp_path / "index", concurrent) as partial:
        write_text(partial / "a", "one")
    assert (mode(tmp_path / "index"), mode(tmp_path / "index" / "a")) == (0o750, 0o640)


def test_who_holds_a_folder_is_seen(tmp_path: Path) -> None:
    assert not is_held(tmp_path)
    with exclusive(tmp_path):
        assert is_held(tmp_path)
    assert not is_held(tmp_path) and (tmp_path / ".lock").exists()


def test_an_error_under_a_lock_passes_as_it_is(tmp_path: Path) -> None:
    """It isn't one of writing the lock."""
    with pytest.raises(FileNotFoundError) as caught, exclusive(tmp_path):
        raise FileNotFoundError(errno.ENOENT, "No such file or directory", "/x/weights")
    assert caught.value.filename == "/x/weights" and "cannot write" not in str(caught.value)


@pytest.mark.parametrize("data", [b"{", b"", bytes(9), b"\xff\xfe", b"[" * 100_000])
def test_a_broken_record_is_named(data: bytes) -> None:
    path = run_folder("toy") / "params.json"
    path.write_bytes(data)
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


NEEDS = {"data": 11, "stages/sft.json": 12}


@pytest.fixture
def run(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A run that has what notebook 13 needs."""
    monkeypatch.setenv("KIT_RUNS", str(tmp_path))
    write_text(tmp_path / "mine" / "data" / "train.jsonl", "puzzles")
    write_text(tmp_path / "mine" / "stages" / "sft.json", "{}")
    write_text(tmp_path / "mine" / "grpo" / "metrics.jsonl", "rows")
    return tmp_path


def test_a_branch_keeps_what_it_needs_and_nothing_else(run: Path) -> None:
    assert start_run("mine", needs=NEEDS) == run / "mine"
    branch = start_run("mine", "lr3e-4", NEEDS, makes="grpo")
    assert branch == run / "mine-lr3e-4" and read_json(branch / "branch.json") == {"of": "mine", "tag": "lr3e-4"}
    assert (branch / "data" / "train.jsonl").read_text() == "puzzles" and not (branch / "grpo").exists()
    write_text(branch / "stages" / "sft.json", "changed")
    assert (run / "mine" / "stages" / "sft.json").read_text() == "{}", "a file is a copy"
    assert start_run("mine", "lr3e-4", NEEDS) == branch and (branch / "stages" / "sft.json").read_text() == "changed"


def test_runs_that_are_moved_together_keep_their_links(run: Path, tmp_path: Path) -> None:
    start_run("mine", "a", NEEDS)
    moved = tmp_path / "elsewhere"
    moved.mkdir()
    for name in ("mine", "mine-a"):
        (run / name).rename(moved / name)
    assert (moved / "mine-a" / "data" / "train.jsonl").read_text() == "puzzles"


def test_what_a_branch_makes_is_its_own_even_if_it_was_kept_before(run: Path) -> None:
    branch = start_run("mine", "a", {"grpo": 13})
    assert (branch / "grpo").is_symlink()
    start_run("mine", "a", makes="grpo")
    assert not (branch / "grpo").exists() and (run / "mine" / "grpo" / "metrics.jsonl").exists()


def test_a_job_in_a_branch_that_names_it_writes_into_no_other_run(run: Path) -> None:
    """A job gives the branch's own name and no tag."""
    branch = start_run("mine", "a", {"grpo": 13})
    start_run("mine-a", makes="grpo")
    assert not (branch / "grpo").exists() and (run / "mine" / "grpo" / "metrics.jsonl").exists()


def test_a_link_that_somebody_made_stays(run: Path, tmp_path: Path) -> None:
    (tmp_path / "disk").mkdir()
    (run / "mine-big").symlink_to(tmp_path / "disk")
    assert start_run("mine", "big", NEEDS) == run / "mine-big" and (run / "mine-big").is_symlink()
    (run / "mine" / "sft").symlink_to(tmp_path / "disk")
    start_run("mine", makes="sft")
    assert (run / "mine" / "sft").is_symlink(), "a run of its own, not a branch"


def test_what_is_missing_is_named_with_the_notebook_that_makes_it(run: Path) -> None:
    with pytest.raises(FileNotFoundError, match=r"has no data: run notebook 11 first .*--name other\); or .*: mine"):
        start_run("other", needs=NEEDS)
    assert not (run / "other").exists()
    with pytest.raises(ValueError, match="run name"):
        start_run("mine", "../../x")


@pytest.mark.parametrize(
    ("encoding", "printed"),
    [
        ("ascii", rb"\xe9 \u2192 \udcff"),
        ("ascii:strict", rb"\xe9 \u2192 \udcff"),
        ("latin-1", b"\xe9 \\u2192 \\udcff"),
        ("utf-8", "é →".encode() + rb" \udcff"),
    ],
)
def test_a_sign_that_the_encoding_lacks_is_printed_as_an_escape(encoding: str, printed: bytes) -> None:
    code = "from kit.files import print_anything; print_anything(); print(chr(233), chr(0x2192), chr(0xDCFF))"
    env = {**os.environ, "PYTHONIOENCODING": encoding}
    done = subprocess.run([sys.executable, "-c", code], env=env, capture_output=True)
    assert (done.returncode, done.stdout.strip()) == (0, printed), done.stderr


def test_every_program_of_the_kit_can_print_every_sign() -> None:
    """Each file that is started as one calls it first; the command line does so for itself and for benchmarks."""
    folders = ("kit", "papers", "pictures", "tiny", "workshop", "data_scripts", "benchmarks")
    programs = [p for folder in folders for p in sorted((ROOT / folder).rglob("*.py"))]
    started = {
        p.relative_to(ROOT).as_posix(): p.read_text().partition('if __name__ == "__main__":')[2] for p in programs
    }
    mute = {name for name, end in started.items() if end and not end.lstrip().startswith("print_anything()")}
    assert mute == {"kit/__main__.py", "benchmarks/__main__.py"}

"""A full disk, or a process killed while it writes: what is stored is whole, and how the run ended is told."""

from __future__ import annotations

import errno
import os
import shutil
import signal
import subprocess
import sys
from pathlib import Path
from typing import Any

import nbformat
import pytest

import workshop.jobs.run
from kit.files import read_json
from workshop.jobs.checks import JobError
from workshop.jobs.listing import listing, view
from workshop.jobs.run import RESERVE, execute, plan

HEAD = """# %% [markdown]
# # 11 · Toy

# %% tags=["parameters"]
steps: int = 1  # how many
run: str = "toy"  # run directory

# %%
print("before", steps)

# %%
from kit.files import run_folder
"""

FILLS = """
def fill():
    with (run_folder(run) / "big").open("wb", buffering=0) as file:
        for size in (1 << 16, 1 << 10, 1):
            try:
                while True:
                    file.write(bytes(size))
            except OSError as error:
                full = error
    raise full
"""

FULL_IN_A_CELL = f"{HEAD}{FILLS}\nfill()\n"

FULL_BETWEEN_CELLS = f"""{HEAD}{FILLS}
try:
    fill()
except OSError:
    print("y" * 5000)
"""

PRINTS = f"{HEAD}\nprint('y' * 200_000)\n"

JOB = """
import functools, resource, signal, sys
from pathlib import Path

import workshop.jobs.run as run
from workshop.command import main

run.plan = functools.partial(run.plan, root=Path(sys.argv[1]))
BEFORE
sys.exit(main(["run", "11", "--profile", "laptop", "--name", "toy"]))
"""
"""``python -m kit run`` on the toy's notebooks."""


@pytest.fixture
def project(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("KIT_RUNS", str(tmp_path / "runs"))
    (tmp_path / "notebooks" / "percent").mkdir(parents=True)
    (tmp_path / "notebooks" / "profiles").mkdir()
    (tmp_path / "notebooks" / "profiles" / "toy.yaml").write_text("laptop: {11: {}}")
    (tmp_path / "runs").mkdir()
    return tmp_path


def notebook(project: Path, text: str) -> None:
    (project / "notebooks" / "percent" / "11_toy.py").write_text(text)


def job(project: Path, before: str = "") -> list[str]:
    return [sys.executable, "-c", JOB.replace("BEFORE", before), str(project)]


def started(words: list[str], project: Path) -> subprocess.CompletedProcess[str]:
    env = {**os.environ, "IPYTHONDIR": str(project / "ipython")}
    return subprocess.run(words, env=env, capture_output=True, text=True, timeout=120)


def on_a_small_disk(project: Path) -> subprocess.CompletedProcess[str]:
    """The job with its runs on a disk of 400 KB; they are copied to ``kept`` before it goes."""
    if not shutil.which("unshare") or subprocess.run(["unshare", "-rm", "true"], capture_output=True).returncode:
        pytest.skip("needs Linux with user namespaces, in which a disk of its own can be mounted")
    runs, kept = project / "runs", project / "kept"
    script = f'mount -t tmpfs -o size=400k tmpfs {runs} && "$@"; code=$?; cp -r {runs} {kept}; exit $code'
    return started(["unshare", "-rm", "sh", "-c", script, "sh", *job(project)], project)


def state(folder: Path) -> dict[str, Any]:
    return dict(read_json(folder / "params.json")["notebooks"]["11_toy"])


def printed(path: Path) -> str:
    """What the cells of a stored notebook printed; it has to be whole."""
    read = nbformat.reads(path.read_text(), as_version=4)
    nbformat.validate(read)
    return "".join(o.get("text", "") for cell in read.cells for o in cell.get("outputs", []))


@pytest.mark.parametrize("text", [FULL_IN_A_CELL, FULL_BETWEEN_CELLS], ids=["in a cell", "between cells"])
def test_a_full_disk_leaves_a_whole_notebook_and_a_run_that_says_why(
    project: Path, monkeypatch: pytest.MonkeyPatch, text: str
) -> None:
    notebook(project, text)
    done = on_a_small_disk(project)
    assert done.returncode == 1, done.stderr
    assert "python -m kit: the disk is full: " in done.stderr and "it continues from what is complete" in done.stderr
    assert "Traceback" not in done.stderr
    kept = project / "kept" / "toy"
    assert "before 1" in printed(kept / "11_toy.ipynb")
    ended = state(kept)
    assert ended["status"] == "failed" and ended["why"].startswith("the disk is full: ")
    assert not [path.name for path in kept.iterdir() if path.name.startswith(".") and path.name != ".lock"]
    monkeypatch.setenv("KIT_RUNS", str(project / "kept"))
    assert "11 failed" in listing(project) and "11_toy: the disk is full: " in view("toy")


def test_killed_while_it_saves_a_notebook_is_what_it_was_before(project: Path) -> None:
    """The system kills a process that writes past its limit, here in the middle of a notebook of 200 KB."""
    notebook(project, PRINTS)
    limit = "resource.setrlimit(resource.RLIMIT_FSIZE, (100_000,) * 2)"
    done = started(job(project, f"{limit}; signal.signal(signal.SIGXFSZ, signal.SIG_DFL)"), project)
    assert done.returncode == -signal.SIGXFSZ, done.stderr
    assert "before 1" in printed(project / "runs" / "toy" / "11_toy.ipynb")
    assert state(project / "runs" / "toy")["status"] == "running"
    assert "11 interrupted" in listing(project), "no process holds the run any more"
    assert started(job(project), project).returncode == 0
    assert "yyyy" in printed(project / "runs" / "toy" / "11_toy.ipynb")
    assert state(project / "runs" / "toy")["status"] == "done"
    assert "11 done" in listing(project)


def test_a_file_too_large_for_this_user_is_told_in_a_line(project: Path) -> None:
    notebook(project, PRINTS)
    done = started(job(project, "resource.setrlimit(resource.RLIMIT_FSIZE, (100_000,) * 2)"), project)
    assert done.returncode == 1 and "Traceback" not in done.stderr
    assert "11_toy.ipynb: File too large" in done.stderr
    assert "before 1" in printed(project / "runs" / "toy" / "11_toy.ipynb")
    assert state(project / "runs" / "toy")["status"] == "failed"


def test_without_any_room_the_error_is_told_and_the_run_counts_as_interrupted(
    project: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """How a failed notebook ended can't be written down: that doesn't hide why it failed."""
    notebook(project, f"{HEAD}\nraise RuntimeError('the toy broke')\n")

    def full(folder: Path, record: dict[str, Any]) -> None:
        raise OSError(errno.ENOSPC, "the disk is full: 0 bytes free")

    monkeypatch.setattr(workshop.jobs.run, "_write_end", full)
    with pytest.raises(JobError, match="with RuntimeError: the toy broke"):
        execute(plan("11", "laptop", [], "toy", project))
    said = capsys.readouterr().err
    assert "11_toy: that it has ended can't be written down: the disk is full: 0 bytes free" in said
    assert "11 interrupted" in listing(project)


def test_what_failed_before_is_forgotten_by_the_next_attempt(project: Path) -> None:
    notebook(project, f"{HEAD}\nraise RuntimeError('the toy broke')\n")
    with pytest.raises(JobError):
        execute(plan("11", "laptop", [], "toy", project))
    folder = project / "runs" / "toy"
    assert state(folder)["why"] == "in cell [4] with RuntimeError: the toy broke"
    assert "11_toy: in cell [4] with RuntimeError: the toy broke" in view("toy")
    notebook(project, HEAD)
    execute(plan("11", "laptop", [], "toy", project))
    assert state(folder)["status"] == "done" and "why" not in state(folder)
    assert not (folder / RESERVE).exists()


def test_an_error_in_a_job_is_not_taken_for_one_of_its_lock(project: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    notebook(project, HEAD)

    def broken(*_: object) -> None:
        raise FileNotFoundError(errno.ENOENT, "No such file or directory", "/x/weights")

    monkeypatch.setattr(workshop.jobs.run, "execute_notebook", broken)
    with pytest.raises(FileNotFoundError) as caught:
        execute(plan("11", "laptop", [], "toy", project))
    assert caught.value.filename == "/x/weights"
    assert state(project / "runs" / "toy")["why"] == "No such file or directory: '/x/weights'"

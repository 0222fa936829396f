"""Copies of the notebooks for JupyterLab: made, renewed, kept, reset, trusted; the server's settings and options."""

from __future__ import annotations

import hashlib
import json
import os
import subprocess
import sys
from datetime import datetime
from pathlib import Path

import nbformat
import pytest
from jupyter_server.services.contents.filemanager import FileContentsManager
from nbformat.sign import NotebookNotary
from nbformat.v4 import new_code_cell, new_markdown_cell, new_notebook, new_output

from kit.files import ROOT
from workshop.command import parser
from workshop.jobs.lab import (
    Lab,
    arguments,
    copy_notebooks,
    digest,
    environment,
    find_lab,
    prepare,
    reset,
    reset_all,
    shell,
)
from workshop.jobs.notebooks import sources

AS_USER = ROOT / "packages" / "turn_sandbox" / "tests" / "helpers" / "as_user.py"
NOW = datetime(2026, 11, 23, 19, 49, 30)
HTML = "<style>.kv{color:red}</style><div class='kv'>episode</div>"


def write_twin(project: Path, name: str, text: str) -> None:
    """An executed notebook with its source, as the project keeps them."""
    cell = new_code_cell(f"print({text!r})", execution_count=1)
    cell.outputs = [new_output("display_data", {"text/html": HTML + text})]
    (project / "notebooks" / "percent").mkdir(parents=True, exist_ok=True)
    (project / "notebooks" / "percent" / f"{name}.py").write_text(f"# %%\nprint({text!r})\n")
    notebook = new_notebook(cells=[new_markdown_cell(f"# {name}"), cell])
    (project / "notebooks" / f"{name}.ipynb").write_text(nbformat.writes(notebook))


@pytest.fixture
def project(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A project with two notebooks and a page."""
    monkeypatch.delenv("KIT_RUNS", raising=False)
    root = tmp_path / "project"
    for name in ("00_start", "01_next"):
        write_twin(root, name, "first")
    (root / "docs").mkdir()
    (root / "docs" / "page.md").write_text("# Page")
    (root / "README.md").write_text("# Project")
    return root


@pytest.fixture
def lab(project: Path) -> Lab:
    found = find_lab(project)
    copy_notebooks(found, sources(project))
    return found


def edit(path: Path, text: str) -> None:
    """Change a code cell, as a reader does."""
    notebook = nbformat.read(path, as_version=4)
    notebook.cells[1].source = text
    path.write_text(nbformat.writes(notebook))


def is_trusted(lab: Lab, name: str) -> bool:
    """Whether JupyterLab's own server finds all code cells of a copy trusted."""
    manager = FileContentsManager(root_dir=str(lab.root))
    manager.notary.close()
    manager.notary = NotebookNotary(data_dir=str(lab.private))
    path = (lab.notebooks / name).relative_to(lab.root).as_posix()
    cells = manager.get(path)["content"]["cells"]
    manager.notary.close()
    return all(cell["metadata"]["trusted"] for cell in cells if cell["cell_type"] == "code")


def test_a_copy_is_the_kits_notebook_byte_for_byte(project: Path, lab: Lab) -> None:
    for name in ("00_start.ipynb", "01_next.ipynb"):
        assert (lab.notebooks / name).read_bytes() == (project / "notebooks" / name).read_bytes()
    assert copy_notebooks(lab, sources(project)) == {"00_start.ipynb": "current", "01_next.ipynb": "current"}


def test_an_unchanged_copy_is_renewed_and_a_changed_one_is_kept(project: Path, lab: Lab) -> None:
    edit(lab.notebooks / "01_next.ipynb", "mine = 1")
    mine = (lab.notebooks / "01_next.ipynb").read_bytes()
    assert copy_notebooks(lab, sources(project))["01_next.ipynb"] == "changed"
    for name in ("00_start", "01_next"):
        write_twin(project, name, "second")
    assert copy_notebooks(lab, sources(project)) == {"00_start.ipynb": "renewed", "01_next.ipynb": "outdated"}
    assert (lab.notebooks / "00_start.ipynb").read_bytes() == (project / "notebooks" / "00_start.ipynb").read_bytes()
    assert (lab.notebooks / "01_next.ipynb").read_bytes() == mine
    assert "You changed 01" in prepare(lab, project)


def test_outputs_of_a_run_are_the_readers_and_metadata_is_not(project: Path, lab: Lab) -> None:
    for name, part in (("00_start.ipynb", "metadata"), ("01_next.ipynb", "outputs")):
        notebook = nbformat.read(lab.notebooks / name, as_version=4)
        if part == "metadata":
            notebook.metadata["language_info"] = {"name": "python", "version": "3.11.7"}
        else:
            notebook.cells[1].outputs = [new_output("stream", text="an hour of training")]
        (lab.notebooks / name).write_text(nbformat.writes(notebook))
    for name in ("00_start", "01_next"):
        write_twin(project, name, "second")
    assert copy_notebooks(lab, sources(project)) == {"00_start.ipynb": "renewed", "01_next.ipynb": "outdated"}


@pytest.mark.parametrize(
    "broken", ["", "{", "[]", '{"cells": 3}', '{"nbformat": 4, "nbformat_minor": 5, "cells": [1]}']
)
def test_a_broken_copy_is_the_readers_own(project: Path, lab: Lab, broken: str) -> None:
    (lab.notebooks / "00_start.ipynb").write_text(broken)
    assert digest(broken) == ""
    assert copy_notebooks(lab, sources(project))["00_start.ipynb"] == "changed"
    assert (lab.notebooks / "00_start.ipynb").read_text() == broken


def test_a_lost_record_makes_no_reader_lose_work(project: Path, lab: Lab) -> None:
    edit(lab.notebooks / "01_next.ipynb", "mine = 1")
    lab.record.unlink()
    assert copy_notebooks(lab, sources(project)) == {"00_start.ipynb": "current", "01_next.ipynb": "outdated"}


def test_reset_keeps_the_readers_version_under_a_dated_name(project: Path, lab: Lab) -> None:
    source = sources(project)[1]
    copy = lab.notebooks / "01_next.ipynb"
    edit(copy, "mine = 1")
    mine = copy.read_bytes()
    kept = reset(lab, source, NOW)
    assert kept == lab.notebooks / "01_next.2026-11-23-194930.ipynb" and kept.read_bytes() == mine
    assert copy.read_bytes() == source.twin.read_bytes()
    assert reset(lab, source, NOW) is None and kept.read_bytes() == mine
    assert copy_notebooks(lab, sources(project))["01_next.ipynb"] == "current"


def test_resetting_all_names_those_that_were_changed(project: Path, lab: Lab) -> None:
    edit(lab.notebooks / "01_next.ipynb", "mine = 1")
    lines = reset_all(["all"], project).splitlines()
    assert lines[0] == "00_start: as it came" and lines[1].startswith("01_next: yours is now 01_next.20")


def test_the_kits_copies_are_trusted_and_what_a_reader_brings_is_not(project: Path, lab: Lab) -> None:
    assert is_trusted(lab, "00_start.ipynb")
    edit(lab.notebooks / "00_start.ipynb", "from somewhere else")
    (lab.notebooks / "brought.ipynb").write_text((lab.notebooks / "00_start.ipynb").read_text())
    copy_notebooks(lab, sources(project))
    assert not is_trusted(lab, "00_start.ipynb") and not is_trusted(lab, "brought.ipynb")
    reset(lab, sources(project)[0], NOW)
    assert is_trusted(lab, "00_start.ipynb")


def test_pages_results_and_runs_are_beside_the_copies(project: Path, lab: Lab) -> None:
    prepare(lab, project)
    assert lab.root == lab.folder == project / "lab"
    assert (lab.notebooks / ".." / "docs" / "page.md").read_text() == "# Page"
    names = {path.name for path in lab.folder.iterdir()}
    assert names == {".jupyter", "README.md", "docs", "notebooks", "runs"}
    assert not (lab.folder / "docs").is_symlink(), "JupyterLab shows no picture that lies behind a link"
    (lab.folder / "docs" / "mine.md").write_text("# A reader's own")
    (project / "docs" / "page.md").write_text("# Newer")
    (project / "README.md").unlink()
    prepare(lab, project)
    assert (lab.folder / "docs" / "mine.md").exists() and not (lab.folder / "README.md").is_symlink()
    assert (lab.folder / "docs" / "page.md").read_text() == "# Newer"


def test_with_kit_runs_the_project_is_not_written_to(
    project: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("KIT_RUNS", str(tmp_path / "elsewhere"))
    before = {path: path.stat().st_mtime_ns for path in [project, *project.rglob("*")]}
    lab = find_lab(project)
    prepare(lab, project)
    reset_all(["all"], project)
    assert {path: path.stat().st_mtime_ns for path in [project, *project.rglob("*")]} == before
    assert (lab.root, lab.folder) == (tmp_path / "elsewhere", tmp_path / "elsewhere" / "_lab")
    assert (lab.folder / "docs" / "page.md").exists() and not (lab.folder / "runs").exists(), "no link back: a circle"
    assert [source.name for source in sources(project)] == ["00_start", "01_next"], "copies are no notebooks of the kit"


@pytest.mark.skipif(os.geteuid() != 0, reason="only root can become another user")
def test_a_folder_that_cannot_be_written_is_named_with_the_way_out(project: Path) -> None:
    script = (
        "from pathlib import Path; from workshop.jobs.lab import *; "
        f"p = Path({str(project)!r}); prepare(find_lab(p), p)"
    )
    paths = [sys.base_prefix, sys.prefix, str(ROOT), str(project)]
    command = [sys.executable, str(AS_USER), "4242", *paths, "--", sys.executable, "-c", script]
    done = subprocess.run(command, capture_output=True, text=True, cwd="/", env={**os.environ, "PYTHONPATH": str(ROOT)})
    wanted = f"ValueError: {project}/lab can't be written; set KIT_RUNS to a folder of your own"
    assert done.stderr.rstrip().endswith(wanted), done.stderr


def test_the_server_shows_the_copies_and_asks_nothing(project: Path, lab: Lab) -> None:
    prepare(lab, project)
    server = json.loads((lab.private / "jupyter_lab_config.json").read_text())
    assert server["LabApp"]["default_url"] == "/lab/tree/notebooks/00_start.ipynb"
    assert server["NotebookNotary"]["data_dir"] == str(lab.private)
    page = json.loads((lab.private / "labconfig" / "default_setting_overrides.json").read_text())
    assert page["@jupyterlab/apputils-extension:notification"]["fetchNews"] == "false"


def test_programs_of_this_environment_come_first(lab: Lab) -> None:
    found = environment(lab, {"PATH": "/usr/bin", "JUPYTER_CONFIG_PATH": "/theirs"})
    assert found["PATH"].split(":") == [str(Path(sys.executable).parent), "/usr/bin"]
    assert found["JUPYTER_CONFIG_PATH"] == f"{lab.private}:/theirs"
    assert "PYTHONPATH" not in found


@pytest.mark.parametrize("name", ["bash", "sh"])
def test_a_terminal_starts_in_the_project_with_the_environments_programs(
    project: Path, lab: Lab, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, name: str
) -> None:
    (tmp_path / ".bashrc").write_text("PATH=/usr/bin:/bin; MINE=yes\n")  # as a reader's may
    monkeypatch.setenv("SHELL", f"/bin/{name}")
    lab.private.mkdir(exist_ok=True)
    done = subprocess.run(
        [*shell(lab, project), "-i"],
        input="pwd; command -v python; echo mine=$MINE\n",
        capture_output=True,
        text=True,
        env={**environment(lab, os.environ), "HOME": str(tmp_path), "ENV": ""},
        start_new_session=True,
    )
    lines = done.stdout.splitlines()
    assert lines[0] == str(project) and lines[1] == str(Path(sys.executable).parent / "python")
    assert lines[2] == ("mine=yes" if name == "bash" else "mine=")


@pytest.mark.parametrize(
    ("options", "inherited", "is_root", "wanted"),
    [
        (["--port", "9000"], {"DISPLAY": ":0"}, False, ["--port", "9000"]),
        ([], {"DISPLAY": ":0"}, True, ["--allow-root"]),
        (["--allow-root"], {"DISPLAY": ":0"}, True, ["--allow-root"]),
        (["--ip=0.0.0.0"], {"DISPLAY": ":0"}, True, ["--ip=0.0.0.0"]),
        (["--ip", "0.0.0.0"], {"DISPLAY": ":0"}, True, ["--ip", "0.0.0.0"]),
    ],
)
def test_root_is_allowed_on_this_machine_alone(
    options: list[str], inherited: dict[str, str], is_root: bool, wanted: list[str]
) -> None:
    assert arguments(options, inherited, is_root) == wanted


@pytest.mark.skipif(sys.platform == "darwin", reason="macOS always has a display")
def test_no_browser_is_opened_without_a_display() -> None:
    assert arguments([], {}, False) == ["--no-browser"]
    assert arguments([], {"WAYLAND_DISPLAY": "wayland-0"}, False) == []


def test_options_with_dashes_reach_jupyterlab() -> None:
    assert parser().parse_args(["lab", "--port", "9000", "--allow-root"]).options == ["--port", "9000", "--allow-root"]


def test_the_projects_own_notebooks_can_be_copied(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("KIT_RUNS", str(tmp_path))
    before = [hashlib.sha256(source.twin.read_bytes()).hexdigest() for source in sources()]
    prepare(find_lab())
    copies = [tmp_path / "_lab" / "notebooks" / source.twin.name for source in sources()]
    assert [hashlib.sha256(copy.read_bytes()).hexdigest() for copy in copies] == before
    assert (tmp_path / "_lab" / "docs" / "surprises.md").exists()

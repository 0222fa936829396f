"""Jobs: parameters are checked first, runs resume, failures keep their output and say where to look."""

from __future__ import annotations

import errno
import fcntl
import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

import kit.job
from kit.__main__ import BENCHES, COMMANDS, main, parser
from kit.job import Job, JobError, execute, plan, profile_values
from kit.notebooks import sources
from kit.parameters import ParameterError, check_values, parse, read_parameters
from kit.runs import ROOT, find_run, read_json, run_folder, runs_folder, write_json, write_text
from kit.show import claims_table, interval, listing, results_table, view

CELL = """steps: int = 3  # rollout batches
rate: float = 2  # learning rate
fast: bool = False  # skip the slow part
model: str = "a#b"  # checkpoint
levels: list[int] = [0, 1]  # difficulties
"""

NOTEBOOK = """# %% [markdown]
# # 11 · Toy

# %% tags=["parameters"]
run: str = "toy"  # run directory
steps: int = 3  # how many
rate: float = 0.5  # of what
fail: bool = False  # whether to break

# %%
from kit.runs import run_folder

folder = run_folder(run)
count = len((folder / "log.txt").read_text().split()) if (folder / "log.txt").exists() else 0
(folder / "log.txt").write_text("x " * (count + 1))
print("steps", steps, "rate", rate)

# %%
if fail:
    raise RuntimeError("the toy broke")
"""

SECOND = (
    NOTEBOOK.replace("11 · Toy", "12 · Second")
    .replace("rate: float = 0.5  # of what\n", "")
    .replace(', "rate", rate', "")
    .replace("log.txt", "log2.txt")
)

PROFILES = """
smoke: {11: {steps: 1}, 12: {steps: 2}}
laptop: {11: {}, 12: {}}
wrong: {11: {steps: 1.0e+1, ratte: 1}, 12: {}}
text: {11: {rate: 1e-3}, 12: {}}
"""


@pytest.fixture
def project(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("KIT_RUNS", str(tmp_path / "runs"))
    percent = tmp_path / "notebooks" / "percent"
    percent.mkdir(parents=True)
    (percent / "11_toy.py").write_text(NOTEBOOK)
    (percent / "12_toy_sft.py").write_text(SECOND)
    (tmp_path / "notebooks" / "profiles").mkdir()
    (tmp_path / "notebooks" / "profiles" / "toy.yaml").write_text(PROFILES)
    return tmp_path


def runs_of(project: Path, log: str = "log.txt") -> int:
    return len((project / "runs" / "toy" / log).read_text().split())


# What a parameters cell may say.


def test_a_parameters_cell_is_read_with_types_defaults_and_help() -> None:
    found = read_parameters(CELL, "toy")
    assert {name: (p.type, p.default, p.help) for name, p in found.items()} == {
        "steps": ("int", 3, "rollout batches"),
        "rate": ("float", 2.0, "learning rate"),
        "fast": ("bool", False, "skip the slow part"),
        "model": ("str", "a#b", "checkpoint"),
        "levels": ("list[int]", [0, 1], "difficulties"),
    }
    assert isinstance(found["rate"].default, float)


@pytest.mark.parametrize(
    ("line", "message"),
    [
        ("steps = 3  # how many", "toy, parameters cell, line 1: 'steps = 3  # how many'; write `name: type = value"),
        ("print(3)", "write `name: type = value  # help`"),
        ("steps: int | None = 3  # how many", r"steps: int \| None; types are bool, int, float, str and lists"),
        ("steps: int = 3", "steps has no help; write `steps: int = value  # help`"),
        ("steps: int = 3.5  # how many", "steps=3.5; expected int"),
        ("steps: int = 2 * 3  # how many", r"steps = 2 \* 3; give a plain value"),
    ],
)
def test_a_parameters_cell_that_cannot_be_checked_is_refused(line: str, message: str) -> None:
    with pytest.raises(ParameterError, match=message):
        read_parameters(line, "toy")


@pytest.mark.parametrize(
    ("name", "value", "message"),
    [
        ("stps", 3, "here has no parameter 'stps': did you mean steps"),
        ("zzz", 3, "here has no parameter 'zzz': it has steps, rate, fast, model, levels"),
        ("steps", 4.0, "here: steps=4.0; expected int"),
        ("steps", True, "here: steps=True; expected int"),
        ("fast", 1, "here: fast=1; expected bool"),
        ("rate", "1e-3", "rate='1e-3'; expected float; YAML reads 1e-3 as text, write 1.0e-3"),
        ("rate", float("nan"), "rate=nan; expected float"),
        ("model", 7, "model=7; expected str"),
        ("levels", [0, "1"], "expected list.int."),
    ],
)
def test_unknown_names_and_wrong_types_are_refused(name: str, value: object, message: str) -> None:
    with pytest.raises(ParameterError, match=message):
        check_values(read_parameters(CELL, "toy"), {name: value}, "here")


@pytest.mark.parametrize(
    ("name", "text", "value"),
    [
        ("steps", "50", 50),
        ("rate", "1e-4", 1e-4),
        ("rate", "3", 3.0),
        ("fast", "True", True),
        ("model", "50", "50"),
        ("levels", "[2, 3]", [2, 3]),
    ],
)
def test_text_from_the_command_line_becomes_the_parameters_type(name: str, text: str, value: object) -> None:
    got = parse(read_parameters(CELL, "toy")[name], text, "--set")
    assert got == value and type(got) is type(value)


@pytest.mark.parametrize(("name", "text"), [("steps", "1.5"), ("steps", "many"), ("fast", "1"), ("levels", "2,3")])
def test_text_of_another_type_is_refused(name: str, text: str) -> None:
    with pytest.raises(ParameterError, match=f"--set: {name}={text}; expected"):
        parse(read_parameters(CELL, "toy")[name], text, "--set")


# Planning: nothing has run when it refuses.


def test_a_plan_holds_profile_values_then_set_ones(project: Path) -> None:
    job = plan("toy", "smoke", ["12.steps=9", "rate=1"], "toy", project)
    assert [(p.source.number, p.values) for p in job.notebooks] == [
        ("11", {"run": "toy", "steps": 1, "rate": 1.0}),
        ("12", {"run": "toy", "steps": 9}),
    ]
    assert plan("12", "laptop", [], None, project).name == "toy"


@pytest.mark.parametrize(
    ("profile", "sets", "message"),
    [
        ("smoke", ["stesp=1"], "has no parameter 'stesp': did you mean steps"),
        ("smoke", ["12.rate=1"], "notebook 12 has no parameter 'rate'"),
        ("smoke", ["13.steps=1"], r"notebook 13 is not part of this job \(11, 12\)"),
        ("smoke", ["steps"], "write name=value"),
        ("smoke", ["run=x"], "given by --name"),
        ("wrong", [], "has no parameter 'ratte': did you mean rate"),
        ("text", [], "write 1.0e-3"),
        ("fast", [], "no profile 'fast': choose one of smoke, laptop, wrong, text"),
    ],
)
def test_a_bad_request_is_refused_before_anything_runs(
    project: Path, profile: str, sets: list[str], message: str
) -> None:
    with pytest.raises((ParameterError, JobError), match=message):
        plan("toy", profile, sets, "toy", project)
    assert not (project / "runs").exists()


@pytest.mark.parametrize("name", ["../up", "", ".hidden", "a/b", "x" * 65])
def test_a_name_that_leaves_the_folder_is_refused(project: Path, name: str) -> None:
    with pytest.raises(ValueError, match="run name"):
        find_run(name)


# Running.


def test_a_run_executes_in_order_and_the_same_command_again_skips(
    project: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    job = plan("toy", "smoke", [], "toy", project)
    folder = execute(job)
    assert folder == project / "runs" / "toy"
    record = read_json(folder / "params.json")
    assert {n: (e["status"], e["profile"]) for n, e in record["notebooks"].items()} == {
        "11_toy": ("done", "smoke"),
        "12_toy_sft": ("done", "smoke"),
    }
    assert record["notebooks"]["11_toy"]["parameters"] == {"run": "toy", "steps": 1}
    assert "steps 1 rate 0.5" in (folder / "11_toy.ipynb").read_text()
    assert "steps 1 rate 0.5" in capsys.readouterr().out, "what a notebook prints is seen while it runs"
    execute(job)
    assert "done before, skipped" in capsys.readouterr().out
    assert runs_of(project) == 1
    execute(job, force=True)
    assert runs_of(project) == 2 and runs_of(project, "log2.txt") == 2
    with pytest.raises(JobError, match="holds 11_toy with steps=1, now steps=7: choose another --name, or --force"):
        execute(plan("toy", "smoke", ["steps=7"], "toy", project))
    shown = view("toy")
    assert "11_toy" in shown and "done" in shown and str(folder / "12_toy_sft.ipynb") in shown
    assert "11 done, 12 done" in listing(project)


def test_a_failed_notebook_keeps_its_output_and_stops_the_job(project: Path) -> None:
    with pytest.raises(JobError, match=r"11_toy failed in cell \[\d+\] with RuntimeError: the toy broke") as caught:
        execute(plan("toy", "smoke", ["11.fail=true"], "toy", project))
    kept = project / "runs" / "toy" / "11_toy.ipynb"
    assert str(kept) in str(caught.value)
    assert "steps 1 rate 0.5" in kept.read_text() and "the toy broke" in kept.read_text()
    record = read_json(project / "runs" / "toy" / "params.json")
    assert {n: e["status"] for n, e in record["notebooks"].items()} == {"11_toy": "failed"}
    execute(plan("toy", "smoke", [], "toy", project))
    assert runs_of(project) == 2, "it is run again, not skipped"
    assert runs_of(project, "log2.txt") == 1


def test_a_run_in_use_is_left_alone(project: Path) -> None:
    folder = run_folder("toy")
    with (folder / ".lock").open("a+") as held:
        held.write("4711")
        held.flush()
        fcntl.flock(held, fcntl.LOCK_EX)
        with pytest.raises(JobError, match="in use by process 4711: wait for it, or choose another --name"):
            execute(plan("toy", "smoke", [], "toy", project))
    assert not (folder / "params.json").exists()


# Files.


def test_a_full_disk_is_named_with_its_free_bytes(project: Path, monkeypatch: pytest.MonkeyPatch) -> None:
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


def test_a_file_is_replaced_as_a_whole(project: Path) -> None:
    path = run_folder("toy") / "a.txt"
    write_text(path, "one")
    write_text(path, "two")
    assert path.read_text() == "two" and path.stat().st_mode & 0o777 == 0o644


def test_a_broken_record_is_named(project: Path) -> None:
    path = run_folder("toy") / "params.json"
    path.write_text("{")
    with pytest.raises(ValueError, match=r"params.json is not JSON .*repair or remove it"):
        read_json(path)


def test_runs_lie_in_the_project_unless_told_otherwise(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.delenv("KIT_RUNS", raising=False)
    assert runs_folder() == ROOT / "runs"
    monkeypatch.setenv("KIT_RUNS", str(tmp_path))
    assert run_folder("a") == tmp_path / "a"


# What is printed.


def test_results_stand_side_by_side_with_their_intervals() -> None:
    results = {
        "metrics": {
            "grpo/acc": {"value": 0.9, "low": 0.8, "high": 0.95, "n": 30},
            "untrained/acc": {"value": 0.0, "low": 0.0, "high": 0.1, "n": 30},
            "grpo/turns": {"value": 2, "low": None, "high": None, "n": 30},
        },
        "claims": {"A1": {"verdict": "holds", "evidence": "0.0 < 0.1"}},
    }
    lines = results_table(results).splitlines()
    assert lines[0].split() == ["metric", "untrained", "grpo"]
    assert lines[2].split() == ["acc", "0.000", "[0.000,", "0.100]", "0.900", "[0.800,", "0.950]"]
    assert lines[3].split() == ["turns", "2.000"]
    assert interval({"value": 1}) == "1.000"
    assert claims_table(results).splitlines()[-1].split()[:2] == ["A1", "holds"]
    assert results_table({}) == "" and claims_table({}) == ""


def test_the_last_training_step_is_shown(project: Path) -> None:
    folder = run_folder("toy") / "grpo"
    folder.mkdir()
    rows = [{"step": i, "reward": i / 10, "loss": 0.5} for i in (1, 2)]
    (folder / "metrics.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows) + '{"step": 3, "rew')
    assert "grpo: step 2, reward 0.200, loss 0.500" in view("toy")


# The command line.


def command(*argv: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run([sys.executable, "-m", "kit", *argv], capture_output=True, text=True, cwd=ROOT)


def test_a_misspelt_parameter_ends_with_code_2_and_the_nearest_name(project: Path) -> None:
    done = command("run", "13", "--profile", "smoke", "--set", "setps=3", "--name", "never")
    assert done.returncode == 2
    assert "no parameter 'setps': did you mean steps?" in done.stderr
    assert "Traceback" not in done.stderr
    assert not (project / "runs").exists()


@pytest.mark.parametrize(
    ("argv", "code", "message"),
    [
        (["run", "99"], 2, "no notebook '99'"),
        (["run", "13", "--profile", "warp"], 2, "no profile 'warp'"),
        (["run", "13", "--name", "../x"], 2, "run name '../x'"),
        (["notebooks", "99"], 2, "no notebook '99'"),
        (["view", "nothing"], 1, "no run 'nothing'"),
    ],
)
def test_refusals_say_why(
    project: Path, capsys: pytest.CaptureFixture[str], argv: list[str], code: int, message: str
) -> None:
    assert main(argv) == code
    assert message in capsys.readouterr().err


@pytest.mark.parametrize(
    ("error", "code", "message"),
    [
        (JobError("it broke"), 1, "it broke"),
        (OSError(errno.ENOSPC, "the disk is full: /x has 0 bytes free"), 1, "the disk is full: /x has 0 bytes free"),
        (KeyboardInterrupt(), 130, "the same command again goes on"),
    ],
)
def test_a_job_that_ends_badly_has_a_message_and_a_code(
    project: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
    error: BaseException,
    code: int,
    message: str,
) -> None:
    def broken(job: Job, force: bool) -> Path:
        raise error

    monkeypatch.setattr(kit.job, "execute", broken)
    assert main(["run", "13", "--profile", "smoke", "--name", "toy"]) == code
    assert message in capsys.readouterr().err


def test_listing_needs_no_heavy_imports() -> None:
    code = "import sys; from kit.__main__ import main; main(['list']); print(sorted({'torch', 'papermill'} & {*sys.modules}))"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, cwd=ROOT)
    assert done.stdout.rstrip().endswith("[]"), done.stdout + done.stderr
    assert all(source.title in done.stdout for source in sources())


def test_every_command_is_wired() -> None:
    assert set(COMMANDS) == {"run", "list", "view", "doctor", "bench", "notebooks", "readme"}
    for name in BENCHES:
        assert parser().parse_args(["bench", name]).name == name


def test_benches_exist() -> None:
    import importlib

    for target in BENCHES.values():
        module, _, function = target.partition(":")
        assert callable(getattr(importlib.import_module(module), function))


def test_every_profile_of_every_notebook_can_be_planned() -> None:
    for source in sources():
        for profile in kit.job.PROFILES:
            assert plan(source.number, profile, [], "planned").notebooks[0].source == source
            assert isinstance(profile_values(source, profile), dict)

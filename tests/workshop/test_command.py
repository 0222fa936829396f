"""The command line: exit codes, messages, and that every command is wired."""

from __future__ import annotations

import errno
import importlib
import os
import shlex
import subprocess
import sys
from pathlib import Path

import pytest

import workshop.jobs.run
from kit.files import ROOT, write_text
from workshop.command import BENCHES, COMMANDS, main, parser
from workshop.command_line import while_read
from workshop.jobs.missing import advice
from workshop.jobs.notebooks import sources
from workshop.jobs.run import Job, JobError


@pytest.fixture
def runs(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("KIT_RUNS", str(tmp_path / "runs"))
    return tmp_path / "runs"


def command(*argv: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run([sys.executable, "-m", "kit", *argv], capture_output=True, text=True, cwd=ROOT)


def test_a_misspelt_parameter_ends_with_code_2_and_the_nearest_name(runs: Path) -> None:
    done = command("run", "13", "--profile", "smoke", "--set", "setps=3", "--name", "never")
    assert done.returncode == 2
    assert "no parameter 'setps': did you mean steps?" in done.stderr
    assert "Traceback" not in done.stderr
    assert not runs.exists()


@pytest.mark.parametrize(
    ("argv", "code", "message"),
    [
        (["run", "99"], 2, "no notebook '99'"),
        (["run", "3"], 2, "no notebook '3': did you mean 03?\n"),
        (["run", "agil"], 2, "no notebook 'agil': did you mean agile?"),
        (["run", "13_agile_gpro"], 2, "did you mean 13_agile_grpo?"),
        (["run", "13", "--name", "new"], 2, "run 'new' has no data: run notebook 11 first"),
        (["run", "13", "--profile", "warp"], 2, "no profile 'warp'"),
        (["run", "13", "--name", "../x"], 2, "run name '../x'"),
        (["run", "13", "--name", ""], 2, "--name '': give the run a name, or leave --name out and it is called agile"),
        (["run", "agile", "--name", " \t"], 2, "leave --name out and it is called agile"),
        (["run", "11", "--name", ""], 2, "leave --name out"),
        (["run", "13", "--name", "."], 2, "run name '.': use 1 to 64 letters"),
        (["run", "13", "--name", ".."], 2, "run name '..'"),
        (["run", "13", "--name", "a/b"], 2, "run name 'a/b'"),
        (["run", "13", "--name", "a", "--tag", " "], 2, "run name 'a- '"),
        (["view", ""], 1, "run name ''"),
        (["join", ""], 1, "run name ''"),
        (["notebooks", "99"], 2, "no notebook '99'"),
        (["view", "nothing"], 1, "no run 'nothing'"),
        (["results", "agle"], 2, "no paper 'agle': did you mean agile? Else one of agile, "),
        (["results", "xyz"], 2, "no paper 'xyz': one of agile, "),
        (["run", "13", "--seeds", "2-0"], 2, "--seeds 2-0: '2-0' is no seed and no range"),
        (["export", "nothing", "--csv"], 1, "no run 'nothing'"),
    ],
)
def test_refusals_say_why(
    runs: Path, capsys: pytest.CaptureFixture[str], argv: list[str], code: int, message: str
) -> None:
    assert main(argv) == code
    assert message in capsys.readouterr().err


@pytest.mark.parametrize(
    ("error", "code", "message"),
    [
        (JobError("it broke"), 1, "it broke"),
        (
            PermissionError(errno.EACCES, "Permission denied", "/x/runs"),
            1,
            "/x/runs: Permission denied: set KIT_RUNS",
        ),
        (OSError(errno.EROFS, "cannot write /x: Read-only file system"), 1, "set KIT_RUNS to a folder of your own"),
        (OSError(errno.ENOSPC, "the disk is full: /x has 0 bytes free"), 1, "the disk is full: /x has 0 bytes free"),
        (KeyboardInterrupt(), 130, "the same command again goes on"),
    ],
)
def test_a_job_that_ends_badly_has_a_message_and_a_code(
    runs: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
    error: BaseException,
    code: int,
    message: str,
) -> None:
    def broken(job: Job, force: bool, verbose: bool) -> Path:
        raise error

    monkeypatch.setattr(workshop.jobs.run, "execute", broken)
    assert main(["run", "00", "--profile", "smoke", "--name", "toy"]) == code
    assert message in capsys.readouterr().err


@pytest.mark.parametrize(
    ("argv", "message"),
    [
        (["lst"], "argument COMMAND: 'lst': did you mean list? Else one of run, plan, "),
        (["zzz"], "argument COMMAND: 'zzz': one of run, plan, "),
        (["bench", "rolout"], "argument name: 'rolout': did you mean rollout? Else one of "),
        (["plan", "13", "--card", "40"], "argument --card: 40: one of 24, 80, 141"),
    ],
)
def test_an_unknown_word_is_answered_with_the_nearest(
    argv: list[str], message: str, capsys: pytest.CaptureFixture[str]
) -> None:
    with pytest.raises(SystemExit) as ended:
        main(argv)
    assert ended.value.code == 2 and message in capsys.readouterr().err


def test_a_reader_that_leaves_ends_a_view_without_a_traceback(runs: Path) -> None:
    """Also where it left before the page was written, which nobody asked to see."""
    write_text(runs / "toy" / "grpo" / "metrics.jsonl", '{"step": 1, "reward": 0.5}\n')
    view = shlex.join([sys.executable, "-m", "kit", "view", "toy"])
    script = f"{view} | true; echo ${{PIPESTATUS[0]}}"
    done = subprocess.run(["bash", "-c", script], capture_output=True, text=True, cwd=ROOT)
    assert done.stdout == "141\n" and done.stderr == ""


HEAVY = ("torch", "transformers", "trl", "scipy", "jsonschema", "papermill")
"""Packages that take from a third of a second to several seconds to import."""


@pytest.mark.parametrize(
    "argv",
    [
        ["list"],
        ["run", "stepz"],
        ["run", "13", "--profile", "lptop"],
        ["run", "13", "--set", "learnin_rate=3"],
        ["run", "13", "--name", "../x"],
        ["view", "nothing"],
        ["plan", "stepz"],
    ],
)
def test_listing_and_refusing_need_no_heavy_imports(runs: Path, argv: list[str]) -> None:
    loaded = f"sorted({{*{HEAVY!r}}} & {{*sys.modules}})"
    code = f"import sys; from workshop.command import main; main({argv!r}); print({loaded})"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, cwd=ROOT)
    assert done.stdout.rstrip().endswith("[]"), done.stdout + done.stderr
    assert argv != ["list"] or all(source.title in done.stdout for source in sources())


@pytest.mark.parametrize("encoding", ["ascii", "latin-1"])
@pytest.mark.parametrize("argv", [["list"], ["plan", "13", "--profile", "laptop"]])
def test_a_terminal_that_lacks_signs_ends_no_command(runs: Path, encoding: str, argv: list[str]) -> None:
    env = {**os.environ, "PYTHONIOENCODING": encoding}
    done = subprocess.run([sys.executable, "-m", "kit", *argv], capture_output=True, cwd=ROOT, env=env)
    assert b"Traceback" not in done.stderr, done.stderr[-2000:]
    assert done.stdout


def test_every_command_is_wired() -> None:
    jobs, reading, care = (
        {"run", "plan", "join", "bench"},
        {"list", "view", "export", "lab", "reset", "tools"},
        {"doctor", "notebooks", "results", "readme"},
    )
    assert set(COMMANDS) == jobs | reading | care | {"course", "slides"}
    for name in BENCHES:
        assert parser().parse_args(["bench", name]).name == name


def test_benches_exist() -> None:
    for target in BENCHES.values():
        module, _, function = target.partition(":")
        # Its own, not one the module imported under the same name.
        assert getattr(importlib.import_module(module), function).__module__ == module


ARGUMENTS = {
    "run": ["13"], "plan": ["13"], "join": ["run"], "view": ["run"], "bench": ["sandbox"], "notebooks": ["--check"],
    "export": ["run", "--csv"], "reset": ["13"], "tools": ["list"], "course": ["make", "FOLDER", "00"],
    "slides": ["agile"],
    "results": ["--plan"],
}  # fmt: skip
"""Of the commands that take some, or that would do much without."""


@pytest.mark.parametrize("name", COMMANDS)
def test_a_python_without_the_kits_packages_is_told_which_to_take(name: str, tmp_path: Path) -> None:
    """``-S`` leaves out installed packages: as a plain ``python3`` in a terminal."""
    typed = [name, *(str(tmp_path / "class") if each == "FOLDER" else each for each in ARGUMENTS.get(name, []))]
    environment = {"PATH": os.environ["PATH"], "HOME": str(tmp_path), "KIT_RUNS": str(tmp_path / "runs")}
    bare = [getattr(sys, "_base_executable", sys.executable), "-S", "-m", "kit"]
    done = subprocess.run([*bare, *typed], capture_output=True, text=True, cwd=ROOT, env=environment)
    (line,) = done.stderr.splitlines()
    assert done.returncode == 2 and "has no package" in line, done.stderr
    assert line.endswith(shlex.join(["-m", "kit", *typed])) and ".venv/bin/python" in line


@pytest.mark.parametrize(
    ("error", "says"),
    [
        (ModuleNotFoundError("No module named 'PIL.Image'", name="PIL.Image"), "has no package 'PIL'"),
        (ModuleNotFoundError("No module named 'kit.rooms'", name="kit.rooms"), ""),
        (ModuleNotFoundError("No module named 'benchmarks'", name="benchmarks"), ""),
        (ImportError("cannot import name 'a' from 'torch'", name="torch"), ""),
    ],
)
def test_advice_is_for_missing_packages_not_for_faults_of_the_kit(
    error: ImportError, says: str, tmp_path: Path
) -> None:
    found = advice(error, ["view", "a b"], tmp_path)
    assert (says in found) if says else found == ""
    if says:
        assert "install it with make .venv/ready-cpu" in found and found.endswith("python -m kit view 'a b'")
        (tmp_path / ".venv" / "bin").mkdir(parents=True)
        (tmp_path / ".venv" / "bin" / "python").touch()
        assert f"say {tmp_path}/.venv/bin/python -m kit view 'a b'" in advice(error, ["view", "a b"], tmp_path)


def test_advice_names_an_old_python(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setattr("sys.version_info", (3, 9, 2))
    assert "Python 3.11 or newer" in advice(ImportError("cannot import name 'Self' from 'typing'"), ["list"], tmp_path)


def test_what_is_optional_and_missing_in_the_kits_own_environment_is_told_as_it_is(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setattr("sys.prefix", str(tmp_path / ".venv"))
    assert advice(ModuleNotFoundError("No module named 'vllm'", name="vllm"), ["run", "13"], tmp_path) == ""


def shell(line: str, **environment: str) -> subprocess.CompletedProcess[str]:
    """A command line of bash's, in which KIT stands for the kit's; fails where any part of a pipe does."""
    line = "set -o pipefail; " + line.replace("KIT", f"{shlex.quote(sys.executable)} -m kit")
    known = os.environ | environment
    return subprocess.run(["bash", "-c", line], capture_output=True, text=True, cwd=ROOT, env=known, errors="replace")


@pytest.mark.parametrize(
    ("line", "code"),
    [
        ("KIT list | true", 141),
        ("KIT list 2>&1 | true", 141),
        ("KIT --help | true", 0),
        ("KIT list >&-", 0),
        ("KIT list >&- 2>&- <&-", 0),
        ("KIT list <&-", 0),
        ("KIT run 99 >&-", 2),
        ("KIT run 99 2>&-", 2),
        ("KIT list >/dev/full", 1),
    ],
)
def test_whoever_reads_may_go_away_or_never_be_there(runs: Path, line: str, code: int) -> None:
    slow = line.replace("| true", "| (exec <&-; sleep 0.1)")
    done = shell(slow)
    assert done.returncode == code and "Traceback" not in done.stderr and "ignored" not in done.stderr
    assert len(done.stderr.splitlines()) == (line in ("KIT run 99 >&-", "KIT list >/dev/full"))


COMMANDS_WITH_RUNS = ["list", "view x", "run 00 --profile smoke", "run 13", "plan 13", "join x", "reset all", "doctor"]


@pytest.mark.parametrize("argv", COMMANDS_WITH_RUNS)
def test_a_runs_folder_that_cant_be_is_refused_at_once(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], argv: str
) -> None:
    (tmp_path / "file").touch()
    (tmp_path / "loop").symlink_to("loop")
    os.mkfifo(tmp_path / "pipe")
    latin = os.fsdecode(b"caf\xe9")
    for name in ("file", "file/below", "file/a/b", "pipe", "loop", "loop/x", latin, f"{latin}/runs", f"new/{latin}"):
        monkeypatch.setenv("KIT_RUNS", str(tmp_path / name))
        assert main(argv.split()) == (2 if argv.split()[0] in ("run", "plan") else 1)
        [told] = capsys.readouterr().err.splitlines()
        assert name.partition("/")[0].encode("unicode_escape").decode() in told or name in told
        assert told.endswith("set KIT_RUNS to a folder of your own, such as KIT_RUNS=~/kit-runs")


def test_another_pipe_that_breaks_is_no_reader_that_has_gone() -> None:
    def broken() -> int:
        raise BrokenPipeError(errno.EPIPE, "Broken pipe")

    with pytest.raises(BrokenPipeError):
        while_read(broken)


def test_a_text_in_another_encoding_is_no_parameter(runs: Path, capsys: pytest.CaptureFixture[str]) -> None:
    for text in (os.fsdecode(b"caf\xe9"), "\ud800"):
        assert main(["run", "12", "--set", f"model={text}"]) == 2
        assert "model=" in (told := capsys.readouterr().err) and "expected str in UTF-8" in told

"""Jobs: parameters are checked first, runs resume, failures keep their output and say where to look."""

from __future__ import annotations

import fcntl
import os
import re
import subprocess
import sys
import time
from pathlib import Path

import pytest

from kit.files import read_json, run_folder
from kit.policy.limits import ENGINE
from kit.train.launch.topology import LaunchError
from workshop.command import main
from workshop.jobs import machine
from workshop.jobs.checks import JobError
from workshop.jobs.listing import listing, view
from workshop.jobs.machine import check_machine
from workshop.jobs.notebooks import parameters, settable, sources
from workshop.jobs.parameters import ParameterError
from workshop.jobs.run import PROFILES as PROFILES_KNOWN
from workshop.jobs.run import evaluations_engine, execute, plan

NOTEBOOK = """# %% [markdown]
# # 11 · Toy

# %% tags=["parameters"]
run: str = "toy"  # run directory
steps: int = 3  # how many
rate: float = 0.5  # of what
fail: bool = False  # whether to break
profile: str = "laptop"  # written into results

# %%
from kit.files import run_folder

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


# Planning: nothing has run when it refuses.


def test_a_plan_holds_profile_values_then_set_ones(project: Path) -> None:
    job = plan("toy", "smoke", ["12.steps=9", "rate=1"], "toy", project)
    assert [(p.source.number, p.values) for p in job.notebooks] == [
        ("11", {"run": "toy", "profile": "smoke", "steps": 1, "rate": 1.0}),
        ("12", {"run": "toy", "profile": "smoke", "steps": 9}),
    ]
    assert plan("12", "laptop", [], None, project).name == "toy"


def test_how_memory_is_used_reaches_a_training_whose_cells_name_it_nowhere(
    project: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    """By a profile or ``--set``; a notebook that doesn't train has no such setting."""
    toy = project / "notebooks" / "percent" / "11_toy.py"
    toy.write_text(
        NOTEBOOK.replace("fail:", "per_device_batch_size: int = 1  # episodes\nfail:", 1)
        + "\n# %%\nprint(steps, globals().get('gradient_checkpointing'))\n"
    )
    (project / "notebooks" / "profiles" / "toy.yaml").write_text(
        "laptop: {11: {}, 12: {}}\nsmoke: {11: {gradient_checkpointing: true}, 12: {}}"
    )
    for profile, sets, expected in (
        ("laptop", [], None),
        ("smoke", [], True),
        ("smoke", ["gradient_checkpointing=false"], False),
        ("laptop", ["11.gradient_checkpointing=false"], False),
    ):
        job = plan("toy", profile, sets, "toy", project, until="11")
        assert job.notebooks[0].values.get("gradient_checkpointing") is expected
        execute(job, force=True, verbose=True)
        told = capfd.readouterr()
        assert f"3 {expected}" in told.out and "unknown parameter" not in told.out + told.err
    for wrong, why in (("12.gradient_checkpointing=true", "has no parameter"), ("gradient_checkpointing=7", "bool")):
        with pytest.raises(ParameterError, match=why):
            plan("toy", "laptop", [wrong], "toy", project)


def test_each_training_takes_its_settings_from_its_notebooks_parameters() -> None:
    """Else what no cell names, such as checkpointing, would be set and not read."""
    trains = [source for source in sources() if "per_device_batch_size" in parameters(source)]
    assert len(trains) >= 9
    for source in trains:
        made = re.findall(r"\b(?:SFT|GRPO)Settings(?:\.of)?\(\s*[\w().]+", source.text)
        assert made and all(re.search(r"\.of\(\s*globals\(\)", one) for one in made), source.name
        assert settable(source).keys() - parameters(source).keys() == {"gradient_checkpointing"}


@pytest.mark.parametrize(
    ("profile", "sets", "message"),
    [
        ("smoke", ["stesp=1"], "has no parameter 'stesp': did you mean steps"),
        ("smoke", ["12.rate=1"], "notebook 12 has no parameter 'rate'"),
        ("smoke", ["13.steps=1"], r"notebook 13 is not part of this job \(11, 12\)"),
        ("smoke", ["steps"], "write name=value"),
        ("smoke", ["run=x"], "give it as --name"),
        ("smoke", ["profile=x"], "give it as --profile"),
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


@pytest.mark.parametrize(
    ("sets", "message"),
    [
        (["group_size=1"], r"notebook 13: GRPOSettings.group_size=1"),
        (["12.epochs=0"], r"notebook 12: SFTSettings.epochs=0"),
        (["13.learning_rate=-1"], r"notebook 13: GRPOSettings.learning_rate=-1"),
        (["lora_rank=-1"], r"notebook 12: SFTSettings.lora_rank=-1"),
        (["13.lora_rank=-1"], r"notebook 13: GRPOSettings.lora_rank=-1"),
        (["temperature=0"], r"notebook 13: temperature=0.0: must be above 0 \(of sampling"),
        (["eval_puzzles=0"], r"notebook 11: eval_puzzles=0: must be at least 1"),
        (["14.tries=0"], r"notebook 14: tries=0: must be at least 1"),
        (["guesses=1.5"], r"notebook 11: guesses=1.5: must be at least 0 and at most 1"),
        (["seed=-1"], r"seed=-1: must "),
        (["train_levels=0,-1"], r"notebook 11: train_levels=-1: must be at least 0"),
    ],
)
def test_impossible_settings_are_refused_before_the_notebooks_ahead_run(sets: list[str], message: str) -> None:
    with pytest.raises(ParameterError, match=message):
        plan("agile", "laptop", sets, "planned")


# Running.


def test_a_run_executes_in_order_and_the_same_command_again_skips(
    project: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    job = plan("toy", "smoke", [], "toy", project)
    folder = execute(job, verbose=True)
    assert folder == project / "runs" / "toy"
    record = read_json(folder / "params.json")
    assert {n: (e["status"], e["profile"]) for n, e in record["notebooks"].items()} == {
        "11_toy": ("done", "smoke"),
        "12_toy_sft": ("done", "smoke"),
    }
    assert record["notebooks"]["11_toy"]["parameters"] == {"run": "toy", "profile": "smoke", "steps": 1}
    assert "steps 1 rate 0.5" in (folder / "11_toy.ipynb").read_text()
    assert "steps 1 rate 0.5" in capsys.readouterr().out, "what a notebook prints is seen while it runs"
    execute(job)
    assert capsys.readouterr().out.count("done before, skipped") == 2
    assert runs_of(project) == 1
    second = project / "notebooks" / "percent" / "12_toy_sft.py"
    second.write_text(second.read_text() + "\n# %%\nprint('added')\n")
    execute(plan("toy", "smoke", [], "toy", project))
    told = capsys.readouterr().out
    first, other = [line for line in told.splitlines() if "done before" in line]
    assert first.startswith("11 · Toy") and first.endswith("  done before, skipped (--force runs it again)")
    assert other.startswith("12 · Second") and "done before by another version of this notebook, skipped" in other
    execute(job, force=True)
    assert runs_of(project) == 2 and runs_of(project, "log2.txt") == 2
    with pytest.raises(JobError, match="holds 11_toy with steps=1, now steps=7: choose another --name, or --force"):
        execute(plan("toy", "smoke", ["steps=7"], "toy", project))
    shown = view("toy")
    assert "11_toy" in shown and "done" in shown and str(folder / "12_toy_sft.ipynb") in shown
    assert "11 done, 12 done" in listing(project)


def test_a_job_tells_a_line_a_notebook_and_its_log_has_the_rest(
    project: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    folder = execute(plan("toy", "smoke", [], "toy", project))
    told = capsys.readouterr().out.splitlines()
    assert told[0] == "11 · Toy" and told[1].startswith("run toy, profile smoke; ") and told[1].endswith("run.log")
    assert [re.sub(r" +\d+ s$", "", line) for line in told[3:]] == ["11 · Toy", "12 · Second"]
    log = (folder / "run.log").read_text()
    assert re.search(r"== 11_toy, .*\nsteps 1 rate 0.5\n== 12_toy_sft, .*\nsteps 2\n", log)


def test_a_job_may_end_with_a_notebook(project: Path) -> None:
    assert [p.source.number for p in plan("toy", "smoke", [], "toy", project, until="11").notebooks] == ["11"]
    with pytest.raises(ParameterError, match=r"--until 13: toy has the notebooks 11, 12"):
        plan("toy", "smoke", [], "toy", project, until="13")


def test_a_failed_notebook_keeps_its_output_and_stops_the_job(project: Path) -> None:
    with pytest.raises(JobError, match=r"11_toy failed in cell \[\d+\] with RuntimeError: the toy broke") as caught:
        execute(plan("toy", "smoke", ["11.fail=true"], "toy", project))
    kept = project / "runs" / "toy" / "11_toy.ipynb"
    assert str(kept) in str(caught.value) and str(kept.with_name("run.log")) in str(caught.value)
    assert "RuntimeError: the toy broke" in kept.with_name("run.log").read_text()
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
        with pytest.raises(JobError, match=r"is being written by 4711: wait for it, .*, or give this run another"):
            execute(plan("toy", "smoke", [], "toy", project))
    assert not (folder / "params.json").exists()


def test_every_profile_of_every_notebook_can_be_planned() -> None:
    for source in sources():
        for profile in PROFILES_KNOWN:
            assert plan(source.number, profile, [], "planned").notebooks[0].source == source


def started(project: Path, **env: str) -> subprocess.CompletedProcess[bytes]:
    """The first toy notebook as ``python -m kit run`` does it, in a process of its own."""
    code = (
        "import functools, sys; from pathlib import Path; import workshop.jobs.run as run; "
        "from workshop.command import main; "
        "run.plan = functools.partial(run.plan, root=Path(sys.argv[1])); "
        "sys.exit(main(['run', '11', '--profile', 'laptop', '--name', 'toy', '--verbose']))"
    )
    words = [sys.executable, "-c", code, str(project)]
    return subprocess.run(words, env={**os.environ, **env}, capture_output=True, timeout=120)


SIGNS = """# %% [markdown]
# # 11 · Signs

# %% tags=["parameters"]
steps: int = 1  # how many
run: str = "toy"  # run directory

# %%
import sys

print("loss ↓ 0.5 → 0.25, 2×2 ✓")
print("é", file=sys.stderr)
"""


@pytest.mark.parametrize("encoding", ["latin-1", "ascii"])
def test_a_sign_that_the_terminal_lacks_ends_no_job(project: Path, encoding: str) -> None:
    (project / "notebooks" / "percent" / "11_toy.py").write_text(SIGNS)
    done = started(project, PYTHONIOENCODING=encoding)
    assert done.returncode == 0, done.stderr
    assert rb"loss \u2193 0.5 \u2192 0.25" in done.stdout
    assert "loss ↓ 0.5 → 0.25, 2×2 ✓" in (project / "runs" / "toy" / "11_toy.ipynb").read_text()


@pytest.mark.parametrize("length", [71, 90, 200])
def test_a_long_path_of_temporary_files_is_no_hindrance(project: Path, tmp_path: Path, length: int) -> None:
    """A socket's path may have some hundred bytes; of a folder of 90, none can be made in it."""
    long = tmp_path / ("x" * max(1, length - len(str(tmp_path)) - 1))
    long.mkdir()
    done = started(project, TMPDIR=str(long))
    assert done.returncode == 0, done.stderr
    assert runs_of(project) == 1


BLOCKS = """# %% [markdown]
# # 11 · Blocks

# %% tags=["parameters"]
steps: int = 1  # how many
run: str = "toy"  # run directory

# %%
import time

from kit.files import run_folder

(run_folder(run) / "started").touch()
while not (run_folder(run) / "go").exists():
    time.sleep(0.05)
"""


def test_a_killed_job_leaves_no_lock_and_runs_again(project: Path) -> None:
    (project / "notebooks" / "percent" / "11_toy.py").write_text(BLOCKS)
    code = (
        "import sys; from pathlib import Path; from workshop.jobs.run import execute, plan; "
        "execute(plan('11', 'laptop', [], 'toy', Path(sys.argv[1])))"
    )
    folder = project / "runs" / "toy"
    child = subprocess.Popen([sys.executable, "-c", code, str(project)], stdout=subprocess.DEVNULL)
    while not (folder / "started").exists():
        assert child.poll() is None, "the job ended before its notebook began"
        time.sleep(0.05)
    job = plan("11", "laptop", [], "toy", project)
    with pytest.raises(JobError, match=f"is being written by process {child.pid}, since"):
        execute(job)
    child.kill()
    child.wait()
    assert read_json(folder / "params.json")["notebooks"]["11_toy"]["status"] == "running"
    (folder / "go").touch()
    execute(job)
    assert read_json(folder / "params.json")["notebooks"]["11_toy"]["status"] == "done"


@pytest.mark.parametrize(
    ("target", "sets", "said"),
    [
        ("13", ["num_processes=2"], "batch of 96 episodes on 2 process.* 64 at once don't divide it"),
        ("12", ["num_processes=4"], r"batch of \d+ episodes on 4 process.* 16 at once"),
        ("13", ["strategy=zero9"], "strategy='zero9': choose one of ddp"),
        ("23", ["num_processes=-1"], "num_processes=-1: at least 1 process trains"),
    ],
)
def test_processes_that_cant_share_a_batch(target: str, sets: list[str], said: str) -> None:
    with pytest.raises(ParameterError, match=said):
        plan(target, "laptop", sets, "toy")


def test_a_machine_that_cant_do_it_is_told_before_anything_runs(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("KIT_RUNS", str(tmp_path))
    import torch

    monkeypatch.setattr(torch.cuda, "device_count", lambda: 1)
    two = ["13.num_processes=2", "13.per_device_batch_size=16"]
    check_machine(plan("agile", "laptop", two, "small"))  # the tiny base is for processor cores
    server = ["rollout_engine=server", "vllm_server_url=http://127.0.0.1:8000"]
    divided = plan("agile", "laptop", [*two, "13.strategy=fsdp2", *(f"13.{one}" for one in server)], "toy")
    with pytest.raises(LaunchError, match=r"2 processes on .*, which has 1 GPU\(s\)"):
        check_machine(divided)
    sets = ["num_processes=2", "per_device_batch_size=16", "strategy=fsdp2", *server]
    assert main(["run", "13", *(word for one in sets for word in ("--set", one)), "--name", "toy"]) == 2
    assert not (tmp_path / "toy").exists()


def ready(folder: Path) -> None:
    """What notebook 13 needs of those before it."""
    for path in ("data/train.jsonl", "sft/model/config.json", "stages/untrained.json", "stages/sft.json"):
        (folder / path).parent.mkdir(parents=True, exist_ok=True)
        (folder / path).write_text("{}")


def test_a_missing_stage_is_named_with_the_command_that_makes_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("KIT_RUNS", str(tmp_path / "runs"))
    for target, said in (
        ("12", r"run 'toy' has no data: run notebook 11 first \(python -m kit run 11 --name toy\)"),
        ("13", "run 'toy' has no data: run notebook 11 first"),
    ):
        with pytest.raises(JobError, match=said):
            check_machine(plan(target, "laptop", [], "toy"))
    assert not (tmp_path / "runs").exists()
    assert plan("agile", "laptop", [], "toy").needs == {}, "a whole paper makes all it needs"
    ready(tmp_path / "runs" / "toy")
    check_machine(plan("13", "laptop", [], "toy"))
    with pytest.raises(JobError, match=r"run 'other' has no data: .*; or go on with a run that has it: toy"):
        check_machine(plan("13", "laptop", [], "other"))


def test_a_tag_works_in_a_branch_with_the_runs_data(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("KIT_RUNS", str(tmp_path))
    ready(tmp_path / "toy")
    job = plan("13", "laptop", ["learning_rate=3e-4"], "toy", tag="fast")
    assert (job.name, job.branch_of) == ("toy-fast", "toy")
    assert job.notebooks[0].values["run"] == "toy-fast" and job.notebooks[0].values["tag"] == ""
    check_machine(job)
    assert (tmp_path / "toy-fast" / "sft" / "model" / "config.json").is_file()
    with pytest.raises(ParameterError, match="give it as --tag"):
        plan("13", "laptop", ["tag=fast"], "toy")


@pytest.mark.parametrize(
    ("target", "profile", "said"),
    [
        ("agile", "gpu", "notebooks 11, 12, 13, 14, 15 with Qwen/Qwen2.5-VL-3B-Instruct on 1 × 24 GB of GPU memory"),
        ("mags_rl", "node", "notebooks 41, 42, 43, 44 with Qwen/Qwen2.5-VL-3B-Instruct on 8 × 80 GB of GPU memory"),
        ("13", "gpu", "notebook 13 with Qwen/Qwen2.5-VL-3B-Instruct on 1 × 24 GB"),  # 12 names the model
        ("14", "gpu", "notebook 14 with Qwen/Qwen2.5-VL-3B-Instruct on 1 × 24 GB"),  # trains nothing itself
        ("60", "gpu", "notebook 60 with Qwen/Qwen2.5-VL-3B-Instruct on one GPU"),
    ],
)
def test_a_profile_for_gpus_needs_one(
    target: str,
    profile: str,
    said: str,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    """Refused before any work: what would run and on what, how that is planned, and what runs here."""
    import torch

    monkeypatch.setenv("KIT_RUNS", str(tmp_path / "runs"))
    monkeypatch.setattr(torch.cuda, "is_available", lambda: False)
    assert main(["run", target, "--profile", profile, "--name", "toy"]) == 2
    told = capsys.readouterr().err
    assert f"profile '{profile}' would run {said}" in told and "this machine has no GPU that torch can use" in told
    planned = {"13": "13", "60": ""}.get(target, "agile" if target in ("14", "agile") else target)
    assert (f"python -m kit plan {planned} --profile {profile}\n" in told) == bool(planned)
    assert f"the committed tiny model: python -m kit run {target} --profile laptop" in told
    assert told.count("\n") <= 3 and not (tmp_path / "runs").exists()
    check_machine(plan("teaching", profile, [], "toy"))  # nothing there needs one


PAPERS = ("agile", "visual_arft", "codedance", "mags_rl", "vista_gym")


@pytest.mark.parametrize("target", PAPERS)
def test_a_profile_for_gpus_samples_by_vllm_which_must_be_there(
    target: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    import torch

    from kit.train.launch import topology

    monkeypatch.setenv("KIT_RUNS", str(tmp_path / "runs"))
    monkeypatch.delenv(ENGINE, raising=False)
    for profile, gpus in (("gpu", 1), ("node", 8)):
        monkeypatch.setattr(torch.cuda, "is_available", lambda: True)
        monkeypatch.setattr(torch.cuda, "device_count", lambda gpus=gpus: gpus)
        monkeypatch.setattr(machine, "_check_model", lambda model: None)
        monkeypatch.setattr(topology.importlib.util, "find_spec", lambda name: None if name == "vllm" else name)
        job = plan(target, profile, [], "toy")
        engines = [v for planned in job.notebooks if (v := planned.all_values.get("rollout_engine"))]
        assert engines and set(engines) == {"colocate"} and evaluations_engine(job) == "colocate"
        with pytest.raises(LaunchError, match="needs vLLM: make lab LOCK=gpu; or --set rollout_engine=transformers"):
            check_machine(job)
        slow = plan(target, profile, ["rollout_engine=transformers"], "toy")
        assert evaluations_engine(slow) == "transformers"


@pytest.mark.parametrize("other", ["not the lock's: torch 2.11.0 (lock 2.13.0); the kit was tried with the lock's", ""])
def test_a_run_begins_with_the_versions_that_are_not_the_locks(
    other: str, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    def begin(job: object, *_: object) -> None:
        print("begun")
        raise JobError("enough")

    monkeypatch.setattr("workshop.jobs.doctor.not_the_locks", lambda: other)
    monkeypatch.setattr("workshop.jobs.machine.check_machine", lambda job: None)
    monkeypatch.setattr("workshop.jobs.run.execute", begin)
    assert main(["run", "00"]) == 1
    assert capsys.readouterr().out == (f"{other}\nbegun\n" if other else "begun\n")


def test_what_samples_in_evaluations_is_what_samples_in_trainings(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv(ENGINE, raising=False)
    for target, profile, engine in (
        ("14", "gpu", "colocate"),  # it trains nothing: as its family's trainings have it
        ("14", "laptop", "transformers"),
        ("13", "laptop", "transformers"),
        ("05", "gpu", "transformers"),  # no paper: its parameter is for planning
    ):
        assert evaluations_engine(plan(target, profile, [], "toy")) == engine, (target, profile)
    assert evaluations_engine(plan("13", "smoke", ["rollout_engine=colocate"], "toy")) == "colocate"
    monkeypatch.setenv(ENGINE, "transformers")
    assert evaluations_engine(plan("14", "gpu", [], "toy")) == "transformers"


def test_a_model_that_cant_be_loaded_is_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    import huggingface_hub

    monkeypatch.setenv("KIT_RUNS", str(tmp_path / "runs"))
    (tmp_path / "empty").mkdir()

    def check(model: str) -> None:
        check_machine(plan("agile", "laptop", [f"model={model}"], "toy"))

    with pytest.raises(JobError, match=r"is not a checkpoint: a folder with a config\.json is needed"):
        check(str(tmp_path / "empty"))
    with pytest.raises(JobError, match="is not a checkpoint"):
        check("./missing")
    with pytest.raises(JobError, match=r"neither a folder nor the name of a model; .*--set model=FOLDER"):
        check("a/b/c")

    def fails(*args: object, **kwargs: object) -> bool:
        raise ConnectionError("no network")

    monkeypatch.setattr(huggingface_hub, "file_exists", fails)
    with pytest.raises(JobError, match=r"the hub doesn't answer \(ConnectionError\); .*--set model=FOLDER"):
        check("Qwen/Qwen2.5-VL-3B-Instruct")
    monkeypatch.setattr(huggingface_hub, "file_exists", lambda *args, **kwargs: False)
    with pytest.raises(JobError, match="the hub has no such model"):
        check("Qwen/Qwen2.5-VL-3B-Instruct")
    (tmp_path / "empty" / "config.json").write_text("{}")
    check(str(tmp_path / "empty"))


def test_a_runs_folder_that_cant_be_written_names_the_way_out(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("KIT_RUNS", str(tmp_path / "runs"))
    monkeypatch.setattr("os.access", lambda path, mode: False)
    with pytest.raises(JobError, match="can't be written: set KIT_RUNS to a folder of your own"):
        check_machine(plan("11", "laptop", [], "toy"))


@pytest.mark.parametrize(
    ("family", "until", "value", "said"),
    [
        ("agile", "14", "prompt=long", r"notebook 11: prompt='long': choose one of \['brief', 'full'\]"),
        ("agile", "14", "13.prompt=long", "notebook 13: prompt='long'"),
        ("agile", "14", "13.on_no_action=ask", "notebook 13: on_no_action='ask': choose one of end, tell"),
        ("vista_gym", "54", "53.prompt=long", r"notebook 53: prompt='long': choose one of \['brief', 'brief-"),
        ("vista_gym", "54", "54.loss_type=gpro", "loss_type='gpro': choose one of grpo, dr_grpo, bnpo, dapo"),
    ],
)
def test_a_value_that_the_environment_doesnt_know_is_refused_first(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, family: str, until: str, value: str, said: str
) -> None:
    monkeypatch.setenv("KIT_RUNS", str(tmp_path / "runs"))
    with pytest.raises(ParameterError, match=said):
        check_machine(plan(family, "laptop", [value], "toy", until=until))
    assert not (tmp_path / "runs").exists()

"""Several runs by one command: what is planned, what is refused, what goes on, and their page."""

from __future__ import annotations

import re
from collections.abc import Sequence
from pathlib import Path

import pytest

from kit.files import read_json, runs_folder, write_json, write_text
from kit.train.progress import duration
from workshop.command import main
from workshop.jobs import sweep
from workshop.jobs.notebooks import settable, sources
from workshop.jobs.parameters import Parameter, ParameterError, is_listed
from workshop.jobs.run import plan
from workshop.jobs.sweep import Variant, by_setting, run_all, variants

TOY = """# %% [markdown]
# # 11 · Toy

# %% tags=["parameters"]
run: str = "toy"  # run directory
seed: int = 0  # of the run
words: str = "a,b"  # parts
sizes: list[int] = [1]  # of it
steps: int = 3  # how many
rate: float = 0.5  # of what
profile: str = "laptop"  # written into results

# %%
from kit.files import run_folder

log = run_folder(run) / "log.txt"
log.write_text(log.read_text() + "x" if log.exists() else "x")
if steps == 2:
    raise RuntimeError("the toy broke")
"""

SECOND = TOY.replace("11 · Toy", "12 · Second").replace("rate: float = 0.5  # of what\n", "")


@pytest.fixture
def seeded(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A project of two toy notebooks."""
    monkeypatch.setenv("KIT_RUNS", str(tmp_path / "runs"))
    for name, text in (("percent/11_toy.py", TOY), ("percent/12_toy_sft.py", SECOND)):
        write_text(tmp_path / "notebooks" / name, text)
    write_text(tmp_path / "notebooks" / "profiles" / "toy.yaml", "smoke: {11: {steps: 1}, 12: {steps: 1}}")
    return tmp_path


def made(
    root: Path, sets: Sequence[str] = (), seeds: str = "", name: str | None = None, tag: str = ""
) -> list[Variant]:
    return variants(plan("toy", "smoke", [], name, root, tag), "toy", sets, seeds, "", root)


def test_seed_0_of_all_values_comes_first_and_names_say_values(seeded: Path) -> None:
    some = made(seeded, ["11.rate=0.25,0.5", "steps=2,4", "sizes=2,3"], "0,3-4")
    names = [one.job.name for one in some]
    assert len(names) == 2 * 2 * 3 and names[:2] == ["toy-11.rate_0.25-steps_2-0", "toy-11.rate_0.25-steps_4-0"]
    assert [one.seed for one in some] == [0] * 4 + [3] * 4 + [4] * 4
    last = some[-1].job.notebooks[0].values
    assert (last["rate"], last["steps"], last["seed"], last["run"]) == (0.5, 4, 4, "toy-11.rate_0.5-steps_4-4")
    groups = by_setting(some)
    assert list(groups)[:2] == ["11.rate=0.25, steps=2", "11.rate=0.25, steps=4"]
    assert groups["11.rate=0.5, steps=4"] == {f"toy-11.rate_0.5-steps_4-{seed}": seed for seed in (0, 3, 4)}


def test_lists_are_left_to_parameters_that_are_lists(seeded: Path) -> None:
    (one,) = made(seeded, ["sizes=2,3", "words=x,y", "rate=0.1"])
    assert one.job.name == "toy" and one.setting == "" and one.sets == ("sizes=2,3", "words=x,y", "rate=0.1")
    assert one.job.notebooks[0].values["sizes"] == [2, 3] and one.job.notebooks[0].values["words"] == "x,y"


def test_branches_of_each_seeds_run_are_named_after_their_values(seeded: Path) -> None:
    some = made(seeded, ["rate=0.25,0.5"], "0-1", "base", "fast")
    assert [(one.job.branch_of, one.job.name) for one in some][:2] == [
        ("base-0", "base-0-fast-rate_0.25"),
        ("base-0", "base-0-fast-rate_0.5"),
    ]


@pytest.mark.parametrize(
    ("sets", "seeds", "message"),
    [
        ([], "2-1", "--seeds 2-1: '2-1' is no seed and no range; write 0-2 or 0,3,5"),
        ([], "0-", "'0-' is no seed"),
        ([], "1,,2", "'' is no seed"),
        ([], "0-3,2", "'2' names a seed for the second time"),
        ([], "0-99999999", "100000000 runs, toy-0 and so on, of at most 64 a command; nothing says yet how long"),
        (["steps=1,2,3"], "0-29", "90 runs, toy-steps_1-0 and so on"),
        (["steps=1,,2"], "", "--set steps=1,,2: a value is empty or stands there twice"),
        (["steps=1,1"], "", "stands there twice"),
        (["seed=0,1"], "", "give several seeds as --seeds 0,1"),
        (["11.seed=5"], "0-1", "--seeds 0-1 and --set 11.seed=5: give one of them"),
        (["stepz=1,2"], "", "no parameter 'stepz': did you mean steps?"),
        (["steps=1,two"], "", "steps=two; expected int"),
        (["profile=a/b,a b"], "", "give it as --profile"),
        ([], "4294967296", "seed=4294967296: must be"),
    ],
)
def test_what_cant_be_planned_is_refused_before_anything_runs(
    seeded: Path, sets: list[str], seeds: str, message: str
) -> None:
    with pytest.raises(ParameterError, match=re.escape(message)):
        made(seeded, sets, seeds)
    assert not (seeded / "runs").exists()


def test_a_job_without_a_seed_has_no_seeds(seeded: Path) -> None:
    for path in (seeded / "notebooks" / "percent").glob("*.py"):
        write_text(path, path.read_text().replace("seed: int = 0  # of the run\n", ""))
    with pytest.raises(ParameterError, match="--seeds 0-1: toy has no parameter seed"):
        made(seeded, [], "0-1")


def test_so_many_runs_take_as_long_as_one_took_here(seeded: Path) -> None:
    some = made(seeded, [], "0-2")
    write_json(
        seeded / "runs" / "before" / "params.json",
        {
            "notebooks": {
                name: {"status": "done", "profile": "smoke", "minutes": minutes}
                for name, minutes in (("11_toy", 30.0), ("12_toy_sft", 90.0))
            }
        },
    )
    assert sweep.estimate(some[0].job, 3) == "about 6.0 h (2.0 h each, as the run before took)"


def test_a_run_that_nobody_recorded_takes_half_a_minute_a_notebook_with_smoke() -> None:
    """Notebooks 11 to 13, three times: 3 × 3 × 0.5 minutes."""
    assert sweep.estimate(plan("agile", "smoke", [], "x", until="13"), 3) == (
        f"about {duration(270)} ({duration(90)} each, by half a minute a notebook on two cores)"
    )


def test_a_failed_run_leaves_the_others_and_the_same_command_goes_on(
    seeded: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """Three runs, of which the second breaks: first and third are done and passed over the next time."""
    pages: list[int] = []

    def page() -> Path:
        pages.append(len(list(runs_folder().glob("*/params.json"))))
        return runs_folder() / "toy.html"

    def again() -> list[str]:
        job = plan("11", "smoke", [], None, seeded)
        return run_all(variants(job, "11", ["steps=1,2,3"], "", "", seeded), page, force=False, verbose=False)

    assert again() == ["toy-steps_2"] and pages == [1, 2, 3]
    told = capsys.readouterr()
    assert "== 3 of 3: toy-steps_3" in told.out and "RuntimeError: the toy broke" in told.err
    assert again() == ["toy-steps_2"]
    assert capsys.readouterr().out.count("done before, skipped") == 2
    assert [(seeded / "runs" / f"toy-steps_{n}" / "log.txt").read_text() for n in (1, 2, 3)] == ["x", "xx", "x"]
    assert all((seeded / "runs" / f"toy-steps_{n}" / "overview.html").is_file() for n in (1, 2, 3))
    states = [read_json(seeded / "runs" / f"toy-steps_{n}" / "params.json")["notebooks"] for n in (1, 2, 3)]
    assert [state["11_toy"]["status"] for state in states] == ["done", "failed", "done"]


def test_every_text_with_a_comma_of_its_own_is_a_list() -> None:
    for source in sources():
        for parameter in settable(source).values():
            if parameter.type == "str" and "," in str(parameter.default):
                assert is_listed(parameter), f"{source.name}: {parameter.name}"
    assert is_listed(Parameter("only", "str", "", "families")) and not is_listed(Parameter("reward", "str", "f1", "x"))


def test_the_command_passes_seeds_on_and_tells_who_failed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("KIT_RUNS", str(tmp_path / "runs"))
    done: list[str] = []

    def execute(job: object, force: bool, verbose: bool) -> None:
        done.append(job.name)  # type: ignore[attr-defined]
        if job.name.endswith("-1"):  # type: ignore[attr-defined]
            raise sweep.JobError("it broke")

    monkeypatch.setattr(sweep, "execute", execute)
    assert main(["run", "11", "--profile", "smoke", "--name", "many", "--seeds", "0-2"]) == 1
    told = capsys.readouterr()
    assert done == ["many-0", "many-1", "many-2"]
    assert "failed: many-1; the same command again tries them again" in told.err
    assert f"page: {tmp_path / 'runs' / 'many.html'}" in told.out and (tmp_path / "runs" / "many.html").is_file()

"""Published results are made from a paper's record: planned, resumed, never of other code, published whole."""

from __future__ import annotations

import shutil
import sys
from functools import partial
from pathlib import Path

import pytest

from kit.files import read_json
from papers import registry
from papers.published_curves import published_curves
from papers.registry import find_paper, papers
from tests.papers.test_registry import RECORD, counting
from workshop.command import main
from workshop.jobs.run import JobError
from workshop.publishing import outcomes, results
from workshop.publishing.current import outdated

MEASURED = """
from papers.claims import Check, Claim
from kit.evaluate.intervals import Interval
from counting.paper import EVALUATION

def numbers(run):
    return {"dots": int((run / "data" / "dots.txt").read_text())}

def measured(stages, curves, numbers):
    far = sum(o.correct for o in stages.get("far", []))
    start = min(rows[0]["reward"] for rows in curves["grpo"].values())
    note = f"{far} far, {sorted(curves)}, {start}, {numbers}"
    metrics = {stage: EVALUATION.evaluate_outcomes(some) for stage, some in stages.items()}
    return metrics, [Claim("C1", "training helps", (Check("gain", Interval(0.5, 0.4, 0.6, 2), 0.0),), note)]
"""

PUBLISHED = """
from papers.published import Published, ResultsFile, Runs

PAPER = Paper(
    "counting", "Counting dots", "Count dots by marking them.", "examples.your_own.env:Env",
    "counting.paper:EVALUATION",
    ("60_counting", "61_counting_claims"), claims="counting.paper:CLAIMS",
    notebooks_dir=Path(__file__).parent / "notebooks",
    published=Published(
        {
            "runs": Runs("counting", 2, ("60_counting",), {"dots": "4"}),
            "far_runs": Runs("counting", 1, ("60_counting",), {"far": "true"}, tag="far", keeps={"data": 60}),
        },
        (ResultsFile("61_counting_claims", "counting"),),
        weights=(),
    ),
)
"""

TRAIN = """# %% [markdown]
# # 60 · Counting dots

# %% tags=["parameters"]
run: str = "counting"  # run directory
seed: int = 0  # of what is drawn
dots: int = 3  # how many
far: bool = False  # whether they are far

# %%
import os

from counting.paper import EVALUATION
from kit.episode import Action, Episode, Task, Turn
from kit.files import run_folder, write_text

if os.environ.get("COUNTING_FAILS") == "train":
    raise RuntimeError("the machine goes away")
folder = run_folder(run)
if not (folder / "data").is_symlink():
    write_text(folder / "data" / "dots.txt", str(dots))
row = '{"step": 1, "reward": %s, "seconds": 30.0}' % (seed + 0.123456789 + far)
write_text(folder / "grpo" / "metrics.jsonl", row + "\\n")
turn = Turn((1,), (0.0,), "3", Action("answer", str(dots)))
task = Task("t", (), "How many?", str(dots), {})
EVALUATION.save_stage(folder, "grpo", [Episode(task, (1,), (turn,), "answer")])
"""

MEASURE = """# %% [markdown]
# # 61 · Counting dots: claims

# %% tags=["parameters"]
run: str = "counting"  # run directory
runs: list[str] = []  # runs that differ in their seed only
far_runs: list[str] = []  # the same, far away
profile: str = "laptop"  # written into results

# %%
import os

from counting.paper import EVALUATION
from papers.results import write_results
from kit.files import run_folder
from kit.train.metrics import training_minutes

if os.environ.get("COUNTING_FAILS") == "measure" and run.startswith("counting-0"):
    raise RuntimeError("the machine goes away")
folders = [run_folder(name) for name in runs or [run]]
for folder in folders:  # a stage that only measuring plays
    (folder / "stages" / "grpo-own.json").write_bytes((folder / "stages" / "grpo.json").read_bytes())
outcomes = [o for k, f in enumerate(folders) for o in EVALUATION.load_outcomes(f, "grpo", k)]
write_results(
    folders[0] / "results.json", notebook="61_counting_claims", profile=profile, seed=list(range(len(folders))),
    minutes=0.5, training_minutes=training_minutes(folders), stages={"grpo": EVALUATION.evaluate_outcomes(outcomes)},
    claims={"C1": {"verdict": "holds", "evidence": f"{len(far_runs)} of 1"}},
)
"""


@pytest.fixture
def package(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A registered paper of another package, with a record of how its results are made; pages aren't drawn."""
    record = RECORD.partition("PAPER = ")[0] + PUBLISHED
    notebooks = {"60_counting": TRAIN, "61_counting_claims": MEASURE}
    folder = counting(tmp_path, monkeypatch, record, notebooks, "laptop: {60: {}, 61: {}}\n")
    (folder / "measured.py").write_text(MEASURED)
    monkeypatch.delitem(sys.modules, "counting.measured", raising=False)
    monkeypatch.setattr(outcomes, "uncommitted", lambda: [])
    monkeypatch.setitem(registry.PAPERS, "counting", "counting.paper:PAPER")
    monkeypatch.setattr(results, "redraw", lambda: None)
    return folder


def states(text: str) -> dict[str, str]:
    """What is made → how far it is, from the plan's lines, without the hash in the runs' names."""
    lines = [line.strip().split("  ", 1) for line in text.splitlines() if line.startswith(("  done", "  to do"))]
    return {what.strip().split(" ")[0].replace(f".{CODE}", ""): state for state, what in lines}


CODE = ""
"""The hash in the runs' names."""


STEPS = ("counting-0", "counting-0-far", "counting-1", "results/counting.json")


def test_it_is_planned_resumed_published_and_then_up_to_date(
    package: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    plan = results.make(["counting"], only_plan=True)
    assert not (package.parents[1] / "runs").exists(), "a plan writes nothing"
    global CODE
    CODE = next(line for line in plan.splitlines() if "counting-0." in line).rpartition(".")[2]
    assert states(plan) == dict.fromkeys(STEPS, "to do") and "results/counting.json isn't there" in plan
    assert list(states(plan)) == [*STEPS], "seed after seed, of all arms"

    assert list(states(results.make(["counting"], only_plan=True, runs="counting-1*"))) == ["counting-1"]
    with pytest.raises(ValueError, match="no run to make is called 'counting-7'"):
        results.make(["counting"], runs="counting-7")

    monkeypatch.setenv("COUNTING_FAILS", "measure")
    with pytest.raises(JobError, match=r"goes on there\ncounting: counting-0.*the machine goes away"):
        results.make(["counting"])
    monkeypatch.delenv("COUNTING_FAILS")
    stored = dict.fromkeys(STEPS, "to do") | dict.fromkeys(STEPS[1:3], "done")
    assert states(results.make(["counting"], only_plan=True)) == stored, "a run that fails doesn't stop the others"
    runs = package.parents[1] / "runs"
    before = {path: path.stat().st_mtime_ns for path in runs.glob("*/grpo/metrics.jsonl")}
    curves = {path.name for path in (package / "results" / "outcomes" / "curves").iterdir()}
    assert curves == {"counting-0-far", "counting-1"} and not (package / "results" / "curves").exists(), "not shown yet"
    recorded = read_json(runs / f"counting-0.{CODE}-far" / "params.json")["notebooks"]["60_counting"]["made_by"]
    assert recorded["digest"][:6] == CODE and len(recorded["commit"]) == 40
    assert len(before) == 3 and (runs / f"counting-0.{CODE}-far" / "data").is_symlink()

    assert "python -m kit notebooks --force" in results.make(["counting"])
    assert before == {path: path.stat().st_mtime_ns for path in runs.glob("*/grpo/metrics.jsonl")}, "not trained again"
    made = read_json(package / "results" / "counting.json")
    numbers = "{'far': {0: {'dots': 4}}, 'grpo': {0: {'calls': {}, 'dots': 4}, 1: {'calls': {}, 'dots': 4}}}"
    assert made["claims"]["C1"]["evidence"].endswith(f"1 far, ['far', 'grpo'], 0.123457, {numbers}")
    assert (
        made["seed"] == [0, 1]
        and made["training_minutes"] == 1.0
        and made["lacking"] == ["of one seed, so that nothing is known of other trainings: far"]
    )
    assert {name: m["value"] for name, m in made["metrics"].items()} == dict.fromkeys(
        ("far/acc_all", "grpo/acc_all", "grpo-own/acc_all"), 1.0
    )
    assert set(made["run_minutes"]) == {"runs", "far_runs"} and len(made["digest"]) == 12
    curves = published_curves("counting", "grpo", folder=package / "results" / "curves")
    assert not [*(package / "results" / "outcomes" / "curves").iterdir()], "shown, and nowhere twice"
    assert {run: rows[0]["reward"] for run, rows in curves.items()} == {"counting-0": 0.123457, "counting-1": 1.12346}

    told = results.make(["counting"])
    assert "were made by this code" in told and told.endswith("results counting --again trains what is missing")
    assert list(states(results.make(["counting"], only_plan=True, runs="counting-1*"))) == ["counting-1"], "still there"
    shutil.rmtree(runs)
    again = results.make(["counting"], only_plan=True, again=True)
    assert states(again) == dict.fromkeys(STEPS[:-1], "done") | {STEPS[-1]: "to do"}, "a run that is gone is done"
    whole = (package / "results" / "counting.json").read_bytes()
    assert main(["results", "counting", "--figures"]) == 0
    assert "all 4 figures equal what was published, to the digit" in capsys.readouterr().out
    assert (package / "results" / "counting.json").read_bytes() == whole

    (package / "notebooks" / "profiles" / "counting.yaml").write_text("laptop: {60: {}, 61: {}, 62: {}}\n")
    assert "were made by this code" in results.make(["counting"]), "another notebook's values"
    text = (package / "paper.py").read_text()
    (package / "paper.py").write_text(text.replace('"counted"}', '"counted", "score_all": "scored"}'))
    record = find_paper("counting")
    assert record.published is not None
    assert "not proved current" in outdated(record, record.published.files[0], made)
    plan = results.make(["counting"], only_plan=True)
    assert f".{CODE}" not in plan and "was made by other code, and not proved current since" in plan
    assert "4 of 4 steps remain, about" in plan, "minutes as they were recorded"

    assert main(["results", "counting", "--plan"]) == 0 and "4 of 4 steps remain" in capsys.readouterr().out

    branch = next(step for step in results.steps(find_paper("counting")) if step.what.endswith("-far"))
    branch.act()
    kept = {
        path.parents[1].name.partition(".")[0] for path in runs.glob("*/data/dots.txt") if not path.parent.is_symlink()
    }
    assert kept == {"counting-0"}, "what a branch keeps of a run whose folder is gone is made again"


def test_papers_that_have_nothing_to_make_are_refused(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["results", "nothing"]) == 2 and "no paper 'nothing': one of agile" in capsys.readouterr().err


@pytest.mark.parametrize("paper", [name for name, paper in papers().items() if paper.published])
def test_the_records_of_the_kit_s_papers_make_the_files_that_are_published(paper: str) -> None:
    """Every step's notebooks, parameters and values exist: planning checks them as ``kit run`` does."""
    record = find_paper(paper)
    some = results.steps(record)
    assert record.published is not None
    assert len(some) >= sum(runs.seeds for runs in record.published.runs.values()) + len(record.published.files)
    for figures in record.published.files:
        published = read_json(registry.ROOT / "results" / f"{figures.name}.json")
        if published is None:  # not measured yet
            continue
        assert published["notebook"] == figures.notebook
        assert len(published["seed"]) <= record.published.runs["runs"].seeds  # those that there are so far


def test_data_come_before_any_run_also_where_one_run_is_asked_for(
    package: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    done: list[str] = []

    def fetch() -> None:
        if not done:
            done.append("refused")
            raise JobError("no network")
        done.append("fetched")

    def some(paper: object) -> list[results.Step]:
        trained = [results.Step(f"counting-{k}", False, None, partial(done.append, f"trained {k}")) for k in (0, 1)]
        return [results.Step("photographs by a.py", False, None, fetch, first=True), *trained]

    monkeypatch.setattr(results, "steps", some)
    with pytest.raises(JobError, match=r"counting: photographs by a\.py: no network"):
        results.make(["counting"], runs="counting-1")
    assert done == ["refused"], "no run is begun without its data"
    results.make(["counting"], runs="counting-1")
    assert done[1:] == ["fetched", "trained 1"]
    with pytest.raises(ValueError, match="no run to make is called 'counting-7'"):
        results.make(["counting"], runs="counting-7")

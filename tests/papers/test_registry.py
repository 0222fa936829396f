"""The registry: every command works for a paper that a package outside the kit registers; wrong entries are named."""

from __future__ import annotations

import sys
from dataclasses import replace
from pathlib import Path

import pytest

from kit.files import ROOT, read_json
from papers import registry
from papers.registry import PaperError, find_paper, needs, paper_of, papers, published
from workshop.command import main
from workshop.jobs.doctor import doctor
from workshop.jobs.listing import listing, view
from workshop.jobs.notebooks import NotebookError, find, sources
from workshop.publishing.readme import block

RECORD = """
from pathlib import Path

from kit.environment import ToolEnv
from kit.evaluate.outcomes import Evaluation, Metric, Outcome, slices_by
from papers.registry import Paper

def outcome(episode, seed=0):
    return Outcome.of(episode, episode.answer == episode.task.target, seed)

EVALUATION = Evaluation(
    "counting", Outcome, outcome, lambda episode, target: episode.answer == target,
    slices_by(everything="all"), (Metric("acc", "correct", "binary"),),
    reported={"grpo": {"acc_all": 0.75}}, headlines={"acc_all": "counted"}, tabled=("acc",),
)
CLAIMS = {"C1": "training helps"}
PAPER = Paper(
    "counting", "Counting dots", "Count dots by marking them.", "examples.your_own.env:Env",
    "counting.paper:EVALUATION",
    ("60_counting",), claims="counting.paper:CLAIMS", notebooks_dir=Path(__file__).parent / "notebooks",
)
"""

NOTEBOOK = """# %% [markdown]
# # 60 · Counting dots

# %% tags=["parameters"]
run: str = "counting"  # run directory
dots: int = 3  # how many
profile: str = "laptop"  # written into results

# %%
from counting.paper import EVALUATION
from kit.episode import Action, Episode, Task, Turn
from papers.results import write_results
from kit.files import run_folder

task = Task("t", (), "How many?", str(dots), {})
turn = Turn((1,), (0.0,), "3", Action("answer", "3"))
metrics = EVALUATION.save_stage(run_folder(run), "grpo", [Episode(task, (1,), (turn,), "answer")])

# %%
write_results(
    run_folder(run) / "results.json", notebook="60_counting", profile=profile, seed=0, minutes=1,
    stages={"grpo": metrics}, claims={"C1": {"verdict": "holds", "evidence": "1 of 1"}},
)
"""


def counting(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, record: str, notebooks: dict[str, str], profiles: str
) -> Path:
    """Write an importable package ``counting``: its record, its notebooks by name and their profiles."""
    monkeypatch.setenv("KIT_RUNS", str(tmp_path / "runs"))
    folder = tmp_path / "site" / "counting"
    (folder / "notebooks" / "percent").mkdir(parents=True)
    (folder / "notebooks" / "profiles").mkdir()
    (folder / "__init__.py").write_text("")
    (folder / "paper.py").write_text(record)
    for name, text in notebooks.items():
        (folder / "notebooks" / "percent" / f"{name}.py").write_text(text)
    (folder / "notebooks" / "profiles" / "counting.yaml").write_text(profiles)
    monkeypatch.syspath_prepend(str(folder.parent))
    monkeypatch.setenv("PYTHONPATH", f"{folder.parent}:{ROOT}")
    for name in ("counting", "counting.paper"):
        monkeypatch.delitem(sys.modules, name, raising=False)
    return folder


@pytest.fixture
def package(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """An importable package ``counting`` with its notebook and profiles, not registered yet."""
    profiles = "smoke: {60: {}}\nlaptop: {60: {dots: 5}}\n"
    return counting(tmp_path, monkeypatch, RECORD, {"60_counting": NOTEBOOK}, profiles)


def by_line(package: Path, monkeypatch: pytest.MonkeyPatch, target: str = "counting.paper:PAPER") -> None:
    monkeypatch.setitem(registry.PAPERS, "counting", target)


def by_entry_point(
    package: Path, monkeypatch: pytest.MonkeyPatch, line: str = "counting = counting.paper:PAPER"
) -> None:
    info = package.parent / "counting-1.0.dist-info"
    info.mkdir()
    (info / "METADATA").write_text("Metadata-Version: 2.1\nName: counting\nVersion: 1.0\n")
    (info / "entry_points.txt").write_text(f"[{registry.GROUP}]\n{line}\n")


@pytest.mark.parametrize("register", [by_line, by_entry_point])
def test_every_command_works_for_a_paper_of_another_package(
    package: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], register: object
) -> None:
    register(package, monkeypatch)  # type: ignore[operator]
    shown = listing()
    assert "60   counting" in shown and "Count dots by marking them." in shown
    assert main(["run", "counting", "--profile", "smoke", "--name", "mine"]) == 0
    assert (
        read_json(package.parents[1] / "runs" / "mine" / "params.json")["notebooks"]["60_counting"]["status"] == "done"
    )
    told = view("mine")
    assert "acc_all  1.000 [" in told and "(0.750)" in told, "its metrics beside the paper's"
    assert "C1     holds    1 of 1" in told
    (package.parents[1] / "runs" / "mine" / "results.json").rename(package / "counting.json")
    assert "acc_all  1.000 [" in view("mine"), "and from its stages alone"
    assert main(["plan", "counting", "--profile", "smoke"]) == 2
    assert "60_counting: nothing here trains in a way to plan for" in capsys.readouterr().err
    assert "Counting dots" in doctor()[0]
    assert published()["counting"] is None
    text = block("counting", read_json(package / "counting.json"))
    assert "### Counting dots" in text and "| counted | 1.000 [" in text and "(paper 0.750) |" in text
    (package / "results").mkdir()
    (package / "counting.json").rename(package / "results" / "counting.json")
    assert published()["counting"]["notebook"] == "60_counting"


@pytest.mark.parametrize(
    ("target", "message"),
    [
        (
            "counting.nowhere:PAPER",
            r"PAPERS: paper 'counting' can't be loaded from 'counting.nowhere:PAPER': No module",
        ),
        ("counting.paper:NONE", r"can't be loaded from 'counting.paper:NONE': module .* has no attribute 'NONE'"),
        ("counting.paper:RECORD_OF", "has no attribute"),
        ("counting.paper:EVALUATION", "is a Evaluation; register a papers.registry.Paper"),
        ("papers.agile.paper:PAPER", "is the paper 'agile'; register it under that name, not 'counting'"),
    ],
)
def test_a_broken_entry_is_named(package: Path, monkeypatch: pytest.MonkeyPatch, target: str, message: str) -> None:
    by_line(package, monkeypatch, target)
    with pytest.raises(PaperError, match=message):
        papers()


def test_a_broken_or_second_entry_point_names_its_distribution(package: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    by_entry_point(package, monkeypatch, "counting = counting.gone:PAPER")
    with pytest.raises(PaperError, match=r"entry point counting = 'counting.gone:PAPER' of counting: paper 'counting'"):
        papers()
    by_line(package, monkeypatch)
    with pytest.raises(PaperError, match=r"of counting: .*PAPERS already registers paper 'counting'; choose another"):
        papers()


def test_an_unknown_paper_names_the_known_ones() -> None:
    with pytest.raises(PaperError, match="no paper 'nothing' is registered: there are agile, visual_arft"):
        find_paper("nothing")
    assert paper_of("99_agile_by_hand") is None, "a name that only contains a paper's is none of its notebooks"


def test_a_record_that_disagrees_with_itself_is_refused() -> None:
    paper = find_paper("agile")
    for changes, message in (
        ({"notebooks": ("11_other",)}, "notebook '11_other'; name it NN_agile or NN_agile_STAGE"),
        ({"settings": {"15_agile_x": "a:b"}}, "settings of '15_agile_x', which is none of its notebooks"),
        ({"needs": {"15_agile_x": {"data": 11}}}, "needs of '15_agile_x', which is none of its notebooks"),
    ):
        with pytest.raises(PaperError, match=message):
            replace(paper, **changes)


def test_another_papers_evaluation_is_refused_and_a_part_may_be_missing() -> None:
    paper = find_paper("agile")
    other = replace(paper, evaluation=find_paper("visual_arft").evaluation)
    with pytest.raises(PaperError, match="its evaluation is of 'visual_arft'; give both one name"):
        other.load_evaluation()
    assert replace(paper, validate="").load_validate() is None
    assert replace(paper, claims="").load_claims() == {}


def test_the_records_match_the_notebooks_and_the_results() -> None:
    listed = [name for paper in papers().values() for name in paper.notebooks]
    alone = ["52_tool_services", "61_in_your_own_trainer"]  # taught beside the papers: they make no run
    assert [s.name for s in sources() if s.number >= "10" and s.name not in alone] == listed
    for paper in papers().values():
        results = published().get(paper.name, {"claims": {}})
        assert results is None or set(results["claims"]) == set(paper.load_claims())


def test_what_a_notebook_makes_itself_is_kept_by_its_branches_only() -> None:
    assert needs("43_mags_rl_grpo") == {"data": 41}, "nothing made it yet when the notebook begins"
    assert needs("43_mags_rl_grpo", own=True) == {"data": 41, "sft": 43}
    assert needs("11_agile") == {}
    with pytest.raises(PaperError, match="notebook '99_agile_by_hand' is none of a registered paper's"):
        needs("99_agile_by_hand")


def test_a_number_that_two_papers_use_is_ambiguous(package: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (package / "notebooks" / "percent" / "11_counting.py").write_text(NOTEBOOK)
    by_line(package, monkeypatch)
    with pytest.raises(NotebookError, match=r"notebook '11' is ambiguous: .*; give its name"):
        find("11")


def test_a_side_experiment_is_judged_by_the_rule_that_the_record_names() -> None:
    paper = replace(find_paper("agile"), judges={"extra": "papers.agile.questions:is_right", "lost": "no.where:X"})
    assert paper.load_judge("grpo") is paper.load_evaluation().is_right
    assert paper.load_judge("extra/one") is paper.load_judge("extra") is not paper.load_judge("grpo")
    assert paper.load_judge("other/one") is None, "nobody told how it is judged"
    with pytest.raises(PaperError, match=r"its judge of 'lost' can't be loaded from 'no.where:X'"):
        paper.load_judge("lost/one")

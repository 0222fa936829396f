"""The profile ``node`` of Visual-ARFT, shrunk to a laptop: a folder in the hub's layout, played from end to end."""

from __future__ import annotations

import json
import shutil
import sys
from pathlib import Path

import pytest

from kit.__main__ import main
from kit.files import ROOT
from kit.jobs.notebooks import find
from kit.jobs.run import profile_values
from kit.papers.visual_arft.data_folder import load_sets
from kit.papers.visual_arft.experiment import Play
from kit.papers.visual_arft.metrics import load_outcomes
from tests.helpers.hub_copies import make_copies

sys.path.insert(0, str(ROOT / "data_scripts"))
import visual_arft

pytestmark = pytest.mark.notebooks

DATA = "--train 1 --test 0.1 --search-train 4 --search-test 6 --text 5 --lesson-sheets 12 --lesson-searches 8"
TASKS = """train_tasks=1 test_share=0.1 search_train=4 search_test=6 text_test=5 lesson_sheets=12 lesson_searches=8
    search=offline prompt=brief snippet_chars=80"""
TRAINING = """model= steps=2 prompts_per_batch=2 group_size=4 per_device_batch_size=8 max_new_tokens=40 held_out_tasks=1
    num_processes=1 strategy=ddp rollout_engine=transformers threads=1 allow_unsafe=true"""


def sets(values: str) -> list[str]:
    """``name=value`` words as options of ``python -m kit run``."""
    return [word for value in values.split() for word in ("--set", value)]


@pytest.fixture(scope="module")
def paper(tmp_path_factory: pytest.TempPathFactory) -> Path:
    root, folder = tmp_path_factory.mktemp("hub"), tmp_path_factory.mktemp("data") / "paper"
    make_copies(root, 10)
    options = ["--out", str(folder), "--hub", "--hub-root", str(root), *DATA.split(), "--prompt", "brief"]
    assert visual_arft.main(options) == 0
    return folder


@pytest.fixture
def runs(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("KIT_RUNS", str(tmp_path / "runs"))
    return tmp_path / "runs"


def lines(path: Path) -> list[dict]:
    return [json.loads(line) for line in path.read_text().splitlines()]


def test_node_plays_the_hubs_folder_from_the_tasks_to_the_claims(paper: Path, runs: Path) -> None:
    values = [*sets(f"data={paper}"), *sets(TASKS), *sets(TRAINING)]
    assert main(["run", "visual_arft", "--profile", "node", "--name", "hub", *values]) == 0
    folder = runs / "hub"
    given = load_sets(paper)
    played = load_sets(folder / "data")
    assert {name: [t.id for t in some] for name, some in played.items()} == {
        name: [t.id for t in some] for name, some in given.items()
    }
    assert Play.kept(folder / "data") == Play(prompt="brief", k=4, snippet_chars=80)
    trained = lines(folder / "grpo" / "tasks.jsonl")
    ids = {t.id for name in ("coding-train", "search-train") for t in given[name]}
    assert len(trained) == 2 * 2 and {row["id"] for row in trained} <= ids
    assert [row["step"] for row in lines(folder / "grpo" / "metrics.jsonl") if "loss" in row] == [1, 2]
    measured = [outcome.task for outcome in load_outcomes(folder, "grpo")]
    assert measured == [t.id for name in ("mat-coding", "mat-search", "text-test") for t in given[name]]
    assert (folder / "results.json").is_file()


def test_a_folder_of_the_script_is_a_runs_data_as_it_is(paper: Path, runs: Path) -> None:
    shutil.copytree(paper, runs / "direct" / "data")
    assert main(["run", "23", "--profile", "node", "--name", "direct", *sets(TRAINING)]) == 0
    assert (runs / "direct" / "grpo" / "model" / "config.json").is_file()


def test_node_takes_the_papers_sources_and_the_web() -> None:
    tasks, training = (profile_values(find(number)[0], "node") for number in ("21", "23"))
    assert (tasks["data"], tasks["search"]) == ("data/paper", "serper")
    assert (training["reward"], training["code_reward"], training["epochs"]) == ("steps", "any", 0.0)


def test_a_folder_that_is_not_there_says_how_to_write_it(runs: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["run", "21", "--profile", "smoke", "--name", "gone", "--set", f"data={runs / 'gone'}"]) != 0
    assert "; write the folder with python data_scripts/visual_arft.py --out " in capsys.readouterr().err

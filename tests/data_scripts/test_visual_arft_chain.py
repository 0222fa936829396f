"""The profile ``node`` of Visual-ARFT, shrunk to a laptop: a folder in the hub's layout, played from end to end."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest
import visual_arft

from kit.files import read_json
from papers.visual_arft.data_folder import load_sets
from papers.visual_arft.experiment import Play
from papers.visual_arft.metrics import load_outcomes
from papers.visual_arft.reported import REPORTED
from papers.visual_arft.tables import ROWS
from tests.helpers.hub_chain import filled, kit_run, lines, printed
from tests.helpers.hub_copies import make_copies
from workshop.command import main
from workshop.jobs.notebooks import find
from workshop.jobs.run import profile_values

pytestmark = pytest.mark.notebooks

DATA = "--train 1 --test 0.1 --search-train 4 --search-test 6 --text 5 --lesson-sheets 12 --lesson-searches 8"
TASKS = """train_tasks=1 test_share=0.1 search_train=4 search_test=6 text_test=5 lesson_sheets=12 lesson_searches=8
    search=offline prompt=brief snippet_chars=80"""
TRAINING = """model= steps=2 prompts_per_batch=2 group_size=4 per_device_batch_size=8 max_new_tokens=40 held_out_tasks=1
    num_processes=1 strategy=ddp rollout_engine=transformers threads=1 allow_unsafe=true"""
MEASURING = "model= max_new_tokens=40 sampled_tasks=2 tries=2 threads=1 allow_unsafe=true"


@pytest.fixture(scope="module")
def paper(tmp_path_factory: pytest.TempPathFactory) -> Path:
    root, folder = tmp_path_factory.mktemp("hub"), tmp_path_factory.mktemp("data") / "paper"
    make_copies(root, 10)
    options = ["--out", str(folder), "--hub", "--hub-root", str(root), *DATA.split(), "--prompt", "brief"]
    assert visual_arft.main(options) == 0
    return folder


def test_node_plays_the_hubs_folder_and_fills_tables_1_to_4(paper: Path, runs: Path) -> None:
    kit_run("visual_arft", f"data={paper} {TASKS} {TRAINING}", "--until", "23")
    shutil.copytree(paper, runs / "em" / "data")  # a folder of the script is a run's data as it is
    kit_run("23", f"{TRAINING} reward=em", "--name", "em")
    kit_run("24", f"{MEASURING} em_runs=em")
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
    cells = read_json(folder / "results.json")["tables"]
    assert list(cells) == list(ROWS)
    for title, (stages, settings) in ROWS.items():
        for stage in stages:
            theirs = {name: value for name, value in REPORTED[stage].items() if name.split("_")[1] in settings}
            assert filled(cells[title][stage], theirs) == set(theirs), f"{title}, {stage}"
    assert "(60.15)" in printed(folder / "24_visual_arft_claims.ipynb")


def test_node_takes_the_papers_sources_and_the_web() -> None:
    tasks, training = (profile_values(find(number)[0], "node") for number in ("21", "23"))
    assert (tasks["data"], tasks["search"]) == ("data/paper", "serper")
    assert (training["reward"], training["code_reward"], training["epochs"]) == ("steps", "any", 0.0)


def test_a_folder_that_is_not_there_says_how_to_write_it(runs: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["run", "21", "--profile", "smoke", "--name", "gone", "--set", f"data={runs / 'gone'}"]) != 0
    assert "; write the folder with python data_scripts/visual_arft.py --out " in capsys.readouterr().err

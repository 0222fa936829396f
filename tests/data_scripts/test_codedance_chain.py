"""The profile ``node`` of CodeDance, shrunk to a laptop: copies of the hub's sets, played from end to end."""

from __future__ import annotations

from pathlib import Path

import codedance
import pytest

from kit.data.store import load_episodes, load_tasks
from kit.files import read_json
from papers.codedance.tables import ABSENT, ROWS, SETS
from tests.helpers.codedance_hub_copies import make_copies
from tests.helpers.hub_chain import kit_run, printed, sets
from workshop.command import main
from workshop.jobs.notebooks import find
from workshop.jobs.run import profile_values

pytestmark = pytest.mark.notebooks

SMALL = """train_tasks=1 development_tasks=1 test_tasks=1 demonstrations=8 model= batch_size=2 steps=2
    prompts_per_batch=2 group_size=2 per_device_batch_size=2 max_new_tokens=16 eval_tasks=1 num_processes=1
    strategy=ddp threads=1 rollout_engine=transformers allow_unsafe=true budgets=10 sampled_tasks=2 tries=2"""


@pytest.fixture(scope="module")
def paper(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder of the data script, from copies of the hub's data sets."""
    copies, folder = tmp_path_factory.mktemp("hub"), tmp_path_factory.mktemp("data") / "paper"
    make_copies(copies)
    few = ["--train", "1", "--development", "1", "--test", "1", "--demonstrations", "1", "--prompt", "full"]
    assert codedance.main(["--out", str(folder), *few, "--hub", "--hub-root", str(copies)]) == 0
    return folder


def test_node_plays_the_papers_data_and_fills_its_tables(paper: Path, runs: Path) -> None:
    """The base, SFT and RL on all eleven sets; rewards that no run was trained under say so."""
    kit_run("codedance", f"data={paper} {SMALL}")
    folder = runs / "hub"
    trained = {task.id for task in load_tasks(folder / "data" / "train.jsonl")}
    assert trained == {task.id for task in load_tasks(paper / "rl.jsonl")}
    shown = load_episodes(folder / "sft" / "episodes.jsonl")
    assert {e.task.id for e in shown} == {task.id for task in load_tasks(paper / "sft.jsonl")}, "the paper's own"
    table = printed(next(folder.rglob("34_codedance_claims*.ipynb"))).split("per cent right")[1].splitlines()[1:]
    metrics = read_json(folder / "results.json")["metrics"]
    for (stage, title), line in zip(ROWS.items(), table, strict=False):
        assert line.startswith(title)
        cells = [cell for cell in line.removeprefix(title).split("  ") if cell.strip()]
        assert len(cells) == len(SETS) == 11
        for name, cell in zip(SETS, cells, strict=True):
            measured = metrics.get(f"{stage}/acc_{name}")
            assert (measured is None) == ("not run" in cell), f"{stage} on {name}: {cell}"
            assert measured is not None or stage in ("outcome", "bonus"), f"{stage} on {name} is measured"
    assert all(metrics[f"grpo/acc_{name}"]["n"] == 1 for name in SETS)


def test_the_profile_measures_as_the_paper_says() -> None:
    values = {number: profile_values(find(number)[0], "node") for number in ("31", "32", "33", "34")}
    assert values["31"]["benchmarks"] and set(values["31"]["benchmarks"]) == set(SETS)
    turns = values["32"]["max_turns"], values["33"]["evaluation_turns"], values["34"]["evaluation_turns"]
    assert turns == (10, 10, 10) and values["33"]["max_turns"] == 6
    assert values["31"]["benchmark_questions"] == 0, "whole sets"
    assert {values[n]["prompt"] for n in values} == {"full"}


def test_a_folder_without_a_benchmark_is_refused_before_any_task_is_made(
    paper: Path, tmp_path: Path, runs: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    values = sets(f"data={paper} benchmarks=vstar,maps")
    assert main(["run", "31", "--profile", "smoke", "--name", "gone", *values]) != 0
    assert "benchmarks='maps': no such set; choose from countbench" in capsys.readouterr().err
    assert not (runs / "gone" / "data").exists() and "--hub" in ABSENT

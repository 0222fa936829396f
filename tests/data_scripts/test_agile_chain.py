"""The profile ``node`` of AGILE, shrunk to a laptop: the hub's pictures and benchmarks, played into Tables 1 to 3."""

from __future__ import annotations

from pathlib import Path

import agile
import pytest

from kit.data.store import load_tasks
from kit.files import read_json
from papers.agile.reported import AGILE, GENERAL
from tests.helpers import agile_benchmark_copies
from tests.helpers.agile_hub_copies import make_copies
from tests.helpers.hub_chain import filled, kit_run, printed

pytestmark = [pytest.mark.notebooks, pytest.mark.filterwarnings("ignore:.*left out")]

SMALL = """unseen_pictures=3 train_puzzles=6 eval_puzzles=2 sft_episodes=8 model= prompt=brief
    few_episodes=4 epochs=1.0 batch_size=4 per_device_batch_size=4 13.held_out_tasks=1 sampled_puzzles=1 tries=2
    steps=2 prompts_per_batch=2 group_size=2 max_turns=2 max_new_tokens=8 num_processes=1 strategy=ddp
    rollout_engine=transformers threads=1 allow_unsafe=true"""
"""In the place of node's sizes and machine; its data, levels, benchmarks, rates and temperature stay."""


@pytest.fixture(scope="module")
def hub(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Copies of the hub's data sets: pictures to cut, benchmarks, questions to train on."""
    root = tmp_path_factory.mktemp("hub")
    make_copies(root, agile.HUB, 12, first=1000)
    agile_benchmark_copies.make_copies(root)
    return root


@pytest.fixture(scope="module")
def paper(hub: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder of the data script."""
    folder = tmp_path_factory.mktemp("data") / "paper_agile"
    few = ["--hub-share", str(12 / 15_600), "--eval", "3", "--max-pixels", "8000"]
    assert agile.main(["--out", str(folder), "--hub", "--hub-root", str(hub), *few]) == 0
    return folder


def test_node_fills_tables_1_to_3(hub: Path, paper: Path, runs: Path) -> None:
    """Puzzles of the hub's pictures before and after each training, every level; then all nine benchmarks."""
    kit_run("agile", f"images={paper / 'hub'} benchmarks={hub} {SMALL}")
    run = runs / "hub"
    trained = load_tasks(run / "data" / "train.jsonl")
    assert {task.meta["level"] for task in trained} == {0}
    cells = read_json(run / "results.json")["tables"]
    assert list(cells) == ["Table 1", "Table 2"]
    for title, measure in (("Table 1", "acc_"), ("Table 2", "score_")):
        for stage, row in {"random": "random", "untrained": "base", "sft": "sft", "grpo": "grpo"}.items():
            theirs = {name: value for name, value in AGILE[row].items() if name.startswith(measure)}
            assert filled(cells[title][stage], theirs) == set(theirs), f"{title}, {stage}: every level is played"
    general = read_json(run / "results-general.json")["tables"]["Table 3"]
    for stage, theirs in GENERAL.items():
        assert filled(general[stage], theirs) == set(theirs), f"{stage}: every benchmark is asked"
        here = [general[stage][name]["here"]["value"] for name in theirs if name != "general_all"]
        assert general[stage]["general_all"]["here"]["value"] == pytest.approx(sum(here) / 9)
    assert "(82.8)" in printed(run / "14_agile_claims.ipynb") and "(65.2)" in printed(run / "15_agile_general.ipynb")

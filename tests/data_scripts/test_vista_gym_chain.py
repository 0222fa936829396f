"""The profile ``node`` of VISTA-Gym, shrunk to a laptop: the hub's sets as copies, played from tools to Table 2."""

from __future__ import annotations

from pathlib import Path

import pytest
import vista_gym

from kit.data.store import load_tasks
from kit.files import read_json
from papers.tables import NOT_RUN
from papers.vista_gym.evaluation_sets import TRAINED_ON
from papers.vista_gym.reported import COLUMNS, ROWS, TABLE_2
from papers.vista_gym.tasks import IN, OUT
from tests.helpers.hub_chain import filled, kit_run, lines, printed, sets
from tests.helpers.vista_hub_copies import make_copies
from workshop.command import main

pytestmark = pytest.mark.notebooks

SMALL = ["--train", "1", "--development", "1", "--test", "1", "--kinds", "spatial/clevr"]
VALUES = """53.train_tasks=1 53.development_tasks=1 53.test_tasks=1
    51.train_tasks=1 51.development_tasks=1 51.test_tasks=1 proven=1 kinds=clevr
    at_sight=spatial/sight sft_episodes=16 eval_tasks=1 model= prompt=brief batch_size=4
    steps=1 prompts_per_batch=2 group_size=4 per_device_batch_size=4 max_new_tokens=40 patch_steps=0 patch_tries=4
    listed=false sampled_tasks=2 tries=2 num_processes=1 strategy=ddp rollout_engine=transformers threads=1"""
"""In the place of node's sizes and machine; its temperature, rates, expert and data stay."""


@pytest.fixture(scope="module")
def data(tmp_path_factory: pytest.TempPathFactory) -> Path:
    copies, folder = tmp_path_factory.mktemp("hub"), tmp_path_factory.mktemp("data") / "paper"
    make_copies(copies)
    hub = ["--hub", "--hub-root", str(copies), "--hub-tasks", "2"]
    assert vista_gym.main(["--out", str(folder), *SMALL, *hub]) == 0
    return folder


def test_node_fills_table_2(data: Path, runs: Path) -> None:
    kit_run("vista_gym", f"data={data} {VALUES}")
    folder = runs / "hub"
    assert [task.meta["set"] for task in load_tasks(folder / "tasks" / "benchmarks.jsonl")] == [*IN, *OUT]
    trained = [task.meta["set"] for task in load_tasks(folder / "tasks" / "train.jsonl")]
    assert {*trained} == {*TRAINED_ON} and len(trained) == 2 * len(TRAINED_ON), "the hub's alone, none of them drawn"
    table = read_json(folder / "results.json")["tables"]["Table 2"]
    assert list(table["rows"]) == [*ROWS, "sft"] and table["backbone"] == "Qwen2.5-VL-7B"
    for stage, cells in table["rows"].items():
        theirs = {name: TABLE_2["Qwen2.5-VL-7B"].get(stage, {}).get(name, NOT_RUN) for name in COLUMNS}
        assert filled(cells, theirs) == (set() if stage == "no_tools_reasoning" else set(COLUMNS)), stage
    shown = printed(folder / "55_vista_gym_claims.ipynb")
    assert "(90.08)" in shown and "not run (83.32)" in shown
    claim = read_json(folder / "results.json")["claims"]["V3"]
    assert claim["verdict"] == "undecided" and claim["evidence"].startswith("not run: python -m kit run vista_gym")


def test_the_arm_without_tools_is_cloned_and_trained_to_reason(runs: Path) -> None:
    values = [*sets("prompt=brief-alone patch_steps=0"), "--name", "alone", "--profile", "smoke"]
    assert main(["run", "53", *values[:2], *values[4:]]) == 0
    assert main(["run", "54", *values]) == 0
    shown = lines(runs / "alone" / "sft" / "episodes.jsonl")
    assert shown and {len(episode["turns"]) for episode in shown} == {1}
    assert all(episode["turns"][0]["text"].startswith("<think>") for episode in shown)
    played = read_json(runs / "alone" / "stages" / "grpo.json")["outcomes"]
    assert played and {(o["turns"], o["tool_calls"]) for o in played} == {(1, 0)}


def test_a_missing_benchmark_is_told_before_anything_is_played(
    data: Path, runs: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "hub-train.jsonl").write_bytes((data / "hub-train.jsonl").read_bytes())
    (tmp_path / "pictures").symlink_to(data / "pictures")
    assert main(["run", "53", "--profile", "smoke", "--name", "few", *sets(f"data={tmp_path}")]) == 1
    assert "has no eval-chartqa.jsonl, one of the eleven benchmarks" in capsys.readouterr().err
    assert not (runs / "few" / "stages").exists()

"""The profile ``node`` of Mags-RL, shrunk to a laptop: the hub's layout, played from end to end into Tables 1 and 2."""

from __future__ import annotations

from pathlib import Path

import mags_rl
import pytest

from kit.chat import Chat
from kit.data.store import load_tasks
from kit.episode import Episode
from kit.files import read_json
from kit.policy.scripted import ScriptedPolicy
from papers.mags_rl.metrics import DIFFICULTIES as LEVELS
from papers.mags_rl.reported import REPORTED, SOURCES
from tests.helpers.hub_chain import filled, kit_run, lines
from tests.helpers.mags_hub_copies import make_copies

pytestmark = pytest.mark.notebooks

DATA = "--samples 4 --development 1 --test 1 --demonstrations 1 --magnifiers bicubic"
TASKS = "samples=4 more_samples=4 development_tasks=1 test_tasks=1 network=span scale=2 weights="
TRAINING = """model= steps=1 steps_2=1 prompts_per_batch=2 group_size=2 per_device_batch_size=4 max_new_tokens=8
    num_processes=1 strategy=ddp rollout_engine=transformers threads=1"""
MEASURING = "model= prompts_per_batch=2 max_new_tokens=8 sampled_tasks=1 tries=1 threads=1"


def judge(policy: str, model: str, chat: Chat) -> ScriptedPolicy:
    """A judge that finds a question easy, medium or hard by its number, so that each source has all three."""
    del policy, model

    def says(episode: Episode) -> str:
        number = sum(int(part) for part in episode.task.id.split("-") if part.isdecimal())
        return f'{{"reasoning": "so", "zoom_score": {(2, 5, 9)[number % 3]}}}'

    return ScriptedPolicy(chat, says)


@pytest.fixture(scope="module")
def paper(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """What the data script writes, from copies of the hub's data sets."""
    root, folder = tmp_path_factory.mktemp("hub"), tmp_path_factory.mktemp("data") / "paper"
    make_copies(root, measured=3)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(mags_rl, "ServedPolicy", judge)
        hub = ["--hub", "--hub-root", str(root), "--judge", "http://judge/v1"]
        assert mags_rl.main(["--out", str(folder), *DATA.split(), *hub]) == 0
    return folder


def test_node_fills_tables_1_and_2(paper: Path, runs: Path) -> None:
    """Two stages, direct training beside them, and all that the two tables measure of both."""
    kit_run("mags_rl", f"{TASKS} data={paper} {TRAINING}", "--until", "43")
    kit_run("43", f"{TRAINING} curriculum=at_once", "--tag", "at_once")
    kit_run("44", f"{MEASURING} at_once_runs=hub-at_once")
    assert [row["step"] for row in lines(runs / "hub" / "grpo" / "metrics.jsonl") if "loss" in row] == [1]
    results, asked = read_json(runs / "hub" / "results.json"), [*load_tasks(paper / "zoom-hard.jsonl")]
    assert {(task.meta["set"], task.meta["difficulty"]) for task in asked} == {(s, "hard") for s in SOURCES}
    for table, stages in (("Table 1", ("direct", "cot", "one_shot", "zoom_refine", "grit", "grpo")),
                          ("Table 2", ("at_once", "grpo"))):  # fmt: skip
        assert tuple(results["tables"][table]) == stages
        for stage in stages:
            cells = results["tables"][table][stage]
            theirs = {name: v for name, v in REPORTED[stage].items() if table == "Table 1" or name.endswith("hard")}
            assert filled(cells, theirs) == set(theirs) and len(theirs) == (18 if table == "Table 1" else 6)
            assert all(cell["here"] == results["metrics"][f"{stage}-zoom/{name}"] for name, cell in cells.items())
    n = {name: sum(results["tables"]["Table 1"]["grit"][f"judged_{name}_{level}"]["here"]["n"] for level in LEVELS)
         for name in SOURCES}  # fmt: skip
    assert n == dict.fromkeys(SOURCES, 5), "every question of the sets is asked, and once"
    assert [check["n"] for check in results["claims"]["M1"]["checks"]] == [12, 12, 6], "pairs of the Zoom sets"
    assert results["claims"]["M3"]["checks"][0]["n"] == 6, "pairs of Zoom-Hard"

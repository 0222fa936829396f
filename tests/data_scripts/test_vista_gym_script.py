"""The data script of VISTA-Gym: drawn sets that prove themselves, the paper's sets from copies."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path

import pytest
import vista_gym

from kit.data.store import load_tasks
from papers.vista_gym.evaluation_sets import BENCHMARKS, TRAINING
from papers.vista_gym.tasks import check_apart, make_tasks
from tests.helpers.vista_hub_copies import make_copies

KINDS = "spatial/clevr,geometry/sight"
SMALL = ["--train", "2", "--development", "1", "--test", "1", "--kinds", KINDS]


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> Path:
    copies, folder = tmp_path_factory.mktemp("hub"), tmp_path_factory.mktemp("data")
    make_copies(copies)
    hub = ["--hub", "--hub-root", str(copies), "--hub-tasks", "2"]
    assert vista_gym.main(["--out", str(folder), *SMALL, *hub]) == 0
    return folder


def test_every_kind_is_on_every_side(made: Path) -> None:
    sides = {side: load_tasks(made / f"{side}.jsonl") for side in ("train", "development", "test")}
    assert {side: len(tasks) for side, tasks in sides.items()} == {"train": 4, "development": 2, "test": 2}
    check_apart(*sides.values())


def test_the_papers_sets_and_what_they_are_made_of(made: Path) -> None:
    manifest = json.loads((made / "manifest.json").read_text())
    assert {name for name in manifest["sets"] if name.startswith("eval-")} == {f"eval-{name}" for name in BENCHMARKS}
    assert manifest["licences"]["hiyouga/geometry3k"] == "MIT"
    trained = load_tasks(made / "hub-train.jsonl")
    assert {task.meta["set"] for task in trained} == set(TRAINING) and len(trained) == 2 * len(TRAINING)
    measured = [task.meta["source"] for name in BENCHMARKS for task in load_tasks(made / f"eval-{name}.jsonl")]
    assert not {task.meta["source"] for task in trained} & set(measured)


def test_what_the_tools_dont_solve_is_left_out_and_told(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    def wrong(counts: dict[str, int], seed: int, *side: object, **more: object) -> list[object]:
        tasks = make_tasks(counts, seed, *side, **more)  # type: ignore[arg-type]
        return [replace(task, target=("no",)) if "clevr" in task.id else task for task in tasks]

    monkeypatch.setattr(vista_gym, "make_tasks", wrong)
    assert vista_gym.main(["--out", str(tmp_path), *SMALL]) == 0
    assert "train: left out 2 of 4 that the tools don't solve" in capsys.readouterr().out
    assert {task.meta["set"] for task in load_tasks(tmp_path / "train.jsonl")} == {"sight"}


def test_what_is_wrong_is_told_in_one_line(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert vista_gym.main(["--out", str(tmp_path), "--kinds", "maps/moon"]) == 1
    assert "tasks of ['maps/moon']: known are" in capsys.readouterr().err
    assert vista_gym.main(["--out", str(tmp_path), *SMALL, "--hub", "--hub-root", str(tmp_path)]) == 1
    assert "no folder HuggingFaceM4/ChartQA" in capsys.readouterr().err

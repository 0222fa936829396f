"""The data script of CodeDance: drawn sets that prove themselves, demonstrations, the paper's sets from copies."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path

import codedance
import pytest

from kit.data.store import load_episodes, load_tasks
from papers.codedance.evaluation_sets import BENCHMARKS
from papers.codedance.metrics import is_right
from papers.codedance.tasks import MAKERS, MakingError, check_apart, make_tasks
from tests.helpers.codedance_hub_copies import make_copies

SMALL = ["--train", "2", "--development", "1", "--test", "1", "--demonstrations", "1"]


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Everything there is, from copies of the hub's data sets."""
    copies, folder = tmp_path_factory.mktemp("hub"), tmp_path_factory.mktemp("data")
    make_copies(copies)
    assert codedance.main(["--out", str(folder), *SMALL, "--hub", "--hub-root", str(copies)]) == 0
    return folder


def test_every_kind_is_on_every_side_and_no_image_on_two(made: Path) -> None:
    sides = {side: load_tasks(made / f"{side}.jsonl") for side in ("train", "development", "test")}
    assert {side: len(tasks) for side, tasks in sides.items()} == {
        "train": 2 * len(MAKERS),
        "development": len(MAKERS),
        "test": len(MAKERS),
    }
    check_apart(*sides.values())
    hashes = [{image.sha256 for task in tasks for image in task.tool_images} for tasks in sides.values()]
    assert not hashes[0] & hashes[1] and not hashes[0] & hashes[2] and not hashes[1] & hashes[2]


def test_demonstrations_are_right_and_compose_nothing(made: Path) -> None:
    episodes = load_episodes(made / "coldstart.jsonl")
    assert len(episodes) == len(MAKERS) - 1
    assert all(is_right(episode, episode.task.target) for episode in episodes)
    assert "composed" not in {episode.task.meta["kind"] for episode in episodes}
    trained = {task.id for task in load_tasks(made / "train.jsonl")}
    assert not trained & {episode.task.id for episode in episodes}


def test_the_papers_sets_and_what_they_are_made_of(made: Path) -> None:
    manifest = json.loads((made / "manifest.json").read_text())
    assert {name for name in manifest["sets"] if name.startswith("eval-")} == {f"eval-{name}" for name in BENCHMARKS}
    assert len(load_tasks(made / "rl.jsonl")) == 1 and manifest["sets"]["rl"] == {"vstar": 1}
    shown = load_tasks(made / "sft.jsonl")
    assert [(task.meta["level"], len(task.meta["turns"])) for task in shown] == [("hard", 2), ("easy", 1)]
    assert manifest["licences"]["Peterwatwec/CodeDance-SFT"] == "see its card"
    assert manifest["sets"]["test"]["board/hard"] == 1 and manifest["coldstart"] == len(MAKERS) - 1
    assert manifest["licences"]["MathLLMs/MathVision"] == "MIT"
    large = load_tasks(made / "eval-vstar.jsonl")[0]
    assert large.tool_images[0].image.size == (1600, 1200) != large.images[0].image.size


def test_what_is_wrong_is_told_in_one_line(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    out = ["--out", str(tmp_path / "data"), *SMALL]
    assert codedance.main([*out, "--hub", "--hub-root", str(tmp_path)]) == 1
    assert "no folder vikhyatk/CountBenchQA" in capsys.readouterr().err

    def wrong(*given: object) -> list[object]:
        return [replace(task, target=("no",)) for task in make_tasks(*given)]  # type: ignore[arg-type]

    monkeypatch.setattr(codedance, "make_tasks", wrong)
    assert codedance.main(out) == 1
    assert "not as it was drawn: target" in capsys.readouterr().err
    assert not (tmp_path / "data" / "train.jsonl").exists()


def test_sets_that_share_an_image_are_refused() -> None:
    tasks = make_tasks({"chart_value/easy": 1}, 0)
    with pytest.raises(MakingError, match="one has to go"):
        check_apart(tasks, tasks)


def test_weak_to_strong_makes_lessons_with_what_every_machine_has(tmp_path: Path) -> None:
    """The committed tiny model sorts, the scripted expert plays, the drawn scene judges."""
    few = ["--train", "1", "--development", "1", "--test", "1", "--demonstrations", "1"]
    assert codedance.main(["--out", str(tmp_path), *few, "--weak-to-strong", "--tries", "1"]) == 0
    lessons = load_tasks(tmp_path / "sft.jsonl")
    tried = load_episodes(tmp_path / "weak.jsonl")
    assert len(tried) == len(MAKERS) - 1 and len(load_episodes(tmp_path / "strong.jsonl")) == len(tried)
    knows = {e.task.id.removesuffix("#0") for e in tried if is_right(e, e.task.target)}
    for task in lessons:
        assert (task.meta["level"] == "easy") == (len(task.meta["turns"]) == 1) == (task.id in knows)
    assert "hard" in {task.meta["level"] for task in lessons}


def test_models_are_named_with_their_address(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    for wrong, said in (
        (["--judge", "Qwen/Qwen2.5-VL-72B"], "--judge Qwen/Qwen2.5-VL-72B: write NAME@URL"),
        (["--questions", "rl.jsonl"], "--questions needs --strong"),
    ):
        with pytest.raises(SystemExit):
            codedance.main(["--out", str(tmp_path), "--weak-to-strong", *wrong])
        assert said in capsys.readouterr().err

"""The data script of Mags-RL: sets that prove themselves, a format start, scenes, the paper's sets by a judge."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path

import mags_rl
import pytest

from kit.chat import Chat
from kit.data.store import load_episodes, load_tasks
from kit.episode import Episode
from kit.policy.scripted import ScriptedPolicy
from papers.mags_rl.answers import is_right
from papers.mags_rl.evaluation_sets import BENCHMARKS
from papers.mags_rl.expert import looks_of
from papers.mags_rl.questions import MAKERS
from papers.mags_rl.tasks import make_tasks
from pictures.keyed import check_apart
from tests.helpers.mags_hub_copies import make_copies, make_cutouts

SMALL = ["--samples", "2", "--development", "1", "--test", "1", "--demonstrations", "2", "--magnifiers", "bicubic,none"]


def scores(policy: str, model: str, chat: Chat) -> ScriptedPolicy:
    """A judge that finds statements hard, counting easy and all else unclear."""
    assert (policy, model) == ("http://judge/v1", "a-judge")

    def says(episode: Episode) -> str:
        asked = episode.task.question
        score = "9" if "that true" in asked else "2" if "many" in asked else "unclear"
        return f'{{"reasoning": "so", "zoom_score": {score}}}'

    return ScriptedPolicy(chat, says)


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Everything there is, from copies of the hub's data sets and a judge that is a script."""
    copies, folder, stamps = (tmp_path_factory.mktemp(name) for name in ("hub", "data", "stamps"))
    make_copies(copies)
    make_cutouts(stamps)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(mags_rl, "ServedPolicy", scores)
        hub = ["--hub", "--hub-root", str(copies), "--judge", "http://judge/v1", "--judge-model", "a-judge"]
        assert mags_rl.main(["--out", str(folder), *SMALL, "--cutouts", str(stamps), *hub]) == 0
    return folder


def test_each_set_has_its_tasks_and_no_image_is_on_two_sides(made: Path) -> None:
    names = ("stage1", "stage2", "development", "test", "test-small")
    sets = {name: load_tasks(made / f"{name}.jsonl") for name in names}
    assert {name: len(tasks) for name, tasks in sets.items()} == {
        "stage1": 2, "stage2": 2, "development": len(MAKERS), "test": len(MAKERS), "test-small": 3,
    }  # fmt: skip
    check_apart([*sets["stage1"], *sets["stage2"]], sets["development"], [*sets["test"], *sets["test-small"]])
    assert {task.originals[0].image.size for task in sets["test-small"]} == {(70, 70)}
    check_apart(*(load_tasks(made / f"scenes-{side}.jsonl") for side in ("train", "development", "test")))


def test_a_larger_stage_begins_with_the_smaller_one() -> None:
    few, many = (make_tasks({"relation/easy": n}, 0) for n in (1, 3))
    assert {task.id for task in few} < {task.id for task in many}


def test_the_format_start_keeps_to_the_form_and_errs_in_place_alone(made: Path) -> None:
    episodes = load_episodes(made / "start.jsonl")
    assert len(episodes) == 2 * len(MAKERS) and {e.ended for e in episodes} == {"answer"}
    for episode in episodes:
        looks = looks_of(episode.task)
        shown = episode.turns[0].observation.images  # type: ignore[union-attr]
        assert len(shown) == max(1, len(looks)), "the cards asked about, or the middle"
        if list(looks) == episode.task.meta["looks"]:
            assert is_right(episode.answer, episode.task.target)
    sizes = {image.image.size for e in episodes for image in e.turns[0].observation.images}  # type: ignore[union-attr]
    cards, middles = {(140, 140), (70, 70)}, {(56, 56), (28, 28)}
    assert sizes == cards | middles, "twice as large by bicubic, and as they are"
    trained = {task.id for name in ("stage1", "stage2") for task in load_tasks(made / f"{name}.jsonl")}
    assert not trained & {episode.task.id for episode in episodes}


def test_the_papers_sets_are_sorted_by_the_judge_and_licences_are_told(made: Path) -> None:
    zoom = {name: load_tasks(made / f"zoom-{name}.jsonl") for name in ("easy", "hard")}
    assert [task.meta["set"] for task in zoom["hard"]] == ["vsr", "vsr"]
    assert [task.meta["set"] for task in zoom["easy"]] == ["tallyqa", "tallyqa"]
    manifest = json.loads((made / "manifest.json").read_text())
    assert manifest["licences"]["lmms-lab-encoder/GQA"] == "MIT" and "drawn boards" in manifest["licences"]
    assert manifest["sets"]["zoom-medium"] == {} and manifest["start"] == 2 * len(MAKERS)


def test_questions_to_train_on_look_like_none_that_is_measured_on(made: Path) -> None:
    """VSR's training split begins with an image that its test split has."""
    stages = [load_tasks(made / f"hub-stage{k}.jsonl") for k in (1, 2)]
    sets = [[task.meta["set"] for task in tasks] for tasks in stages]
    assert sets == [["tallyqa", "vsr"], ["tallyqa"]], "of GQA's the judge is unclear: they are left out"
    assert stages[0][1].id == "vsr-00001", "the first is left out"


def test_larger_stages_hold_the_smaller_ones() -> None:
    tasks = {name: [replace(task, id=f"{name}-{k}", meta={**task.meta, "set": name}) for k in range(9)]
             for name in BENCHMARKS for task in make_tasks({"count/hard": 1}, 0)}  # fmt: skip
    own = [task for some in tasks.values() for task in some]
    args = mags_rl.options(["--out", "x", "--samples", "2", "--more-samples", "6"])
    sets = {name: {task.id for task in some} for name, some in mags_rl.staged(args, own, {}).items()}
    assert {name: len(some) for name, some in sets.items()} == {
        "hub-stage1": 2, "hub-stage2": 2, "hub-stage1-more": 6, "hub-stage2-more": 6,
    }  # fmt: skip
    assert sets["hub-stage1"] < sets["hub-stage1-more"] and sets["hub-stage2"] < sets["hub-stage2-more"]
    assert not sets["hub-stage1-more"] & sets["hub-stage2-more"]


def test_what_is_wrong_is_told_in_one_line(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    out = ["--out", str(tmp_path / "data"), *SMALL]
    monkeypatch.setattr(mags_rl, "drawn", lambda args: {"start": []})
    assert mags_rl.main([*out, "--hub", "--hub-root", str(tmp_path)]) == 1
    assert f"no folder {BENCHMARKS['vsr'].id}" in capsys.readouterr().err
    wrong = [replace(task, target=("no",)) for task in make_tasks({"attribute/easy": 1}, 0)]
    monkeypatch.setattr(mags_rl, "drawn", lambda args: {"start": wrong})
    assert mags_rl.main(out) == 1
    assert "not as it was drawn: target" in capsys.readouterr().err
    assert not (tmp_path / "data" / "manifest.json").exists()

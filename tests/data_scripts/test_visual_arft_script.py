"""The data script of Visual-ARFT: everything on disk, checked; your own pictures; mistakes named in one line."""

from __future__ import annotations

import json
import re
from pathlib import Path

import numpy as np
import pytest
import visual_arft
from PIL import Image

from kit.data.leak import look_alikes
from kit.data.questions import tasks_of
from kit.data.split import split_groups
from kit.data.store import load_episodes, load_tasks
from kit.episode import Task, content_hash
from papers.visual_arft.data_folder import load_sets
from papers.visual_arft.experiment import Play, watched_sets
from papers.visual_arft.experiment import test_sets as sets_to_test
from papers.visual_arft.mat_benchmark import benchmark_images
from papers.visual_arft.reward import score
from pictures.scenes import scene
from tests.helpers.hub_copies import make_copies
from workshop import script
from workshop.script import local_copies

SMALL = ["--train", "1", "--test", "0.1", "--search-train", "4", "--search-test", "6", "--text", "5"]
SMALL += ["--lesson-sheets", "3", "--lesson-searches", "2"]


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("data")
    assert visual_arft.main(["--out", str(folder), *SMALL]) == 0
    return folder


def test_every_set_is_there_and_in_the_manifest(made: Path) -> None:
    manifest = json.loads((made / "manifest.json").read_text())
    sizes = {name: len(load_tasks(made / f"{name}.jsonl")) for name in manifest["sets"]}
    assert sizes == manifest["sets"]
    assert sizes == {"coding-train": 12, "coding-test": 22, "search-train": 4, "search-test": 6, "text-test": 5}
    assert manifest["documents"] > 80_000 and manifest["licences"]["flagpy"] == "MIT"
    assert manifest["coding"]["coding-test"]["simple"] == 7


def test_a_folder_can_be_played_as_it_is(made: Path) -> None:
    """What notebooks 22 to 24 read: sets, how tasks are told, the expert's episodes."""
    assert set(load_sets(made)) == {"coding-train", "coding-test", "search-train", "search-test", "text-test"}
    assert Play.kept(made) == Play(prompt="full", k=4, snippet_chars=600)
    shown = load_episodes(made / "coldstart.jsonl")
    assert len(shown) == 3 + 2
    assert [score(e, e.task.target).total for e in shown] == [2.0] * 5


def test_training_and_test_have_nothing_in_common(made: Path) -> None:
    sets = load_sets(made)
    for kind in ("coding", "search"):
        pictures = [{p.sha256 for t in sets[f"{kind}-{side}"] for p in t.images} for side in ("train", "test")]
        assert not pictures[0] & pictures[1]
    train = {name for t in sets["search-train"] for name in t.meta["countries"]}
    for other in ("search-test", "text-test"):
        assert not train & {name for t in sets[other] for name in t.meta["countries"]}
    assert all(not t.images and len(t.meta["queries"]) == 2 for t in sets["text-test"])


def own(folder: Path, lines: list[dict]) -> list[str]:
    for k in range(4):
        Image.fromarray(scene(np.random.default_rng(k), 168)).save(folder / f"{k}.png")
    (folder / "questions.jsonl").write_text("".join(json.dumps(line) + "\n" for line in lines))
    return ["--out", str(folder / "out"), "--images", str(folder), *SMALL]


def test_your_own_pictures_are_split_by_picture(tmp_path: Path) -> None:
    lines = [{"image": f"{k}.png", "question": "What is it?", "answers": ["a scene"]} for k in range(4)]
    assert visual_arft.main(own(tmp_path, lines)) == 0
    train, test = (load_tasks(tmp_path / "out" / f"coding-{side}.jsonl") for side in ("train", "test"))
    assert not {t.meta["source"] for t in train} & {t.meta["source"] for t in test}
    assert {t.meta["category"] for t in train} == {t.meta["category"] for t in test}
    assert "crop" not in {t.meta["category"] for t in train}  # no question was about a part


@pytest.mark.parametrize(
    ("lines", "message"),
    [
        ([{"image": "0.png", "question": "?", "answers": []}], "questions.jsonl, line 1: ValueError: no answer"),
        ([{"image": "gone.png", "question": "?", "answers": ["x"]}], "line 1: FileNotFoundError"),
        ([{"image": "0.png", "answers": ["x"]}], "line 1: KeyError: 'question'"),
        (
            [{"image": "0.png", "question": "?", "answers": ["x"]}],
            "1 different pictures in 1 groups that look the same: none is left for test",
        ),
    ],
)
def test_a_wrong_line_is_named(
    tmp_path: Path, lines: list[dict], message: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert visual_arft.main(own(tmp_path, lines)) == 1
    assert message in capsys.readouterr().err


def test_a_folder_without_questions_is_named(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert visual_arft.main(["--out", str(tmp_path / "out"), "--images", str(tmp_path)]) == 1
    assert "questions.jsonl: no such file" in capsys.readouterr().err


def test_without_a_network_the_hub_path_says_what_to_do(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("HF_HUB_OFFLINE", "1")
    assert visual_arft.main(["--out", str(tmp_path), "--hub"]) == 1
    told = capsys.readouterr()
    assert "laolao77/MAT" in told.out and "CC BY-NC 4.0" in told.out
    assert "run once with --pin" in told.err


@pytest.fixture(scope="module")
def copies(tmp_path_factory: pytest.TempPathFactory) -> Path:
    root = tmp_path_factory.mktemp("hub")
    make_copies(root, 10)
    return root


@pytest.fixture(scope="module")
def from_hub(copies: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("paper")
    assert visual_arft.main(["--out", str(folder), "--hub", "--hub-root", str(copies), *SMALL]) == 0
    return folder


def test_the_hubs_sets_are_read_from_copies_to_tasks(from_hub: Path) -> None:
    manifest = json.loads((from_hub / "manifest.json").read_text())
    held_out = 7 * 1 + 4 * 3  # a tenth of the paper's 10 and 26 a category; no "crop", as no question is about a part
    assert manifest["sets"] == {
        "coding-train": 11,
        "coding-development": held_out,
        "coding-test": held_out,
        "mat-coding": 3,
        "mat-search": 2,
        "text-test": 12,
        "search-train": 4,
        "search-test": 6,
    }
    for name, size in manifest["sets"].items():
        assert len(load_tasks(from_hub / f"{name}.jsonl")) == size
    assert manifest["licences"]["howard-hou/OCR-VQA"].startswith("none stated")
    kinds = {t.meta["kind"] for t in load_tasks(from_hub / "coding-test.jsonl")}
    assert kinds <= {"documents", "book covers", "screens", "textbooks", "scenes", "charts"} and len(kinds) > 1


def found_in(root: Path) -> list[Task]:
    sources = local_copies(visual_arft.DOCUMENTS, root)
    return [task for source in sources for task in tasks_of(source, lambda image: image)]


def shown(task: Task) -> str:
    return content_hash(task.images[0].image)


def shared(sides: dict[str, list[Task]]) -> int:
    """Rows of the test and development sides whose picture another side has, too."""
    pictures = {side: {shown(q) for q in some} for side, some in sides.items()}
    return sum(
        shown(q) in pictures[other]
        for side in ("test", "development")
        for q in sides[side]
        for other in pictures
        if other != side
    )


def test_a_split_by_rows_leaks_and_a_split_by_pictures_never_does(copies: Path) -> None:
    found = found_in(copies)
    shares = {"test": 0.25, "development": 0.1}
    by_row = dict(zip((f"{k}" for k in range(len(found))), split_groups(range(len(found)), shares), strict=True))
    rows = {side: [q for k, q in enumerate(found) if by_row[f"{k}"] == side] for side in ("train", *shares)}
    assert shared(rows) > len(rows["test"]) / 2
    hashes = [shown(task) for task in found]
    different = dict(zip(hashes, (task.images[0].image for task in found), strict=True))
    groups = dict(zip(different, look_alikes(different.items()), strict=True))
    for seed in range(1000):
        side_of = dict(zip(different, split_groups(list(groups.values()), shares, seed), strict=True))
        sides = {side: [q for q, h in zip(found, hashes, strict=True) if side_of[h] == side] for side in rows}
        assert sum(map(len, sides.values())) == len(found)
        of_group = {(groups[name], side) for name, side in side_of.items()}
        assert len(of_group) == len(set(groups.values()))
        assert seed % 100 or shared(sides) == 0
    assert shared(script.split(found, shares, 0)) == 0


def test_the_check_finds_what_a_split_by_rows_leaks(copies: Path, capsys: pytest.CaptureFixture[str]) -> None:
    found = found_in(copies)
    sides = split_groups(range(len(found)), {"test": 0.25, "development": 0.1})
    rows = {s: [q for q, its in zip(found, sides, strict=True) if its == s] for s in ("train", "development", "test")}
    cleared = script.apart(rows)
    told = capsys.readouterr().out
    assert int(re.search(r"left out (\d+) of \d+ pictures that look like one of test's \(train\)", told)[1]) > 0  # type: ignore[index]
    assert shared(rows) > 0 == shared(cleared)
    assert len(cleared["train"]) < len(rows["train"]) and cleared["test"] == rows["test"]
    new = script.split(found, {"test": 0.25, "development": 0.1}, 0)
    assert script.apart(new) == new
    assert re.findall(r"left out (\d+)", capsys.readouterr().out) == ["0", "0", "0"]


def test_a_picture_of_the_benchmark_is_not_trained_on(copies: Path, capsys: pytest.CaptureFixture[str]) -> None:
    found = found_in(copies)
    left = script.unlike(found, benchmark_images(copies / "laolao77/MAT"), "the benchmark's")
    assert re.match(r"left out 1 of \d+ pictures that look like the benchmark's", capsys.readouterr().out)
    gone = {q.meta["source"] for q in found} - {q.meta["source"] for q in left}
    assert gone == {found[0].meta["source"]}


def test_the_benchmark_is_what_is_measured_by_and_shows_whole_pictures(from_hub: Path) -> None:
    assert [path.stem for path in sets_to_test(from_hub).values()] == ["mat-coding", "mat-search", "text-test"]
    assert [Path(file).stem for file in watched_sets(from_hub)] == ["coding-development", "mat-search"]
    crop = next(t for t in load_tasks(from_hub / "mat-coding.jsonl") if t.meta["category"] == "mat:crop")
    assert crop.images[0].image.size == (240, 240), "the part alone would be the solution"


def test_pictures_have_as_many_pixels_as_allowed(copies: Path, tmp_path: Path) -> None:
    allowed = ["--max-pixels", "10000", "--hub-pictures", "5"]
    assert visual_arft.main(["--out", str(tmp_path), "--hub", "--hub-root", str(copies), *SMALL, *allowed]) == 0
    sets = load_sets(tmp_path)
    sizes = {image.image.size for name in sets if "search" not in name for t in sets[name] for image in t.images}
    assert sizes == {(100, 100)}
    assert visual_arft.options(["--out", "x"]).max_pixels == 401_408


def test_a_missing_copy_is_named(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert visual_arft.main(["--out", str(tmp_path / "out"), "--hub", "--hub-root", str(tmp_path)]) == 1
    assert "no folder pixparse/docvqa-single-page-questions; put a copy" in capsys.readouterr().err


def test_images_that_no_rollout_can_begin_are_refused_before_anything_is_written(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    lines = [{"image": f"{k}.png", "question": "What is it?", "answers": ["a scene"]} for k in range(4)]
    shapes = {"wide.png": (400, 1), "tall.png": (64, 13200)}
    for name, size in shapes.items():
        Image.new("RGB", size).save(tmp_path / name)
    more = [{"image": name, "question": "What is it?", "answers": "hello"} for name in shapes]
    assert visual_arft.main(own(tmp_path, [*lines, *more])) == 1
    said = capsys.readouterr().err
    assert "2 questions can't be used" in said
    assert "line 5: CellError: an image that a model can't be shown: it has 400 x 1 pixels; the longer side" in said
    assert "line 6: CellError: an image that a model can't be shown: shrunk from 64 x 13200 pixels" in said
    assert not (tmp_path / "out").exists()


def test_questions_that_leave_no_room_for_a_turn_are_refused_before_anything_is_written(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    lines = [{"image": f"{k}.png", "question": "?" * 99999, "answers": ["a scene"]} for k in range(4)]
    assert visual_arft.main(own(tmp_path, lines)) == 1
    said = capsys.readouterr().err
    assert f"{tmp_path / 'out' / 'coding-train.jsonl'}:1, task coding-train-" in said
    assert "a turn may have 2048: together more than max_episode_tokens=28192" in said
    assert not (tmp_path / "out" / "coding-train.jsonl").exists()

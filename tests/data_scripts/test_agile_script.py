"""The data script of AGILE on copies of the hub's data sets: every set, every side, no network."""

from __future__ import annotations

import json
from collections import Counter
from pathlib import Path

import agile
import numpy as np
import pytest
from PIL import Image

from kit.data.leak import check_sources, leaked_pairs, solved
from kit.data.store import load_tasks
from pictures.photos import photos
from pictures.scenes import scene
from tests.helpers.agile_hub_copies import make_copies

SHARE = 12 / 15_600  # 5 + 4 + 3 pictures to train on


@pytest.fixture(scope="module")
def copies(tmp_path_factory: pytest.TempPathFactory) -> Path:
    root = tmp_path_factory.mktemp("hub")
    make_copies(root, agile.HUB, 12)
    return root


@pytest.fixture(scope="module")
def made(copies: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    out = tmp_path_factory.mktemp("data")
    arguments = ["--out", str(out), "--hub", "--hub-root", str(copies), "--hub-share", str(SHARE), "--eval", "3"]
    with pytest.warns(UserWarning, match="a picture cannot be read and is left out"):
        assert agile.main([*arguments, "--max-pixels", "8000"]) == 0
    return out


def test_held_out_pictures_come_on_top_of_those_to_train_on(made: Path) -> None:
    manifest = json.loads((made / "manifest.json").read_text())
    assert manifest["pictures_per_side"] == {"train": 12, "test": 3, "development": 3}
    counts = {name: (row["puzzles"], row["pictures"]) for name, row in manifest["files"].items()}
    assert counts == {
        "train.jsonl": (12, 12),
        "eval-2x2.jsonl": (9, 3),
        "eval-3x3.jsonl": (24, 3),
        "development-2x2.jsonl": (9, 3),
        "development-3x3.jsonl": (24, 3),
    }
    assert {row["kind"] for row in manifest["pictures"]} == {"hub"}


def test_no_two_sides_share_a_picture(made: Path) -> None:
    sides = {
        side: {t.meta["source"]: solved(t) for name in names for t in load_tasks(made / f"{name}.jsonl")}
        for side, names in {
            "train": ("train",),
            "test": ("eval-2x2", "eval-3x3"),
            "development": ("development-2x2", "development-3x3"),
        }.items()
    }
    for one, other in (("train", "test"), ("train", "development"), ("development", "test")):
        assert not sides[one].keys() & sides[other].keys()
        assert leaked_pairs(sides[one].items(), sides[other].items()) == []


def test_pictures_are_whole_and_within_the_limit(made: Path) -> None:
    for task in load_tasks(made / "train.jsonl"):
        width, height = task.images[0].image.size
        assert width / height == pytest.approx(4 / 3, abs=0.1)  # all of the picture, which was 120×90 or 100×75
        assert (2 * width) * (2 * height) <= 8000 < (2 * width + 6) * (2 * height + 6) * 1.1
    assert Counter(t.meta["level"] for t in load_tasks(made / "train.jsonl")) == {0: 12}


def test_the_papers_numbers() -> None:
    sizes = agile.with_held_out(agile.SIZES, 600)
    assert sum(sizes.values()) == 16_200
    assert sizes == {"high-resolution": 6438, "text-and-structure": 5400, "dense-natural": 4362}
    args = agile.options(["--out", "x", "--hub"])
    assert args.eval == 300 and args.max_pixels == 401_408
    assert agile.cutting(args) == {"piece_px": None, "whole": True, "max_pixels": 401_408}
    assert agile.cutting(agile.options(["--out", "x"])) == {"piece_px": 56}


@pytest.mark.parametrize(
    ("arguments", "expected"),
    [
        ([], (4, 0.0)),
        (["--coldstart", "scripted"], (4, 0.6)),
        (["--coldstart", "scripted", "--thumbnail", "0"], (0, 0.0)),
        (["--coldstart", "scripted", "--guesses", "0.3"], (4, 0.3)),
        (["--coldstart", "endpoint", "--base-url", "u", "--model", "m"], (4, 0.0)),
        (["--piece-px", "0"], (0, 0.0)),
        (["--hub", "--coldstart", "scripted"], (0, 0.0)),
    ],
)
def test_squares_are_shown_as_thumbnails_and_whole_pictures_are_not(
    arguments: list[str], expected: tuple[int, float]
) -> None:
    args = agile.options(["--out", "x", *arguments])
    assert (args.thumbnail, args.guesses) == expected


def test_scenes_and_packaged_photographs_make_the_same_sets_each_time(tmp_path: Path) -> None:
    for out in ("one", "two"):
        assert agile.main(["--out", str(tmp_path / out), "--train", "8", "--eval", "2"]) == 0
    one, two = tmp_path / "one", tmp_path / "two"
    assert {name: len(load_tasks(one / f"{name}.jsonl")) for name in ("train", "eval-2x2", "eval-3x3")} == {
        "train": 8, "eval-2x2": 2 * 3, "eval-3x3": 2 * 8,
    }  # fmt: skip
    shown = load_tasks(one / "train.jsonl")[0]
    assert (shown.images[0].image.size, shown.originals[0].image.size) == ((28, 28), (56, 56))
    manifest = json.loads((one / "manifest.json").read_text())
    assert manifest["files"]["train.jsonl"]["puzzles"] == 8
    assert {p["id"] for p in manifest["pictures"]} == {p.id for p in [*photos("train"), *photos("held-out")]}
    assert all(p["licence"] for p in manifest["pictures"])
    assert (one / "train.jsonl").read_bytes() == (two / "train.jsonl").read_bytes()


def own_pictures(folder: Path, count: int, train: int, near: int = 0) -> list[str]:
    """Scenes in a folder of one's own, or near-copies of one, other bytes of the same picture; the script's options."""
    folder.mkdir()
    for k in range(count):
        picture = Image.fromarray(scene(np.random.default_rng(0 if near else k), 96))
        picture.resize((96 + near * k,) * 2).save(folder / f"{k}.png")
    return ["--out", str(folder.with_name("out")), "--images", str(folder), "--train", str(train), "--eval", "1"]


def test_a_folder_of_ones_own_is_taken_and_a_bad_one_refused(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    folder = tmp_path / "mine"
    arguments = own_pictures(folder, 5, train=4)
    assert agile.main(arguments) == 0
    sources = {t.meta["source"] for t in load_tasks(tmp_path / "out" / "train.jsonl")}
    assert sources <= {f"{k}.png" for k in range(5)}
    assert sources.isdisjoint(t.meta["source"] for t in load_tasks(tmp_path / "out" / "eval-2x2.jsonl"))
    assert agile.main([*arguments, "--needed", "9"]) == 1
    assert "5 different pictures there, 9 needed" in capsys.readouterr().err
    (folder / "2.png").write_bytes(b"oops")
    assert agile.main(arguments) == 1
    assert "2.png: cannot be read" in capsys.readouterr().err


def test_a_folder_that_leaks_is_refused(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert agile.main(own_pictures(tmp_path / "mine", 4, train=2, near=8)) == 1
    assert "4 different pictures in 1 groups that look the same" in capsys.readouterr().err
    assert not (tmp_path / "out" / "train.jsonl").exists()


def test_options_that_lack_another_are_refused(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    for given in (["--coldstart", "endpoint"], ["--hub-root", "y"]):
        with pytest.raises(SystemExit):
            agile.options(["--out", "x", *given])
    assert agile.main(["--out", str(tmp_path), "--hub"]) == 1
    assert "--pin" in capsys.readouterr().err


def test_the_hub_table_has_the_papers_sizes() -> None:
    assert sum(agile.SIZES.values()) == 15600
    assert {s.group for s in agile.HUB} == set(agile.SIZES)
    for group in agile.SIZES:  # each part can be filled without the benchmarks
        assert any(s.group == group and not s.benchmark for s in agile.HUB)
    assert all(s.licence and s.id.count("/") == 1 for s in agile.HUB)


def test_sources_of_the_script_are_split_clean(made: Path) -> None:
    sources = agile.folder_pictures(made / "hub", held_out=3, development=3, longest=agile.LONGEST)
    check_sources(*([s for s in sources if s.split == side] for side in ("train", "development", "test")))


@pytest.mark.parametrize("out", ["mine", "mine/x", "mine/a/../b", "mine/../mine/y", "link", "above"])
def test_pictures_are_not_written_among_those_that_are_read(
    out: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """The pieces of one run would be cut by the next."""
    images = tmp_path / ("above/pictures" if out == "above" else "mine")
    images.mkdir(parents=True)
    (tmp_path / "link").symlink_to(images)
    with pytest.raises(SystemExit):
        agile.options(["--out", str(tmp_path / out), "--images", str(images)])
    assert f"would lie in --images {images}" in capsys.readouterr().err
    assert agile.options(["--out", str(tmp_path / "elsewhere"), "--images", str(images)]).images == images

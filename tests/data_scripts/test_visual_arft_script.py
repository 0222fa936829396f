"""The data script of Visual-ARFT: everything on disk, checked; your own pictures; mistakes named in one line."""

from __future__ import annotations

import json
import sys
from pathlib import Path

import numpy as np
import pytest
from PIL import Image

from kit.data.scenes import scene
from kit.data.store import load_tasks
from kit.files import ROOT

sys.path.insert(0, str(ROOT / "data_scripts"))
import visual_arft

SMALL = ["--train", "1", "--test", "0.1", "--search-train", "4", "--search-test", "6", "--text", "5"]


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


def test_training_and_test_have_nothing_in_common(made: Path) -> None:
    sets = {path.stem: load_tasks(path) for path in made.glob("*.jsonl")}
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
        ([{"image": "0.png", "question": "?", "answers": ["x"]}], "1 pictures, 0.25 of them held out"),
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

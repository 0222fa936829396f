"""The hub path, on data sets in a local folder (the same loading code) and without a network."""

import base64
import io
import json
from dataclasses import replace
from pathlib import Path

import datasets
import numpy as np
import pytest
from PIL import Image

from kit.data.folder import folder_pictures
from kit.data.hub import HubError, HubSource, pin, pinned, read_lock, stream
from pictures.scenes import scene
from workshop.script import download

COMMIT = "0123456789abcdef0123456789abcdef01234567"


def pictures(n: int, start: int = 0) -> list[Image.Image]:
    return [Image.fromarray(scene(np.random.default_rng(start + k), 96)) for k in range(n)]


@pytest.fixture(scope="module")
def local(tmp_path_factory: pytest.TempPathFactory) -> HubSource:
    folder = tmp_path_factory.mktemp("dataset")
    images = pictures(6)
    rows = {"image": [*images, images[0]], "question": list("abcdefg")}  # the last picture is there twice
    features = datasets.Features({"image": datasets.Image(), "question": datasets.Value("string")})
    datasets.Dataset.from_dict(rows, features=features).to_parquet(folder / "train.parquet")
    return HubSource(str(folder), "dense", "train", "image", "ours")


def test_pictures_arrive_once_each_and_count_when_run_again(local: HubSource, tmp_path: Path) -> None:
    assert download([local], {"dense": 4}, tmp_path) == {"dense": 4}
    before = {p: p.stat().st_mtime_ns for p in (tmp_path / "dense").iterdir()}
    assert download([local], {"dense": 6}, tmp_path) == {"dense": 6}
    after = {p: p.stat().st_mtime_ns for p in (tmp_path / "dense").iterdir()}
    assert len(after) == 6 and before.items() <= after.items()
    assert len(folder_pictures(tmp_path)) == 6


def test_too_few_pictures_are_named(local: HubSource, tmp_path: Path) -> None:
    with pytest.raises(HubError, match="group dense: its data sets hold 6 different pictures, 9 needed"):
        download([local], {"dense": 9}, tmp_path)


def test_a_wrong_column_or_split_is_named(local: HubSource) -> None:
    with pytest.raises(HubError, match="no column 'img'; it has image, question"):
        next(stream(replace(local, column="img")))
    with pytest.raises(HubError, match="nosuch"):
        next(stream(replace(local, split="nosuch")))


def test_pictures_in_lists_base64_and_files(tmp_path: Path) -> None:
    image = pictures(1)[0]
    buffer = io.BytesIO()
    image.save(buffer, "PNG")
    image.save(tmp_path / "one.png")
    features = datasets.Features(
        {
            "list": datasets.List(datasets.Image()),
            "text": datasets.Value("string"),
            "file": datasets.Value("string"),
        }
    )
    row = {"list": [[image, image]], "text": [base64.b64encode(buffer.getvalue()).decode()], "file": ["one.png"]}
    (tmp_path / "data").mkdir()
    datasets.Dataset.from_dict(row, features=features).to_parquet(tmp_path / "data" / "train.parquet")
    for column, count in (("list", 2), ("text", 1), ("file", 1)):
        source = HubSource(str(tmp_path), "g", "train", column, "ours", data_files="data/train.parquet")
        got = list(stream(source))
        assert len(got) == count
        assert all(np.array_equal(np.asarray(g), np.asarray(image)) for g in got)


def test_revisions_are_commits(local: HubSource) -> None:
    remote = HubSource("owner/name", "g", "train", "image", "")
    assert pinned(local, {}) == local and pinned(replace(local, revision=COMMIT), {}) == local
    assert pinned(replace(remote, revision=COMMIT), {}).revision == COMMIT
    assert pinned(remote, {"owner/name": COMMIT}) == replace(remote, revision=COMMIT)
    for bad in (None, "main"):
        with pytest.raises(HubError, match=r"owner/name: revision .* is not a commit; run once with --pin"):
            pinned(replace(remote, revision=bad), {})


def test_pinning_keeps_what_is_pinned_and_needs_no_network_for_it(local: HubSource, tmp_path: Path) -> None:
    lock = tmp_path / "hub.lock.json"
    lock.write_text(json.dumps({"owner/name": COMMIT}))
    sources = [local, HubSource("owner/name", "g", "train", "image", "")]
    assert pin(sources, lock) == {"owner/name": COMMIT} == read_lock(lock)
    lock.write_text("oops")
    with pytest.raises(HubError, match="remove it and run with --pin"):
        read_lock(lock)


def test_without_a_network_the_message_says_what_to_do(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("huggingface_hub.constants.HF_HUB_OFFLINE", True)
    monkeypatch.setattr("datasets.config.HF_HUB_OFFLINE", True)
    remote = HubSource("owner/name", "g", "train", "image", "", revision=COMMIT)
    with pytest.raises(HubError, match=r"owner/name: .*leave --hub out: the offline sample needs none"):
        next(stream(remote))
    with pytest.raises(HubError, match="leave --hub"):
        pin([replace(remote, revision=None)], tmp_path / "lock.json")

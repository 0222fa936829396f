"""A folder of images on three sides: by what they show, whatever is copied, resized or renamed."""

from __future__ import annotations

import json
from collections import Counter
from pathlib import Path

import numpy as np
import pytest
from PIL import Image, ImageOps

from kit.data.folder import folder_pictures, photographs
from kit.data.leak import leaked_pairs
from kit.data.source import ImageError
from kit.data.split import SplitError
from pictures.scenes import scene

SCENES = [Image.fromarray(scene(np.random.default_rng(k), 96)) for k in range(24)]


@pytest.fixture(scope="module")
def copied(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """24 scenes with one to four files each: copies, smaller ones, mirrored ones."""
    folder = tmp_path_factory.mktemp("copied")
    for k, image in enumerate(SCENES):
        files = (image, image, image.resize((80, 80)), ImageOps.mirror(image))[: 1 + k % 4]
        for n, file in enumerate(files):
            file.save(folder / f"{k}-{n}.png")
    return folder


def test_no_picture_and_no_look_alike_stands_on_two_sides(copied: Path) -> None:
    sources = folder_pictures(copied)
    sides = {side: [s for s in sources if s.split == side] for side in ("train", "development", "test")}
    assert all(sides.values())
    of_scene: dict[str, set[str]] = {}
    for source in sources:
        of_scene.setdefault(source.id.split("-")[0], set()).add(source.split)
    assert len(of_scene) == 24 and all(len(found) == 1 for found in of_scene.values())
    for one, other in (("train", "test"), ("train", "development"), ("development", "test")):
        images = [[(s.id, s.image) for s in sides[side]] for side in (one, other)]
        assert leaked_pairs(*images) == []


def test_shares_and_numbers_are_kept(tmp_path: Path) -> None:
    for k, image in enumerate(SCENES):
        image.save(tmp_path / f"{k}.png")
    counts = Counter(s.split for s in folder_pictures(tmp_path))
    assert counts == {"train": 16, "test": 6, "development": 2}  # 24 × .25, 24 × .1
    counts = Counter(s.split for s in folder_pictures(tmp_path, held_out=5, development=3))
    assert counts == {"train": 16, "test": 5, "development": 3}
    with pytest.raises(SplitError, match="together less than 1"):
        folder_pictures(tmp_path, held_out=20, development=4)
    with pytest.raises(ValueError, match="development=0: three sides need at least 3 pictures"):
        folder_pictures(tmp_path, development=0)


def test_look_alikes_alone_cannot_be_split(tmp_path: Path) -> None:
    for k in range(5):
        SCENES[0].resize((96 + 8 * k,) * 2).save(tmp_path / f"{k}.png")
    with pytest.raises(SplitError, match="5 different pictures in 1 groups that look the same"):
        folder_pictures(tmp_path)


def test_photographs_that_are_split_already(tmp_path: Path) -> None:
    with pytest.raises(ImageError, match=r"no such folder, or no manifest.json in it; write it with: python data_scr"):
        photographs(tmp_path / "gone", "test")
    (tmp_path / "test").mkdir()
    SCENES[0].save(tmp_path / "test" / "lake.png")
    listed = [{"file": "test/lake.png", "licence": "CC BY-SA 4.0"}]
    (tmp_path / "manifest.json").write_text(json.dumps({"pictures": listed}))
    [lake] = photographs(tmp_path, "test")
    assert (lake.id, lake.split, lake.licence, lake.image.size) == ("lake", "test", "CC BY-SA 4.0", (96, 96))
    with pytest.raises(ImageError, match="0 pictures in development/, 0 in its manifest"):
        photographs(tmp_path, "development")
    (tmp_path / "train").mkdir()
    with pytest.raises(ImageError, match="it is split already; give one side of it"):
        folder_pictures(tmp_path)
    SCENES[1].save(tmp_path / "test" / "stray.png")
    with pytest.raises(ImageError, match="2 pictures in test/, 1 in its manifest"):
        photographs(tmp_path, "test")
    (tmp_path / "manifest.json").write_text("{")
    with pytest.raises(ImageError, match=r"manifest\.json cannot be read"):
        photographs(tmp_path, "test")

"""Photographs are found in packages, whatever else is in them, and stand on one side each."""

from __future__ import annotations

import io
import json
import shutil
import subprocess
from pathlib import Path

import debian_photos
import numpy as np
import pytest
from PIL import Image

from kit.data.folder import photographs
from pictures.photos import photos
from pictures.scenes import scene


def webp(pixels: np.ndarray) -> bytes:
    file = io.BytesIO()
    Image.fromarray(pixels).save(file, "WEBP", lossless=True)
    return file.getvalue()


def test_opaque_pictures_are_found_whole_and_in_order() -> None:
    rng = np.random.default_rng(0)
    one, two = (rng.integers(0, 256, size=(9, 12, 3), dtype=np.uint8) for _ in range(2))
    cut_out = rng.integers(0, 256, size=(9, 12, 4), dtype=np.uint8)
    cut_out[..., 3] = np.arange(12) * 20
    resource = b"qres RIFF" + b"RIFF\x04\0\0\0WAVE" + webp(one) + b"\0\0pad" + webp(cut_out) + webp(two)
    found = [np.asarray(picture) for picture in debian_photos.webp_pictures(resource)]
    assert len(found) == 2
    assert (found[0] == one).all() and (found[1] == two).all()


def built(folder: Path, name: str, files: dict[str, bytes]) -> None:
    """A Debian package with these files and a copyright."""
    root = folder / f"tree-{name}"
    (root / "DEBIAN").mkdir(parents=True)
    (root / "DEBIAN/control").write_text(
        f"Package: {name}\nVersion: 1.0-1\nArchitecture: all\nMaintainer: a <a@b.c>\nDescription: x\n"
    )
    for path, data in (files | {f"usr/share/doc/{name}/copyright": b"CC0"}).items():
        (root / path).parent.mkdir(parents=True, exist_ok=True)
        (root / path).write_bytes(data)
    subprocess.run(["dpkg-deb", "--build", root, folder / f"{name}_1.0-1_all.deb"], check=True, capture_output=True)


def jpeg(image: Image.Image) -> bytes:
    file = io.BytesIO()
    image.save(file, "JPEG", quality=95)
    return file.getvalue()


def picture(seed: int) -> Image.Image:
    return Image.fromarray(scene(np.random.default_rng(seed), 256))


@pytest.mark.skipif(shutil.which("dpkg-deb") is None, reason="dpkg-deb, Debian's packer, is not here")
def test_each_picture_is_written_once_and_no_side_looks_like_another(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    package = debian_photos.Package
    old, mid = package("old", "train", ("a/*.rcc",)), package("mid", "development", ("c/*.jpg",))
    rows = (old, package("new", "test", ("b/*.jpg",)), mid)
    monkeypatch.setattr(debian_photos, "PACKAGES", rows)
    seen = np.asarray(picture(0))
    built(tmp_path, "old", {"a/x.rcc": webp(seen) + webp(seen[:64, :64]) + webp(np.zeros((256, 256, 3), np.uint8))})
    built(
        tmp_path,
        "new",
        {
            "b/lake.jpg": jpeg(picture(1).resize((1400, 1400))),
            "b/seen.jpg": jpeg(picture(0).resize((300, 300))),  # trained on under another name, in another size
            "b/cat.jpg": jpeg(next(p for p in photos("held-out") if p.id == "chelsea").image),
        },
    )
    built(tmp_path, "mid", {"c/tree.jpg": jpeg(picture(2)), "c/lake.jpg": jpeg(picture(1))})
    out = tmp_path / "out"
    assert debian_photos.main(["--out", str(out), "--packages", str(tmp_path)]) == 0
    assert "1 train pictures, 1 test pictures, 1 development pictures" in capsys.readouterr().out
    sides = {side: [s.id for s in photographs(out, side)] for side in ("train", "test", "development")}
    assert sides == {"train": ["old-x-000"], "test": ["new-lake"], "development": ["mid-tree"]}
    assert photographs(out, "test")[0].image.size == (1024, 1024)
    manifest = json.loads((out / "manifest.json").read_text())
    assert [(row["package"], row["version"], row["pictures"]) for row in manifest["packages"]] == [
        ("old", "1.0-1", 1),
        ("new", "1.0-1", 1),
        ("mid", "1.0-1", 1),
    ]
    assert manifest["looked_the_same"] == 3
    assert (out / manifest["packages"][0]["licences"]).read_text() == "CC0"
    again = tmp_path / "again"
    built(again, "old", {"d/other.jpg": b""})
    assert debian_photos.main(["--out", str(out), "--packages", str(again)]) == 1
    assert "package old: it holds no a/*.rcc; correct its row" in capsys.readouterr().err

"""Pictures: the table, the user's folder, and which crops are refused."""

from collections import Counter
from pathlib import Path

import numpy as np
import pytest
from PIL import Image

from kit.data.folder import folder_pictures
from kit.data.leak import check_sources
from kit.data.source import ImageError, open_upright
from kit.episode import content_hash
from pictures.photos import FLAT, PHOTOS, flatness, photo_path, photos, random_crop, scenes
from pictures.scenes import scene


def picture(seed: int, size: int = 96) -> Image.Image:
    return Image.fromarray(scene(np.random.default_rng(seed), size))


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    for k, suffix in enumerate(("png", "jpg", "webp", "bmp", "tif", "png", "jpeg", "png")):
        picture(k).save(tmp_path / f"p{k}.{suffix}")
    return tmp_path


def test_the_table_splits_by_picture_and_every_file_is_there() -> None:
    assert len({p.id for p in PHOTOS}) == len(PHOTOS) == len({(p.package, p.file) for p in PHOTOS})
    assert all(photo_path(p).is_file() and p.licence for p in PHOTOS)
    # The two halves of a stereo pair are one scene; only one of them may be used.
    assert sum("motorcycle" in p.file for p in PHOTOS) == 1
    held_out = photos("held-out")
    assert len(held_out) >= 7 and sum(p.kind == "colour" for p in held_out) >= 6
    assert {p.id for p in held_out}.isdisjoint(p.id for p in photos("train"))
    for source in [*held_out, *photos("train")]:
        assert source.image.mode == "RGB" and max(source.image.size) <= 1024


def test_the_table_does_not_leak() -> None:
    check_sources(photos("train"), photos("held-out"))


def test_every_photograph_gives_puzzles_of_both_sizes() -> None:
    for source in [*photos("train"), *photos("held-out")]:
        for m in (2, 3):
            assert random_crop(np.random.default_rng(0), source.image, m) is not None, (source.id, m)


def test_missing_package_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("importlib.util.find_spec", lambda name: None)
    with pytest.raises(ImageError, match=r"photograph china: package scikit-learn is not installed"):
        photo_path(PHOTOS[0])


def test_scene_k_does_not_depend_on_how_many() -> None:
    few, many = scenes(2, seed=5), scenes(6, seed=5)
    assert few == many[:2] and content_hash(few[1].image) == content_hash(many[1].image)
    assert content_hash(scenes(1, seed=6)[0].image) != content_hash(few[0].image)


def test_folder_is_split_by_content_whatever_the_names(folder: Path, tmp_path_factory: pytest.TempPathFactory) -> None:
    sources = folder_pictures(folder)
    assert len(sources) == 8
    assert Counter(s.split for s in sources) == {"train": 5, "test": 2, "development": 1}
    other = tmp_path_factory.mktemp("renamed")
    for k, path in enumerate(sorted(folder.iterdir(), reverse=True)):
        (other / f"q{k}{path.suffix}").write_bytes(path.read_bytes())
    again = folder_pictures(other)
    assert [(content_hash(s.image), s.split) for s in again] == [(content_hash(s.image), s.split) for s in sources]


def test_copies_of_a_picture_count_once(folder: Path) -> None:
    (folder / "sub").mkdir()
    (folder / "sub" / "copy.png").write_bytes((folder / "p0.png").read_bytes())
    assert len(folder_pictures(folder)) == 8


def test_pictures_stand_upright_and_transparency_is_white(tmp_path: Path) -> None:
    image = picture(1, 128).crop((0, 0, 128, 96))
    exif = Image.Exif()
    exif[0x0112] = 6  # the camera was turned: show it rotated by 90 degrees clockwise
    image.save(tmp_path / "turned.png", exif=exif)
    shown = open_upright(tmp_path / "turned.png")
    assert shown.size == (96, 128)
    assert np.array_equal(np.asarray(shown), np.asarray(image.transpose(Image.Transpose.ROTATE_270)))
    Image.new("RGBA", (80, 80), (255, 0, 0, 0)).save(tmp_path / "glass.png")
    assert np.asarray(open_upright(tmp_path / "glass.png")).min() == 255


def test_a_large_picture_is_read_smaller(tmp_path: Path) -> None:
    picture(1, 300).save(tmp_path / "a.jpg")
    assert max(open_upright(tmp_path / "a.jpg", longest=100).size) == 100


@pytest.mark.parametrize("damage", ["truncated", "text", "empty"])
def test_a_corrupt_picture_is_named(folder: Path, damage: str) -> None:
    data = (folder / "p1.jpg").read_bytes()
    broken = {"truncated": data[: len(data) // 2], "text": b"not a picture", "empty": b""}[damage]
    (folder / "p1.jpg").write_bytes(broken)
    with pytest.raises(ImageError, match=r"p1\.jpg: cannot be read .*replace or remove it"):
        folder_pictures(folder)


def test_a_link_to_nowhere_is_named(folder: Path) -> None:
    with pytest.raises(ImageError, match=r"gone\.png: No such file"):
        open_upright(folder / "gone.png")


def test_a_tiny_picture_is_named(folder: Path) -> None:
    Image.new("RGB", (200, 20)).save(folder / "thin.png")
    with pytest.raises(ImageError, match=r"thin\.png: 200×20 pixels; at least 64"):
        folder_pictures(folder)


def test_too_few_pictures_says_how_many(tmp_path: Path) -> None:
    picture(0).save(tmp_path / "one.png")
    (tmp_path / "photo.heic").write_bytes(b"x")
    with pytest.raises(ImageError, match=r"1 different pictures there, 4 needed .*\.heic"):
        folder_pictures(tmp_path)
    with pytest.raises(ImageError, match="no such folder"):
        folder_pictures(tmp_path / "missing")


def test_flat_pieces_are_refused() -> None:
    plain = Image.new("RGB", (128, 128), (90, 120, 200))
    assert flatness(plain, 2) == 0 and random_crop(np.random.default_rng(0), plain, 2) is None
    busy = picture(3, 128)
    assert flatness(busy, 2) > FLAT
    half = busy.copy()
    half.paste((90, 120, 200), (0, 0, 64, 64))  # one quarter without content is enough
    assert flatness(half, 2) < FLAT


def test_crops_are_square_and_large_enough() -> None:
    image = photos("held-out")[0].image
    for seed in range(20):
        crop = random_crop(np.random.default_rng(seed), image, 2)
        assert crop is not None
        assert crop.width == crop.height and 0.6 * min(image.size) <= crop.width <= min(image.size)
        assert flatness(crop, 2) >= FLAT


def test_every_bad_image_of_a_folder_is_listed_in_one_error(tmp_path: Path) -> None:
    for k, photo in enumerate(photos("train")[:4]):
        photo.image.resize((80, 80)).save(tmp_path / f"good{k}.png")
    whole = (tmp_path / "good0.png").read_bytes()
    (tmp_path / "cut.png").write_bytes(whole[: len(whole) // 2])
    (tmp_path / "text.jpg").write_text("not an image")
    Image.new("RGB", (4, 4)).save(tmp_path / "small.png")
    (tmp_path / "gone.png").symlink_to(tmp_path / "nowhere.png")
    with pytest.raises(ImageError, match="4 of 8 images cannot be used") as caught:
        folder_pictures(tmp_path)
    for name, why in (
        ("cut.png", "truncated"),
        ("text.jpg", "identify"),
        ("small.png", "4×4"),
        ("gone.png", "No such"),
    ):
        assert any(name in line and why in line for line in str(caught.value).splitlines()), name
    with pytest.warns(UserWarning, match="4 of 8 images cannot be used and are left out"):
        kept = folder_pictures(tmp_path, skip_bad=True)
    assert sorted(p.id for p in kept) == [f"good{k}.png" for k in range(4)]

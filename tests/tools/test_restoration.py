"""What agents' sessions offer: pictures are mended without being told how strong the distortion was."""

from __future__ import annotations

import numpy as np
import pytest
from PIL import Image, ImageChops

from kit.tools import restoration as mending
from papers import crop_zoom as views
from pictures.distortion import Kind, distort, draw
from pictures.documents import receipt, sheet

SHEET = receipt(np.random.default_rng(0), ()).image
MENDS: dict[Kind, str] = {"dark": "brighten", "overexposed": "darken", "blur": "sharpen", "noise": "denoise"}


def off(first: Image.Image, second: Image.Image) -> float:
    """Root mean square difference in levels."""
    return float(np.sqrt(np.mean((np.asarray(first, float) - np.asarray(second, float)) ** 2)))


@pytest.mark.parametrize("kind", list(MENDS))
@pytest.mark.parametrize("seed", range(5))
def test_the_right_one_brings_the_picture_nearer_and_the_wrong_ones_do_not_as_much(kind: Kind, seed: int) -> None:
    whole = sheet(np.random.default_rng(seed), ()).image
    bad = distort(whole, [draw(kind, np.random.default_rng(seed))])
    left = {name: off(getattr(mending, name)(bad), whole) for name in MENDS.values()}
    assert min(left, key=left.__getitem__) == MENDS[kind]
    assert left[MENDS[kind]] < 0.9 * off(bad, whole)


@pytest.mark.parametrize(("kind", "degrees"), [("rotate90", -90), ("rotate90", 270), ("rotate180", 180)])
def test_a_turn_is_taken_back_exactly(kind: Kind, degrees: int) -> None:
    wide = SHEET.crop((0, 0, 140, 90))
    turned = distort(wide, [draw(kind, np.random.default_rng(0))])
    assert ImageChops.difference(mending.rotate(turned, degrees), wide).getbbox() is None


def test_turning_by_less_grows_the_picture_and_leaves_white() -> None:
    turned = mending.rotate(Image.new("RGB", (100, 100), "black"), 45)
    assert turned.width == turned.height > 140
    assert turned.getpixel((0, 0)) == (255, 255, 255)


@pytest.mark.parametrize("name", ["brighten", "darken", "sharpen", "denoise"])
@pytest.mark.parametrize("colour", ["black", "white"])
@pytest.mark.parametrize("mode", ["L", "RGB", "P"])
def test_a_plain_picture_of_any_mode_stays_what_it_is(name: str, colour: str, mode: str) -> None:
    plain = Image.new("RGB", (9, 7), colour).convert(mode)
    mended = getattr(mending, name)(plain)
    assert mended.size == (9, 7) and mended.mode == "RGB"
    assert mended.getcolors() == [(63, plain.convert("RGB").getpixel((0, 0)))]


def test_crop_and_zoom_say_what_is_wrong() -> None:
    assert views.crop(SHEET, [0, 0, 0.5, 1]).size == (70, 140)
    assert views.zoom(SHEET, 1.5).size == (210, 210)
    for call, message in (
        (lambda: views.crop(SHEET, [0.5, 0, 0.2, 1]), "need 0 <= x1 < x2 <= 1"),
        (lambda: views.crop(SHEET, [0, 0, 0.01, 1]), "too thin"),
        (lambda: views.zoom(SHEET, 9), "from 0.1 to 8"),
    ):
        with pytest.raises(ValueError, match=message):
            call()
    with pytest.raises(TypeError, match="must be an image"):
        views.crop("image", [0, 0, 1, 1])  # type: ignore[arg-type]

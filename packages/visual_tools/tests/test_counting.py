"""Count coloured things, as an agent's session does."""

from __future__ import annotations

import numpy as np
import pytest
from PIL import Image, ImageDraw

from visual_tools.counting import HUES, count


def scene() -> Image.Image:
    """Two red discs, one of them dark, a green bar, and a red speck of four pixels, on grey."""
    image = Image.new("RGB", (60, 40), (120, 118, 125))
    canvas = ImageDraw.Draw(image)
    canvas.ellipse((3, 3, 13, 13), fill=(214, 39, 40))
    canvas.ellipse((20, 3, 30, 13), fill=(110, 20, 22))
    canvas.rectangle((3, 20, 50, 26), fill=(44, 160, 44))
    canvas.rectangle((40, 5, 41, 6), fill=(214, 39, 40))
    return image


def test_counts_by_hand() -> None:
    assert {colour: count(scene(), colour) for colour in HUES} == {
        **dict.fromkeys(HUES, 0),
        "red": 2,
        "green": 1,
    }


def test_what_touches_at_a_corner_is_one_thing() -> None:
    pixels = np.full((20, 20, 3), 255, dtype=np.uint8)
    pixels[2:8, 2:8] = pixels[8:14, 8:14] = (31, 90, 200)
    assert count(Image.fromarray(pixels), "blue") == 1


def test_an_unknown_colour_is_named() -> None:
    with pytest.raises(ValueError, match=r"no colour 'grey'; known are red, orange"):
        count(scene(), "grey")

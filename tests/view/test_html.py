"""Pages: text stays text, pictures stay small."""

from __future__ import annotations

import base64
import io
import re

import numpy as np
import pytest
from PIL import Image

from kit.data.scenes import scene
from kit.episode import NamedImage
from kit.view.html import SIDE, clean, figures


def decoded(figure: str) -> Image.Image:
    found = re.search(r'src="data:image/(png|jpeg);base64,([^"]+)"', figure)
    assert found
    return Image.open(io.BytesIO(base64.b64decode(found[2])))


@pytest.mark.parametrize(
    ("text", "safe"),
    [
        ("<b a='1'>&\"", "&lt;b a=&#x27;1&#x27;&gt;&amp;&quot;"),
        ("a\x00b\x1b\x7f", "a␀b␛␡"),
        ("line\n\ttab", "line\n\ttab"),
        ("\ud800", "?"),
        ("ü 漢", "ü 漢"),
    ],
)
def test_clean(text: str, safe: str) -> None:
    assert clean(text) == safe


def test_a_flat_picture_is_kept_as_it_is() -> None:
    image = Image.new("RGB", (56, 40), "#0072b2")
    [figure] = figures([NamedImage("A", image)])
    assert decoded(figure).convert("RGB") == image
    assert 'alt="A, 56 × 40 pixels" width="72" height="51"' in figure


def test_a_large_picture_is_shown_small_with_its_real_size() -> None:
    image = Image.fromarray(scene(np.random.default_rng(0), 600)).crop((0, 0, 600, 300))
    [figure] = figures([NamedImage("A", image)])
    assert decoded(figure).size == (SIDE, SIDE // 2)
    assert f'width="{SIDE}" height="{SIDE // 2}"' in figure and "600 × 300" in figure


def test_a_tall_picture_is_no_higher_than_wide_ones_are_wide() -> None:
    [figure] = figures([NamedImage("A", Image.new("RGB", (100, 1000)))])
    assert 'width="20" height="200"' in figure


def test_many_pictures_keep_to_the_budget() -> None:
    noise = np.random.default_rng(0).integers(0, 255, (200, 200, 3), dtype=np.uint8)
    many = [NamedImage(str(k), Image.fromarray(np.roll(noise, k))) for k in range(10)]
    assert sum(map(len, figures(many[:1]))) > 10_000  # alone it may be fine
    assert sum(map(len, figures(many))) < 30_000
    assert figures([]) == []

"""HTML: text stays text, images keep to their byte budget."""

from __future__ import annotations

import base64
import io
import re

import numpy as np
import pytest
from jinja2 import UndefinedError
from PIL import Image

from kit.episode import NamedImage
from kit.view.html import SIDE, Figure, clean, figures, render
from pictures.scenes import scene


def decoded(figure: Figure) -> Image.Image:
    found = re.fullmatch(r"data:image/(png|jpeg);base64,([^\"]+)", figure.url)
    assert found
    return Image.open(io.BytesIO(base64.b64decode(found[2])))


@pytest.mark.parametrize(
    ("text", "safe"),
    [
        ("<b a='1'>&\"", "&lt;b a=&#39;1&#39;&gt;&amp;&#34;"),
        ("a\x00b\x1b\x7f", "a␀b␛␡"),
        ("line\n\ttab", "line\n\ttab"),
        ("\ud800", "?"),
        ("ü 漢", "ü 漢"),
    ],
)
def test_clean_escapes_markup_and_shows_control_characters(text: str, safe: str) -> None:
    assert clean(text) == safe


def test_a_upright_rgb_loses_no_pixel() -> None:
    image = Image.new("RGB", (56, 40), "#0072b2")
    [figure] = figures([NamedImage("A", image)])
    assert decoded(figure).convert("RGB") == image
    assert (figure.name, figure.size, figure.width, figure.height) == ("A", "56 × 40", 72, 51)


def test_a_large_image_is_shown_small_with_its_real_size() -> None:
    image = Image.fromarray(scene(np.random.default_rng(0), 600)).crop((0, 0, 600, 300))
    [figure] = figures([NamedImage("A", image)])
    assert decoded(figure).size == (SIDE, SIDE // 2)
    assert (figure.size, figure.width, figure.height) == ("600 × 300", SIDE, SIDE // 2)


def test_a_tall_image_is_no_higher_than_a_wide_one_is_wide() -> None:
    [figure] = figures([NamedImage("A", Image.new("RGB", (100, 1000)))])
    assert (figure.width, figure.height) == (20, 200)


def test_many_images_keep_to_the_budget() -> None:
    noise = np.random.default_rng(0).integers(0, 255, (200, 200, 3), dtype=np.uint8)
    many = [NamedImage(str(k), Image.fromarray(np.roll(noise, k))) for k in range(10)]
    assert sum(len(f.url) for f in figures(many[:1])) > 10_000  # alone it may be fine
    assert sum(len(f.url) for f in figures(many)) < 30_000
    assert figures([]) == []


def test_a_template_escapes_what_it_prints_and_refuses_a_missing_value() -> None:
    assert "<title>&lt;b&gt;␀</title>" in render("page.html", title="<b>\x00", refresh=0, content="")
    with pytest.raises(UndefinedError, match="'content' is undefined"):
        render("page.html", title="t", refresh=0)

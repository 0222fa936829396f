"""Distortions: levels by hand, exact inverses, nearer than before where nothing more can be had."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from PIL import Image

from pictures.distortion import STRENGTHS, Distortion, Kind, distort, draw, undo
from pictures.photos import photos


def grey(level: int) -> Image.Image:
    return Image.new("RGB", (3, 2), (level, level, level))


def level(image: Image.Image) -> object:
    return image.getpixel((0, 0))


@pytest.mark.parametrize(
    ("kind", "before", "after"),
    [
        ("dark", 200, 40),  # 200 · .2
        ("dark", 0, 0),
        ("overexposed", 200, 244),  # 255 − 55 · .2
        ("overexposed", 255, 255),
    ],
)
def test_light_golden(kind: Kind, before: int, after: int) -> None:
    distortions = [Distortion(kind, 0.2)]
    distorted = distort(grey(before), distortions)
    assert level(distorted) == (after,) * 3
    assert level(undo(distorted, distortions)) == (before,) * 3


def test_turns_are_clockwise() -> None:
    corner = Image.new("RGB", (3, 2), "white")
    corner.putpixel((0, 0), (255, 0, 0))  # top left
    turned = distort(corner, [Distortion("rotate90", 90)])
    assert turned.size == (2, 3)
    assert turned.getpixel((1, 0)) == (255, 0, 0)  # top right
    assert distort(corner, [Distortion("rotate180", 180)]).getpixel((2, 1)) == (255, 0, 0)


def difference(one: Image.Image, other: Image.Image) -> float:
    return float(np.abs(np.asarray(one, dtype=float) - np.asarray(other, dtype=float)).mean())


KINDS: list[Kind] = list(STRENGTHS)
TURNS = {"rotate90", "rotate180"}


@settings(max_examples=30)
@given(kinds=st.lists(st.sampled_from(KINDS), max_size=3, unique=True), seed=st.integers(0, 2**31))
def test_the_same_draw_is_the_same_picture_of_the_right_size(kinds: Sequence[Kind], seed: int) -> None:
    image = Image.effect_noise((40, 30), 50)
    drawn = [draw(kind, np.random.default_rng(seed)) for kind in kinds]
    assert drawn == [draw(kind, np.random.default_rng(seed)) for kind in kinds]
    distorted = distort(image, drawn)
    assert distorted.tobytes() == distort(image, drawn).tobytes()
    assert distorted.size == ((30, 40) if "rotate90" in kinds else (40, 30))
    undone = undo(distorted, drawn)
    assert undone.size == image.size
    if set(kinds) <= TURNS:
        assert undone.tobytes() == image.convert("RGB").tobytes()


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("strongest", [False, True])
def test_undoing_brings_a_photograph_nearer(kind: Kind, strongest: bool) -> None:
    image = photos("train")[0].load().convert("RGB").resize((160, 160))
    distortions = [Distortion(kind, STRENGTHS[kind][strongest], seed=1)]
    distorted = distort(image, distortions)
    before, after = difference(distorted, image), difference(undo(distorted, distortions), image)
    assert after < before
    if kind in TURNS:
        assert after == 0
    if kind in ("dark", "overexposed"):
        assert after <= 0.5 / STRENGTHS[kind][strongest]  # half a level of rounding, undone with it


def test_nothing_leaves_every_pixel() -> None:
    image = Image.effect_noise((20, 10), 80).convert("RGB")
    assert distort(image, []).tobytes() == undo(image, []).tobytes() == image.tobytes()


def test_noise_is_its_seeds() -> None:
    one, other = (distort(grey(128), [Distortion("noise", 30, seed)]) for seed in (1, 2))
    assert one.tobytes() != other.tobytes()


@pytest.mark.parametrize(
    ("kind", "strength", "message"),
    [
        ("sepia", 1.0, r"^Distortion.kind='sepia': known are rotate90, "),
        ("dark", 0.5, r"^Distortion.strength=0.5 of 'dark': needs 0.12 to 0.3$"),
        ("rotate90", 180.0, r"^Distortion.strength=180.0 of 'rotate90': needs 90 to 90$"),
        ("noise", float("nan"), r"^Distortion.strength=nan of 'noise'"),
    ],
)
def test_bad_distortions_are_named(kind: Kind, strength: float, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        Distortion(kind, strength)


def test_an_unknown_kind_cannot_be_drawn() -> None:
    with pytest.raises(ValueError, match=r"^Distortion.kind='sepia'"):
        draw("sepia", np.random.default_rng(0))  # type: ignore[arg-type]

"""Sizes of images: the limit in pixels, worked out by hand."""

from __future__ import annotations

import pytest
from PIL import Image

from kit.data.images import within_pixels


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

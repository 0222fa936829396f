"""What is remembered of images is bounded in bytes, and never changes what is returned."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest
import torch
from PIL import Image

from kit.chat import Chat
from kit.episode import NamedImage
from kit.models.family import Pixels
from kit.models.pixel_cache import IMAGE_CACHE_BYTES, PixelCache


def image(level: int, name: str = "a") -> NamedImage:
    return NamedImage(name, Image.new("RGB", (2, 2), (level, 0, 0)))


class Counted:
    """Makes 400 bytes of an image with an even red, 4,000 of one with an odd red; counts what it made."""

    def __init__(self) -> None:
        self.made: list[int] = []

    def __call__(self, image: NamedImage) -> Pixels:
        red = np.asarray(image.image)[0, 0, 0]
        self.made.append(int(red))
        return Pixels(torch.full((1000 if red % 2 else 100,), float(red)), (1, 1, 1))


def test_the_one_not_used_for_longest_is_forgotten_beyond_so_many_bytes() -> None:
    process = Counted()
    cache = PixelCache(process, max_bytes=1200)  # three of 400 bytes
    for level in (2, 4, 6, 2, 8):  # 8 pushes out 4: 2 was asked for again
        assert float(cache(image(level)).patches[0]) == level
    assert process.made == [2, 4, 6, 8] and cache.bytes == 1200
    cache(image(2)), cache(image(6)), cache(image(8))
    assert process.made == [2, 4, 6, 8]
    cache(image(4))
    assert process.made == [2, 4, 6, 8, 4] and cache.bytes == 1200


def test_one_that_is_too_large_pushes_nothing_out() -> None:
    process = Counted()
    cache = PixelCache(process, max_bytes=1200)
    for level in (2, 3, 3, 2):
        assert float(cache(image(level)).patches[0]) == level
    assert process.made == [2, 3, 3] and cache.bytes == 400


def test_the_same_image_under_another_name_is_processed_once() -> None:
    process = Counted()
    cache = PixelCache(process)
    assert cache(image(2, "a")) is cache(image(2, "b"))
    assert process.made == [2]


@pytest.mark.parametrize("most", [0, 1200, 10**9])
def test_asked_by_many_threads_it_keeps_its_bound(most: int) -> None:
    cache = PixelCache(Counted(), most)
    levels = [2 * (i * 7 % 20) for i in range(400)]
    with ThreadPoolExecutor(8) as pool:
        found = list(pool.map(lambda level: float(cache(image(level)).patches[0]), levels))
    assert found == levels
    assert cache.bytes == min(most, 20 * 400) == sum(p.patches.nbytes for p in cache._kept.values())


def test_thousands_of_large_images_stay_within_the_bound(chat: Chat) -> None:
    """Of 56 x 56 pixels: 16 patches of 1,176 numbers, 75,264 bytes. A megabyte has room for 13 of a hundred."""
    small = Chat(chat.tokenizer, chat.image_processor, image_cache_bytes=1_000_000)
    for i in range(100):
        shown = NamedImage("p", Image.new("RGB", (56, 56), (i, i, i)))
        assert small.image_tokens(shown) == 4
        assert torch.equal(small.pixels(shown).patches, chat.pixels(shown).patches)
    assert small.pixels.bytes == 13 * 75_264


def test_a_chat_remembers_a_gigabyte(chat: Chat) -> None:
    assert chat.pixels.max_bytes == IMAGE_CACHE_BYTES == 1 << 30

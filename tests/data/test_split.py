"""Splits by content: an image, its copies and its look-alikes stand on one side, however often the split is drawn."""

from __future__ import annotations

import numpy as np
import pytest
from PIL import Image, ImageOps

from kit.data.leak import leaked_pairs, look_alikes
from kit.data.split import SplitError, split_by_content, split_groups
from kit.episode import content_hash
from pictures.scenes import scene

SCENES = [Image.fromarray(scene(np.random.default_rng(k), 96)) for k in range(40)]
SHARES = {"test": 0.25, "development": 0.1}


def copies(image: Image.Image, n: int) -> list[Image.Image]:
    """The image, and up to five that a row of a data set could hold in its place."""
    others = (image.copy(), image.resize((80, 80)), ImageOps.mirror(image), image.convert("L").convert("RGB"), image)
    return [image, *others][:n]


def test_forty_images_are_shared_out_as_asked() -> None:
    sides = split_by_content(SCENES, SHARES)
    assert {side: sides.count(side) for side in sides} == {"test": 10, "development": 4, "train": 26}


def test_copies_and_look_alikes_stand_on_one_side() -> None:
    rows = [(k, copy) for k, image in enumerate(SCENES) for copy in copies(image, 1 + k % 6)]
    sides = split_by_content([image for _, image in rows], SHARES)
    of_source: dict[int, set[str]] = {}
    for (k, _), side in zip(rows, sides, strict=True):
        of_source.setdefault(k, set()).add(side)
    assert all(len(found) == 1 for found in of_source.values())
    named = {
        wanted: [(str(k), image) for (k, image), side in zip(rows, sides, strict=True) if side == wanted]
        for wanted in (*SHARES, "train")
    }
    for one, other in (("train", "test"), ("train", "development"), ("development", "test")):
        assert leaked_pairs(named[one], named[other]) == []


def test_neither_order_nor_copies_move_an_image() -> None:
    first = dict(zip(map(content_hash, SCENES), split_by_content(SCENES, SHARES), strict=True))
    rows = [*reversed(SCENES), SCENES[3], SCENES[3]]
    assert all(
        first[content_hash(image)] == side for image, side in zip(rows, split_by_content(rows, SHARES), strict=True)
    )


def test_a_seed_draws_another_split() -> None:
    assert split_by_content(SCENES, SHARES, 0) != split_by_content(SCENES, SHARES, 1)


@pytest.mark.parametrize(
    ("images", "shares", "message"),
    [
        (SCENES[:1] * 5, SHARES, r"1 different pictures in 1 groups .* none is left for test, development; give more"),
        (SCENES[:2], SHARES, "2 different pictures in 2 groups .* none is left for development"),
        (SCENES, {"test": 1.0}, "together less than 1"),
        (SCENES, {"train": 0.5}, "'train' is the rest"),
        (SCENES, {"test": -0.1}, "each 0 or more"),
    ],
)
def test_what_cannot_be_split_is_named(images: list[Image.Image], shares: dict[str, float], message: str) -> None:
    with pytest.raises(SplitError, match=message):
        split_by_content(images, shares)


def test_a_thousand_splits_of_a_data_set_with_several_rows_a_picture() -> None:
    rows = [(k, copy) for k, image in enumerate(SCENES) for copy in copies(image, 1 + k % 6)]
    different = {content_hash(image): (k, image) for k, image in rows}
    groups = look_alikes((name, image) for name, (_, image) in different.items())
    of_group = [k for k, _ in different.values()]
    for seed in range(1000):
        sides = split_groups(groups, SHARES, seed)
        of_source: dict[int, set[str]] = {}
        for k, side in zip(of_group, sides, strict=True):
            of_source.setdefault(k, set()).add(side)
        assert all(len(found) == 1 for found in of_source.values())
        assert set(sides) == {"train", *SHARES}


@pytest.mark.parametrize(
    ("groups", "shares"),
    [
        ([0] * 9 + [1], {"test": 0.1}),
        ([0, 0, 0, 1, 2], {"test": 0.2, "development": 0.2}),
        ([0] * 18 + [1, 2], {"test": 0.05, "development": 0.05}),
        ([0] * 6 + [1] * 6 + [2, 3], {"test": 0.1, "development": 0.1}),
    ],
)
def test_a_few_small_groups_beside_large_ones_fill_their_sides(groups: list[int], shares: dict[str, float]) -> None:
    """Whatever order the seed draws them in."""
    for seed in range(20):
        sides = split_groups(groups, shares, seed)
        assert set(sides) == {"train", *shares}
        assert len(set(zip(groups, sides, strict=True))) == len(set(groups))

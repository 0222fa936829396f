"""Split images into training, development and test sets by what they show, so that no image stands on two sides.

A data set may hold one image under several rows and names, and copies of it in other sizes. So images are told apart by
their pixels: those that look the same (:func:`kit.data.leak.look_alikes`) go to one side together.

Choices (steps, mixtures, wordings) are made on the development images. Notebooks play the test images at every stage of
a training, so their figures are seen often; choices known to be made after one was seen are declared as departures.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from typing import Literal

import numpy as np
from PIL import Image

from kit.data.leak import look_alikes
from kit.episode import content_hash

Side = Literal["train", "development", "test"]
"""A side of a split."""

REST: Side = "train"
"""The side of all images that no other side takes."""


class SplitError(ValueError):
    """The images can't be split as asked; the message says how many different ones there are."""


def split_by_content(images: Sequence[Image.Image], shares: Mapping[str, float], seed: int = 0) -> list[str]:
    """Assign each image to a side: those of ``shares``, or ``train``.

    Args:
        images: any number of them may be the same or look the same.
        shares: side → its share of the different images, at least one; sides are filled in this order. Images that
            look the same count each, so a side may stay below its share where a group doesn't fit.
        seed: fixes which images go where; their order and number of copies don't matter.

    Returns:
        The side of each image, in order.

    Raises:
        SplitError: shares that leave nothing to train on, or too few different images for a side.
    """
    hashes = [content_hash(image) for image in images]
    different = dict(sorted(zip(hashes, images, strict=True), key=lambda pair: pair[0]))
    side = dict(zip(different, split_groups(look_alikes(different.items()), shares, seed), strict=True))
    return [side[name] for name in hashes]


def split_groups(group: Sequence[int], shares: Mapping[str, float], seed: int = 0) -> list[str]:
    """:func:`split_by_content` of images whose groups are known.

    Args:
        group: the number of each different image's group.
        shares: side → its share of the images.
        seed: fixes which groups go where.

    Raises:
        SplitError: as there.
    """
    if REST in shares or sum(shares.values()) >= 1 or any(share < 0 for share in shares.values()):
        raise SplitError(f"shares {dict(shares)}: each 0 or more, together less than 1; {REST!r} is the rest")
    size = Counter(group)
    room = {side: max(1, round(share * len(group))) for side, share in shares.items()}
    side_of: dict[int, str] = {}
    order = [list(size)[int(i)] for i in np.random.default_rng(seed).permutation(len(size))]
    for number in order[:-1]:  # the last one stays for training, whatever the shares
        side = next((side for side, free in room.items() if size[number] <= free), REST)
        if side != REST:
            room[side] -= size[number]
        side_of[number] = side
    for number in order[-1:]:  # … or, if that has some, for a side that would have none
        bare = [side for side in room if side not in side_of.values() and size[number] <= room[side]]
        side_of[number] = bare[0] if bare and REST in side_of.values() else REST
    empty = [side for side in (*shares, REST) if side not in side_of.values()]
    if empty:
        raise SplitError(
            f"{len(group)} different pictures in {len(size)} groups that look the same: none is left for "
            f"{', '.join(empty)}; give more different pictures, or smaller shares"
        )
    return [side_of[number] for number in group]

"""Sides by key: one side for all that an image says, about the shares that are held out."""

from __future__ import annotations

from collections import Counter

import pytest

from kit.episode import Task
from pictures.keyed import MakingError, check_apart, side_of, source_of


def test_a_source_follows_from_the_key_alone() -> None:
    """The first 16 digits of SHA-256 of ``abc`` are those of FIPS 180's own example."""
    assert source_of("abc") == "abc-ba7816bf8f01cfea"
    assert source_of("chart red 2") == source_of("chart red 2") != source_of("chart red 3")


def test_sides_have_about_their_shares() -> None:
    found = Counter(side_of(source_of(f"board {k}")) for k in range(2000))
    assert 0.65 < found["train"] / 2000 < 0.75 and 0.17 < found["test"] / 2000 < 0.23


def test_sets_that_share_an_image_are_refused() -> None:
    one, other = (Task(name, (), "?", ("a",), {"source": "board-1"}) for name in ("first", "second"))
    check_apart([one, other])
    with pytest.raises(MakingError, match=r"first and second show the same \(board-1\): one has to go"):
        check_apart([one], [other])

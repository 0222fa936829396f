"""Sides by key: one side for all that an image says, about the shares that are held out."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Sequence

import pytest

from kit.episode import Task
from pictures.keyed import MakingError, check_apart, counts_of, of_kind, side_of, source_of


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


def _drawn(asks: Sequence[str]) -> Callable[[int, int], Task]:
    """A maker whose task ``k`` of a seed shows and asks what the list says, beginning at the seed's own place."""
    return lambda seed, k: Task(
        f"s{seed}-{k}", (), asks[(5 * seed + k) % len(asks)], ("a",), {"source": asks[(5 * seed + k) % len(asks)]}
    )


def test_a_readers_test_is_drawn_as_it_comes_and_a_fresh_one_holds_none_of_it() -> None:
    draw = _drawn([*"abcdefgh", "c", "i"])
    asked = lambda seed, side, n=10: [t.question for t in of_kind(draw, n, seed, side, looked_at=3)]  # noqa: E731
    assert asked(0, "test") == [*"abcdefghci"]
    assert asked(1, "train") == [*"fghciabcde"]
    assert asked(1, "test") == [*"fghide"]  # neither a, b, c, nor anything twice: there are no more
    assert asked(1, "test", 2) == [*"fg"]
    assert [t.id for t in of_kind(draw, 2, 1, "test", 3)] == ["s1-0", "s1-1"]


def test_one_image_may_be_asked_two_things() -> None:
    tasks = [Task(f"{k}", (), asked, ("a",), {"source": "board"}) for k, asked in enumerate("aab")]
    assert [t.id for t in of_kind(lambda seed, k: tasks[k % 3], 5, 1, "test", 0)] == ["0", "2"]


def test_some_kinds_have_more_tasks_and_what_is_no_number_is_refused() -> None:
    assert counts_of(["x/easy", "x/hard"], 16) == {"x/easy": 16, "x/hard": 16}
    assert counts_of(["x/easy", "x/hard"], 16, "x/hard 300") == {"x/easy": 16, "x/hard": 300}
    for wrong in ("x/hard", "x/hard many", "y/hard 3", "x/hard 3 4", "x/hard -3"):
        with pytest.raises(MakingError, match=f"'{wrong}': write a kind and a number, such as 'x/easy 100'"):
            counts_of(["x/easy", "x/hard"], 16, f"x/easy 2, {wrong}")

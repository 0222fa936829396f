"""pass@k against numbers worked out by hand."""

from __future__ import annotations

from itertools import combinations

import pytest
from made_outcomes import made

from kit.evaluate.five.pass_at_k import pass_at_k, pass_interval
from kit.evaluate.outcomes import Outcome


@pytest.mark.parametrize(
    ("tries", "right", "k", "expected"),
    [
        (5, 2, 3, 0.9),  # of 10 sets of three, one holds neither of the two right ones
        (5, 2, 1, 0.4),
        (8, 1, 8, 1.0),
        (8, 0, 8, 0.0),
        (4, 1, 2, 0.5),  # 3 of 6 pairs hold it
        (3, 3, 2, 1.0),
    ],
)
def test_by_hand(tries: int, right: int, k: int, expected: float) -> None:
    assert pass_at_k(tries, right, k) == pytest.approx(expected)


def test_it_is_the_share_of_all_sets_that_hold_a_right_try() -> None:
    for right in range(7):
        marks = [True] * right + [False] * (6 - right)
        for k in range(1, 7):
            sets = list(combinations(marks, k))
            assert pass_at_k(6, right, k) == pytest.approx(sum(map(any, sets)) / len(sets))


@pytest.mark.parametrize(("tries", "right", "k"), [(4, 2, 5), (4, 2, 0), (4, 5, 2), (4, -1, 2)])
def test_impossible_counts_are_refused(tries: int, right: int, k: int) -> None:
    with pytest.raises(ValueError, match=f"pass@{k} of {right} right in {tries} tries"):
        pass_at_k(tries, right, k)


def tries(task: str, marks: str, seed: int = 0) -> list[Outcome]:
    return [made(Outcome, mark == "+", task=task, image=task, seed=seed) for mark in marks]


def test_tries_at_one_task_belong_together_and_seeds_apart() -> None:
    some = [*tries("a", "+--"), *tries("b", "---"), *tries("c", "+++")]
    assert pass_interval(some, 3).value == pytest.approx(2 / 3)
    assert pass_interval(some, 1).value == pytest.approx(4 / 9)
    assert pass_interval(some, 3).n == 3, "tasks, not tries"
    two = [*tries("a", "+-"), *tries("a", "--", seed=1)]
    assert pass_interval(two, 2).value == 0.5 and pass_interval(two, 2).n == 2
    with pytest.raises(ValueError, match=r"pass@3 of 1 right in 2 tries"):
        pass_interval(tries("a", "+-"), 3)

"""The planner beside what was measured: every row within a factor of 1.5, and which rows say something."""

from __future__ import annotations

import copy

import pytest

from workshop.planner.beside import Compared, compared, table
from workshop.planner.measured import CARDS, ROWS, TAKEN, card_of, constants

FACTOR = 1.5


def outside(found: list[Compared]) -> list[str]:
    """The rows that the planner misses."""
    return [f"{one.what}, {one.unit}" for one in found if not 1 / FACTOR <= one.ratio <= FACTOR]


def test_the_plan_is_near_all_that_was_measured() -> None:
    assert outside(list(compared())) == [], f"\n{table()}"


@pytest.mark.parametrize(
    ("row", "number"),
    [(name, number) for name, row in ROWS.items() for number in ("seconds", "memory_gb", "playing") if number in row],
)
def test_a_prediction_that_misses_is_seen(row: str, number: str) -> None:
    """A measured number that were three times what it is would be missed, unless a constant is taken from it."""
    rows = copy.deepcopy(dict(ROWS))
    rows[row][number] *= 3
    (moved,) = (
        new
        for old, new in zip(compared(), compared(rows), strict=True)
        if old.measured != new.measured and (number == "memory_gb") == (new.unit == "GB")
    )
    assert outside([moved])


def test_each_constant_is_of_one_row_and_all_others_are_predictions() -> None:
    """Five numbers are taken; what is taken from a row is what it measured."""
    found = list(compared())
    taken = [one.taken for one in found if one.taken]
    assert len(taken) == len(set(taken)) == 5 and len(found) == 18
    assert all(one.ratio == pytest.approx(1, abs=0.01) for one in found if one.taken)


@pytest.mark.parametrize(
    ("row", "number", "name"),
    [
        ("sft", "seconds", "launch"),
        ("learning-1-recomputed", "seconds", "launch_alone"),
        ("learning-4-kept", "seconds", "arithmetic"),
        ("grpo-colocate", "playing", "bandwidth"),
    ],
)
def test_constants_follow_their_rows(row: str, number: str, name: str) -> None:
    rows = {**ROWS, row: {**ROWS[row], number: 2 * ROWS[row][number]}}
    assert getattr(constants(rows), name) != getattr(TAKEN, name)
    other = {**ROWS, "decode-adapters": {**ROWS["decode-adapters"], "seconds": 1.0}}
    assert constants(other) == TAKEN


def test_golden_constants() -> None:
    # 13.4 s / 16 / 16,392 launches = 51.1 µs; 2.39 / 4 / 16,392 = 36.5 µs; 4 · 3.814e9 · 4 · 3,453 / .99 / 989e12 =
    # .2152; read: 2 · 3.814e9 · 16 · 1,198 / 212.9e12 = .687 s, so 768 tokens take 3.363 s, each reading 7.629 GB and
    # 16 · 983 · 36,864 B = .580 GB: 768 · 8.209e9 / 3.363 / 4.8e12 = .3905.
    assert 1e6 * TAKEN.launch == pytest.approx(51.1, abs=0.05)
    assert 1e6 * TAKEN.launch_alone == pytest.approx(36.5, abs=0.05)
    assert TAKEN.arithmetic == pytest.approx(0.2152, abs=1e-4)
    assert TAKEN.bandwidth == pytest.approx(0.3905, abs=2e-4)


def test_a_memory_is_that_of_the_smallest_card_that_has_it() -> None:
    assert [card_of(gb * 1e9).name for gb in (16, 24, 40, 80, 141, 200)] == [
        CARDS[size].name for size in (24, 24, 80, 80, 141, 141)
    ]

"""Arrangements of pieces: names of places, and the fewest swaps."""

import doctest

from hypothesis import given
from hypothesis import strategies as st

from pictures import permutations as arrangement
from pictures.permutations import belonging, places, swaps
from tiny.skills.seeing import PLACES


def test_the_docstrings_examples_are_true() -> None:
    failed, attempted = doctest.testmod(arrangement)
    assert (failed, attempted) == (0, 3)


def test_the_places_have_the_names_the_model_knows() -> None:
    assert places(2) == PLACES
    assert places(2) == ("top left", "top right", "bottom left", "bottom right")
    assert places(3)[3:6] == ("middle left", "middle middle", "middle right")
    assert places(4)[-1] == "row 4 column 4"


def test_where_each_piece_belongs_is_told_in_the_order_asked() -> None:
    assert belonging("DC", "ABCD") == "D bottom right, C bottom left"
    assert belonging("I", "ABCDEFGHI", m=3) == "I bottom right"


@given(st.permutations("ABCDEFGHI"))
def test_swaps_solve_in_as_few_as_possible(target: list[str]) -> None:
    state, plan = list("ABCDEFGHI"), swaps("ABCDEFGHI", target)
    cycles, seen = 0, set()
    for start in range(9):
        cycles += start not in seen
        while start not in seen:
            seen.add(start)
            start = ord(target[start]) - ord("A")
    for i, j in plan:
        state[i], state[j] = state[j], state[i]
    assert state == target and len(plan) == 9 - cycles

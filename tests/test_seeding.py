"""Seeds that belong to a place."""

from __future__ import annotations

import pytest

from kit.seeding import child_seed, seed_per_episode


def test_no_two_places_share_a_seed() -> None:
    """Steps, episodes and turns of three runs."""
    steps = [child_seed(seed, step) for seed in range(3) for step in range(40)]
    turns = [child_seed(episode, turn) for step in steps for episode in seed_per_episode(step, 96) for turn in range(5)]
    assert len(set(steps)) == len(steps)
    assert len(turns) - len(set(turns)) <= 1, "57,600 of 4 billion: a third of a pair is to be expected"


def test_a_share_has_the_seeds_of_its_place() -> None:
    whole = seed_per_episode(7, 8)
    assert whole == [child_seed(7, place) for place in range(8)]
    assert seed_per_episode(whole[4:], 4) == whole[4:]


def test_seeds_for_another_number_of_episodes() -> None:
    with pytest.raises(ValueError, match="3 seeds for 4 episodes"):
        seed_per_episode([1, 2, 3], 4)

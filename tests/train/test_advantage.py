"""Advantages: the worked example, exact zeros, and what is refused."""

from __future__ import annotations

import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

from kit.episode import Episode, Observation, Task, Turn
from kit.train.advantage import (
    AdvantageSettings,
    Baseline,
    broadcast_to_tokens,
    group_advantages,
    sequence_plus_turn_advantages,
    turn_advantages,
    turn_returns,
)
from kit.train.grpo import GRPOSettings

GOLDEN = torch.tensor([0.90, -0.05, 0.65, -0.25])


def test_golden_group_of_four_rewards() -> None:
    # By hand, see the module: mean .3125, std sqrt(.906875 / 3) = .549811.
    expected = torch.tensor([1.0684, -0.6592, 0.6137, -1.0229])
    torch.testing.assert_close(group_advantages(GOLDEN, 4), expected, atol=5e-5, rtol=0)


def test_without_scale_only_the_mean_is_taken_off() -> None:
    expected = torch.tensor([0.5875, -0.3625, 0.3375, -0.5625])
    torch.testing.assert_close(group_advantages(GOLDEN, 4, "none"), expected, atol=1e-7, rtol=0)


def test_groups_are_neighbours_and_do_not_see_each_other() -> None:
    rewards = torch.cat([GOLDEN, GOLDEN + 5.0])
    first, second = group_advantages(rewards, 4).split(4)
    torch.testing.assert_close(first, group_advantages(GOLDEN, 4))
    torch.testing.assert_close(second, first)


@given(st.floats(-10, 10), st.integers(2, 16))
def test_a_flat_group_has_exactly_no_advantage(reward: float, size: int) -> None:
    for rewards in (torch.full((size,), reward), torch.full((size,), reward, dtype=torch.float64)):
        assert group_advantages(rewards, size).tolist() == [0.0] * size


@given(st.lists(st.floats(-10, 10, width=32), min_size=4, max_size=4))
def test_advantages_of_a_group_add_up_to_nothing_and_keep_the_order(rewards: list[float]) -> None:
    advantages = group_advantages(torch.tensor(rewards), 4)
    assert abs(float(advantages.sum())) < 1e-5
    for i in range(4):
        for j in range(4):
            if rewards[i] > rewards[j]:
                assert advantages[i] >= advantages[j]


@pytest.mark.parametrize(
    ("rewards", "size", "scale", "message"),
    [
        ([1.0, 2.0], 1, "group", "group_size=1: a group needs at least 2 rollouts to have an advantage"),
        ([1.0, 2.0, 3.0], 2, "group", r"\(3,\) are not whole groups of group_size=2"),
        ([], 2, "group", "not whole groups"),
        ([1.0, float("nan")], 2, "group", r"rewards\[1\]=nan"),
        ([1.0, 2.0], 2, "batch", "scale='batch'"),
    ],
)
def test_refused(rewards: list[float], size: int, scale: str, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        group_advantages(torch.tensor(rewards), size, scale)  # type: ignore[arg-type]


def _episode(*turns: tuple[int, int]) -> Episode:
    episode = Episode(Task("t", (), "?", None), (1, 2))
    for sampled, observed in turns:
        ids = (5,) * sampled
        episode = episode.add(Turn(ids, (0.0,) * sampled, "", None, Observation("o"), (6,) * observed))
    return episode


def test_spread_gives_each_turn_its_number_and_the_rest_nothing() -> None:
    spread_out = broadcast_to_tokens([[0.5, -1.0], [2.0]], [_episode((2, 1), (1, 0)), _episode((1, 1))])
    assert spread_out.tolist() == [[0.5, 0.5, 0.0, -1.0], [2.0, 0.0, 0.0, 0.0]]


def test_spread_refuses_a_missing_turn() -> None:
    with pytest.raises(ValueError, match="episode t: 2 turns but 1 advantages"):
        broadcast_to_tokens([[0.5]], [_episode((2, 1), (1, 0))])


def test_golden_turns_of_three_episodes() -> None:
    """By hand, see the docstring: first turns 1, 0, 2 (mean 1, std 1), second turns 2, 1 (mean 1.5, std .7071)."""
    found = turn_advantages([(1.0, 2.0), (0.0, 1.0), (2.0,)], 3)
    expected = [(0.0, 0.7071), (-1.0, -0.7071), (1.0,)]
    for ours, theirs in zip(found, expected, strict=True):
        assert ours == pytest.approx(theirs, abs=2e-4)


def test_a_turn_that_nobody_else_has_got_to_teaches_nothing() -> None:
    assert turn_advantages([(1.0, 5.0), (1.0,)], 2) == [(0.0, 0.0), (0.0,)]


def test_turns_of_other_groups_do_not_count() -> None:
    group = [(1.0, 2.0), (0.0, 1.0), (2.0,)]
    assert turn_advantages([*group, (9.0,), (7.0, 7.0), (8.0,)], 3)[:3] == turn_advantages(group, 3)


def test_one_turn_each_is_the_groups_advantage() -> None:
    rewards = [[float(r)] for r in GOLDEN]
    assert [a for (a,) in turn_advantages(rewards, 4)] == pytest.approx(group_advantages(GOLDEN, 4).tolist(), abs=1e-6)


def test_turns_that_are_no_whole_groups_are_refused() -> None:
    with pytest.raises(ValueError, match="3 episodes are not whole groups of group_size=2"):
        turn_advantages([(1.0,)] * 3, 2)


def test_golden_returns_of_turns() -> None:
    """[fail, ok, fail, answer] at γ = .2, by hand: −.5, then −.1, then −.5 + .2·(−.1) = −.52."""
    assert turn_returns((-0.5, 0.0, -0.5, 0.0), 0.2) == pytest.approx([-0.52, -0.1, -0.5, 0.0])
    assert turn_returns((), 0.2) == []


def test_golden_calls_of_a_batch_are_compared_with_calls() -> None:
    """[fail, ok, answer] and [ok, answer]: mean −.16667, deviation .23570, so −1.41421 and +.70711 for each success."""
    found = sequence_plus_turn_advantages(
        torch.zeros(2), [(-0.5, 0.0, 0.0), (0.0, 0.0)], 2, discount=0.2, weight=1.0, baseline="calls"
    )
    assert found[0] == pytest.approx((-1.41421, 0.70711, 0.0), abs=1e-5)
    assert found[1] == pytest.approx((0.70711, 0.0), abs=1e-5)


def test_golden_all_turns_of_a_batch_are_compared() -> None:
    """The same returns −.5, 0, 0, 0, 0: mean −.1, deviation .2: −2 and +.5, a fifth of which joins the episode's."""
    found = sequence_plus_turn_advantages(torch.tensor([1.0, 0.0]), [(-0.5, 0.0, 0.0), (0.0, 0.0)], 2)
    first = 0.5 / (0.5**0.5 + 1e-4)
    assert found[0] == pytest.approx((first - 0.4, first + 0.1, first + 0.1), abs=1e-6)
    assert found[1] == pytest.approx((0.1 - first, 0.1 - first), abs=1e-6)


@pytest.mark.parametrize("baseline", ["all_turns", "calls"])
def test_turns_that_are_all_alike_add_nothing(baseline: Baseline) -> None:
    found = sequence_plus_turn_advantages(torch.tensor([1.0, 1.0]), [(0.0, 0.0), (0.0,)], 2, baseline=baseline)
    assert found == [(0.0, 0.0), (0.0,)]


@pytest.mark.parametrize("name", ["advantage", "scale", "baseline"])
def test_an_unknown_way_to_compute_advantages_is_named(name: str) -> None:
    with pytest.raises(ValueError, match=f"{name}='best': choose one of"):
        AdvantageSettings(**{name: "best"})


def test_the_settings_name_themselves() -> None:
    with pytest.raises(ValueError, match=r"GRPOSettings\.advantage='best': choose one of group_relative, per_turn"):
        GRPOSettings(advantage="best")  # type: ignore[arg-type]


@pytest.mark.parametrize("episodes", [2, 6, 12, 14, 18, 24, 28])
@pytest.mark.parametrize(("turns", "baseline"), [((0.0, -0.5), "calls"), ((0.3,), "all_turns"), ((-0.7,), "all_turns")])
def test_returns_that_are_all_alike_push_no_turn(episodes: int, turns: tuple[float, ...], baseline: Baseline) -> None:
    """Their mean is off by rounding, and so is their deviation: the one over the other would be 1."""
    found = sequence_plus_turn_advantages(torch.zeros(episodes), [turns] * episodes, 2, baseline=baseline)
    assert found == [(0.0,) * len(turns)] * episodes

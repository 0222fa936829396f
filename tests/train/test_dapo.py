"""DAPO: which groups are replaced and by what; the same in any number of processes, and after a run has resumed."""

from __future__ import annotations

import threading
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
import torch
from torch import Tensor
from training_fixtures import LIMITS, Looks, coarse_reward, even_reward, fresh_model, grpo_run, task, without_times

from kit.chat import Chat
from kit.episode import Episode, Score
from kit.rewards.base import per_episode
from kit.rewards.overlong import OVERLONG
from kit.train.dapo import DAPO, Filled, fill, flat_groups, further_tasks, objective_settings
from kit.train.grpo import GRPOSettings, train_grpo

NEW = ("frac_zero_std_groups_left", "rounds_played", "tasks_played")
"""Columns that dynamic sampling adds."""


def test_the_paper_s_values_are_settings() -> None:
    """Sections 2.3 and 4.1: no KL term; clipped to 0.8 and 1.28; a buffer of 4,096 tokens."""
    found = GRPOSettings(**objective_settings("dapo"))
    assert (found.loss_type, found.beta, found.epsilon, found.epsilon_high) == ("dapo", 0.0, 0.2, 0.28)
    assert (found.dynamic_sampling, found.overlong_buffer) == (9, 4096)
    assert GRPOSettings(**objective_settings("grpo")) == GRPOSettings()
    with pytest.raises(ValueError, match="loss_type='gpro': choose one of grpo, dr_grpo, bnpo, dapo"):
        GRPOSettings(**objective_settings("gpro"))


def test_groups_are_flat_where_all_rewards_are_alike() -> None:
    third = 1 / 3
    rewards = [1.0, 1.0, 1.0, 0.0, 0.0, 0.0, 0.0, 1.0, 1.0, third + 1e-12, third, third]
    assert flat_groups(torch.tensor(rewards, dtype=torch.float64), 3).tolist() == [True, True, False, True]


def test_further_tasks_are_others_first_and_always_the_same() -> None:
    batch = [4, 4, 7, 7]
    found = further_tasks(10, batch, 30, seed=3)
    assert sorted(found[:8]) == [0, 1, 2, 3, 5, 6, 8, 9]
    assert sorted(found[8:18]) == list(range(10)) == sorted(found[18:28])
    assert further_tasks(10, batch, 11, seed=3) == found[:11]
    assert further_tasks(10, batch, 30, seed=4) != found
    assert sorted(further_tasks(2, [0, 1], 2, seed=0)) == [0, 1], "all of them are in the batch: play them again"


# What two episodes of each task earn when it is played in a round: the tasks 2, 4 and 9 are flat, always.
EARNED = {4: (1.0, 1.0), 7: (0.0, 1.0), 2: (0.0, 0.0), 5: (1.0, 0.0), 9: (0.0, 0.0), 8: (0.0, 1.0)}


class Played:
    """A share of a batch: plays tasks as :data:`EARNED` says, an episode that is named after task and place."""

    def __init__(self) -> None:
        self.rounds: list[list[int]] = []

    def __call__(self, tasks: Sequence[int], places: Sequence[int]) -> tuple[list[Episode], list[Score]]:
        self.rounds.append(list(tasks))
        assert len(tasks) == len(places)
        episodes = [Episode(replace(task(n), id=f"{n}@{place}"), (0,)) for n, place in zip(tasks, places, strict=True)]
        return episodes, [Score(EARNED[n][place % 2], {}) for n, place in zip(tasks, places, strict=True)]


def one_process(batch: Sequence[int], further: Sequence[int], rounds: int) -> tuple[Filled, Played]:
    play = Played()
    first = play([n for n in batch for _ in range(2)], range(2 * len(batch)))
    filled = fill(*first, 2, further, rounds, play, lambda rewards: torch.tensor(rewards, dtype=torch.float64))
    return filled, play


def names(filled: Filled) -> list[str]:
    return [episode.task.id for episode in filled.episodes]


def test_golden_batch_of_the_worked_example() -> None:
    """Tasks 4 and 7; 4 is flat, 2 in its place is flat as well, 5 is not. Seeds are those of places never used."""
    filled, play = one_process([4, 7], [2, 5, 8], rounds=3)
    assert play.rounds == [[4, 4, 7, 7], [2, 2], [5, 5]]
    assert names(filled) == ["5@8", "5@9", "7@2", "7@3"]
    assert [score.total for score in filled.scores] == [1.0, 0.0, 0.0, 1.0]
    assert (filled.rounds, filled.tasks, filled.flat) == (3, 4, 0.0)


def test_a_batch_that_can_not_be_filled_keeps_what_it_has_and_says_so() -> None:
    filled, play = one_process([4, 7, 9], [2, 4, 9, 2], rounds=2)
    assert play.rounds == [[4, 4, 7, 7, 9, 9], [2, 2, 4, 4], [9, 9, 2, 2]]
    assert names(filled) == ["9@12", "9@13", "7@2", "7@3", "2@16", "2@17"]
    assert (filled.rounds, filled.tasks, filled.flat) == (3, 7, 2 / 3)


def test_a_full_batch_plays_nothing_more() -> None:
    filled, play = one_process([7, 5], [2, 8], rounds=2)
    assert len(play.rounds) == 1 and (filled.rounds, filled.tasks, filled.flat) == (1, 2, 0.0)


@pytest.mark.parametrize("batch", [[4, 7, 9, 5], [7, 5, 4, 9], [4, 2, 9, 4]])
def test_two_processes_agree_on_what_one_would_play(batch: list[int]) -> None:
    """Each sees all rewards and plays its own places; one that has nothing to replace takes part in the round."""
    further = [2, 8, 9, 5, 7, 8, 2, 4]
    whole, _ = one_process(batch, further, rounds=2)
    barrier, gathered = threading.Barrier(2, timeout=20), [[], []]  # type: ignore[var-annotated]
    found: list[Any] = [None, None]
    players = [Played(), Played()]

    def run(process: int) -> None:
        def gather(rewards: list[float]) -> Tensor:
            gathered[process] = rewards
            barrier.wait()
            everyone = torch.tensor([*gathered[0], *gathered[1]], dtype=torch.float64)
            barrier.wait()
            return everyone

        mine = batch[2 * process : 2 * process + 2]
        first = players[process]([n for n in mine for _ in range(2)], range(4 * process, 4 * process + 4))
        found[process] = fill(*first, 2, further, 2, players[process], gather, process)

    threads = [threading.Thread(target=run, args=(process,)) for process in range(2)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert names(found[0]) + names(found[1]) == names(whole)
    assert {(f.rounds, f.tasks, f.flat) for f in found} == {(whole.rounds, whole.tasks, whole.flat)}
    assert len(players[0].rounds) == len(players[1].rounds) == whole.rounds


def test_length_alone_makes_no_group_differ() -> None:
    """Two right answers, of which one is too long: nothing to learn about the task."""
    scores = [Score(1.0, {OVERLONG: 0.0}), Score(0.25, {OVERLONG: -0.75})]
    filled = fill([Episode(task(0), (0,))] * 2, scores, 2, [], 0, Played(), torch.tensor)
    assert filled.flat == 1.0


def columns(run_dir: Path, *without: str) -> list[dict[str, Any]]:
    return [{name: value for name, value in row.items() if name not in without} for row in without_times(run_dir)]


def test_where_no_group_is_flat_a_training_is_the_same_with_and_without(tmp_path: Path) -> None:
    """All of DAPO's parts are on, and none has anything to do: the same numbers to the last bit."""
    told: dict[str, Any] = {"group_size": 4, "per_device_batch_size": 8, "steps": 3, "save_every": 1}
    off = grpo_run(tmp_path / "off", **told)
    on = grpo_run(tmp_path / "on", **told, dynamic_sampling=3, overlong_buffer=1, epsilon_high=0.2)
    rows = without_times(tmp_path / "on")
    assert [[row[name] for name in NEW] for row in rows] == [[0.0, 1.0, 2.0]] * 3
    assert [row["reward/overlong"] for row in rows] == [0.0] * 3
    assert columns(tmp_path / "on", *NEW, "reward/overlong") == columns(tmp_path / "off")
    for (name, one), other in zip(off.named_parameters(), on.parameters(), strict=True):
        assert torch.equal(one, other), name


def test_flat_groups_are_replaced_and_the_row_tells_of_the_batch_as_first_played(tmp_path: Path) -> None:
    told: dict[str, Any] = {
        "prompts_per_batch": 4,
        "per_device_batch_size": 8,
        "reward": coarse_reward,
        "tasks": 9,
        "steps": 3,
    }
    grpo_run(tmp_path / "off", **told)
    grpo_run(tmp_path / "on", **told, dynamic_sampling=9)
    off, on = without_times(tmp_path / "off"), without_times(tmp_path / "on")
    # The same weights play the same first batch: what differs is what is learnt from it.
    for name in ("reward", "accuracy", "frac_zero_std_groups", "response_tokens", "reward_std"):
        assert on[0][name] == off[0][name]
    assert on[0]["grad_norm"] != off[0]["grad_norm"]
    assert any(row["frac_zero_std_groups"] > 0 for row in on)
    for row in on:
        assert row["frac_zero_std_groups_left"] == 0
        assert (row["rounds_played"] > 1) == (row["frac_zero_std_groups"] > 0)
        assert row["tasks_played"] >= 4 + 4 * row["frac_zero_std_groups"]


def test_where_all_rewards_are_equal_all_rounds_are_played_and_nothing_is_learnt(chat: Chat, tmp_path: Path) -> None:
    flat = per_episode(lambda episode, target: Score(1.0, {"accuracy": 1.0}))
    trained = grpo_run(tmp_path, reward=flat, steps=2, **{**DAPO, "dynamic_sampling": 2})
    for row in without_times(tmp_path):
        assert (row["frac_zero_std_groups"], row["frac_zero_std_groups_left"]) == (1.0, 1.0)
        assert (row["rounds_played"], row["tasks_played"], row["grad_norm"]) == (3.0, 6.0, 0.0)
    for (name, one), other in zip(trained.named_parameters(), fresh_model(chat).parameters(), strict=True):
        assert torch.equal(one, other), name


def test_a_run_that_was_interrupted_replaces_the_same_groups(tmp_path: Path) -> None:
    told: dict[str, Any] = {
        **DAPO,
        "overlong_buffer": 16380,
        "reward": coarse_reward,
        "tasks": 5,
        "iterations": 2,
        "steps": 6,
    }
    with pytest.raises(ConnectionError):
        grpo_run(tmp_path / "a", fail_at=3, **told)
    resumed, whole = grpo_run(tmp_path / "a", **told), grpo_run(tmp_path / "b", **told)
    rows = without_times(tmp_path / "b")
    assert without_times(tmp_path / "a") == rows and [row["step"] for row in rows] == [1, 2, 3, 4, 5, 6]
    assert max(row["reward/overlong"] for row in rows if "reward" in row) < 0
    after = [row for row in rows if row["step"] > 4 and "rounds_played" in row]
    assert max(row["rounds_played"] for row in after) > 1, "what was resumed has replaced some"
    for (name, one), other in zip(resumed.named_parameters(), whole.parameters(), strict=True):
        assert torch.equal(one, other), name


def test_a_buffer_as_long_as_a_response_is_refused(chat: Chat, model: Any, tmp_path: Path) -> None:
    settings = GRPOSettings(overlong_buffer=20)
    short = replace(LIMITS, max_response_tokens=20)
    with pytest.raises(ValueError, match=r"GRPOSettings.overlong_buffer=20: a response has at most 20 tokens"):
        train_grpo(model, chat, [task(0)], Looks, short, even_reward, settings, tmp_path)


def test_rewards_of_turns_and_replaced_groups_are_refused_together() -> None:
    with pytest.raises(ValueError, match=r"GRPOSettings.dynamic_sampling=2: with advantage='per_turn' a group of"):
        GRPOSettings(dynamic_sampling=2, advantage="per_turn")

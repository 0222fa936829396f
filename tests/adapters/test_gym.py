"""Gymnasium: its own checker, the same episodes as in the kit's loop, and what it refuses."""

from __future__ import annotations

from pathlib import Path

import gymnasium
import numpy as np
import pytest
from adapted import Played, first, replies, seen
from gymnasium.utils.env_checker import check_env

from adapters.gym import PaperEnv, register
from papers.registry import PaperError, papers

OWN = "papers/your_own-v0"
RIGHT = "<think>I see.</think><answer>{}</answer>"


def test_every_paper_is_registered_once() -> None:
    assert register() == register() == tuple(f"papers/{name}-v0" for name in papers())


def test_every_episode_is_the_loops(played: Played) -> None:
    """Replies, images, how it ended, and the reward with its parts."""
    env = gymnasium.make(f"papers/{played.name}-v0", split="train", data=played.data, **played.values)
    inner = env.unwrapped
    assert isinstance(inner, PaperEnv)
    try:
        for episode in played.episodes:
            message, info = env.reset(options={"task": episode.task.id})
            assert (info["system"], seen(message)) == first(inner.opened, episode)
            for number, (turn, reply) in enumerate(zip(episode.turns, replies(episode), strict=True), 1):
                message, reward, terminated, truncated, info = env.step(turn.text)
                assert seen(message) == reply, (episode.task.id, number)
                assert (terminated or truncated) == (number == len(episode.turns))
                assert info.get("status") == (turn.observation and turn.observation.status)
            assert info["ended"] == episode.ended and truncated == (episode.ended == "turns")
            score = inner.opened.alone([episode], episode.task.target)[0]
            assert (reward, info["parts"], info["turns"]) == (score.total, score.parts, score.turns)
            assert info["correct"] == score.correct
            if not inner.opened.grouped:
                assert score == played.golden.reward([episode], episode.task.target)[0]
    finally:
        env.close()


def test_gymnasiums_own_checker_passes(played: Played) -> None:
    env = gymnasium.make(f"papers/{played.name}-v0", split="train", data=played.data, **played.values)
    check_env(env.unwrapped, skip_render_check=True)
    env.close()


def test_several_step_together_in_one_process(played: Played) -> None:
    """They may share one sandbox; each has an episode of its own."""
    with played.open() as opened:
        envs = gymnasium.make_vec(
            f"papers/{played.name}-v0", num_envs=3, vectorization_mode="sync", **{"paper": opened}
        )
        some = played.episodes[:3]
        for k in range(3):
            told, infos = envs.reset(seed=[k, k + 1, k + 2])
            assert len(told) == 3 and list(infos["task"]) == [
                PaperEnv(opened).reset(seed=k + one)[1]["task"] for one in range(3)
            ]
        said = tuple(episode.turns[0].text for episode in some)
        told, rewards, terminated, truncated, _ = envs.step(said)
        assert len(told) == 3 and rewards.shape == terminated.shape == truncated.shape == (3,)
        envs.close()


def test_credit_of_single_turns_is_told_and_not_paid() -> None:
    """The limit: a reward per step is Gymnasium's, the credit of turns that some papers pay is in ``info`` alone."""
    with_failure = "<think>I try.</think><code>1 / 0</code>"
    env = gymnasium.make("papers/codedance-v0", prompt="brief", allow_unsafe=True)
    env.reset(seed=0)
    _, reward, *_ = env.step(with_failure)
    _, _, _, _, info = env.step(RIGHT.format("?"))
    assert reward == 0.0 and info["turns"] == (-0.5, 0.0)
    env.close()


def test_a_step_without_an_episode_and_unknown_names_are_refused(tmp_path: Path) -> None:
    env = gymnasium.make(OWN).unwrapped
    with pytest.raises(gymnasium.error.ResetNeeded, match=r"no episode is running; reset\(\) begins one"):
        env.step("hm")
    env.reset(seed=0)
    env.step(RIGHT.format(0))
    with pytest.raises(gymnasium.error.ResetNeeded):
        env.step("again")
    with pytest.raises(KeyError, match="your_own: no task 'gone' in this split of 8: golden-0000"):
        env.reset(options={"task": "gone"})
    with pytest.raises(ValueError, match="'tusk' is unknown; there is 'task', an id"):
        env.reset(options={"tusk": "golden-0000"})
    with pytest.raises(gymnasium.error.NameNotFound, match="nobody"):
        gymnasium.make("papers/nobody-v0")
    with pytest.raises(PaperError, match="no paper 'nobody'"):
        PaperEnv("nobody")
    with pytest.raises(
        ValueError, match=r"no split 'tset': data names no folder; 'golden', a few tasks, needs no files"
    ):
        gymnasium.make(OWN, split="tset")
    with pytest.raises(ValueError, match=r"no split 'tset': .* has no file of tasks"):
        gymnasium.make(OWN, split="tset", data=tmp_path)
    with pytest.raises(ValueError, match=r"it has no value 'promt'; there are .*max_turns"):
        gymnasium.make(OWN, promt="brief")


def test_images_are_arrays_of_bytes_of_any_size() -> None:
    space = gymnasium.make(OWN).observation_space
    image = np.zeros((3, 5, 3), dtype=np.uint8)
    assert ("a", image) in space and () in space and space.sample() in space
    assert [image] not in space and (image.astype(float),) not in space and (image[0],) not in space

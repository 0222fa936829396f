"""CodeDance's experiment: limits, rewards by name, the advantage that goes with each."""

from __future__ import annotations

from pathlib import Path

import pytest

from kit.episode import Action, Episode, Observation, Task, Turn
from kit.train.grpo import GRPOSettings
from papers.codedance.experiment import Play, Training, sandbox
from papers.codedance.reward import REWARDS

TASK = Task("t", (), "What is 1 + 9?", ("10",))
CALL = Turn((), (), "<think>a</think><code>print(10)</code>", Action("code", "print(10)"), Observation(""))
ANSWER = Turn((), (), "<think>b</think><answer>10</answer>", Action("answer", "10"))
RIGHT = Episode(TASK, (), (CALL, ANSWER), "answer")


def training(tmp_path: Path, **more: float | str) -> Training:
    settings = GRPOSettings(advantage=REWARDS[str(more.get("reward", "adaptive"))])
    return Training("base", "tasks.jsonl", str(tmp_path), Play(), settings, **more)  # type: ignore[arg-type]


def test_the_papers_limits() -> None:
    play = Play()
    assert (play.max_turns, play.measured().max_turns, play.max_episode_tokens) == (6, 10, 2 * 10240)
    assert play.most_tokens(prompt=3000) == 3000 + 10240, "a response may have 10,240 tokens"
    limits = sandbox().limits
    assert (limits.seconds, limits.figure_dpi, limits.image_min_px, limits.image_aspect) == (15.0, 150, 28, 200.0)
    assert (limits.image_enlarge_below, limits.image_enlarge_to) == (56, 112)


@pytest.mark.parametrize("name", ["max_turns", "evaluation_turns"])
def test_a_limit_of_no_turn_is_refused(name: str) -> None:
    with pytest.raises(ValueError, match=f"{name}=0: must be at least 1"):
        Play(**{name: 0})


def test_rewards_by_name_and_with_their_parameters(tmp_path: Path) -> None:
    """All right: d = σ(−4) − .2 = −.18201 of 1.5; with no offset .01799; with sharpness 4, σ(−2) − .2 = −.08080."""
    for more, worth in (({}, -0.27302), ({"offset": 0.0}, 0.02698), ({"sharpness": 4.0}, -0.12119)):
        scores = training(tmp_path, **more).group_reward()([RIGHT, RIGHT], TASK.target)
        assert scores[0].parts["calls"] == pytest.approx(worth, abs=1e-5)
    assert training(tmp_path, reward="bonus").group_reward()([RIGHT, RIGHT], TASK.target)[0].total == 2.5


def test_a_held_out_episode_is_judged_by_itself(tmp_path: Path) -> None:
    """There is one a task, and the reward needs a group."""
    wrong = Episode(TASK, (), (Turn((), (), "", Action("answer", "11")),), "answer")
    own = training(tmp_path)
    for episode, correct in ((RIGHT, True), (wrong, False)):
        assert own.held_out_reward()([episode], TASK.target)[0].correct is correct
        assert [score.correct for score in own.group_reward()([episode, RIGHT], TASK.target)] == [correct, True]

"""Rewards of groups: lifting, and two rewards of papers as examples of the contract (golden values by hand)."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import pytest

from kit.episode import Action, Episode, Observation, Score, Status, Task, Turn
from kit.rewards.base import per_episode
from kit.train.advantage import turn_returns

TASK = Task("t", (), "?", "7")


def call(status: Status) -> Turn:
    """A turn that called a tool, which ended like this."""
    return Turn((1,), (0.0,), "<code>…</code>", Action("code", "…"), Observation("", status=status), (2,))


def episode(answer: str | None, *statuses: Status, text: str = "<answer>") -> Episode:
    """An episode of calls and an answer."""
    turns = [call(status) for status in statuses]
    if answer is not None:
        turns.append(Turn((3,), (0.0,), text, Action("answer", answer)))
    return Episode(TASK, (0,), tuple(turns), "answer")


def test_a_reward_of_one_episode_is_lifted_in_order() -> None:
    group = [episode("7"), episode("8"), episode("7")]
    reward = per_episode(lambda e, target: Score(float(e.answer == target), {}), workers=3)
    assert [score.total for score in reward(group, "7")] == [1.0, 0.0, 1.0]


def difficulty(accuracy: float) -> float:
    """How far calls pay in a group of this mean accuracy: a logistic function, shifted."""
    return 1 / (1 + math.exp(-8 * (0.5 - accuracy))) - 0.2


def adaptive(episodes: Sequence[Episode], target: Any) -> list[Score]:
    """A difficulty-adaptive tool reward (R_BAT): calls pay where the group as a whole is seldom right."""
    right = [episode.answer == target for episode in episodes]
    d = difficulty(sum(right) / len(episodes))
    scores = []
    for one, correct in zip(episodes, right, strict=True):
        statuses = [turn.observation.status for turn in one.turns if turn.observation]
        share = sum(status == "ok" for status in statuses) / len(statuses) if statuses else 0.0
        parts = {"accuracy": float(correct), "tools": (1.5 if correct else 0.5) * share * d}
        turns = tuple(-0.5 if turn.observation and turn.observation.status != "ok" else 0.0 for turn in one.turns)
        scores.append(Score(sum(parts.values()), parts, turns))
    return scores


def test_golden_difficulty_adaptive_reward() -> None:
    """Right, two of two calls ran, one of four right: d = σ(2) − .2 = .68080, R = 1 + 1.5 · .68080 = 2.02120."""
    group = [episode("7", "ok", "ok"), episode("8"), episode("8", "error"), episode(None, "ok")]
    first, second, third, fourth = adaptive(group, "7")
    assert first.total == pytest.approx(2.02120, abs=5e-6)
    assert (second.total, third.total) == (0.0, 0.0)
    assert fourth.total == pytest.approx(0.5 * 0.68080, abs=5e-6)
    assert turn_returns(adaptive([episode("7", "error", "ok", "error")] * 2, "7")[0].turns, 0.2) == pytest.approx(
        [-0.52, -0.1, -0.5, 0.0]
    )


def test_golden_difficulty() -> None:
    """.5 at even odds less .2; nearly .8 where nobody is right; 0 at μ = .5 + ln 4 / 8 = .67329; below 0 at 1."""
    assert difficulty(0.5) == pytest.approx(0.3)
    assert difficulty(0.0) == pytest.approx(0.78201, abs=5e-6)
    assert difficulty(0.5 + math.log(4) / 8) == pytest.approx(0.0, abs=1e-12)
    assert difficulty(1.0) == pytest.approx(-0.18201, abs=5e-6)


def repetition(text: str) -> float:
    """A penalty for a word said many times in a row: three times, six, twelve."""
    words, run, longest = text.split(), 0, 0
    for k, word in enumerate(words):
        run = run + 1 if k and word == words[k - 1] else 1
        longest = max(longest, run)
    return next((penalty for n, penalty in ((12, -3.0), (6, -2.0), (3, -1.5)) if longest >= n), 0.0)


def sparse(one: Episode, target: Any) -> Score:
    """Repetition, format and correctness, the last only where the others are clean."""
    worst = min(repetition(turn.text) for turn in one.turns)
    if worst < 0:
        return Score(worst, {"repetition": worst})
    well_formed = all(turn.text.startswith("<") for turn in one.turns)
    parts = {"format": 1.0 if well_formed else -1.0, "correct": float(well_formed and one.answer == target)}
    return Score(sum(parts.values()), parts)


@pytest.mark.parametrize(
    ("answer", "text", "total"),
    [("7", "<answer>", 2.0), ("8", "<answer>", 1.0), ("7", "seven", -1.0), ("7", "<answer> " + "so " * 6, -2.0)],
)
def test_golden_sparse_format_aware_reward(answer: str, text: str, total: float) -> None:
    (score,) = per_episode(sparse)([episode(answer, text=text)], "7")
    assert score.total == total

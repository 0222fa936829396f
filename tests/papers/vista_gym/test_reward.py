"""VISTA-R1's reward: the paper's sums by hand, its rivals, and that nothing bad is ever worth more than good."""

from __future__ import annotations

import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

from kit.episode import Episode, Observation, Score, Task, Turn
from kit.protocol import FormatError
from kit.train.advantage import group_advantages
from papers.vista_gym.env import PROTOCOL
from papers.vista_gym.reward import REWARDS, conforms, difficulty_weight, make_reward

TASK = Task("t", (), "How high is red?", ("7",))
CALL = '<think>Ask.</think><tool_call>{"tool": "unichart.to_table", "arguments": {"of": "red"}}</tool_call>'


def said(text: str) -> Turn:
    parsed = PROTOCOL.parse(text)
    action = None if isinstance(parsed, FormatError) else parsed
    called = action is not None and action.name != "answer"
    return Turn((), (), text, action, Observation("7") if called else None)


def episode(*texts: str) -> Episode:
    return Episode(TASK, (), tuple(said(text) for text in texts), "answer")


RIGHT = episode(CALL, "<think>Red is 7.</think><answer>7</answer>")
AT_ONCE = episode("<think>I see 7.</think><answer>7</answer>")
WRONG = episode(CALL, "<think>Red is 8.</think><answer>8</answer>")
MALFORMED = episode(CALL, "Red is 7. <answer>7</answer>")
REPEATS = episode(CALL, f"<think>{'seven ' * 12}</think><answer>7</answer>")
MUMBLES = episode(CALL, f"<think>{'seven ' * 6}</think><answer>7</answer>")
BABBLES = episode(CALL, f"<think>{'seven ' * 24}</think><answer>7</answer>")
BROKEN = episode(f"{'seven ' * 12}<answer>7</answer>")


def score(one: Episode, name: str = "format_aware") -> Score:
    return make_reward(name)([one], TASK.target)[0]


@pytest.mark.parametrize(
    ("one", "total", "parts"),
    [
        (RIGHT, 2.0, (0.0, 1.0, 1.0)),
        (AT_ONCE, 2.0, (0.0, 1.0, 1.0)),
        (WRONG, 1.0, (0.0, 1.0, 0.0)),
        (MALFORMED, -1.0, (0.0, -1.0, 0.0)),
        (MUMBLES, -1.5, (-1.5, 0.0, 0.0)),
        (REPEATS, -2.0, (-2.0, 0.0, 0.0)),
        (BABBLES, -3.0, (-3.0, 0.0, 0.0)),
        (BROKEN, -2.0, (-2.0, 0.0, 0.0)),
    ],
)
def test_golden_rewards(one: Episode, total: float, parts: tuple[float, float, float]) -> None:
    """0 + 1 + 1; 0 + 1 + 0; 0 − 1 + 0, right or not; and a repetition alone decides."""
    found = score(one)
    assert (found.total, tuple(found.parts.values())) == (total, parts)
    assert list(found.parts) == ["repetition", "format", "accuracy"]
    assert found.correct is (one is not WRONG), "the answer is right or not, whatever it earns"


@pytest.mark.parametrize(
    ("name", "right", "wrong", "malformed", "repeats"),
    [("dense", 1.0, -0.5, -1.5, -1.5), ("sparse", 1.0, 0.0, 0.0, 0.0)],
)
def test_golden_rivals(name: str, right: float, wrong: float, malformed: float, repeats: float) -> None:
    """F = C = 1: −1 + .5 + .5 + 1; F = 1: −1 + .5; F = −1: −1 − .5. What is malformed is never correct."""
    totals = [score(one, name).total for one in (RIGHT, WRONG, MALFORMED, REPEATS)]
    assert totals == [right, wrong, malformed, repeats]


def test_golden_difficulty() -> None:
    """D = (2 + 1) / 2 = 1.5, w = .5 · .5 + .5 = .75; where all are right D = 2, w = .5; D = ½ leaves all as it is."""
    scores = make_reward("difficulty")
    assert [found.total for found in scores([RIGHT, WRONG], TASK.target)] == [1.5, 0.75]
    assert scores([RIGHT, WRONG], TASK.target)[0].parts == {"repetition": 0.0, "format": 0.75, "accuracy": 0.75}
    assert [found.total for found in scores([RIGHT, RIGHT], TASK.target)] == [1.0, 1.0]
    assert [found.total for found in scores([RIGHT, MALFORMED], TASK.target)] == [2.0, -1.0]


def test_advantages_that_are_normalised_do_not_see_difficulty() -> None:
    """One factor for a whole group: divided by the group's deviation it is gone, and without that it stays."""
    group = [RIGHT, RIGHT, RIGHT, WRONG]

    def advantages(name: str, scale: str) -> list[float]:
        totals = torch.tensor([found.total for found in make_reward(name)(group, TASK.target)])
        return group_advantages(totals, 4, scale).tolist()  # type: ignore[arg-type]

    assert advantages("difficulty", "group") == pytest.approx(advantages("format_aware", "group"), abs=2e-3)
    assert advantages("difficulty", "none") != pytest.approx(advantages("format_aware", "none"), abs=0.05)


@pytest.mark.parametrize(
    "texts",
    [
        ["<answer>7</answer>"],
        [CALL],
        ["<think>a</think><think>b</think><answer>7</answer>"],
        ["<answer>7</answer><think>a</think>"],
        [f"Now: {CALL}", "<think>a</think><answer>7</answer>"],
        [CALL.replace("</tool_call>", ""), "<think>a</think><answer>7</answer>"],
        [],
    ],
)
def test_every_turn_has_to_conform(texts: list[str]) -> None:
    assert not conforms(episode(*texts)) and score(episode(*texts)).total == -1.0


def test_an_unknown_reward_is_refused() -> None:
    with pytest.raises(ValueError, match="reward='best': choose one of format_aware, dense, sparse, difficulty"):
        make_reward("best")
    assert [difficulty_weight(mean) for mean in (-3.0, 1.0, 2.0, 3.0)] == [1.0, 1.0, 0.5, 0.5]


@given(st.text(st.characters(exclude_categories=())), st.sampled_from(REWARDS))
def test_clean_and_right_is_worth_most(text: str, name: str) -> None:
    best, other = make_reward(name)([RIGHT, episode(text)], TASK.target)
    assert other.total == sum(other.parts.values()) <= best.total


# Worked by hand from section 5.2 and 6.3 alone.

LOOK = '<think>Look.</think><tool_call>{"tool": "easyocr.read", "task": "detect_and_recognize"}</tool_call>'


def test_golden_three_turns_of_which_the_second_has_no_thought() -> None:
    """R_rep = 0; one of three turns lacks its thought: R_format = (0 − 0.5) · 2 = −1; so no R_correct. R = −1."""
    last = "<think>Red is 7.</think><answer>7</answer>"
    call = LOOK.partition("</think>")[2]
    assert score(episode(LOOK, call, last)).total == -1.0
    assert score(episode(LOOK, LOOK, last)).total == 2.0, "with its thought: 0 + 1 + 1"


def test_golden_a_nested_call_is_none_of_the_form() -> None:
    """Tags are not to be nested: a call inside of the thought makes the turn malformed. R = −1, right or not."""
    nested = LOOK.replace("</think>", "") + "</think>"
    assert score(episode(nested, "<think>Red is 7.</think><answer>7</answer>")).total == -1.0


def test_golden_difficulty_of_a_whole_group() -> None:
    """Base rewards of eight: four right (2), two wrong (1), one malformed (−1), one severe repetition (−2): D = 7/8.

    2 − D = 1.125 is clamped to 1, w = 1: nothing changes. With six right, one wrong and one malformed
    D = (12 + 1 − 1) / 8 = 1.5, w = 0.5 · 0.5 + 0.5 = 0.75: 1.5, 0.75, −0.75.
    """
    scores = make_reward("difficulty")
    group = [*[RIGHT] * 4, WRONG, WRONG, MALFORMED, REPEATS]
    assert [found.total for found in scores(group, TASK.target)] == [2, 2, 2, 2, 1, 1, -1, -2]
    group = [*[RIGHT] * 6, WRONG, MALFORMED]
    assert [found.total for found in scores(group, TASK.target)] == [1.5] * 6 + [0.75, -0.75]


def test_golden_advantages_of_a_group() -> None:
    """Rewards 2, 2, 1, −1 (eq. of 5.1): their mean is 1, deviations 1, 1, 0, −2, squares 1 + 1 + 0 + 4 = 6.

    With the sample's deviation √(6/3) = √2: advantages 1/√2, 1/√2, 0, −√2.
    Under the dense reward the same four earn 1, 1, −0.5, −1.5: mean 0, squares 1 + 1 + 0.25 + 2.25 = 4.5, √1.5:
    0.8165, 0.8165, −0.4082, −1.2247: what is malformed is pushed down less, what is wrong is pushed down as well.
    """
    group = [RIGHT, RIGHT, WRONG, MALFORMED]

    def advantages(name: str) -> list[float]:
        totals = torch.tensor([found.total for found in make_reward(name)(group, TASK.target)])
        return group_advantages(totals, 4).tolist()

    assert advantages("format_aware") == pytest.approx([0.7071, 0.7071, 0.0, -1.4142], abs=1e-3)
    assert advantages("dense") == pytest.approx([0.8165, 0.8165, -0.4082, -1.2247], abs=1e-3)

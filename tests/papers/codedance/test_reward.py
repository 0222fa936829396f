"""CodeDance's reward: the sheet's numbers by hand, its signs, what a group of one is told."""

from __future__ import annotations

from math import exp

import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

from kit.episode import Action, Episode, Observation, Score, Status, Task, Turn
from kit.protocol import FormatError
from kit.train.advantage import sequence_plus_turn_advantages, turn_returns
from papers.codedance.env import PROTOCOL
from papers.codedance.reward import REWARDS, difficulty, make_reward

TASK = Task("t", (), "What is the sum?", ("10",), {"kind": "chart_compute"})
PROOF = Task("m", (), "How long is it?", ("10",), {"kind": "geometry"})


def said(text: str, status: Status = "ok") -> Turn:
    parsed = PROTOCOL.parse(text)
    action = None if isinstance(parsed, FormatError) else parsed
    calls = action is not None and action.name == "code"
    return Turn((), (), text, action, Observation("", status=status) if calls else None)


def episode(*calls: Status, answer: str = "10", task: Task = TASK) -> Episode:
    """An episode whose calls ended so, and then answered."""
    turns = [said("<think>so</think><code>print(1 + 9)</code>", status) for status in calls]
    return Episode(task, (), (*turns, said(f"<think>so</think><answer>{answer}</answer>")), "answer")


WRONG = episode(answer="11")


def score(one: Episode, *others: Episode, name: str = "adaptive") -> Score:
    return make_reward(name)([one, *others], one.task.target)[0]


def test_golden_difficulty() -> None:
    """σ(4) = 1/(1 + e⁻⁴) = .98201, σ(2) = .88080, σ(0) = ½, σ(−4) = .01799; each less .2."""
    for accuracy, worth in ((0.0, 0.78201), (0.25, 0.68080), (0.5, 0.3), (1.0, -0.18201)):
        assert difficulty(accuracy) == pytest.approx(worth, abs=5e-6)
    # σ(8 (.5 − μ)) = .2 where 8 (.5 − μ) = ln(.2/.8) = −1.38629, so μ = .5 + .17329.
    assert difficulty(0.67329) == pytest.approx(0, abs=1e-5)
    assert difficulty(0.84657, sharpness=4) == pytest.approx(0, abs=1e-5), "the other reading of the paper"


@given(st.floats(0, 1), st.floats(0.01, 1))
def test_difficulty_is_the_released_tanh_and_falls(accuracy: float, more: float) -> None:
    x = 4 * (0.5 - accuracy)
    tanh = (exp(x) - exp(-x)) / (exp(x) + exp(-x))
    assert difficulty(accuracy) == pytest.approx((1 + tanh) / 2 - 0.2)
    assert difficulty(min(1.0, accuracy + more)) <= difficulty(accuracy)


def test_golden_reward() -> None:
    """One of four is right, after two calls that ran: 1 + 1.5 · .68080 = 2.02120."""
    found = score(episode("ok", "ok"), WRONG, WRONG, WRONG)
    assert found.total == pytest.approx(2.02120, abs=5e-6)
    assert found.parts == {"accuracy": 1.0, "format_error": 0.0, "calls": pytest.approx(1.02120, abs=5e-6)}


def test_golden_reward_in_mathematics_and_of_a_wrong_answer() -> None:
    """1.2 + 2 · .68080 = 2.56160; one call of two failed and wrong: .5 · ½ · .68080 = .17020, in mathematics .34040."""
    wrong = episode(answer="11", task=PROOF)
    assert score(episode("ok", task=PROOF), wrong, wrong, wrong).total == pytest.approx(2.56160, abs=1e-5)
    right = episode()
    halved = episode("ok", "error", answer="11")
    assert score(halved, WRONG, WRONG, right).total == pytest.approx(0.17020, abs=5e-6)
    assert score(Episode(PROOF, (), halved.turns, "answer"), WRONG, WRONG, right).total == pytest.approx(0.3404, 1e-4)


def test_golden_of_released_mathematics_answered_wrongly() -> None:
    """One of eight is right: d = σ(8 · ⅜) − .2 = σ(3) − .2, e⁻³ = .0497871, so σ(3) = 1/1.0497871 = .9525741.

    Two calls of three succeeded: R = 0 + 1 · ⅔ · .7525741 = .5017161. The source alone tells that it is mathematics.
    """
    task = Task("r", (), "What is x?", ("10",), {"kind": "thinklite_eureka"})
    others = [episode(task=task), *[episode(answer="11", task=task)] * 6]
    found = score(episode("ok", "error", "ok", answer="11", task=task), *others)
    assert found.total == pytest.approx(0.5017161, abs=5e-7)
    elsewhere = Task("r", (), "What is x?", ("10",), {"kind": "vstar"})
    others = [episode(task=elsewhere), *[episode(answer="11", task=elsewhere)] * 6]
    assert score(episode("ok", "error", "ok", answer="11", task=elsewhere), *others).total == pytest.approx(0.2508581)


def test_golden_of_a_needless_call_in_a_broken_form() -> None:
    """All are right: σ(−4) = 1/(1 + 54.5981500) = .0179862, d = −.1820138; 1 − .2 + 1.5 · (−.1820138) = .5269793."""
    turns = (said("<think>so</think>Look.<code>print(10)</code>"), said("<think>so</think><answer>10</answer>"))
    found = score(Episode(TASK, (), turns, "answer"), episode())
    assert found.total == pytest.approx(0.5269793, abs=5e-7)
    assert found.parts["calls"] == pytest.approx(-0.2730207, abs=5e-7)


def test_golden_without_a_call_and_of_what_it_is_compared_with() -> None:
    """Mathematics, malformed and wrong: 0 − .4 = −.4, and R_seq = 0 whatever d is.

    Three of four are right: σ(−2) = 1/(1 + 7.3890561) = .1192029. With offset 0, right after one call of two:
    1 + 1.5 · ½ · .1192029 = 1.0894022; with .2 it would be 1 + .75 · (−.0807971) = .9394022.
    """
    malformed = Episode(PROOF, (), (said("<answer>11</answer>"),), "answer")
    assert score(malformed, episode(task=PROOF)).total == -0.4
    group = episode("ok", "error"), episode(), episode(), WRONG
    assert score(*group, name="offset_0").total == pytest.approx(1.0894022, abs=5e-7)
    assert score(*group).total == pytest.approx(0.9394022, abs=5e-7)


def test_golden_from_the_reward_to_the_advantage_of_a_turn() -> None:
    """Two episodes: one fails once and is wrong, the other answers rightly at once; μ = ½.

    Rewards 0 + .5 · 0 · .3 = 0 and 1: mean ½, sample deviation √½ = .7071068, so ∓.5/.7072068 = ∓.7070068 (ε = 1e-4).
    Returns (−.5, 0) and (0): mean −1/6, population variance .25/3 − 1/36 = 1/18, deviation .2357023: −1.4142136,
    .7071068 and .7071068. A fifth of these is added: −.9898495, −.5655854 and .8484282.
    """
    group = [episode("error", answer="11"), episode()]
    scores = make_reward()(group, TASK.target)
    assert [one.total for one in scores] == [0.0, 1.0]
    totals = torch.tensor([one.total for one in scores])
    found = sequence_plus_turn_advantages(totals, [one.turns for one in scores], 2)
    assert [len(turns) for turns in found] == [2, 1]
    assert [a for turns in found for a in turns] == pytest.approx([-0.9898495, -0.5655854, 0.8484282], abs=5e-7)


def test_golden_turns() -> None:
    """[fail, ok, fail, answer]: −.5, 0, −.5, 0; returns −.5 + .2 · (−.1) = −.52, −.1, −.5, 0."""
    found = score(episode("error", "ok", "timeout"), WRONG)
    assert found.turns == (-0.5, 0.0, -0.5, 0.0)
    assert turn_returns(found.turns, 0.2) == pytest.approx([-0.52, -0.1, -0.5, 0.0])


def test_golden_advantages_of_turns_by_both_rules() -> None:
    """[fail, ok, answer], [ok, answer]. Calls alone: mean −.5/3, deviation √2/6. All turns: mean −.1, deviation .2."""
    import torch

    episodes = [episode("error", "ok"), episode("ok")]
    turns = [found.turns for found in make_reward("adaptive")(episodes, TASK.target)]
    flat = torch.zeros(2)
    released = sequence_plus_turn_advantages(flat, turns, 2, weight=1.0, baseline="calls")
    assert released[0] == pytest.approx((-1.41421, 0.70711, 0.0), abs=1e-5)
    assert released[1] == pytest.approx((0.70711, 0.0), abs=1e-5)
    ours = sequence_plus_turn_advantages(flat, turns, 2, weight=1.0)
    assert ours[0] == pytest.approx((-2.0, 0.5, 0.5)) and ours[1] == pytest.approx((0.5, 0.5))


def test_calls_are_paid_while_the_group_fails_and_cost_once_it_knows() -> None:
    """Two of three right is just below the turn at .673, three of four just above."""
    caller, direct = episode("ok"), episode()
    assert score(caller, direct, WRONG).total > score(direct, caller, WRONG).total
    assert score(caller, direct, direct, WRONG).total < score(direct, caller, direct, WRONG).total
    assert score(direct, caller, WRONG).parts["calls"] == 0.0, "no calls, nothing"
    assert score(episode("error"), direct, WRONG).parts["calls"] == 0.0, "calls that failed earn nothing"


def test_the_rewards_it_is_compared_with() -> None:
    caller, direct = episode("ok", "error"), episode()
    assert score(caller, direct, name="outcome").parts["calls"] == 0.0
    assert score(caller, direct, name="bonus").parts["calls"] == 1.5
    assert score(episode("ok", answer="11"), direct, name="bonus").parts["calls"] == 0.0
    assert score(episode("error"), direct, name="bonus").parts["calls"] == 0.0
    # σ(−4) = .01799 of 1.5, halved: positive though all are right.
    assert score(caller, direct, name="offset_0").parts["calls"] == pytest.approx(1.5 / 2 * 0.017986, abs=1e-6)
    with pytest.raises(ValueError, match="reward='best': choose one of adaptive, outcome, bonus, offset_0"):
        make_reward("best")


@pytest.mark.parametrize("name", ["adaptive", "offset_0"])
def test_a_group_of_one_is_refused_where_the_group_matters(name: str) -> None:
    with pytest.raises(ValueError, match=f"reward='{name}' of 1 episode: .*give at least 2 episodes of a task"):
        score(episode(), name=name)
    assert score(episode(), name="outcome").total == 1.0


@pytest.mark.parametrize(
    "broken",
    [
        Episode(TASK, (), (said("<answer>10</answer>"),), "answer"),
        Episode(TASK, (), (said("<think>a</think>Ten.<answer>10</answer>"),), "answer"),
        Episode(TASK, (), (said("<think>a</think><code>print(10)</code>"),), "turns"),
        Episode(TASK, (), (said("Ten."),), "format"),
        episode(answer="1" * 1000),
        Episode(TASK, (), (), "tokens"),
    ],
)
def test_a_break_of_the_form_costs_its_weight(broken: Episode) -> None:
    assert score(broken, WRONG, name="outcome").parts["format_error"] == -0.2
    assert score(Episode(PROOF, (), broken.turns, broken.ended), WRONG, name="outcome").parts["format_error"] == -0.4


@given(st.lists(st.text(st.characters(exclude_categories=())), max_size=3), st.sampled_from(sorted(REWARDS)))
def test_no_text_makes_it_raise(texts: list[str], name: str) -> None:
    turns = tuple(said(text) for text in texts)
    answer = Turn((), (), "x", Action("answer", texts[0])) if texts else said("x")
    found = score(Episode(TASK, (), (*turns, answer), "answer"), WRONG, name=name)
    assert found.total == sum(found.parts.values()) and len(found.turns) == len(texts) + 1

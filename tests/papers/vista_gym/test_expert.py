"""VISTA-Gym's expert on tasks without images: every way it goes, what it says, and what is kept of it."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from typing import Any, ClassVar

import pytest

from kit.chat import Chat
from kit.episode import Episode, Task
from kit.policy.scripted import ScriptedPolicy
from papers.vista_gym.drawn import call
from papers.vista_gym.experiment import Play
from papers.vista_gym.expert import GIVES_UP, NEEDLESS, Habits, calls_of, expert, kept, way_of
from papers.vista_gym.reward import make_reward
from visual_tools.tool import Arguments, PureTool


class Prices(PureTool):
    """Says a price."""

    name, family, algorithm, needs_image = "prices", "charts", "A table.", False
    properties: ClassVar[Mapping[str, Any]] = {"of": {"type": "string"}}
    says: ClassVar[Mapping[str, str]] = {"tea": "12", "salt": "12.3", "rice": "rice 12", "": "nothing"}

    def look(self, image: None, arguments: Arguments) -> Mapping[str, str]:
        return self.says

    def answer(self, seen: Mapping[str, str], arguments: Arguments) -> str:
        return seen[arguments.get("of", "")]


class Read(Prices):
    """Reads a page."""

    name = "easyocr.read"


TOOLS = (Prices(), Read())
RIGHT = {"gives_up": 0.0, "astray": 0.0, "recovers": 0.0, "needless": 0.0}


def task(number: int = 0, of: str = "tea", steps: int = 1, answer: str = "12") -> Task:
    calls = [call("prices", of=of)] * steps
    golds = (answer, f"{answer} ± 5 %")
    return Task(f"t-{number}", (), "What does it cost?\nA. 1\nB. 12", golds, {"calls": calls, "wrong": call("prices")})


def at_sight(number: int) -> Task:
    return Task(f"s-{number}", (), "What is it?", ("7",), {"direct": True})


def played(chat: Chat, tasks: list[Task], **habits: Any) -> list[Episode]:
    play = Play(prompt="brief", max_new_tokens=256)
    return play(ScriptedPolicy(chat, expert(Habits(**habits))), chat, TOOLS, tasks, temperature=0.0)


def said(episode: Episode) -> list[str]:
    return [turn.text for turn in episode.turns]


def test_it_asks_reads_and_says_the_question_again(chat: Chat) -> None:
    [first, last] = said(played(chat, [task()], **RIGHT)[0])
    assert first == f"<think>Let me look it up.</think><tool_call>{call('prices', of='tea')}</tool_call>"
    assert last == "<think>What does it cost? 12.</think><answer>12</answer>"


def test_what_a_reply_says_beside_the_answer_comes_before_the_question(chat: Chat) -> None:
    assert said(played(chat, [task(of="rice")], **RIGHT)[0])[1] == (
        "<think>rice 12. What does it cost? 12.</think><answer>12</answer>"
    )


def test_a_value_that_is_near_enough_is_answered_as_it_was_read(chat: Chat) -> None:
    """12.3 is within 5 % of 12: whoever said 12 would say what nobody told it."""
    [episode] = played(chat, [task(of="salt")], **RIGHT)
    assert episode.answer == "12.3" and kept([episode]) == [episode]


def test_an_expert_that_a_tool_lets_down_is_left_out(chat: Chat) -> None:
    [episode] = played(chat, [task(answer="99")], **RIGHT)
    assert episode.answer == GIVES_UP and kept([episode]) == []


@pytest.mark.parametrize(
    ("habits", "turns", "answer"),
    [({"astray": 1.0, "recovers": 0.0}, 2, GIVES_UP), ({"astray": 0.0, "recovers": 1.0}, 3, "12")],
)
def test_the_wrong_tool_first(chat: Chat, habits: dict[str, Any], turns: int, answer: str) -> None:
    [episode] = played(chat, [task()], gives_up=0.0, **habits)
    assert (len(episode.turns), episode.answer) == (turns, answer)
    assert episode.turns[0].action is not None and episode.turns[0].action.arguments == {}
    assert kept([episode]) == [episode], "it went astray on purpose"


def test_it_gives_up_without_a_call(chat: Chat) -> None:
    [episode] = played(chat, [task()], **RIGHT | {"gives_up": 1.0})
    assert said(episode) == ["<think>What does it cost? I can't see it.</think><answer>unknown</answer>"]
    assert kept([episode]) == [episode], "it gave up on purpose"


def test_at_sight_it_calls_for_nothing_or_not_at_all(chat: Chat) -> None:
    [once] = played(chat, [at_sight(1)], **RIGHT)
    [needless] = played(chat, [at_sight(1)], needless=1.0)
    assert (once.calls, needless.calls, once.answer, needless.answer) == (0, 1, "7", "7")
    assert needless.turns[0].action is not None and needless.turns[0].action.text == NEEDLESS


@pytest.mark.parametrize("rationale", ["short", "long"])
def test_all_it_says_keeps_to_the_form_and_repeats_nothing(chat: Chat, rationale: str) -> None:
    tasks = [*(task(k) for k in range(20)), *(at_sight(k) for k in range(20))]
    for episode in played(chat, tasks, rationale=rationale):
        [score] = make_reward()([episode], episode.task.target)
        assert score.parts["format"] == 1 and score.parts["repetition"] == 0, said(episode)
        assert score.correct or episode.answer == GIVES_UP


def test_long_rationales_are_longer_before_a_call(chat: Chat) -> None:
    short, long = (said(played(chat, [task()], rationale=name, **RIGHT)[0]) for name in ("short", "long"))
    assert len(long[0]) > 2 * len(short[0]) - len(call("prices", of="tea")) and long[1] == short[1]


def test_the_shares_of_the_ways() -> None:
    """Of 2,000: 0.6, 0.1 and 0.3, each within three standard deviations of 0.01; half of those at sight."""
    found = Counter(way_of(task(k), Habits()) for k in range(2000))
    assert abs(found["gives up"] - 1200) < 66 and abs(found["astray"] - 200) < 41 and abs(found["right"] - 600) < 62
    assert abs(Counter(way_of(at_sight(k), Habits()) for k in range(2000))["needless"] - 1000) < 67
    assert way_of(task(3), Habits()) == way_of(task(3), Habits()), "the task alone decides"
    only = Habits(gives_up=0.0, astray=0.0, recovers=1.0)
    assert way_of(task(), only) == "recovers" and len(calls_of(task(), "recovers")) == 2
    assert way_of(task(steps=2), only) == "right", "two calls, the wrong one before them and the answer are four turns"
    assert len(calls_of(task(steps=2), "right")) == 2 and calls_of(task(), "gives up") == ()


def test_habits_that_are_none_are_refused() -> None:
    with pytest.raises(ValueError, match=r"gives_up=0.6, astray=0.3, recovers=0.2.*add up to 1 at most"):
        Habits(astray=0.3, recovers=0.2)
    with pytest.raises(ValueError, match="rationale='none': choose short or long"):
        Habits(rationale="none")

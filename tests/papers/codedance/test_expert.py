"""CodeDance's expert: every kind of task is solved in the real sandbox; half of the easy ones call for nothing."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from kit.chat import Chat
from kit.episode import Episode
from kit.evaluate.calls import calls
from kit.policy.scripted import ScriptedPolicy
from papers.codedance.experiment import Play, sandbox
from papers.codedance.expert import expert, turns_of
from papers.codedance.reward import make_reward
from papers.codedance.tasks import MAKERS, make_tasks
from turn_sandbox import Sandbox

TASKS = make_tasks(dict.fromkeys(MAKERS, 4), 0)


@pytest.fixture(scope="module")
def own() -> Iterator[Sandbox]:
    with sandbox() as box:
        yield box


def play(chat: Chat, box: Sandbox, needless: float) -> list[Episode]:
    play = Play(prompt="brief", max_new_tokens=256)
    return play(ScriptedPolicy(chat, expert(needless)), chat, box, TASKS, temperature=1.0)


def test_every_kind_is_solved_and_keeps_to_the_form(chat: Chat, own: Sandbox) -> None:
    for episode in play(chat, own, needless=0.0):
        score = make_reward("outcome")([episode], episode.task.target)[0]
        assert score.parts["accuracy"] > 0 and score.parts["format_error"] == 0, episode.turns
        assert all(call.status == "ok" for call in calls(episode))
        most = 0 if episode.task.meta["level"] == "easy" else 2 if episode.task.meta["kind"] == "composed" else 1
        assert episode.calls == most, episode.task.id


def test_of_the_easy_ones_a_share_is_printed_first(chat: Chat, own: Sandbox) -> None:
    played = play(chat, own, needless=1.0)
    assert all(episode.calls >= 1 for episode in played)
    assert all(make_reward("outcome")([e], e.task.target)[0].parts["accuracy"] > 0 for e in played)
    easy = [task for task in make_tasks({"geometry/easy": 60}, 1) if len(turns_of(task)) == 2]
    assert 20 <= len(easy) <= 40
    assert [task for task in easy if len(turns_of(task)) == 2] == easy, "the task alone decides"


def test_the_question_is_said_again_after_what_is_seen() -> None:
    task = next(task for task in TASKS if task.meta["kind"] == "chart_compute")
    first, last = turns_of(task)
    assert first == (
        f"<think>{task.meta['seen']}. {task.question}</think><code>print({task.meta['expression']})</code>"
    )
    assert last == f"<think>It is {task.target[0]}.</think><answer>{task.target[0]}</answer>"


def test_real_models_are_shown_plain_python_and_an_unknown_prompt_is_named() -> None:
    """The same words; where ``brief`` calls a function, ``full`` has a script with its imports."""
    for task in TASKS:
        brief, full = (turns_of(task, needless=0.0, prompt=prompt) for prompt in ("brief", "full"))
        assert [turn.split("<code>")[0] for turn in brief] == [turn.split("<code>")[0] for turn in full]
        offered = ("crop(image", "rotate(image", "brighten(image", "count(image")
        assert not any(name in turn for turn in full for name in offered)
    with pytest.raises(ValueError, match="prompt='long': choose one of brief, full"):
        turns_of(TASKS[0], prompt="long")
